"""A small tree with invented facts, and a reader of pages."""

import re
import sys
from html import unescape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple

from evidence import needs, pack
from gate import closed

# If a page does not escape this text, a browser reads it as HTML.
MEAN = '<img src=x onerror=alert(1)> & "it\'s"'

SHAPE = "why3/core/shape.mlw"
FILES = {
    "python/whycast/__init__.py": '"""Small."""\n\n__version__ = "9.8"\n',
    "proofs/gate/extraction/python.drv": f'syntax val ix "{MEAN}"\n',
    "why3/kernel/trusted.mlw": "module Tuple\n  val ix (n: int) : int\nend\n",
    SHAPE: """(** {1 Shapes of <b>all</b> kinds}
    Supports [E_Small_010]. *)
module Shape
  use int.Int

  predicate long (n: int) = n > 1 /\\ 0 < 1
  let same (n: int) : int requires { 0 < n } ensures { result = n } = n
  lemma more: forall n. n < n + 1
end
""",
    "c/whycast.h": f"""/* A number.
   {MEAN}
   Twice. */
int64_t whycast_same(int64_t n);
""",
    "c/whycast.c": """/* For callers: whycast.h.
   WhyML: core.shape.Shape.same */
int64_t whycast_same(int64_t n) {
""",
    "proofs/claims.lock": f"c/whycast.h header.whycast_same {64 * '0'} {64 * '1'} 2026-11-25\n",
    "proofs/signatures.toml": """
"header.whycast_same" = ["0 1", "A. Reviewer", "2027-01-31"]
""",
    "proofs/SOUNDNESS.md": "\n".join(
        [
            "# Soundness\n## Manipulations that the gate refuses\n## What somebody relies on\n",
            "## What you believe at the end\n\n| | you believe | checked by |\n|---|---|---|",
            *(f"| R{n} | believed {n} | `make cross` |" for n in range(1, 44)),
        ]
    ),
    "proofs/PROBLEMS.md": f"| P1 | [a defect](x.md) {MEAN} | today | closed: by `a` |\n",
    "tests/test_a.py": f"def test_a():\n    assert {MEAN!r}\n",
}
CLAIMS = {"Shape.more": f"A successor is larger. {MEAN}", "Shape.same'vc": "It gives n."}


def proof(prover: str, seconds: float, *, kept: bool = False) -> dict[str, Any]:
    now = {"answer": "Valid", "seconds": seconds, "kept": kept}
    return {"prover": prover, "recorded": 0.25, "now": now}


def node(name: str, proofs: list[dict[str, Any]], *steps: dict[str, Any]) -> dict[str, Any]:
    of_node = {"name": name, "file": SHAPE, "line": 9, "explanation": MEAN}
    return {**of_node, "proofs": proofs, "transformations": list(steps), "fault": None}


def symbol(name: str, kind: str, line: int | None) -> dict[str, Any]:
    file, module = ("why3/kernel/trusted.mlw", "Tuple") if kind == "val" else (SHAPE, "Shape")
    fields = {"statement": f"forall n. {MEAN}", "names": ["int.Int.infix <"], "ghost": False}
    of_symbol = {"file": file, "line": line, "module": module, "name": name, "kind": kind}
    goal = {"more": "more", "same": "same'vc"}.get(name)
    calls = ["kernel.trusted.Tuple.ix"] if name == "same" else []
    return {**of_symbol, **fields, "goal": goal, "template": None, "calls": calls}


def clause(name: str, *tagged: str, reason: str = "") -> dict[str, Any]:
    parts = ("definitions", "theorems", "programs", "tests", "supporting")
    named = [[{"name": name, "place": f"{SHAPE}:8"}] for name in tagged] or [[]] * len(parts)
    fields = {"says": f"'As' E_Small_020 {MEAN}", "where": MEAN, "why": MEAN, "reason": reason}
    return {"id": name, "text": "Text", **fields, **dict(zip(parts, named, strict=True))}


