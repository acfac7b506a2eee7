"""The gate lets a sound tree pass and names what is wrong with any other.

Most trees here are small, see gate_tree.py. The changes of `f` and of the list of theorems are made
in a copy of the real tree.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import provers
import pytest
from gate_tree import (
    ROOT,
    THEORY,
    append,
    edit,
    fails,
    passes,
    proved_tree,
    real,
    run_gate,
    seal,
    session,
    small,
    theorems,
    theory,
)

__all__ = ["proved_tree", "real", "small"]

# --- what is sound ----------------------------------------------------------------------------


def test_the_untouched_tree_passes(small: Path) -> None:
    printed = passes(small)
    assert re.search(r"why3/small\.mlw +3 +3 ", printed)
    assert "trusted, without a body: Tuple.size (why3/trusted/python.mlw:3)" in printed
    facts = json.loads((small / "build" / "gate" / "facts.json").read_text(encoding="utf-8"))
    assert facts["passed"] is True
    assert [goal["goal"] for goal in facts["theories"][0]["goals"]] == [
        "double_positive",
        "double_injective",
        "twice'vc",
    ]


def test_an_update_of_what_is_proved_changes_no_byte(small: Path) -> None:
    before = {path.name: path.read_bytes() for path in session(small).parent.iterdir()}
    assert run_gate(small, "--update").returncode == 0
    assert {path.name: path.read_bytes() for path in session(small).parent.iterdir()} == before
    assert set(before) == {"why3session.xml", "why3shapes.gz"}


def test_an_update_of_no_goal_fails(small: Path) -> None:
    assert run_gate(small, "--update", "--only", "Small.thrice").returncode == 1


def test_the_list_has_the_form_of_theorems_txt(small: Path) -> None:
    printed = run_gate(small, "--list").stdout
    assert printed.startswith("# small.mlw\n")
    assert re.search(r"^Small\.twice'vc +\(why3/small\.mlw:11\)$", printed, re.MULTILINE)


# --- proofs -----------------------------------------------------------------------------------


def test_a_weakened_lemma_makes_the_session_stale(small: Path) -> None:
    edit(theory(small), "0 < x <-> 0 < double x", "0 < x \\/ double x <= 0")
    fails(
        small,
        "why3/small.mlw:7: Small.double_positive is stale: it, or what it rests on, has changed",
        "the recorded proofs still prove it (make update)",
    )


def test_a_changed_definition_is_told_from_a_harmless_change(small: Path) -> None:
    edit(theory(small), ": int = x + x", ": int = x - x")
    printed = fails(small)
    assert re.search(r"small\.mlw:7: Small\.double_positive is stale: .* do not prove it", printed)


def test_an_update_proves_what_changed(small: Path) -> None:
    edit(theory(small), "0 < x <-> 0 < double x", "1 < x <-> 2 < double x")
    assert run_gate(small, "--update").returncode == 0
    seal(small)
    passes(small)


def test_a_goal_that_is_gone_leaves_a_stale_session(small: Path) -> None:
    edit(theory(small), "lemma double_positive: forall x. 0 < x <-> 0 < double x", "")
    edit(
        theorems(small),
        "Small.double_positive   A number is positive exactly if its double is.\n",
        "",
    )
    fails(small, "proofs/small: stale session: goal double_positive is not in why3/small.mlw")
    assert run_gate(small, "--update").returncode == 0
    seal(small)
    passes(small)


def test_an_unproved_goal(small: Path) -> None:
    append(
        theory(small),
        "\nmodule More\n  use int.Int\n  goal all_equal: forall x y: int. x = y\nend\n",
    )
    append(theorems(small), "More.all_equal  All numbers are equal.\n")
    update = run_gate(small, "--update", "--quick")
    assert update.returncode == 1
    assert re.search(
        r"UNPROVED +why3/small\.mlw:19 More\.all_equal .*Alt-Ergo: Unknown", update.stdout
    )
    fails(small, "why3/small.mlw:19: More.all_equal has no proof in the session")
    edit(
        session(small),
        '<goal name="all_equal">',
        '<goal name="all_equal" proved="true">'
        '<proof prover="0"><result status="valid" time="0.01"/></proof>',
    )
    fails(
        small,
        "why3/small.mlw:19: More.all_equal is not proved",
        "why3/small.mlw:19: More.all_equal has a recorded proof that does not replay: ",
    )


def test_an_unsound_transformation_in_a_session(small: Path) -> None:
    append(theory(small), "\nmodule More\n  goal wrong: false\nend\n")
    append(theorems(small), "More.wrong  Everything holds.\n")
    assert run_gate(small, "--update", "--quick").returncode == 1
    edit(
        session(small),
        '<goal name="wrong">',
        '<goal name="wrong" proved="true"><transf name="smoke_detector_top" proved="true">'
        '<goal name="wrong.0" proved="true">'
        '<proof prover="0"><result status="valid" time="0.01"/></proof></goal></transf>',
    )
    printed = fails(small, "More.wrong is taken apart by smoke_detector_top, which the gate does")
    assert "More.wrong is not proved" not in printed


def test_a_status_edited_in_a_session(small: Path) -> None:
    text = session(small).read_text(encoding="utf-8")
    session(small).write_text(text.replace('"valid"', '"unknown"', 1), encoding="utf-8")
    fails(small, "that proves nothing (recorded: Unknown")


def test_a_prover_version_edited_in_a_session(small: Path) -> None:
    edit(session(small), 'name="Alt-Ergo" version="2.0.0"', 'name="Alt-Ergo" version="2.3.0"')
    fails(small, "has a proof by Alt-Ergo 2.3.0; the lock pins Alt-Ergo 2.0.0")


def test_a_prover_of_another_version_than_the_lock_has(small: Path) -> None:
    lock = small / "proofs" / "provers" / "toolchain.toml"
    edit(lock, 'name = "Z3"\nversion = "4.8.12"', 'name = "Z3"\nversion = "4.8.13"')
    fails(
        small,
        "Z3 should answer version 4.8.13 as the lock has it, but answers: Z3 version 4.8.12",
        "build/why3.conf: Z3 is configured as 4.8.12; the lock pins 4.8.13",
    )


@pytest.mark.parametrize("text", ["Z3 version 4.8.12 - 64 bit", "4.8.12", "cvc 4.8.12."])
def test_a_version_is_recognised(text: str) -> None:
    assert provers.names_version(text, "4.8.12")


@pytest.mark.parametrize("text", ["14.8.12", "4.8.120", "4.8.12.1", "4x8.12", ""])
def test_a_longer_version_is_another_version(text: str) -> None:
    assert not provers.names_version(text, "4.8.12")


# --- sessions ---------------------------------------------------------------------------------


def test_a_deleted_session(small: Path) -> None:
    shutil.rmtree(session(small).parent)
    fails(small, "proofs/small: there is no session of the 3 goals of why3/small.mlw (make update)")


def test_deleted_shapes(small: Path) -> None:
    session(small).with_name("why3shapes.gz").unlink()
    fails(small, "proofs/small: why3shapes.gz is missing (make update)")


def test_a_session_that_is_not_xml(small: Path) -> None:
    session(small).write_text("<why3session", encoding="utf-8")
    fails(small, "why3/small.mlw: cannot be read: ")


def test_an_empty_session(small: Path) -> None:
    text = session(small).read_text(encoding="utf-8")
    emptied = re.sub(r"<file .*</file>", "", text, flags=re.DOTALL)
    assert emptied != text
    session(small).write_text(emptied, encoding="utf-8")
    fails(small, "why3/small.mlw:7: Small.double_positive has no proof in the session")


def test_a_stray_session(small: Path) -> None:
    shutil.copytree(session(small).parent, small / "proofs" / "old")
    fails(small, "proofs/old: stray directory: no theory with goals has this name")


def test_a_session_of_another_theory(small: Path) -> None:
    (small / "why3" / "other.mlw").write_text(THEORY, encoding="utf-8")
    edit(session(small), '"small.mlw"', '"other.mlw"')
    fails(small, "proofs/small: the session is of why3/other.mlw, not of why3/small.mlw")


def test_a_theory_that_is_not_well_typed(small: Path) -> None:
    edit(theory(small), "= x + x\n\nend", "= x + true\n\nend")
    fails(small, "why3/small.mlw: cannot be read: why3/small.mlw:13: This expression has type bool")


# --- the list of theorems ---------------------------------------------------------------------


def test_a_goal_removed_from_the_list(small: Path) -> None:
    edit(theorems(small), "Small.twice'vc          The program computes the double.\n", "")
    fails(small, "why3/small.mlw:11: Small.twice'vc is not listed in proofs/theorems.txt")


def test_a_goal_reworded_to_nothing(small: Path) -> None:
    edit(theorems(small), "          The program computes the double.", "")
    fails(small, "theorems.txt:5: Small.twice'vc has no sentence that says what it claims")


def test_a_listed_goal_that_does_not_exist(small: Path) -> None:
    append(theorems(small), "Small.triple'vc         The program computes the triple.\n")
    fails(small, "theorems.txt:6: Small.triple'vc is listed, but why3/small.mlw has no such goal")


def test_a_goal_listed_twice(small: Path) -> None:
    append(theorems(small), "Small.twice'vc          The program computes the double.\n")
    fails(small, "theorems.txt:6: Small.twice'vc is listed twice, first in line 5")


def test_a_goal_listed_under_another_theory(small: Path) -> None:
    edit(theorems(small), "# small.mlw", "# large.mlw")
    fails(
        small,
        "theorems.txt:3: Small.double_positive is listed under why3/large.mlw, which is no theory",
        "why3/small.mlw:7: Small.double_positive is not listed in proofs/theorems.txt",
    )


def test_a_missing_list(small: Path) -> None:
    theorems(small).unlink()
    fails(small, "proofs/theorems.txt: lists no theorem")


# --- what is taken for granted ----------------------------------------------------------------

# Kind, declaration, and the name of what is taken for granted.
ASSUMPTIONS = [
    ("axiom", "axiom a: 1 = 2", "a"),
    ("type without definition", "type t", "t"),
    ("symbol without definition", "function g int : int", "g"),
    ("val", "val g (x: int) : int", "g"),
    ("val", "val ghost constant c : int", "c"),
    ("any", "let g (x: int) : int = x + any int", "g"),
    ("assume", "let g (x: int) : int = assume { x = 0 }; x", "g"),
    ("assume", "let g (x: int) : int\n= let h (y: int) = assume { y = 0 }; y in h x", "g"),
    ("assume", "let ghost g (x: int) : int = assume { x = 0 }; x", "g"),
    ("assume", "let g (x: int) : int = ghost (assume { x = 0 }); x", "g"),
    ("diverges", "let rec g (x: int) : int diverges = g x", "g"),
    ("diverges", "let g (x: int) : int = while true do () done; x", "g"),
    ("diverges", "let g (x: int) : int\n= let rec h (y: int) : int diverges = h y in x", "g"),
    ("vc:divergent", "let rec g (x: int) : int variant { x } = [@vc:divergent] g x", "g"),
    (
        "meta",
        'function g (x: int) : int = x\nmeta "syntax_logic" function g, "0", 0',
        "syntax_logic",
    ),
]


@pytest.fixture(scope="session")
def audited(proved_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give what the gate says of a tree with everything that is not allowed, a module for each."""
    tree = Path(
        shutil.copytree(proved_tree, tmp_path_factory.mktemp("audit") / "small", symlinks=True)
    )
    for number, (_, declaration, _) in enumerate(ASSUMPTIONS):
        append(theory(tree), f"\nmodule M{number}\n  use int.Int\n{declaration}\nend\n")
    return fails(tree)


