"""The evidence: what is proved, from what, by which tools, for somebody who doubts it.

The pages show the facts of a gate that has passed. Two clean runs on the same sources write the
same bytes: times and the date stand in times.json alone, which the manifest leaves out.
"""

from __future__ import annotations

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from evidence import assessment, documents, graph, picture
from evidence.documents import page
from evidence.mutants import Mutant, read, results
from gate import closed, judge, mapped, toolchain
from gate.closed import FACTS, ROOT
from gate.facts import Clause, Facts, Goal, Symbol, families, full_name, nodes, parts, path, place

PACK = "build/evidence"
MANIFEST = "MANIFEST.sha256"
TIMES = "times.json"

# What provers answer now is of this run, and not of the sources.
OF_A_RUN = ("now", "context", "canary")

# What the operations without a body are in each language.
DRIVERS = mapped.DRIVERS

# Before their answers, some provers name the file with the goal.
GOAL_FILE = re.compile(r'File \\"[^"]*\\", line \d+, characters [-\d]+: ?')

# What the documents link to, and the place on the first page that shows it.
SHOWN = {
    "proofs/claims.lock": "index.html#theorems",
    "proofs/mutants.toml": "index.html#mutants",
    "proofs/signatures.toml": "reviews.html",
    "tests/c/misra.toml": "misra.html",
    "proofs/gate/toolchain.toml": "index.html#tools",
    "why3": "index.html#theorems",
    "why3/trace.toml": "index.html#clauses",
    **dict.fromkeys(DRIVERS.values(), "index.html#operations"),
}

WORDS = (
    "forall exists let in if then else match with end fun not by so old requires ensures raises "
    "variant writes reads diverges invariant type function predicate constant exception program "
    "theorem lemma goal axiom val rec ghost mutable private"
)
WORD = re.compile(rf"(?<![\w'])({WORDS.replace(' ', '|')})(?![\w'])")

# What tells where the operands of `->` and `<->` end, each with the space before it.
TOKEN = re.compile(r"\s*(?:<->|->|\{ [\w']+ ->|\|\||[\w']+|.)", re.DOTALL)
DECLARED = re.compile(
    r"((ghost|private|mutable) )*(constant|exception|function|predicate|program|theorem|type|val) "
)
CLOSES = (")", "]", "}", "end")
ENDS = (*CLOSES, "then", "else", "in", "with", "|", ",")


class Evidence:
    """The facts, and what the pages look up in them."""

    def __init__(self, facts: Facts, claims: Mapping[str, str]) -> None:
        self.facts, self.claims = facts, claims
        self.provers = {prover["name"]: prover["family"] for prover in facts["provers"]}
        self.graph = graph.Graph(facts)
        self.goals = {full_name(g): g for session in facts["sessions"] for g in session["goals"]}
        # A symbol is found by its own name and by that of its goal, which is the same or `pad'vc`.
        self.symbols = {full_name(symbol): symbol for symbol in facts["symbols"]}
        self.symbols |= {f"{name}'vc": symbol for name, symbol in self.symbols.items()}
        unknown = sorted(self.goals.keys() - (self.symbols.keys() & claims.keys()))
        if unknown:
            raise closed.ToolError(f"{', '.join(unknown)}: of no symbol, or without a claim")
        self.trusted = [self.symbols[full_name(entry)] for entry in judge.trusted(facts)]
        # In reading order, which is that of the claims; theories without goals come last.
        order = {name: number for number, name in enumerate(claims)}
        self.sessions = sorted(
            facts["sessions"],
            key=lambda session: min((order[full_name(g)] for g in session["goals"]), default=1e9),
        )
        self.clauses: dict[str, list[str]] = {name: [] for name in map(full_name, facts["symbols"])}
        for clause in facts["trace"]["clauses"]:
            marked = clause["definitions"] + clause["theorems"] + clause["programs"]
            of = {full_name(self.symbols[e["name"]]) for e in marked if e["name"] in self.symbols}
            for name in of:
                self.clauses[name].append(clause["id"])

    def link(self, name: str) -> str:
        """Lead to a definition or goal; nowhere from what is not WhyML."""
        symbol = self.symbols.get(name)
        return f"proofs/{page(symbol['file'])}#{anchor(full_name(symbol))}" if symbol else ""

    def path(self, symbol: Symbol) -> str:
        """Name a symbol as the graph does."""
        return path(symbol, symbol["file"])

    def rests(self, clause: Clause) -> list[list[str]]:
        """Give a way from a clause's theorems to each assumption of the library below them."""
        theorems = [
            self.symbols[e["name"]] for e in clause["theorems"] if e["name"] in self.symbols
        ]
        return self.graph.chains(map(self.path, theorems))

    def tally(self, goals: Iterable[Goal]) -> dict[str, Any]:
        """Count what goals were taken apart into, and the proofs of these parts."""
        counted = list(goals)
        found = [part for goal in counted for part in parts(goal)]
        proofs = [proof for part in found for proof in part["proofs"]]
        kept = sum(proof["now"] is not None and proof["now"]["kept"] for proof in proofs)
        return {
            "goals": len(counted),
            "parts": len(found),
            "proofs": len(proofs),
            "kept": kept,
            "run": sum(proof["now"] is not None for proof in proofs) - kept,
            "by": Counter(proof["prover"] for proof in proofs),
            # Alt-Ergo reads another translation of a goal than all others.
            "one_translation": sum("Alt-Ergo" not in families(p, self.provers) for p in found),
            "versions": {
                v: sum(v in goal["versions"] for goal in counted) for v in toolchain.systems()
            },
            "families": min((len(families(part, self.provers)) for part in found), default=0),
            "seconds": sum(proof["recorded"] for proof in proofs),
        }


