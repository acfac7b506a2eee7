"""The kit for SONNX's working group: build/sonnx/, which the group can copy into its clone.

The theories are those of why3/group/, with the group's library instead of our stand-in, and tags of
the group's form.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import whycast
from gate import trace
from gate.closed import ROOT
from gate.facts import Clause
from whycast.testing import cases

KIT = "build/sonnx"

THEORIES = ("broadcast", "operators")
FORMAL = "spec/formal/common/broadcast"
INFORMAL = "spec/informal/common/broadcast"
TESTS = "spec/tests/common/broadcast/hypothesis"

# Prefixes of our modules, and what replaces them in the kit.
USES = {"group.tensor.": "tensor.tensor.", "group.broadcast.": "broadcast."}

# Zones of tags for inputs, outputs and types; other tags have FUNC.
ZONES = {"Inputs": "CONSTR_X", "Outputs": "CONSTR_Z", "Types": "CONSTR_X"}

REPAIRED = {"F1": "repaired (step 1 pads with 0)", "F4": "repaired (L is explained)"}

README = """# Broadcast, formally: a kit for the SONNX working group

{theories} state Broadcast in your layout, on lists, over your library `tensor.tensor` (modules
`Range` and `Tensor`). `OPMax` and `OPWhere` show how an operator refers to Broadcast. The kit
copies no line of yours. It replaces one file: `broadcast.mlw`, which has no body yet.

Copy `spec/` over `safety-related-profile/sonnx/ops/spec/`, then run, in `{formal}`,

    make prove      # why3find, with your provers and their limits
    make types      # why3 alone: the types

and in `{tests}`, `pip install -r requirements.txt`, `pytest`, `python check_edges.py`.

| | |
|---|---|
| [tags.md]({informal}/tags.md) | each tag of the theories, and its sentence |
| [wording.md]({informal}/wording.md) | our proposed wording for broadcast.md |
| [REPORT.md](REPORT.md) | what our findings F1 to F21 mean for you; where ONNX Runtime deviates |

**What is proved.** whycast proves each goal by two families of provers, over our stand-in for your
library, with your names and contracts. A bridge theorem (`opbroadcast_broadcast`) proves that
`opbroadcast` is whycast's operator on sequences. That operator's laws (permutation, recursion,
element-wise operations) are proved. E1 is not a precondition but an outcome, with the first tensor
and axis that cause it.

**What was tried with yours.** With your `tensor.mlw` and `std.mlw` of 2026-08-07, unchanged (commit
652b76b8 of pull request 119), Why3 1.8.0 accepts the types, and CVC5 1.1.2 proves each of the 107
parts that `split_vc` makes within 1 s. `make prove` itself was not tried: we have no why3find.

**Null tensors.** `tensor` forbids a size of 0, `BroadcastDims` does not; there E1 rejects some
dimensions that ONNX accepts: exactly those with a 0 beside a 1 (F2, `null_tensors_e1`).
"""

MAKEFILE = """# Run in ops/spec/formal/common/broadcast.
.PHONY: all prove update doc lib types clean
DOC_DIR = ../../../../code/common/broadcast/generated_doc
LIBRARY = ../libs
FILES = {files}

all: prove doc

prove:
\t@why3find prove $(FILES) -l -s -x

update:
\t@why3find prove $(FILES) -l -s -x -m

doc:
\t@why3find doc $(FILES) -t "Broadcast" -o $(DOC_DIR)

lib:
\t@echo "Broadcast is a specification: there is nothing to extract."

types:
\t@for f in $(FILES); do why3 prove -L $(LIBRARY) -L . --type-only $$f || exit 1; done

clean:
\trm -rf $(DOC_DIR)
"""

WHY3FIND = {
    **{"fast": 0.2, "time": 1.0, "depth": 4, "packages": [], "drivers": [], "warnoff": []},
    "provers": ["alt-ergo@2.5.4", "z3@4.13.4", "cvc5@1.2.1"],
    "tactics": ["split_vc", "inline_goal"],
}

REQUIREMENTS = "hypothesis\nnumpy\nonnx\nonnxruntime\npytest\n"


def tags(clauses: Mapping[str, Clause], texts: Sequence[str]) -> dict[str, str]:
    """Map each clause in the theories to a tag of the group's form, numbered by tens per zone."""
    named = {tag for text in texts for tag in trace.IDENTIFIER.findall(text)}
    found, numbers = dict[str, str](), Counter[str]()
    for name in clauses:
        if name in named:
            zone = ZONES.get(name.split("_")[3], "FUNC")
            numbers[zone] += 10
            found[name] = f"E_BROADCAST_ANY_{zone}_{numbers[zone]:04}"
    return found


