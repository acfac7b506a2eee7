"""The trace of a small tree has no orphans; the gate names each kind of orphan."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import small_tree
from small_tree import files, write

from gate import trace
from gate.facts import Facts

FILES = files(r'''
== why3/trace.toml
[Small]
title = "The small text"
E_Small_any_Step_010 = {where = "Line 1", says = "Everything\n holds."}
E_Small_any_Step_020 = {where = "Line 2", says = "A program runs."}
E_Small_any_Step_030 = {where = "Line 3", says = "Small.", reason = "So."}
[derived]
title = "Claimed, and in no text"
E_Small_any_Derived_010 = {says = "It holds again.", why = "It is used."}
== why3/room/small.mlw
(** {1 Small (* a comment in one *)} *)

(** {2 What holds}

    Supports [E_Small_any_Derived_010]. *)
module Small
  constant opening : string = "(*"

  (** A quote, ", and (*) are 7. [E_Small_any_Step_010] *)
  predicate holds (x: int) = x = x

  (** It does. [E_Small_any_Step_010]
      [E_Small_any_Derived_010] *)
  lemma holds_always: forall x. holds x
  lemma holds_again: forall x. holds x
  (** [E_Small_any_Step_020] *)
  let run (x: int) : int
    ensures { result = x }
  = x
end
== python/whycast/__init__.py
from whycast import more
from whycast._inside import run
__version__ = "1"
__all__ = ["Refusal", "__version__", "more", "run"]
class Refusal(Exception):
    """[E_Small_any_Step_030]"""
== python/whycast/_inside.py
"""Inside."""
seven = 7; __all__ = ["hidden"]
def run(x: int) -> int:
    """Run.

    Clause: [E_Small_any_Step_020]
    """
    return x
def hidden() -> None:
    """Nobody calls this."""
== python/whycast/more.py
__all__ = ["again"]
def again() -> None:
    """Again."""

    # [E_Small_any_Derived_010]
== python/whycast/_kernel.py
"""[E_Small_any_Nowhere_010]"""
== tests/room/test_small.py
"""Tests. [E_Small_any_Step_010]"""
def helper() -> None:
    """Help."""
def test_it() -> None:
    """[E_Small_any_Step_020]"""
''')

T, W, INIT, INNER, OUTER, _, TESTS = FILES
FIRST, SECOND, THIRD = (f"E_Small_any_Step_0{number}0" for number in (1, 2, 3))
DERIVED = "E_Small_any_Derived_010"
UNKNOWN = f"is a tag of no clause in {T}: expected {trace.FORM}"
NOTHING = "is a tag of nothing: expected it in a doc comment"
AGAIN = "  lemma holds_again"
NO_CLAUSE = "is public and belongs to no clause: no tag stands in or below its docstring"


def facts_of(root: Path) -> Facts:
    source = (root / W).read_text(encoding="utf-8")
    goals, symbols = list[Any](), list[Any]()
    for match in re.finditer(r"(?m)^  (predicate|lemma|let) (\w+)", source):
        line, name = source.count("\n", 0, match.start()) + 1, match[2]
        kind = "program" if match[1] == "let" else match[1]
        symbols.append({"file": W, "line": line, "module": "Small", "name": name, "kind": kind})
        if kind != "predicate":
            goal = name if kind == "lemma" else f"{name}'vc"
            tree = {"name": goal, "file": W, "line": line}
            goals.append({"module": "Small", "name": goal, "tree": tree})
    return cast(Facts, {"sessions": [{"file": W, "goals": goals}], "symbols": symbols})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def traced(tree: Path) -> tuple[Any, list[str]]:
    found, failures = trace.trace(facts_of(tree), tree)
    return found, [str(failure) for failure in failures]


def names(listed: list[dict[str, str]]) -> list[str]:
    return [named["name"] for named in listed]


def edit(tree: Path, *replaced: str) -> None:
    """Replace texts that occur once: file, old, new, and so on."""
    for name, old, new in zip(replaced[::3], replaced[1::3], replaced[2::3], strict=True):
        small_tree.edit(tree / name, old, new)


def test_what_belongs_to_each_clause(tree: Path) -> None:
    found, failures = traced(tree)
    assert failures == []
    assert found["texts"][0] == {"name": "Small", "title": "The small text"}
    first, second, third, derived = found["clauses"]
    assert (first["where"], first["says"]) == ("Line 1", "Everything holds.")
    assert first["definitions"] == [{"name": "Small.holds", "place": f"{W}:10"}]
    assert first["theorems"] == [{"name": "Small.holds_always", "place": f"{W}:14"}]
    assert first["tests"] == [{"name": TESTS, "place": f"{TESTS}:1"}]
    assert names(first["supporting"]) == names(first["programs"]) == []
    assert names(second["theorems"]) == ["Small.run'vc"]
    assert names(second["programs"]) == ["Small.run", "whycast.run"]
    assert names(second["tests"]) == [f"{TESTS}::test_it"]
    assert (third["reason"], names(third["programs"])) == ("So.", ["whycast.Refusal"])
    assert (derived["where"], derived["why"]) == ("", "It is used.")
    assert names(derived["theorems"]) == ["Small.holds_always"]
    assert names(derived["supporting"]) == ["Small.holds_again"]
    assert names(derived["programs"]) == ["whycast.more.again"]
    (tree / T).unlink()
    assert traced(tree)[1][0].startswith(f"{T}: cannot be read, no clause is traced: ")


def test_a_tag_at_the_head_of_a_file_counts_where_there_is_no_narrower_one(tree: Path) -> None:
    edit(tree, W, "in one *)} *)", f"in one *)}} [{FIRST}] *)")
    found, failures = traced(tree)
    assert (failures, found["clauses"][0]["supporting"]) == ([], [])
    edit(tree, W, f"Supports [{DERIVED}].", "")
    found, failures = traced(tree)
    assert failures == []
    assert names(found["clauses"][0]["supporting"]) == ["Small.holds_again"]


CASES: list[tuple[tuple[str, ...], str]] = [
    # the data file
    ((T, "[Small]", "[Small"), f"{T}: cannot be read, no clause is traced"),
    ((T, 'title = "The small text"\n', ""), f"{T}: Small has no `title`: expected [text]"),
    ((T, "[Small]", "note = 1\n[Small]"), f"{T}: note has no `title`: expected [text]"),
    ((T, "_030", "_20"), f"{T}: E_Small_any_Step_20 is no identifier: expected {trace.FORM}"),
    ((T, DERIVED, FIRST), f"{T}: {FIRST} is of Small too"),
    ((T, ', says = "A program runs."', ""), f"{T}: {SECOND} has no `says`"),
    ((T, ', why = "It is used."', ""), f"{DERIVED} has no `why`"),
    # incomplete clauses
    ((W, f"It does. [{FIRST}]", ""), f"{FIRST} has no theorem, and no reason for that"),
    ((T, 'runs."', 'runs.", reason = "No."'), "having no theorem, but has Small.run'vc"),
    ((TESTS, f"[{FIRST}]", ""), f"{FIRST} has theorems, and no test"),
    (
        (T, "why =", 'reason = "-", why =', W, f"      [{DERIVED}]", "", OUTER, DERIVED, FIRST),
        f"{T}: {DERIVED} has no theorem, and no test",
    ),
    # theorems and public functions without a clause
    ((W, f"Supports [{DERIVED}].", ""), f"{W}:15: Small.holds_again belongs to no clause: "),
    ((INNER, f"Clause: [{SECOND}]", ""), f"{INNER}:3: whycast.run {NO_CLAUSE}"),
    ((INIT, f"[{THIRD}]", "Refused."), f"{INIT}:5: whycast.Refusal {NO_CLAUSE}"),
    ((INIT, "import run", "import seven", INIT, '"run"', '"seven"'), f".seven {NO_CLAUSE}"),
    # tags without an item
    ((W, f"7. [{FIRST}]", f"7. [{FIRST} "), f"{W}:9: [{FIRST} {UNKNOWN}"),
    ((TESTS, f"[{SECOND}]", "[E_small_any_Step_020]"), f"E_small_any_Step_020 {UNKNOWN}"),
    ((W, "(** A quote", "(* A quote"), f"{W}:9: {FIRST} {NOTHING}"),
    ((W, AGAIN, f"(** [{FIRST}] *)\nuse int.Int\n{AGAIN}"), f"{W}:15: {FIRST} {NOTHING}"),
    ((INNER, '"""Inside."""', f'"""[{FIRST}]"""'), f"{INNER}:1: {FIRST} {NOTHING}"),
    ((TESTS, "Help.", f"[{FIRST}]"), f"{TESTS}:3: {FIRST} {NOTHING}"),
]


def test_a_test_with_tags_that_does_not_run_is_named(tree: Path) -> None:
    test = FILES[TESTS]
    skipped = test + '    import pytest\n    pytest.skip("%s")\ndef test_more() -> None: ...\n'
    absent = "a and b are not installed: pip install 'whycast[oracle]'"
    added = {"test_late": skipped % "Late.", "test_absent": skipped % absent, "test_unseen": test}
    added["test_tool"] = skipped % "a is not installed: pip install a b-c"
    # The trace reads this file, but pytest does not collect it.
    added["conftest"] = "collect_ignore = ['test_unseen.py']\n"
    write(tree, {f"tests/room/{name}.py": text for name, text in added.items()})
    write(tree, {"pyproject.toml": ""})
    command = (sys.executable, "-B", "-m", "pytest", "-q", f"--junitxml={trace.REPORT}", "tests")
    subprocess.run(command, cwd=tree, check=False, stdout=subprocess.DEVNULL)
    expected = ["test_absent.py::test_it has tags of clauses, and did not run"]
    expected += ["test_late.py::test_it was skipped: Late."]
    expected += ["test_tool.py::test_it has tags of", "test_unseen.py has tags of"]
    expected += ["test_unseen.py::test_it has tags of"]
    small_tree.same(list(map(str, trace.untested(tree))), expected)


@pytest.mark.parametrize(("replaced", "expected"), CASES)
def test_orphan(tree: Path, replaced: tuple[str, ...], expected: str) -> None:
    edit(tree, *replaced)
    failures = traced(tree)[1]
    assert any(expected in failure for failure in failures), failures