def transformations(facts: Facts) -> list[tuple[str, int]]:
    """Count how often each transformation took a goal or a part of one apart."""
    trees = [goal["tree"] for session in facts["sessions"] for goal in session["goals"]]
    steps = (step for tree in trees for node in nodes(tree) for step in node["transformations"])
    return sorted(Counter(step["name"] for step in steps).items())


# --- what the templates call ------------------------------------------------------------------


class Level:
    """What stands in a bracket: the last operator and its place, parentheses that are open.

    `until`: what comes before the formula, the `=` of a declaration or the arrow of a pattern.
    """

    def __init__(self, until: str = "") -> None:
        self.until, self.last, self.place, self.open = until, "", 0, 0


def grouped(statement: str) -> str:
    """Put parentheses where `->` meets `<->`: Why3 reads and prints both from the right."""
    made, levels = list[str](), [Level("=" if DECLARED.match(statement) else "")]
    for token in [*TOKEN.findall(statement), "|"]:
        word, level = token.strip(), levels[-1]
        if word in ENDS:
            made.append(")" * level.open)
            level.last, level.open = "", 0
        if word in CLOSES:
            levels.pop()
        elif word in ("(", "[", "match") or word.startswith("{"):
            levels.append(Level())
        elif word in ("|", "fun"):
            level.until = "->"
        elif word == level.until:
            level.until = ""
        elif word in ("->", "<->") and not level.until:
            if level.last and (level.last, word) != ("->", "->"):
                first = made[level.place + 1]
                made[level.place + 1] = first.replace(first.lstrip(), f"({first.lstrip()}")
                level.open += 1
            level.last, level.place = word, len(made)
        made.append(token)
    return "".join(made[:-1])


def whyml(text: str) -> Markup:
    """Set off the words of WhyML from the names."""
    return Markup(WORD.sub(r"<b>\1</b>", str(escape(grouped(text)))))


def anchor(name: str) -> str:
    """Make the name of a symbol fit for an address: that of an operator has a space."""
    return re.sub(r"\s+", "-", name)


def operator(name: str) -> str:
    """Write an operator as WhyML does: `(==)` for `infix ==`."""
    return re.sub(r"\b(?:in|pre|mix)fix (.*)$", r"(\1)", name)


def environment(evidence: Evidence, **known: Any) -> Environment:
    """Make the surroundings of the evidence's templates."""
    clauses = {clause["id"] for clause in evidence.facts["trace"]["clauses"]}
    made = documents.environment(about="evidence", evidence=evidence, facts=evidence.facts, **known)
    made.filters |= {
        "anchor": anchor,
        "files": lambda entries: sorted({e["place"].rpartition(":")[0] for e in entries}),
        "operator": operator,
        "parts": parts,
        "place": place,
        "tagged": lambda text, to="": documents.tagged(text, to, clauses),
        "whyml": whyml,
    }
    return made


# --- the files --------------------------------------------------------------------------------


def headings(texts: Mapping[str, str]) -> dict[str, str]:
    """Give the headings of documents."""
    return {target: text.partition("\n")[0].lstrip("# ") for target, text in texts.items()}


def html(evidence: Evidence, root: Path, **known: Any) -> dict[str, str]:
    """Write all pages."""
    files = [session["file"] for session in evidence.sessions]
    texts = documents.theories(root, files)
    papers = {path: f"{path.stem.lower()}.html" for path in documents.listed(root)}
    written = {target: path.read_text(encoding="utf-8") for path, target in papers.items()}
    files_of = {target: path.relative_to(root).as_posix() for path, target in papers.items()}
    given = {**known, "documents": files_of, "papers": headings(written)}
    asked = {f"{name}.html": text for name, text in assessment.pages(evidence, root, given)}
    titled = headings(written | asked)
    shown = SHOWN | {file: f"theories/{page(file)}" for file in files}
    shown |= {files_of[target]: target for target in papers.values()}
    made = environment(
        evidence,
        titles={file: documents.title(root / file) for file in files},
        anchors={name: set(documents.ANCHOR.findall(body)) for name, body in texts.items()},
        papers=titled,
        **known,
    )
    plain, theory = made.get_template("base.html"), made.get_template("theory.html")
    copied = ("style.css", "index.js")
    found = {name: (documents.TEMPLATES / name).read_text(encoding="utf-8") for name in copied}
    found["index.html"] = made.get_template("index.html").render(up="")
    for target, text in (written | asked).items():
        content = Markup(documents.rendered(text, shown, evidence.link))
        trail = {titled[other]: other for other in asked if other != target}
        heading = titled[target]
        found[target] = plain.render(up="", heading=heading, content=content, trail=trail)
    for session in evidence.sessions:
        found[f"proofs/{page(session['file'])}"] = theory.render(up="../", session=session)
    for name, body in texts.items():
        trail = {"definitions and proofs": f"../proofs/{name}"}
        found[f"theories/{name}"] = plain.render(
            up="../",
            heading=name.removesuffix(".html"),
            content=made.filters["tagged"](Markup(body), "../index.html"),
            trail=trail if f"proofs/{name}" in found else {},
        )
    return found


