"""What is stated has been reviewed: whatever is changed behind the back of the proofs is refused.

A session that is brought up to date with a tampered theory proves it, so that only the statements,
the sentences and their seals can tell. Where a test says how many failures there are, there is no
other reason to refuse the tree.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import assumptions
import seals
import theorems as listed
from facts import Facts
from gate_tree import (
    append,
    edit,
    facts_of,
    fails,
    proved_tree,
    reviewed,
    run_gate,
    seal,
    small,
    theorems,
    theory,
)

__all__ = ["proved_tree", "small"]


TRUE = "says nothing: it is true whatever its symbols mean"
OTHER = "says something else than what was reviewed: its statement has changed since"


def update(tree: Path) -> None:
    """Bring the session up to date, which proves everything."""
    result = run_gate(tree, "--update")
    assert result.returncode == 0, result.stdout + result.stderr


def test_what_is_sealed(small: Path) -> None:
    text = reviewed(small).read_text(encoding="utf-8")
    names = re.findall(r"^(Small\.\S+|Tuple\.\S+)  +[0-9a-f]{16}  ([0-9a-f]{16}|-)$", text, re.M)
    assert [name for name, _ in names] == [
        "Small.double_positive",
        "Small.double_injective",
        "Small.twice'vc",
        "Small.double",
        "Tuple.size",
    ]
    assert [name for name, sentence in names if sentence == "-"] == ["Small.double", "Tuple.size"]
    assert (
        seal(small) == "\n\nproofs/reviewed.txt: 0 changes, to be read before they are committed\n"
    )
    assert reviewed(small).read_text(encoding="utf-8") == text


# --- tampering --------------------------------------------------------------------------------


def test_a_theorem_weakened_to_true(small: Path) -> None:
    edit(theory(small), "forall x. 0 < x <-> 0 < double x", "forall x: int. x = x")
    update(small)
    fails(
        small,
        f"why3/small.mlw:7: Small.double_positive {TRUE} (forall x: int. x = x)",
        f"why3/small.mlw:7: Small.double_positive {OTHER} (now: forall x: int. x = x)",
        "gate: FAILED, 2 failures",
    )


def test_a_contract_and_a_definition_changed(small: Path) -> None:
    edit(theory(small), "ensures { result = double x }", "ensures { result = double x \\/ x = 0 }")
    edit(theory(small), "double (x: int) : int = x + x", "double (x: int) : int = 2 * x")
    update(small)
    fails(
        small,
        f"why3/small.mlw:11: Small.twice'vc {OTHER} (now: let twice (x: int) : int ...)",
        f"why3/small.mlw:5: Small.double {OTHER} (now: function double (x: int) : int = 2 * x)",
        "gate: FAILED, 2 failures",
    )
    told = seal(small)
    assert "why3/small.mlw:5: Small.double: statement changed\n  | function double" in told
    assert "proofs/reviewed.txt: 2 changes" in told


def test_what_no_prover_looks_at(small: Path) -> None:
    """A sentence, the contract of what has no body, and a seal of what is not there."""
    edit(theorems(small), "The program computes the double.", "The program computes everything.")
    trusted = small / "why3" / "trusted" / "python.mlw"
    edit(trusted, "ensures { 0 <= result }", "ensures { 0 < result }")
    append(reviewed(small), "\n# small.mlw\nSmall.triple'vc  0000000000000000  0000000000000000\n")
    fails(
        small,
        "proofs/theorems.txt:5: Small.twice'vc has a sentence in theorems.txt that was reworded "
        "since it was reviewed",
        f"why3/trusted/python.mlw:3: Tuple.size {OTHER} (now: val size (x: int) : int ...)",
        "Small.triple'vc was reviewed, but is there no more, in why3/small.mlw",
        "gate: FAILED, 3 failures",
    )
    assert "Small.twice'vc: sentence reworded\n  The program computes everything." in seal(small)


def test_a_goal_that_nobody_reviewed(small: Path) -> None:
    append(theory(small), "\nmodule More\n  use int.Int\n  goal less: 1 < 2\nend\n")
    append(theorems(small), "More.less  One is less than two.\n")
    update(small)
    fails(
        small,
        "why3/small.mlw:19: More.less was never reviewed (gate.py --seal)",
        "gate: FAILED, 1 failures",
    )


def test_an_axiom_and_a_val_slipped_in(small: Path) -> None:
    edit(theory(small), "\n\nend\n", "\n  axiom a: 1 = 2\n  val slipped (x: int) : int\nend\n")
    fails(
        small,
        "why3/small.mlw:14: Small.a is taken for granted: axiom (none is allowed here)",
        "why3/small.mlw:15: Small.slipped is taken for granted: val (none is allowed here)",
        "why3/small.mlw:14: Small.a was never reviewed (gate.py --seal)",
        "why3/small.mlw:15: Small.slipped was never reviewed (gate.py --seal)",
    )


def test_a_branch_that_no_goal_shows_to_be_unreachable(small: Path) -> None:
    append(theory(small), "\nmodule More\n  let f (x: int) : int = return x; absurd\nend\n")
    fails(
        small,
        "why3/small.mlw:18: More.f claims by absurd that this is not reached, and there is no goal "
        "that proves it",
    )


def test_a_branch_that_a_goal_shows_to_be_unreachable(small: Path) -> None:
    text = "let f (x: int) : int = if x < x then absurd else x + 1"
    append(theory(small), f"\nmodule More\n  use int.Int\n  {text}\nend\n")
    facts = facts_of(small, "why3/small.mlw")
    (audit,) = facts["audit"]
    assert ("absurd", "f", 19) in [(a["kind"], a["name"], a["line"]) for a in audit["assumed"]]
    assert assumptions.unreached_faults(facts) == []


# --- the standard library ---------------------------------------------------------------------


def test_what_the_library_takes_for_granted(small: Path) -> None:
    (small / "why3" / "tuples.mlw").write_text(
        "module Tuples\n  use seq.Seq\n  use small.Small\n  let id (s: seq 'a) : seq 'a = s\nend\n",
        encoding="utf-8",
    )
    printed = run_gate(small).stdout
    path = small / "build" / "gate" / "facts.json"
    library = json.loads(path.read_text(encoding="utf-8"))["library"]
    axioms = [granted for granted in library if granted["kind"] == "axiom"]
    assert [(granted["module"], granted["used_by"]) for granted in axioms] == [
        ("seq.Seq", ["why3/tuples.mlw"])
    ]
    kinds = {(granted["module"], granted["kind"]) for granted in library}
    assert {("int.Int", "val"), ("int.Int", "lemma"), ("seq.Seq", "contract")} <= kinds
    assert ("why3.BuiltIn", "type without definition") in kinds
    assert not any(module.startswith("small") for module, _ in kinds)
    everywhere = ["why3/small.mlw", "why3/trusted/python.mlw", "why3/tuples.mlw"]
    used_by = {granted["module"]: granted["used_by"] for granted in library}
    assert used_by["int.Int"] == used_by["why3.BuiltIn"] == everywhere
    counted = re.search(
        r"standard library: 1 axioms, (\d+) declarations of (\d+) modules taken for granted, "
        r"(\d+) lemmas and contracts proved elsewhere \(in build/gate/facts\.json\)",
        printed,
    )
    assert counted
    assert 1 + int(counted[1]) + int(counted[3]) == len(library)
    assert int(counted[2]) == len({granted["module"] for granted in library})


# --- the file ---------------------------------------------------------------------------------


def read(tmp_path: Path, text: str) -> seals.Seals:
    """Read seals with this text."""
    path = tmp_path / "reviewed.txt"
    path.write_text(text, encoding="utf-8")
    return seals.read(path, "proofs/reviewed.txt")


def test_missing_seals(tmp_path: Path) -> None:
    (failure,) = seals.read(tmp_path / "reviewed.txt", "proofs/reviewed.txt").failures
    assert str(failure) == "proofs/reviewed.txt: seals nothing (gate.py --seal)"


def test_a_line_that_is_no_seal(tmp_path: Path) -> None:
    (failure,) = read(tmp_path, "# a.mlw\nM.a  0\nM.b  1  -\n").failures
    assert str(failure).startswith("proofs/reviewed.txt:2: M.a is no seal: a name, the hash of")


def test_something_sealed_twice(tmp_path: Path) -> None:
    (failure,) = read(tmp_path, "# a.mlw\nM.a  0  -\n\nM.a  0  -\n").failures
    assert str(failure) == "proofs/reviewed.txt:4: M.a is sealed twice, first in line 2"


def nothing_there(tree: Path) -> tuple[Facts, listed.Claims]:
    """Give facts and sentences of the small tree, which has no other theories."""
    facts = facts_of(tree, "why3/small.mlw")
    return facts, listed.read(theorems(tree), "proofs/theorems.txt")


def test_only_what_is_looked_at_is_compared(small: Path, tmp_path: Path) -> None:
    facts, claims = nothing_there(small)
    own = reviewed(small).read_text(encoding="utf-8")
    found = read(tmp_path, own + "\n# other.mlw\nM.a  0  -\n\n# gone.mlw\nM.b  0  -\n")
    files = ["why3/small.mlw", "why3/other.mlw", "why3/trusted/python.mlw"]
    (failure,) = seals.compare(facts, claims, found, files)
    assert failure.subject == "M.b"
    assert failure.what == "was reviewed under why3/gone.mlw, which is no theory"
    renewed = seals.renewed(facts, claims, found, files)
    assert "# other.mlw\nM.a  0  -\n" in renewed
    assert "gone.mlw" not in renewed
    assert renewed.startswith(own[: own.index("# trusted")])


def test_a_goal_that_is_none_any_more(small: Path) -> None:
    edit(theory(small), "lemma double_injective", "axiom double_injective")
    facts, claims = nothing_there(small)
    found = seals.read(reviewed(small), "proofs/reviewed.txt")
    (failure,) = seals.compare(facts, claims, found, ["why3/small.mlw", "why3/trusted/python.mlw"])
    assert (
        str(failure) == "why3/small.mlw:9: Small.double_injective was a goal when it was reviewed"
    )


def test_a_goal_without_a_sentence_is_not_sealed(small: Path) -> None:
    edit(theorems(small), "Small.twice'vc          The program computes the double.\n", "")
    result = run_gate(small, "--seal")
    assert result.returncode == 1
    assert (
        "why3/small.mlw:11: Small.twice'vc: not sealed: it has no sentence in proofs/theorems.txt"
        in result.stdout
    )
    assert "Small.twice'vc" not in reviewed(small).read_text(encoding="utf-8").split("\n# ", 1)[1]
