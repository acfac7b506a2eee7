"""The list of mutants is well formed, and the outcome of each mutant is reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from small_tree import MUTANT, edit, run, same, small

from evidence import mutants
from evidence.review import recorded
from gate.closed import ROOT
from gate.theories import theory_files

__all__ = ["small"]

LIST = f"""{MUTANT}
other-goal = [": int = x + x{{+ + x+}}",
  "Small.double_positive", "The double is the triple, which keeps it positive."]
renamed = ["forall [-x-]{{+z+}}. 0 < [-x-]{{+z+}} <-> 0 < double [-x-]{{+z+}}",
  "Small.double_positive", "Nothing is wrong."]
untyped = [": int = x [-+-]{{+=+}} x", "", "The double is a truth value."]

["why3/kernel/trusted.mlw"]
other-theory = ["result <-> x [-=-]{{+<+}} y",
  "Calls.sized'vc", "A number is not the same as itself."]
"""


def test_what_becomes_of_each_mutant(small: Path) -> None:
    path = small / mutants.LIST
    path.write_text(LIST, encoding="utf-8")
    unknown = run(small, "mutants", "--only", "triples")
    assert unknown.returncode == 1
    assert unknown.stdout.startswith(f"{mutants.LIST}: triples is not listed\n")
    assert run(small, "mutants", "--only", "triple").returncode == 0
    assert not (small / mutants.REPORT).exists()
    before = mutants.sources(small)
    done = run(small, "mutants")
    assert done.returncode == 1, done.stdout + done.stderr
    found: Any = {result["id"]: result for result in mutants.results(small) or ()}
    twice, sized = "Small.twice'vc", "Calls.sized'vc"
    assert {name: (result["verdict"], result["goal"]) for name, result in found.items()} == {
        "triple": ("killed", twice),
        "other-goal": ("killed", twice),
        "other-theory": ("killed", sized),
        "renamed": ("survived", None),
        "untyped": ("does not type-check", None),
    }
    assert found["triple"]["place"] == "why3/small.mlw:5"
    assert found["triple"]["part"] == "VC for twice, why3/small.mlw:14"
    assert found["untyped"]["part"].startswith("why3/small.mlw:5: ")
    assert done.stdout.splitlines()[-3:-1] == [
        "why3/small.mlw:5: other-goal is not noticed by Small.double_positive, as "
        f"proofs/mutants.toml has it, but by {twice}",
        "why3/small.mlw:8: renamed survived: no goal depends on what it changes. Nothing is wrong.",
    ]
    assert re.fullmatch(r"mutants: FAILED; 5 of 5, \d+ s", done.stdout.splitlines()[-1])
    assert list((small / "build" / "mutants").iterdir()) == []
    assert mutants.sources(small) == before
    edit(path, "Nothing is wrong.", "All is well.")
    assert mutants.results(small) is None


def test_a_faulty_entry_is_named(small: Path) -> None:
    (mutant,) = mutants.read(small)
    occurs = "changes a text that occurs {} times in why3/{}.mlw, expected once"
    for changes, said in (
        ({}, []),
        ({"change": "forall{+ +}"}, [occurs.format(2, "small")]),
        ({"file": "why3/no.mlw"}, [occurs.format(0, "no")]),
        ({"change": mutant.old}, ["changes nothing"]),
        ({"goal": "Small.no"}, ["is to be noticed by Small.no, of which no proofs are recorded"]),
    ):
        changed: Any = changes
        faults = mutants.faults([mutant._replace(**changed)], small, recorded(small))
        same(list(map(str, faults)), [f"proofs/mutants.toml: triple {part}" for part in said])


def test_the_list_is_well_formed_and_about_every_concept() -> None:
    """Every theory is changed but those that only prove, name a type, show examples or witness."""
    listed = mutants.read(ROOT)
    assert list(map(str, mutants.faults(listed, ROOT, recorded(ROOT)))) == []
    (failure,) = mutants.faults([*listed, listed[0]], ROOT, recorded(ROOT))
    assert str(failure) == f"proofs/mutants.toml: {listed[0].id} is the name of 2 mutants"
    proofs = (
        r"sonnx/(clauses|order)|numpy/order|axes/(answer|operator_laws|openvino_outcome)|adjoint/row_major|"
        r"kernel/laws|memory/plan_bounds|c/plan_handed_on"
    )
    proving = re.compile(rf"why3/({proofs}|\w+/((\w+_)?examples\w*|witness_\w+))\.mlw")
    files = {file for file in theory_files(ROOT) if not proving.fullmatch(file)}
    assert files - {mutant.file for mutant in listed} == set()
    assert len(listed) >= 60