def adapted(text: str, tag_of: Mapping[str, str]) -> str:
    """Adapt a theory to the group: the modules that it uses, and its tags."""
    for ours, theirs in USES.items():
        text = re.sub(rf"(?m)^(  use (?:export )?){re.escape(ours)}", rf"\g<1>{theirs}", text)
    return trace.IDENTIFIER.sub(lambda match: tag_of[match[0]], text)


def answer_to(shapes: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    """Return the shape of the outputs, or E1 with its tensor and axis, by the proved program."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError as error:
        return ("E1", error.tensor, error.axis)


def answered() -> list[dict[str, Any]]:
    """Return some of our cases, spread over all, with their answers."""
    small = islice(cases("sonnx", "shape", max_size=4, max_rank=3, tensors=(1, 4)), 8000)
    some = (each for n, each in enumerate(small) if n < 60 or n % 20 == 0)
    return [{"shapes": case.shapes, "answer": answer_to(case.shapes)} for case in some]


def report() -> tuple[str, str]:
    """Return the report on findings and the runtime's deviations, and the proposed wording."""
    text = (ROOT / "proofs/FINDINGS.md").read_text(encoding="utf-8")
    titles = dict(re.findall(r"^\| \[(F\d+)\]\(#f\d+\) \| (.*?) \|", text, re.MULTILINE))
    rows, wording = list[str](), list[str]()
    for name, section in re.findall(
        r"^## (F\d+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    ):
        about = section.split(maxsplit=1)[0].rstrip(",.")
        state = REPAIRED.get(name, "open" if about == "SONNX" else f"about {about}, not your text")
        rows.append(f"| {name} | {titles[name]} | {state} |")
        proposed = section.partition("**Proposed:** ")[2].strip()
        if state == "open" and proposed:
            wording.append(f"## {name}: {titles[name]}\n\n{proposed}\n")
    known = json.loads((ROOT / "tests/peers/deviations.json").read_text(encoding="utf-8"))
    deviations = [
        f"- {each['reason']} ({each['source']})"
        for each in known["deviations"]
        if any(case.startswith("onnxruntime ") for case in each["cases"])
    ]
    head = "# What the findings mean for SONNX\n\nThe state is that of your text of 2026-01-19.\n"
    table = "\n".join(["", "| | what is wrong | state |", "|---|---|---|", *rows])
    runtime = f"\n\n## ONNX Runtime {known['versions']['onnxruntime']} deviates\n\n"
    proposal = "# Wording that we propose for broadcast.md\n\n" + "\n".join(wording)
    return head + table + runtime + "\n".join(deviations) + "\n", proposal


def files() -> dict[str, str]:
    """Return the text of each file of the kit."""
    _, clauses, _ = trace.read(ROOT / trace.TRACE)
    ours = {
        name: (ROOT / f"why3/group/{name}.mlw").read_text(encoding="utf-8") for name in THEORIES
    }
    tag_of = tags(clauses, [*ours.values()])
    names = [f"{name}.mlw" for name in THEORIES]
    rows = [f"| `{tag_of[name]}` | `{name}` | {clauses[name]['says']} |" for name in tag_of]
    table = ["# Tags of the theories", "", "| your tag | ours | what it says |", "|---|---|---|"]
    tested = ROOT / "tests/sonnx"
    findings, wording = report()
    return {
        "README.md": README.format(
            theories=" and ".join(f"`{name}`" for name in names),
            **{"formal": FORMAL, "informal": INFORMAL, "tests": TESTS},
        ),
        "REPORT.md": findings,
        **{f"{FORMAL}/{name}.mlw": adapted(text, tag_of) for name, text in ours.items()},
        f"{FORMAL}/Makefile": MAKEFILE.format(files=" ".join(names)),
        f"{FORMAL}/why3find.json": json.dumps(WHY3FIND, indent=2) + "\n",
        f"{INFORMAL}/tags.md": "\n".join([*table, *rows, ""]),
        f"{INFORMAL}/wording.md": wording,
        f"{TESTS}/cases.json": json.dumps(answered()) + "\n",
        f"{TESTS}/test_broadcast.py": (tested / "group_broadcast.py").read_text(encoding="utf-8"),
        f"{TESTS}/check_edges.py": (tested / "group_edges.py").read_text(encoding="utf-8"),
        f"{TESTS}/requirements.txt": REQUIREMENTS,
    }


def write(folder: Path) -> None:
    """Write the kit into a new folder."""
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(_: Sequence[str] = ()) -> int:
    """Write the kit anew."""
    folder = ROOT / KIT
    shutil.rmtree(folder, ignore_errors=True)
    write(folder)
    print(f"{KIT}: a kit for SONNX's working group; start with {KIT}/README.md")
    return 0