@pytest.mark.parametrize("number", range(len(ASSUMPTIONS)))
def test_something_taken_for_granted(audited: str, number: int) -> None:
    kind, _, name = ASSUMPTIONS[number]
    line = rf"why3/small\.mlw(:\d+)?: M{number}\.{name} is taken for granted: {kind} \(none is"
    assert re.search(line, audited)


def test_nothing_else_is_taken_for_granted(audited: str) -> None:
    # Why3 marks the body of a program that diverges with vc:divergent.
    assert audited.count("is taken for granted") == len(ASSUMPTIONS) + 2


def test_an_axiom_in_the_trusted_theory(small: Path) -> None:
    edit(small / "why3" / "trusted" / "python.mlw", "  val", "  axiom a: 1 = 2\n  val")
    fails(small, "why3/trusted/python.mlw:3: Tuple.a is taken for granted: axiom")


def test_an_axiom_that_is_cloned(small: Path) -> None:
    extra = "\nmodule M\n  clone relations.PartialOrder with type t = int, axiom .\nend\n"
    append(theory(small), extra)
    fails(
        small,
        "why3/small.mlw: M.PartialOrder.Trans is taken for granted: axiom (none is allowed here), "
        "cloned from ",
    )


def test_an_axiom_in_a_file_that_is_no_theory(small: Path) -> None:
    (small / "why3" / "hidden").mkdir()
    hidden = small / "why3" / "hidden" / "away.mlw"
    hidden.write_text("module Away\n  axiom a: false\nend\n", encoding="utf-8")
    edit(theory(small), "use int.Int", "use int.Int\n  use hidden.away.Away")
    fails(
        small,
        "why3/small.mlw: hidden.away.Away comes from why3/hidden/away.mlw, which is no theory",
    )


