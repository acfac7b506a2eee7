"""Ask tools ten small questions about shapes whose sizes have names; write symbolic.json.

Run this program with all tools installed; python/doc/names.md shows the answers. In a question, U
is a size without a name, if the tool has such sizes. In an answer, ? is an open size.
"""

from __future__ import annotations

import json
import os
import platform
import re
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

from whycast import symbolic
from whycast._rules import RULES
from whycast.testing import Case
from whycast.testing._peers import PEERS
from whycast.testing._report._symbolic import Claim, Judged, judged, read_claim

FILE = Path(__file__).with_name("symbolic.json")
QUESTIONS = (
    *("(N,) with (4,)", "(N,) with (M,)", "(N,) with (N,)", "(N,) with (1,)", "(N,) with (0,)"),
    *("() with (N,)", "(N,) with (U,)", "(N, 4) with (1, M)", "(N, N) with (5, 4)"),
    "(4, N) with (3, N)",
)
TOOLS = [name for name in PEERS if "symbolic" in RULES["numpy"].peers.get(name, ())]


def shapes_of(text: str) -> tuple[Any, ...]:
    found = [re.findall(r"\w+|\?", shape) for shape in text.split(" with ")]
    return tuple(tuple(int(z) if z.isdigit() else z.strip("?") or None for z in s) for s in found)


def claim_of(answer: str) -> Claim | None:
    if answer.startswith("refuses"):
        return None
    shape, given, condition = answer.partition(" if ")
    clauses = [each.strip("()") for each in condition.split(" and ") if each != "always"]
    return read_claim((*shapes_of(shape), clauses if given else None))


def judge(question: str, answer: str) -> tuple[str, Judged]:
    """Return the verdict in one word, and numbers that prove it."""
    shapes, claim = shapes_of(question), claim_of(answer)
    found = judged(RULES["numpy"], Case(shapes), claim)
    if found.verdict:
        return found.verdict if found.verdict in ("cautious", "open") else "wrong", found
    if claim is not None and claim.condition is not None:
        names = list({size: 0 for shape in shapes for size in shape if isinstance(size, str)})
        exact = symbolic.broadcast_shapes(*shapes, rule="numpy")
        every = [dict(zip(names, n, strict=True)) for n in product(range(7), repeat=len(names))]
        if any(exact.holds(own) and not claim.condition.holds(own) for own in every):
            return "narrow", found
    return "right", found


def exact(question: str) -> str:
    try:
        return str(symbolic.broadcast_shapes(*shapes_of(question), rule="numpy"))
    except symbolic.NeverError:
        return "never"


def ask(infer: Any, question: str) -> str:
    try:
        sizes, condition = read_claim(infer(*shapes_of(question)))
    except NotImplementedError:
        raise  # The adapter raises this error, not the tool.
    except Exception as error:
        return "refuses: " + (str(error) or type(error).__name__).splitlines()[0][:70]
    text = str(symbolic.Answer(tuple("?" if z is None else z for z in sizes), symbolic.Condition()))
    return text if condition is None else f"{text} if {condition}"


def main() -> None:
    record: dict[str, Any] = {"date": f"{date.today()}", "python": platform.python_version()}
    for name in TOOLS:
        os.environ |= PEERS[name].environment
        infer = PEERS[name].functions(RULES["numpy"])["symbolic"]
        record[name] = {"version": PEERS[name].version.partition("+")[0]}
        for question in QUESTIONS:
            own = question if name in ("torch", "jax") else question.replace("U", "?")
            answer = ask(infer, own)
            record[name][question] = f"{judge(question, answer)[0]}: {answer}"
    FILE.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