def junit(evidence: Evidence) -> str:
    """Write a test case for each goal, in the form that continuous integration systems read."""
    whole = ET.Element("testsuites", name="whycast")
    for session in evidence.sessions:
        suite = ET.SubElement(whole, "testsuite", name=session["file"], failures="0", errors="0")
        suite.set("tests", str(len(session["goals"])))
        for goal in session["goals"]:
            case = ET.SubElement(suite, "testcase", name=goal["name"])
            case.set("classname", f"{session['file']}/{goal['module']}")
            case.set("time", f"{evidence.tally([goal])['seconds']:.2f}")
            ET.SubElement(case, "system-out").text = evidence.claims[full_name(goal)]
    ET.indent(whole)
    return ET.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def as_json(value: Any) -> str:
    """Write a value for programs, and so that two of them can be compared line by line."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def stripped(value: Any, root: Path, left_out: tuple[str, ...] = ()) -> Any:
    """Give facts without the place of the tree, and without some keys."""
    if isinstance(value, dict):
        kept = value.keys() - set(left_out)
        return {key: stripped(v, root, left_out) for key, v in value.items() if key in kept}
    if isinstance(value, list):
        return [stripped(v, root, left_out) for v in value]
    return value.replace(f"{root}/", "") if isinstance(value, str) else value


def times(facts: Facts) -> dict[str, Any]:
    """Say when the pages were written, and what was answered now, or kept, and in how long."""
    goals = [goal for session in facts["sessions"] for goal in session["goals"]]
    return {
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "proofs": [
            {"part": f"{goal['module']}.{part['name']}", "prover": proof["prover"]}
            | {"now": proof["now"]}
            for goal in goals
            for part in parts(goal)
            for proof in part["proofs"]
        ],
        "contexts": {session["file"]: session["context"] for session in facts["sessions"]},
        "canaries": {prover["name"]: prover["canary"] for prover in facts["provers"]},
    }


def write(
    facts: Facts,
    claims: Mapping[str, str],
    root: Path,
    mutants: Iterable[Mutant],
    results: Iterable[Mapping[str, object]] | None,
    tools: Mapping[str, toolchain.Tool],
) -> Path:
    """Write the evidence of a gate that has passed, in one go, and give its directory.

    `results` are those of the mutants, or None where they were not run on these sources.
    """
    facts = stripped(facts, root)
    evidence = Evidence(facts, claims)
    listed = closed.sources(root)
    package = (root / "python/whycast/__init__.py").read_text(encoding="utf-8")
    texts = html(
        evidence,
        root,
        version=package.partition('\n__version__ = "')[2].partition('"')[0],
        sources=hashlib.sha256(listed.encode()).hexdigest(),
        tools=tools.values(),
        requirements=toolchain.REQUIREMENTS[0].read_text(encoding="utf-8"),
        drivers={
            language: (root / driver).read_text(encoding="utf-8")
            for language, driver in DRIVERS.items()
            if (root / driver).is_file()
        },
        mutants=list(mutants),
        hypotheses=judge.hypotheses(facts),
        unused=evidence.graph.unused(facts),
        transformations=transformations(facts),
        results=None if results is None else {result["id"]: result for result in results},
    )
    texts["development.svg"] = picture.svg(facts, evidence.graph)
    texts["SOURCES.sha256"] = listed
    texts["junit.xml"] = junit(evidence)
    texts["evidence.json"] = as_json({"claims": claims, **stripped(facts, root, OF_A_RUN)})
    made = {name: text.encode() for name, text in texts.items()}
    made[MANIFEST] = closed.hashes(made).encode()
    made[TIMES] = GOAL_FILE.sub("", as_json(times(facts))).encode()
    return documents.replace_folder(root / PACK, made)


def main(_: list[str]) -> int:
    """Write the evidence from the facts of the gate that has passed on these sources."""
    told = json.loads((ROOT / FACTS).read_text(encoding="utf-8"))
    if told["sources"] != closed.sources(ROOT):
        raise closed.ToolError("the sources are not those on which the gate has passed: run make")
    given = (told["facts"], told["claims"], ROOT, read(ROOT), results(ROOT), toolchain.read())
    print(f"evidence: {write(*given).relative_to(ROOT)}/index.html")
    return 0