def test_a_missing_toolchain(small: Path) -> None:
    (small / "build" / "why3.conf").unlink()
    result = run_gate(small)
    assert result.returncode == 1
    assert "why3.conf is missing: `make tools` installs the toolchain" in result.stderr


# --- the real tree ----------------------------------------------------------------------------


def change_f(new: str) -> Callable[[Path], None]:
    """Make the text's f something else."""
    old = "function f (a b c: int) : int = if b = c then a else 0"
    return lambda tree: edit(
        tree / "why3" / "broadcast.mlw", old, f"function f (a b c: int) : int = {new}"
    )


def test_the_real_theory_of_broadcast_passes_in_a_copy(real: Path) -> None:
    passes(real, "broadcast")


@pytest.mark.parametrize("body", ["c", "if b = c then a else a"])
def test_a_weakened_f(real: Path, body: str) -> None:
    change_f(body)(real)
    printed = fails(real, only=("broadcast",))
    stale = r"why3/broadcast\.mlw:\d+: IndexMap\.f_index_valid'vc is stale: .* do not prove it"
    assert re.search(stale, printed)


def test_a_real_goal_removed_from_the_list(real: Path) -> None:
    lines = theorems(real).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("Padding.pad'vc ")]
    assert len(kept) == len(lines) - 1
    theorems(real).write_text("".join(kept), encoding="utf-8")
    printed = fails(real, only=("shape",))
    assert re.search(r"why3/shape\.mlw:\d+: Padding\.pad'vc is not listed in", printed)


def test_an_edited_kernel(real: Path) -> None:
    (real / ".venv").symlink_to(ROOT / ".venv")
    check = [sys.executable, "-I", "-B", str(real / "proofs" / "tools"), "extract", "--check"]
    untouched = subprocess.run(check, capture_output=True, text=True, check=False)
    assert untouched.returncode == 0, untouched.stderr
    edit(real / "python" / "whycast" / "_kernel.py", "a if b == c else 0", "a if b <= c else 0")
    edited = subprocess.run(check, capture_output=True, text=True, check=False)
    assert edited.returncode == 1
    assert "+    return a if b == c else 0" in edited.stderr
    assert "_kernel.py is not what Why3 extracts from the sources" in edited.stderr