def facts(root: Path, *, seconds: float = 1.5, kept: bool = False) -> Any:
    two = [proof("Alt-Ergo", seconds, kept=kept), proof("Z3", seconds)]
    used = ["H", "Shape.long", "core.shape.Shape.more", "int.Int.Compat'spec", "int.Int.infix +"]
    keep = {"name": "keep", "arguments": used, "parts": [node("same'vc.0", two[1:] * 2)]}
    split = {"name": "split_vc", "arguments": [], "parts": [node("same'vc.0", [], keep)]}
    goals = [
        {"module": "Shape", "name": tree["name"], "versions": ["1.5.1"], "tree": tree}
        for tree in (node("more", two), node("same'vc", [], split))
    ]
    trees = {"why3/kernel/trusted.mlw": [], SHAPE: goals}
    assumed = {"kind": "val", "module": "Tuple", "name": "ix"}
    prover = {"version": "1", "driver": f"{root}/proofs/own.drv"}
    said = {"answer": 'File "/tmp/x.why", line 1, characters 9-12:Unknown', "seconds": seconds}
    context = [{"prover": "Z3", "about": "", **said}]
    tagged = ("Shape.infix <&", "Shape.more", "Shape.same", "tests/test_a.py::test_a", "Shape.long")
    clauses = [clause("E_Small_010", *tagged), clause("E_Small_020", reason="E_Small_010")]
    symbols = [("long", "predicate", 6), ("infix <&", "function", None), ("same", "program", 7)]
    symbols += [("more", "lemma", 8), ("ix", "val", 2)]
    asking = {"file": SHAPE, "module": "Shape", "name": "more", "kind": "lemma"}
    return {
        "provers": [
            {"name": name, "family": name, "command": f"'{root}/build/{name}' %f", **prover}
            | {"canary": [{"goal": "refutable", **said}]}
            for name in ("Alt-Ergo", "Z3")
        ],
        "symbols": [symbol(*each) for each in symbols],
        "theories": [{"file": "why3/kernel/trusted.mlw", "assumed": [assumed], "uses": []}],
        "library": [
            {"module": "int.Int", "kind": kind, "name": name}
            for kind, name in (("axiom", "Assoc"), ("contract", "Compat"))
        ],
        "hypotheses": [{**asking, "supposes": [], "satisfied_by": "Shape.more"}],
        "lists": [],
        "trace": {"texts": [{"name": "Text", "title": MEAN}], "clauses": clauses},
        "sessions": [
            {"file": file, "context": context, "goals": goals} for file, goals in trees.items()
        ],
    }


def told(root: Path, **changes: Any) -> dict[str, Any]:
    """Write the small tree; return the facts of a passing gate."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return {"facts": facts(root, **changes), "claims": CLAIMS, "sources": closed.sources(root)}


def write(root: Path, **changes: Any) -> Path:
    found = told(root, **changes)
    return pack.write(found["facts"], found["claims"], root)


def evidence(root: Path) -> needs.Evidence:
    write(root)
    return needs.Evidence(told(root), root)


class Page(NamedTuple):
    """A page; `links` contains the address and the anchor, or '', of each link."""

    source: str
    text: str
    ids: list[str]
    links: list[tuple[str, str]]


def read(folder: Path) -> dict[str, Page]:
    pages = {}
    for path in folder.rglob("*.html"):
        name, source = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        text = " ".join(unescape(re.sub("<[^>]*>", " ", source)).split())
        links = [
            (normpath(join(dirname(name), unescape(to))) if to else name, unescape(anchor))
            for to, anchor in re.findall(r'\b(?:href|src)="([^"#]*)#?([^"]*)"', source)
        ]
        pages[name] = Page(source, text, re.findall(r'\bid="([^"]*)"', source), links)
    return pages


if __name__ == "__main__":
    write(Path(sys.argv[1]))
