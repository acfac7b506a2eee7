"""What is claimed was read: whatever is changed behind the back of the proofs is refused.

A session that is brought up to date with a tampered theory proves it, so that only the statements,
the sentences and their seals can tell. The facts are made up, and sealed before they are changed.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from evidence import review
from gate import claims

W, TRUSTED, WITNESS = THEORIES = ["why3/small.mlw", "why3/trusted/a.mlw", "why3/witness_small.mlw"]

# In the order of a reader, which is not that of the source.
UNSEALED = """\
# small.mlw
## Doubling
Small.double    0000000000000000
Small.positive  0000000000000000  A number is positive exactly if its double is.
Small.twice'vc  0000000000000000  The program computes the double.

# trusted/a.mlw
Tuple.size  0000000000000000

# witness_small.mlw
Idle.one'vc  0000000000000000  One can be doubled.
"""


def symbol(file: str, line: int, kind: str, name: str, statement: str, goal: str | None) -> Any:
    """Make a symbol that says something."""
    module, _, name = name.partition(".")
    says: dict[str, Any] = {"statement": statement, "names": ["int.Int.(+)"], "goal": goal}
    says |= {"says_nothing": False, "calls": []}
    return {"file": file, "line": line, "module": module, "name": name, "kind": kind, **says}


@pytest.fixture
def facts() -> Any:
    """Make facts of a small theory, a trusted one and a witness."""
    contract = "program twice (x: int) : int\n  ensures { result = double x }"
    symbols = [
        symbol(W, 7, "lemma", "Small.positive", "forall x. 0 < x <-> 0 < double x", "positive"),
        symbol(W, 5, "function", "Small.double", "function double (x: int) = x + x", None),
        symbol(W, 11, "program", "Small.twice", contract, "twice'vc"),
        symbol(TRUSTED, 3, "val", "Tuple.size", "val size : int", None),
        symbol(WITNESS, 2, "theorem", "Idle.one", "ghost theorem one : unit", "one'vc"),
    ]
    sessions: list[Any] = [{"file": file, "errors": [], "goals": []} for file in THEORIES]
    for made in symbols:
        if made["goal"]:
            goals = sessions[THEORIES.index(made["file"])]["goals"]
            goals.append({"module": made["module"], "name": made["goal"]})
    return {"sessions": sessions, "theories": [], "symbols": symbols, "lists": []}


@pytest.fixture
def path(tmp_path: Path, facts: Any) -> Path:
    """Write the claims and seal them."""
    path = tmp_path / "claims.txt"
    path.write_text(UNSEALED, encoding="utf-8")
    claims.seal(path, facts)
    return path


def edit(path: Path, old: str, new: str) -> None:
    """Replace what matches once."""
    text, count = re.subn(old, new, path.read_text(encoding="utf-8"))
    assert count == 1
    path.write_text(text, encoding="utf-8")


def refused(path: Path, facts: Any, *expected: str) -> None:
    """Demand these failures, given in part, and no other."""
    found = [str(failure) for failure in claims.check(claims.read(path), facts, THEORIES)]
    assert len(found) == len(expected), found
    for failure, message in zip(found, expected, strict=True):
        assert message in failure


def test_what_is_sealed_is_accepted_and_stays_as_it_is(path: Path, facts: Any) -> None:
    refused(path, facts)
    text = path.read_text(encoding="utf-8")
    assert re.sub("[0-9a-f]{16}", "0" * 16, text) == UNSEALED
    assert claims.seal(path, facts) == []
    assert path.read_text(encoding="utf-8") == text
    assert claims.read(path).sentences["Small.twice'vc"] == "The program computes the double."


OTHER = "says something else than what was reviewed, or is reworded (now: "
NOTHING = "says nothing: what it claims is true whatever its symbols mean"
POSITIVE, DOUBLE, TWICE, SIZE, ONE = range(5)

# What is changed of a symbol, and what is said.
TAMPERED: list[Any] = [
    (TWICE, {"statement": "let x\n  old"}, f"{W}:11: Small.twice'vc {OTHER}let x ...)"),
    (DOUBLE, {"statement": "2 * x"}, f"{W}:5: Small.double {OTHER}2 * x)"),
    (SIZE, {"statement": "val"}, f"{TRUSTED}:3: Tuple.size {OTHER}val)"),
    # The same text, and another symbol behind it.
    (SIZE, {"names": ["int.Int.(-)"]}, f"{TRUSTED}:3: Tuple.size {OTHER}val size : int)"),
    (SIZE, {"kind": "axiom"}, f"{TRUSTED}:3: Tuple.size {OTHER}val size : int)"),
    (POSITIVE, {"statement": "x = x", "says_nothing": True}, f"{NOTHING} (x = x)", OTHER),
    (TWICE, {"says_nothing": True}, f"{NOTHING} (program twice (x: int) : int ...)"),
    # A witness asserts, and what it calls requires: it need not ensure anything.
    (ONE, {"says_nothing": True}),
    (TWICE, {"says_nothing": True, "kind": "theorem", "statement": "x"}, NOTHING, OTHER),
    (ONE, {"says_nothing": True, "kind": "lemma"}, NOTHING, OTHER),
    (ONE, {"says_nothing": True, "statement": "one\n  ensures { true }"}, NOTHING, OTHER),
    # What promises nothing may still have a goal, for what it asserts.
    (TWICE, {"goal": None}),
    (POSITIVE, {"goal": "z"}, "7: Small.z is not listed", "4: Small.positive is", "is a goal of"),
    (DOUBLE, {"module": "Big"}, "Big.double is not listed", "Small.double is listed, and not"),
    (DOUBLE, {"goal": "double'vc"}, "double'vc is not listed", "Small.double is listed, and not"),
    (DOUBLE, {"file": "why3/x.mlw"}, "x.mlw:5: Small.double is not listed", "and not there"),
]


@pytest.mark.parametrize("case", TAMPERED)
def test_what_says_something_else_is_refused(path: Path, facts: Any, case: Any) -> None:
    number, changed, *expected = case
    facts["symbols"][number].update(changed)
    refused(path, facts, *expected)


def test_a_type_and_a_function_of_one_name_are_sealed_together(path: Path, facts: Any) -> None:
    facts["symbols"].append(symbol(W, 4, "type", "Small.double", "type double = int", None))
    refused(path, facts, f"{W}:4: Small.double {OTHER}type double = int ...)")
    claims.seal(path, facts)
    assert claims.check(claims.read(path), facts, THEORIES) == []
    facts["symbols"][DOUBLE]["statement"] = "2 * x"
    refused(path, facts, f"{W}:4: Small.double {OTHER}type double = int ...)")
    facts["symbols"][DOUBLE]["statement"] = "function double (x: int) = x + x"
    facts["symbols"][-1]["statement"] = "type double = bool"
    refused(path, facts, f"{W}:4: Small.double {OTHER}type double = bool ...)")


def test_what_has_no_goal_is_refused(path: Path, facts: Any) -> None:
    facts["sessions"][0]["goals"].clear()
    unproved = [f"{W}:11: Small.twice'vc has no goal: nothing proves it"]
    refused(path, facts, f"{W}:7: Small.positive has no goal: nothing proves it", *unproved)
    # Assumed instead of proved.
    facts["symbols"][POSITIVE].update(goal=None, kind="axiom")
    refused(path, facts, "Small.positive has a sentence, and no goal", OTHER, *unproved)


def test_of_a_theory_that_cannot_be_read_nothing_is_missed(path: Path, facts: Any) -> None:
    facts["symbols"] = facts["symbols"][SIZE:]
    facts["sessions"][0]["goals"].clear()
    refused(path, facts, *["is listed, and not there"] * 3)
    facts["theories"].append({"file": W, "errors": ["syntax error"]})
    refused(path, facts)
    with pytest.raises(ValueError, match="syntax error"):
        claims.seal(path, facts)


# What is changed in the file, and what is said.
EDITED = [
    ("computes the double", "computes all", f"{W}:11: Small.twice'vc {OTHER}program twice (x:"),
    (r"(?<=Tuple.size  ).*", "0" * 16, f"{TRUSTED}:3: Tuple.size {OTHER}val size"),
    ("  The program .*", "", "Small.twice'vc has no sentence for its goal", OTHER),
    ("(Small.double .*)", r"\1  All.", "Small.double has a sentence, and no goal", OTHER),
    ("Small.twice.*\n", "", f"{W}:11: Small.twice'vc is not listed in proofs/claims.txt"),
    ("(Tuple.*)", r"\1\n\n\1", ":10: Tuple.size is listed twice, first in line 8"),
    ("(# trusted.*)", r"\1\n\1", ":8: why3/trusted/a.mlw is listed twice, first in line 7"),
    ("(Tuple.size) .*", r"\1", ":8: Tuple.size is no claim: expected a heading", "not listed"),
    ("(# small.mlw)\n", r"Small.a  0123456789abcdef\n\1\n", ":1: Small.a is no claim", "listed"),
    ("(# trusted/a.mlw\n)\\S+", r"\1Tuple.s", "Tuple.size is not listed", ":8: Tuple.s is listed"),
    ("# witness_small.mlw\n.*\n", "", "Idle.one'vc is not listed", f"{WITNESS} is not listed in"),
    ("$(?!\n)", "\n# gone.mlw\n", ":13: why3/gone.mlw is listed, and not there"),
]


@pytest.mark.parametrize("case", EDITED)
def test_a_file_that_was_edited_is_refused(path: Path, facts: Any, case: Any) -> None:
    old, new, *expected = case
    edit(path, old, new)
    refused(path, facts, *expected)


def test_without_a_file_nothing_is_accepted(tmp_path: Path, facts: Any) -> None:
    refused(tmp_path / "claims.txt", facts, *["is not listed"] * 8)


def test_sealing_keeps_order_and_tells_what_is_to_be_compared(path: Path, facts: Any) -> None:
    facts["symbols"][TWICE].update(statement="let twice\n  ensures { true }")
    facts["symbols"][POSITIVE].update(name="negative", goal="negative")
    facts["sessions"][0]["goals"][0].update(name="negative")
    facts["symbols"].append(symbol(W, 8, "type", "Small.t", "type t", None))
    changes = claims.seal(path, facts)
    twice = "  The program computes the double.\n  let twice\n    ensures { true }"
    told = [
        f"{W}:7: Small.negative: new\n  forall x. 0 < x <-> 0 < double x",
        f"{W}:8: Small.t: new\n  type t",
        f"{W}:11: Small.twice'vc: changed\n{twice}",
        f"{W}: Small.positive: gone\n  A number is positive exactly if its double is.",
    ]
    assert list(review.told(changes, {})) == told
    # Beside what was sealed before.
    old = {(W, "Small.t"): ("", "type t"), (W, "Small.twice'vc"): ("It doubles.", "let twice\n  x")}
    told[1:3] = [
        f"{W}:11: Small.twice'vc: changed\n"
        "  [-It doubles.-] {+The program computes the double.+}\n"
        "  let twice\n    [-x-] {+ensures { true }+}",
    ]
    same = "1 lines say what they said: the way in which that is sealed has changed"
    assert list(review.told(changes, old)) == [*told, same]
    text = path.read_text(encoding="utf-8")
    expected = re.sub("(?m)^(Small.)positive.*", r"\1negative  SEAL\n\1t         SEAL", UNSEALED)
    assert re.sub("[0-9a-f]{16}", "SEAL", text) == expected.replace("0" * 16, "SEAL")
    refused(path, facts, f"{W}:7: Small.negative has no sentence for its goal")


def test_what_is_not_well_formed_is_not_sealed(path: Path, facts: Any) -> None:
    edit(path, "(# witness.*)", r"\1\nslip")
    with pytest.raises(ValueError, match=r"claims.txt:\d+: slip is no claim"):
        claims.seal(path, facts)
    edit(path, "# witness.*\nslip\n.*", "")
    with pytest.raises(ValueError, match=f"{WITNESS} has no heading in {claims.CLAIMS}"):
        claims.seal(path, facts)


def test_documents_name_goals_that_exist_where_they_say(tmp_path: Path, facts: Any) -> None:
    link = "[`Small.{}`](../why3/{}), "
    right = [("positive", "small.mlw"), ("twice", "small.mlw")]
    wrong = [("double", "small.mlw"), ("twice", "x.mlw"), ("twice", "small.mlw#L11")]
    text = "[a.mlw](../why3/trusted/a.mlw), [`np.pad`](https://a.b) "
    (tmp_path / "proofs").mkdir()
    document = tmp_path / "proofs" / "FINDINGS.md"
    document.write_text(text + "".join(link.format(*name) for name in right + wrong))
    assert list(map(str, claims.document_faults(tmp_path, facts))) == [
        f"proofs/FINDINGS.md: Small.{name} is no goal of why3/{file}" for name, file in wrong
    ]


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted(ROOT.glob("tests/laws/test_*.py")), ids=lambda p: p.stem)
def test_every_test_of_a_law_names_theorems_of_its_theories(path: Path) -> None:
    keys = [line.key for line in claims.read(ROOT / claims.CLAIMS).lines]
    claimed = {(theory.removeprefix("why3/"), goal.partition(".")[2]) for theory, goal in keys}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            text = ast.get_docstring(node) or ""
            theories = re.findall(r"\b\w+/\w+\.mlw", text)
            theorems = re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b(?!\.mlw)", text)
            assert theorems, node.name
            for name in theorems:
                goals = {(theory, name + end) for theory in theories for end in ("", "'vc")}
                assert goals & claimed, f"{node.name}: {name} is no goal of {theories}"
