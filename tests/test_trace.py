"""The trace has no orphans, and each kind of orphan is found and named.

But for the last test the trees are small: a theory, a package of two modules and a test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import clauses
import gate
import prooftool
import pytest
import sources
from facts import Facts, Goal, Named, Symbol, Trace

TRACE = """\
[[text]]
name = "Small"
op = "Small"
title = "The small text"
clauses = 3

[[clause]]
id = "E_Small_any_Step_010"
text = "Small"
where = "First line"
says = "Everything
holds."

[[clause]]
id = "E_Small_any_Step_020"
text = "Small"
where = "Second line"
says = "A program runs."

[[clause]]
id = "E_Small_any_Step_030"
text = "Small"
where = "Third line"
says = "The text is small."
reason = "About the text."

[[text]]
name = "derived"
title = "Claimed, and in no text"
clauses = 1

[[clause]]
id = "E_Small_any_Derived_010"
text = "derived"
says = "What holds holds again."
why = "It is used."
""".replace('"Everything\nholds."', '"""Everything\nholds."""')

THEORY = """\
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
"""

PACKAGE = '''\
"""Small."""

from whycast import more
from whycast._inside import run

__version__ = "1"
__all__ = ["Refusal", "__version__", "more", "run"]


class Refusal(Exception):
    """[E_Small_any_Step_030]"""
'''

INSIDE = '''\
"""Inside."""

seven = 7


def run(x: int) -> int:
    """Run.

    Clause: [E_Small_any_Step_020]
    """
    return x


def hidden() -> None:
    """Nobody calls this."""
'''

MORE = '''\
"""More."""

__all__ = ["again"]


def again() -> None:
    """Again. [E_Small_any_Derived_010]"""
'''

TEST = '''\
"""Tests.

[E_Small_any_Step_010]
"""


def helper() -> None:
    """Help."""


def test_it() -> None:
    """[E_Small_any_Step_020]"""
'''

FILES = {
    clauses.TRACE: TRACE,
    "why3/small.mlw": THEORY,
    "python/whycast/__init__.py": PACKAGE,
    "python/whycast/_inside.py": INSIDE,
    "python/whycast/_kernel.py": '"""[E_Small_any_Nowhere_010]"""\n',
    "python/whycast/more.py": MORE,
    "tests/test_small.py": TEST,
}

DECLARATION = re.compile(r"(?m)^  (predicate|lemma|let) (\w+)")
KINDS = {"predicate": "predicate", "lemma": "lemma", "let": "program"}


def facts_of(root: Path) -> Facts:
    """Give what the gate would tell of the small theory."""
    source = (root / "why3" / "small.mlw").read_text(encoding="utf-8")
    goals: list[Goal] = []
    symbols: list[Symbol] = []
    for match in DECLARATION.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        kind, name = KINDS[match[1]], match[2]
        goal = name if kind == "lemma" else f"{name}'vc"
        symbols.append(
            {
                "file": "why3/small.mlw",
                "line": line,
                "module": "Small",
                "name": name,
                "kind": kind,
                "ghost": False,
                "statement": "",
                "hypotheses": 0,
            }
        )
        if kind != "predicate":
            tree = {"name": goal, "line": line}
            goals.append({"module": "Small", "goal": goal, "tree": tree})  # type: ignore[typeddict-item]
    return {"theories": [{"file": "why3/small.mlw", "goals": goals}], "symbols": symbols}  # type: ignore[typeddict-item]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a small tree without orphans."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


def traced(tree: Path) -> tuple[Trace, list[str]]:
    """Give the trace of a tree, and what is wrong with it."""
    trace, failures = clauses.trace(facts_of(tree), tree)
    return trace, [str(failure) for failure in failures]


def names(listed: list[Named]) -> list[str]:
    """Give the names without the places."""
    return [named["name"] for named in listed]


def test_what_belongs_to_each_clause(tree: Path) -> None:
    trace, failures = traced(tree)
    assert failures == []
    assert trace["texts"] == [
        {"name": "Small", "title": "The small text"},
        {"name": "derived", "title": "Claimed, and in no text"},
    ]
    first, second, third, derived = trace["clauses"]
    assert first == {
        "id": "E_Small_any_Step_010",
        "text": "Small",
        "where": "First line",
        "says": "Everything holds.",
        "reason": "",
        "why": "",
        "definitions": [{"name": "Small.holds", "place": "why3/small.mlw:11"}],
        "theorems": [{"name": "Small.holds_always", "place": "why3/small.mlw:15"}],
        "supporting": [],
        "programs": [],
        "tests": [{"name": "tests/test_small.py", "place": "tests/test_small.py:1"}],
    }
    assert names(second["theorems"]) == ["Small.run'vc"]
    assert second["programs"] == [
        {"name": "Small.run", "place": "why3/small.mlw:20"},
        {"name": "whycast.run", "place": "python/whycast/_inside.py:6"},
    ]
    assert names(second["tests"]) == ["tests/test_small.py::test_it"]
    assert (third["reason"], names(third["programs"])) == ("About the text.", ["whycast.Refusal"])
    assert names(derived["theorems"]) == ["Small.holds_always"]
    assert names(derived["supporting"]) == ["Small.holds_again"]
    assert names(derived["programs"]) == ["whycast.more.again"]
    assert clauses.summary(trace) == (
        "trace: 3 clauses of 1 texts, 1 derived; 2 main theorems, 1 supporting, 4 programs, 2 tests"
    )


def test_a_tag_at_the_head_of_a_file_counts_where_there_is_no_narrower_one(tree: Path) -> None:
    edit("why3/small.mlw", "in one *)} *)", "in one *)} [E_Small_any_Step_010] *)")(tree)
    trace, failures = traced(tree)
    assert failures == []
    assert trace["clauses"][0]["supporting"] == []
    edit("why3/small.mlw", "Supports [E_Small_any_Derived_010].", "")(tree)
    trace, failures = traced(tree)
    assert failures == []
    assert names(trace["clauses"][0]["supporting"]) == ["Small.holds_again"]


# --- what is found ----------------------------------------------------------------------------


def edit(name: str, *replaced: str) -> Callable[[Path], None]:
    """Replace texts, each of which occurs once, by the one after it."""

    def change(tree: Path) -> None:
        text = (tree / name).read_text(encoding="utf-8")
        for old, new in zip(replaced[::2], replaced[1::2], strict=True):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (tree / name).write_text(text, encoding="utf-8")

    return change


def without(number: str) -> Callable[[Path], None]:
    """Take a clause out of the data file."""
    pattern = re.compile(rf'\[\[clause\]\]\nid = "{number}".*?(?=^\[\[|\Z)', re.S | re.M)

    def change(tree: Path) -> None:
        text, count = pattern.subn("", (tree / clauses.TRACE).read_text(encoding="utf-8"))
        assert count == 1
        (tree / clauses.TRACE).write_text(text, encoding="utf-8")

    return change


def remove(name: str) -> Callable[[Path], None]:
    """Take a file away."""
    return lambda tree: (tree / name).unlink()


T, W = clauses.TRACE, "why3/small.mlw"
FIRST, SECOND = "E_Small_any_Step_010", "E_Small_any_Step_020"
FORM = f"expected {clauses.FORM}"
TAG_FORM = f"is no tag: expected [{clauses.FORM}]"
NOTHING = "is a tag of nothing: expected it in "

CASES: list[tuple[Callable[[Path], None], list[str]]] = [
    # the data file
    (remove(T), [f"{T}: is missing: no clause is traced"]),
    (edit(T, "clauses = 3", "clauses ="), [f"{T}: cannot be read: "]),
    (
        edit(
            T, '[[clause]]\nid = "E_Small_any_Step_030', '[[ clause ]]\nid = "E_Small_any_Step_030'
        ),
        [f"{T}: cannot be read: expected each text under [[text]], each clause under [[clause]]"],
    ),
    (edit(T, "clauses = 3", "clauses = 4"), [f"{T}:1: Small has 3 clauses here, its head says 4"]),
    (edit(T, "clauses = 3\n", ""), [f"{T}:1: Small has no `clauses`"]),
    (edit(T, "clauses = 3", "clauses = 3\nurl = 1"), [f"{T}:1: Small has a field `url`"]),
    (
        edit(T, '[[text]]\nname = "Small', '[[note]]\n[[text]]\nname = "Small'),
        [f"{T}: has note, which the trace does not know"],
    ),
    (
        without(SECOND),
        [
            f"{T}:1: Small has 2 clauses here, its head says 3",
            f"{T}: {SECOND} is missing: the numbers of a zone go up by tens",
            f"why3/small.mlw:19: {SECOND} is a tag of no clause in {T}",
            f"python/whycast/_inside.py:9: {SECOND} is a tag of no clause in {T}",
            f"tests/test_small.py:12: {SECOND} is a tag of no clause in {T}",
        ],
    ),
    (without("E_Small_any_Step_030"), [f"{T}:1: Small has 2 clauses here, its head says 3"]),
    (edit(T, "_030", "_20"), [f"{T}:20: E_Small_any_Step_20 is no identifier: {FORM}"]),
    (edit(T, "_030", "_020"), [f"{T}:20: {SECOND} is there twice, first in line 14"]),
    (edit(T, "_030", "_035"), [f"{T}: E_Small_any_Step_030 is missing: the numbers of a zone go"]),
    (edit(T, f'{FIRST}"\ntext = "Small"', f'{FIRST}"\ntext = "Smal"'), ["is of the text `Smal`, "]),
    (edit(T, "E_Small_any_Step_03", "E_Other_any_Step_01"), ["whose identifiers begin with E_Sm"]),
    (edit(T, "any_Derived_01", "any_Extra_01"), ["the zone Derived is that of the text `derived`"]),
    (edit(T, "E_Small_any_Step_03", "E_Small_any_Derived_02"), ["is that of the text `derived`"]),
    (edit(T, 'says = "A program runs."\n', ""), [f"{T}:14: {SECOND} does not say what it states"]),
    (edit(T, "A program runs.", "A program runs"), ["in a sentence without its full stop"]),
    (edit(T, 'where = "Second line"\n', ""), [f"{SECOND} does not say where in Small it stands"]),
    (edit(T, 'why = "It is used."\n', ""), ["does not say why it is here (`why`)"]),
    (edit(T, "why =", 'where = "Line 4"\nwhy ='), ["but says where it stands in one (`where`)"]),
    (edit(T, "reason =", 'why = "So."\nreason ='), ["needs no other reason to be here (`why`)"]),
    (edit(T, "reason =", "raison ="), ["has a field `raison`, which the trace does not know"]),
    # clauses without what they need
    (
        edit(T, 'reason = "About the text."\n', ""),
        [f"{T}:20: E_Small_any_Step_030 has no theorem, and no reason for that"],
    ),
    (
        edit(W, f"It does. [{FIRST}]", "It does."),
        [f"{T}:7: {FIRST} has no theorem, and no reason for that"],
    ),
    (
        edit(T, '"A program runs."', '"A program runs."\nreason = "None."'),
        [f"{SECOND} has a reason for having no theorem, but has Small.run'vc"],
    ),
    (
        edit("tests/test_small.py", f"[{FIRST}]", ""),
        [f"{T}:7: {FIRST} has theorems, but neither a program nor a test"],
    ),
    # theorems and public functions without a clause
    (
        edit(W, "Supports [E_Small_any_Derived_010].", ""),
        [
            "why3/small.mlw:17: Small.holds_again belongs to no clause: neither it nor its module "
            "nor its file has a tag"
        ],
    ),
    (
        edit("python/whycast/_inside.py", f"Clause: [{SECOND}]", "Clause: none"),
        [
            "python/whycast/_inside.py:6: whycast.run is public and belongs to no clause: its "
            "docstring has no tag"
        ],
    ),
    (
        edit("python/whycast/more.py", "Again. [E_Small_any_Derived_010]", "Again."),
        ["python/whycast/more.py:6: whycast.more.again is public and belongs to no clause"],
    ),
    (
        edit(
            "python/whycast/__init__.py",
            "import run",
            "import run, seven",
            '"run"]',
            '"run", "seven"]',
        ),
        [
            "python/whycast/_inside.py: whycast.seven is public, and neither a function nor a "
            "class that could name its clause"
        ],
    ),
    (
        edit("python/whycast/__init__.py", "[E_Small_any_Step_030]", "Refused."),
        ["python/whycast/__init__.py:10: whycast.Refusal is public and belongs to no clause"],
    ),
    # tags that say nothing
    (
        edit(W, f"are 7. [{FIRST}]", "are 7. [E_Small_any_Step_090]"),
        [f"why3/small.mlw:10: E_Small_any_Step_090 is a tag of no clause in {T}"],
    ),
    (
        edit(W, f"are 7. [{FIRST}]", "are 7. [E_Small_Step_010]"),
        [f"why3/small.mlw:10: [E_Small_Step_010] {TAG_FORM}"],
    ),
    (
        edit(W, f"are 7. [{FIRST}]", f"are 7. [{FIRST} "),
        [f"why3/small.mlw:10: [{FIRST} {TAG_FORM}"],
    ),
    (
        edit("tests/test_small.py", f"[{SECOND}]", "[E_small_any_Step_020]"),
        [f"tests/test_small.py:12: [E_small_any_Step_020] {TAG_FORM}"],
    ),
    (
        edit("python/whycast/_inside.py", f"[{SECOND}]", "[E_Small_any_Step_2]"),
        [f"python/whycast/_inside.py:9: [E_Small_any_Step_2] {TAG_FORM}"],
    ),
    (
        edit(W, "(** A quote", "(* A quote"),
        [f"why3/small.mlw:10: {FIRST} {NOTHING}a doc comment right"],
    ),
    (
        edit(W, "  lemma holds_again", f"  (** [{FIRST}] *)\n  (** Yes. *)\n  lemma holds_again"),
        [f"why3/small.mlw:17: {FIRST} {NOTHING}a doc comment right before an item or a module"],
    ),
    (
        edit(W, "  lemma holds_again", f"  (** [{FIRST}] *)\n  use int.Int\n  lemma holds_again"),
        [f"why3/small.mlw:17: {FIRST} is a tag of nothing: Why3 sees no item that begins in line"],
    ),
    (
        edit("python/whycast/_inside.py", '"""Inside."""', f'"""[{FIRST}]"""'),
        [f"python/whycast/_inside.py:1: {FIRST} {NOTHING}the docstring of a function or class"],
    ),
    (
        edit("python/whycast/_inside.py", "return x", f"return x  # [{FIRST}]"),
        [f"python/whycast/_inside.py:11: {FIRST} {NOTHING}the docstring of a function or class"],
    ),
    (
        edit("tests/test_small.py", "Help.", f"[{FIRST}]"),
        [f"tests/test_small.py:8: {FIRST} {NOTHING}the docstring of a test"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), CASES)
def test_orphan(tree: Path, change: Callable[[Path], None], expected: list[str]) -> None:
    change(tree)
    _, failures = traced(tree)
    for message in expected:
        assert any(message in failure for failure in failures), failures


# --- the real tree ----------------------------------------------------------------------------


def facts_of_all() -> Facts:
    """Give the facts of all theories: those that `make` has left, if they are of these sources."""
    files = prooftool.theory_files()
    if gate.FACTS.exists():
        left = json.loads(gate.FACTS.read_text(encoding="utf-8"))
        about = [theory["file"] for theory in left["theories"]]
        if about == files and left.get("sources") == sources.digest(prooftool.ROOT):
            return cast(Facts, left)
    prooftool.build()
    return prooftool.goals(files)


def test_the_real_tree_has_no_orphans() -> None:
    trace, failures = clauses.trace(facts_of_all(), prooftool.ROOT)
    assert [str(failure) for failure in failures] == []
    listed = [text["name"] for text in trace["texts"]]
    assert listed[:5] == ["SONNX", "SONNX-1", "SONNX-0", "nGraph", "OpenVINO"]
    tests = {named["name"] for clause in trace["clauses"] for named in clause["tests"]}
    assert "tests/dialects/test_older_texts.py::test_predecessor" in tests
