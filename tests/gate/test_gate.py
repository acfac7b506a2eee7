"""The gate lets a sound tree pass and names what is wrong with any other.

What was tampered with in a theory of its own is judged in one run of the gate, of a tree with all
of these theories; what concerns the whole tree is tried in copies of a small one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import marshal
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small_tree import (
    FILES,
    IN_CALLS,
    ISOLATED,
    PROOFS,
    edit,
    failures,
    install,
    passes,
    run,
    same,
    seal_unproved,
    small,
    write,
)

from gate import judge, mapped, toolchain
from gate.closed import FACTS, ROOT
from gate.program import Program

__all__ = ["small"]

OTHER = "says something else than what was reviewed on"
REPLAY = "has a recorded proof that does not replay: "
FALSE = "proves false from what the theory uses, defines and proves"
TAKEN = "is taken for granted: axiom (none is allowed here)"
UNLISTED = "is not in proofs/claims.lock: nobody"
PLACE = "is a position or an attribute: it is not allowed in a source"
INT = "/usr/share/why3/stdlib/int.mlw"


class Place(NamedTuple):
    """A theory and its recorded proofs."""

    tree: Path
    name: str

    @property
    def theory(self) -> Path:
        return self.tree / "why3" / f"{self.name.lower()}.mlw"

    @property
    def session(self) -> Path:
        return self.tree / "proofs" / "sessions" / f"{self.name.lower()}.proofs"


Change = Callable[[Place], object]


def theory(old: str, new: str) -> Change:
    """Edit the theory."""
    return lambda at: edit(at.theory, old, new)


def record(pattern: str, new: str) -> Change:
    """Replace what matches first in the recorded proofs."""

    def change(at: Place) -> None:
        text, count = re.subn(pattern, new, at.session.read_text(encoding="utf-8"), count=1)
        assert count == 1, f"{pattern} is not in {at.session}"
        at.session.write_text(text, encoding="utf-8")

    return change


# --- proofs -------------------------------------------------------------------------------------

WHY3 = toolchain.read()["Why3"].version
BY_TWO = f"{WHY3}: Alt-Ergo 0.01, Z3 0.01"


def forge(goal: str, *lines: str) -> Change:
    """Write by hand what is recorded of a goal."""
    return record(
        rf"(?m)^(\w+\.{goal}\n)(?: .*\n)*", r"\1" + "".join(f" {line}\n" for line in lines)
    )


def by(*provers: str) -> str:
    """Write that some provers have proved something."""
    return f"{WHY3}: {', '.join(f'{prover} 0.01' for prover in provers)}"


LESS = "forall x. x < x + 1"
# What each goal says when it is sealed, and how it is tampered with.
GOALS: dict[str, tuple[str, Change]] = {
    "unproved": ("forall x y: int. x = y", lambda at: None),
    "vacuous": ("forall x. x < 0 -> 0 < x -> x = 1", lambda at: None),
    "invented": ("forall x y: int. x = y", forge("invented", BY_TWO)),
    "second": ("exists x. 3 * x = 21", forge("second", BY_TWO)),
    "alone": (LESS, forge("alone", by("Alt-Ergo"))),
    "related": (LESS, forge("related", by("CVC4", "CVC5"))),
    "unknown": (LESS, forge("unknown", by("Vampire", "Z3"))),
    "others": (LESS, forge("others", BY_TWO.replace(WHY3, "0.1"))),
    "misnamed": (LESS, forge("misnamed", "keep gone", f" {BY_TWO}")),
    "parted": (LESS, forge("parted", "split", *2 * (" part", f"  {BY_TWO}"))),
    "disproved": ("forall x. 0 < x <-> 0 < x + x", theory("0 < x <-> 0", "1 < x <-> 0")),
    "weakened": ("forall x y. x + x = y <-> y = 2 * x", theory("= y <-> y", "= y -> y")),
}

# Nobody proves it, so that it is split; both branches bind one and the same x.
SHARED = """\
  (** Shared. *) let shared (c: bool) : unit ensures { 0 = 1 }
  = let v = pure { if c then (1, 2) else (3, 4) } in
    let ghost (a, b) = v in assert { exists x: int. x = a + b }
end
"""
RECORDED = f"""\
Proofs.shared'vc
 split
  part
   keep
    {BY_TWO}
  part
   keep
    {BY_TWO}
  part
   split
    part
    part
"""

# --- theories and records -----------------------------------------------------------------------

# No other module may have the name: all of them stand in one list of goals.
THEORY = """\
(** Supports [E_Small_any_Derived_010]. *) module {name}
  use int.Int
  (** Less. *) lemma less: forall x. x < x + 1
  (** Twice. *) let twice (x: int) : int
    ensures {{ result = x + x }}
  = x + x
  (** Extra. [E_Small_any_Derived_010] *) lemma extra: forall x. x <= x + 2
end
"""
EXTRA = "  (** Extra. [E_Small_any_Derived_010] *) lemma extra: forall x. x <= x + 2\n"


def stray(at: Place) -> None:
    """Leave proofs of nothing, and a file beside them."""
    shutil.copy(at.session, at.session.with_name("old.proofs"))
    at.session.with_suffix(".bak").touch()


def hide(at: Place) -> None:
    """Use a theory in another room whose axioms claim to stand in Why3's library."""
    away = f'module Away [#"{INT}" 1 0 10]\n  use int.Int\n  axiom a: forall x. x + 1 = x\nend\n'
    more = f'[##"{INT}" 1 0]\nmodule More\n  use int.Int\n  axiom b: forall x. x + 2 = x\nend\n'
    write(at.tree, {"why3/hidden/away.mlw": away + more})
    edit(at.theory, "\nend", "\n  use hidden.away.Away\nend")


def shadow(at: Place) -> None:
    """Use a theory of our own that has the name of one of Why3's."""
    write(at.tree, {"why3/seq.mlw": "module Seq\n  type seq 'a = Nil\nend\n"})
    edit(at.theory, "use int.Int", "use int.Int  use seq.Seq")


# How a theory or what is recorded of it is tampered with.
TAMPERED: dict[str, Change] = {
    "Untouched": lambda at: None,
    "Gone": theory(EXTRA, ""),
    "Removed": lambda at: at.session.unlink(),
    "Broken": record(" keep", " smoke_detector_top"),
    "Stray": stray,
    "Marked": theory(" lemma less", " lemma less [@inline:trivial] "),
    "Untyped": theory("= x + x\n", "= x + true\n"),
    "Contradictory": theory("\nend", "\n  (** Wrong. *) axiom wrong: forall x. x + 1 = x\nend"),
    "Hiding": hide,
    "Shadowed": shadow,
    "Reaching": theory("\nend", "\n  use random.Random  use witness.Witness\nend"),
}

# What the gate says of each: a part of every failure that names it.
SAID = f"""
unproved       why3/proofs.mlw:3: Proofs.unproved is not proved
unproved       has no recorded proof with this Why3 (make update)
vacuous        why3/proofs.mlw:4: Proofs.vacuous has hypotheses that no witness satisfies
invented       is not proved
invented       {REPLAY}Alt-Ergo 2.0.0 answers
invented       {REPLAY}Z3
invented       is proved by 0 families of provers, none; two are wanted (make update)
second         {REPLAY}Alt-Ergo 2.0.0 answers
second         is proved by 1 families of provers, Z3; two are wanted
alone          is proved by 1 families of provers, Alt-Ergo; two are wanted
related        is proved by 1 families of provers, CVC; two are wanted
unknown        has a proof by Vampire, a prover that is not pinned
unknown        is proved by 1 families of provers, Z3
others         is not proved
others         has no recorded proof with this Why3 (make update)
misnamed       is not proved
misnamed       cannot be taken apart as it is recorded: not in the context: gone (make update)
parted         is not proved
parted         cannot be taken apart as it is recorded: has 1 parts, 2 are recorded (make update)
disproved      is not proved
disproved      {REPLAY}
disproved      {REPLAY}
disproved      is proved by 0 families of provers, none
disproved      {OTHER}
weakened       has hypotheses that no witness satisfies
weakened       {OTHER}
Shared         Proofs.shared'vc is split although it binds one variable in two places
Shared         Proofs.shared'vc.2 is split although it binds one variable in two places
Gone           proofs/sessions/gone.proofs: Gone.extra is not in why3/gone.mlw any more
Removed        proofs/sessions/removed.proofs: is missing: proofs of the 3 goals of why3/removed.mlw
Broken         why3/broken.mlw: cannot be read: not understood: smoke_detector_top
Stray          proofs/sessions/stray.bak: is a stray file: no theory with goals
Marked         why3/marked.mlw:3: '[@' {PLACE}
Untyped        cannot be read: why3/untyped.mlw:6: This expression has type bool
Untyped        cannot be audited: why3/untyped.mlw:6: This expression has type bool
Contradictory  why3/contradictory.mlw: Z3 {FALSE}
Contradictory  why3/contradictory.mlw: CVC5 {FALSE}
Contradictory  why3/contradictory.mlw:8: Contradictory.wrong {TAKEN}
Hiding         why3/hiding.mlw: Z3 {FALSE}
Hiding         why3/hiding.mlw: CVC5 {FALSE}
Hidden         why3/hidden/away.mlw:1: '[#' {PLACE}
Hidden         why3/hidden/away.mlw:5: '[#' {PLACE}
Hidden         why3/hidden/away.mlw: Z3 {FALSE}
Hidden         why3/hidden/away.mlw: CVC5 {FALSE}
Hidden         why3/hidden/away.mlw:3: Away.a {TAKEN}
Hidden         why3/hidden/away.mlw: More.b {TAKEN}, cloned from {INT}:4
Shadowed       cannot be read: why3/shadowed.mlw:2: Ambiguous path: both
Shadowed       cannot be audited: why3/shadowed.mlw:2: Ambiguous path: both
Reaching       reaches random.Random of Why3's library: expected one of
Reaching       reaches random.State of Why3's library: expected one of
Reaching       reaches witness.Witness of Why3's library: expected one of
Calls          why3/room/calls.mlw: Calls Alt-Ergo proves a goal with its conclusion negated: what
Old            proofs/sessions/old.proofs: is a stray file: no theory with goals has these
"""
CONTRADICTORY = FILES["why3/kernel/trusted.mlw"].replace("<-> x = y", "/\\ not result")


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Let the gate judge all that was tampered with, in one tree, and give the failures."""
    text = THEORY.format(name="Proofs").partition("  (** Less")[0]
    text += "".join(
        f"  (** A goal. [E_Small_any_Derived_010] *) goal {name}: {formula}\n"
        for name, (formula, *_) in GOALS.items()
    )
    files = {**FILES, "why3/kernel/trusted.mlw": CONTRADICTORY, "why3/proofs.mlw": text + SHARED}
    files["why3/untouched.mlw"] = THEORY.format(name="Untouched")
    tree = install(tmp_path_factory.mktemp("tampered") / "tree", files)
    run(tree, "update", "--quick", "small", "calls", "untouched")
    # A search for proofs of what is false would take long.
    true = dict.fromkeys(GOALS.keys() - {"unproved", "invented", "second"}, f" keep\n  {BY_TWO}\n")
    proofs = "".join(f"Proofs.{name}\n{true.get(name, '')}" for name in GOALS)
    Place(tree, "Proofs").session.write_text(proofs + RECORDED, encoding="utf-8")
    for name in TAMPERED:
        at = Place(tree, name)
        at.theory.write_text(THEORY.format(name=name), encoding="utf-8")
        proved = Place(tree, "Untouched").session.read_text(encoding="utf-8")
        at.session.write_text(proved.replace("Untouched.", f"{name}."), encoding="utf-8")
    seal_unproved(tree)
    for _, change in GOALS.values():
        change(Place(tree, "Proofs"))
    for name, change in TAMPERED.items():
        change(Place(tree, name))
    return failures(tree)


# What a failure has in it that is about something else than the theory of this name.
NAMED: dict[str, tuple[str, ...]] = {
    goal: (f"Proofs.{goal} ", f"Proofs.{goal}.0 ") for goal in GOALS
}
NAMED["Shared"] = ("binds one variable",)
NAMED |= {"Hidden": ("why3/hidden/away.mlw",), "Calls": ("why3/room/calls.mlw", "trusted.mlw")}
NAMED["Old"] = ("sessions/old",)


@pytest.mark.parametrize("name", [*GOALS, "Shared", *TAMPERED, "Hidden", "Calls", "Old"])
def test_whatever_was_tampered_with_is_refused(judged: list[str], name: str) -> None:
    theory, proofs = f"why3/{name.lower()}.mlw", f"proofs/sessions/{name.lower()}."
    words = NAMED.get(name, (theory, proofs, f"{name}."))
    found = [line for line in judged if any(word in line for word in words)]
    same(found, re.findall(rf"(?m)^{name} +(.*)$", SAID))


# --- what no proof looks at ---------------------------------------------------------------------


def test_what_no_proof_looks_at_is_sealed(small: Path) -> None:
    at, driver, place = (
        Place(small, "Small"),
        mapped.DRIVERS["Python"],
        "why3/kernel/trusted.mlw:3: ",
    )
    # One more theorem has the tag, and is a claim: the tag may be that of a clause that is gone.
    edit(at.theory, "their doubles are. ", "their doubles are. [E_Small_any_Derived_010] ")
    edit(at.theory, "Numbers, doubled.", "Numbers.")
    (small / "proofs" / "mutants.toml").write_text("", encoding="utf-8")
    edit(small / driver, 'val same "%1 == %2"', 'val same "%2 == %1"')
    edit(small / "why3/kernel/trusted.mlw", "  val same", "  val more (x: int) : int\n  val same")
    same(
        failures(small),
        [
            f"why3/small.mlw: theory.prose {OTHER}",
            f"why3/small.mlw:11: Small.double_injective {UNLISTED}",
            f"{place}Tuple.more {UNLISTED}",
            f"{driver}:",
            f"proofs/mutants.toml: mutants.all {OTHER}",
            f"why3/trace.toml: trace.derived {OTHER}",
            f"{place}kernel.trusted.Tuple.more is mapped to nothing by {driver}",
        ],
    )


def test_characters_that_deceive_a_reader_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"why3/a.mlw": "\n\u200b", "proofs/claims.lock": "\u202e", "c/a.h": "\u2066"})
    write(tmp_path, {"tests/a.py": "\u0430 = 1\n", "tests/t.py": "\x01\t", "README.md": "a\u00e9"})
    (tmp_path / "tests" / "b.h").write_bytes(b"\n\xff")
    expected = ["c/a.h:1: '\\u2066' is LEFT-TO-RIGHT ISOLATE: it is not allowed in a source"]
    expected += ["proofs/claims.lock:1: '\\u202e' is RIGHT-TO-LEFT OVERRIDE"]
    expected += ["tests/a.py:1: '\\u0430' is CYRILLIC SMALL LETTER A"]
    expected += ["tests/b.h:2: '\\udcff' is no name", "tests/t.py:1: '\\x01' is no name"]
    expected += ["why3/a.mlw:2: '\\u200b' is ZERO WIDTH SPACE"]
    same(list(map(str, judge.character_faults(tmp_path))), expected)


@pytest.mark.parametrize("explanation", ["a (*", "*) a", 'a "b', "a\n]", "a", "a (b)"])
def test_an_explanation_is_no_place_for_a_comment_or_a_string(
    tmp_path: Path, explanation: str
) -> None:
    write(tmp_path, {"why3/a.mlw": f"module A lemma a [@expl:{explanation}]: true end"})
    is_plain = explanation in ("a", "a (b)")
    expected = [] if is_plain else [f"why3/a.mlw:1: '[@' {PLACE}"]
    same(list(map(str, judge.character_faults(tmp_path))), expected)


def test_sealing_shows_what_was_sealed_before(small: Path) -> None:
    git = ("git", "-C", str(small), "-c", "user.name=a", "-c", "user.email=a")
    edit(Place(small, "Small").theory, "0 < x <-> 0 <", "0 < x -> 0 <")
    alone = run(small, "seal").stdout
    assert alone.startswith("no commit here has a lock: what was sealed before cannot be shown")
    assert "Small.double_positive: new\n  A number is positive exactly if" in alone
    for command in (["init", "-q"], ["add", "-f", "why3", "proofs"], ["commit", "-qm", "."]):
        subprocess.run([*git, *command], check=True)
    edit(
        Place(small, "Small").theory,
        "double. [E_Small_any_Derived_010] *)\n  let",
        "double. *)\n  let",
    )
    edit(Place(small, "Small").theory, "0 < x -> 0 <", "0 < x <-> 0 <")
    said = run(small, "seal").stdout
    assert said.startswith(
        "why3/small.mlw: Small.twice'vc: gone\n  The program computes the double.\n"
    )
    assert "why3/small.mlw:8: Small.double_positive: changed\n  A number is" in said
    assert "  forall x:int. 0 < x [-->-] {+<->+} 0 < double x\n" in said
    # Of the clauses, the line that differs.
    *_, clause, programs = said.splitlines()
    assert clause == "why3/trace.toml: trace.derived: changed"
    assert programs.startswith("  E_Small_any_Derived_010 | ")


# --- what is kept -------------------------------------------------------------------------------


def test_the_untouched_tree_passes_with_all_answers_kept(small: Path) -> None:
    printed = passes(small, kept=PROOFS)
    assert "trusted, without a body: Tuple.same\n" in printed
    assert "5 goals of 3 theories in 5 parts, 0 of them from their whole context" in printed
    made = run(small, "pages")
    assert made.stdout == "evidence: build/evidence/index.html\n", made.stderr
    assert (small / "build" / "evidence" / "index.html").is_file()
    write(small, {"tests/new.py": ""})
    assert "the sources are not those on which the gate has passed" in run(small, "pages").stderr
    # An update of what is proved changes no byte, and what has no name is not updated.
    recorded = Place(small, "Small").session
    before = recorded.read_bytes()
    assert run(small, "update").returncode == 0
    assert recorded.read_bytes() == before
    nothing = run(small, "update", "--only", "Small.thrice")
    assert (nothing.returncode, nothing.stderr) == (1, "no goal has Small.thrice in its name\n")


def test_a_promise_that_no_trial_can_reach_is_refused(small: Path) -> None:
    cubes = "forall a b c. a * a * a + b * b * b + c * c * c <> 33"
    promise = "ensures { result <-> x = y }"
    edit(small / "why3/kernel/trusted.mlw", promise, f"{promise} ensures {{ {cubes} }}")
    seal_unproved(small)
    said = "why3/kernel/trusted.mlw:3: kernel.trusted.Tuple.same ensures { forall a:int, b:int"
    same(failures(small), [said])


def test_no_answer_and_no_program_is_kept_where_none_is_wanted(small: Path) -> None:
    program = small / "build" / "binaries" / "whygate"
    made = program.stat().st_mtime_ns
    passes(small, "--fresh", kept=0)
    assert program.stat().st_mtime_ns > made


def test_answers_are_kept_for_the_very_same_text_alone(small: Path) -> None:
    at = Place(small, "Small")
    edit(at.theory, "Numbers, doubled.", "Numbers, and others.")
    # What is said to have been found of other files is not looked at, and half of it neither.
    found = small / "build" / "gate" / "why3.room.calls.mlw.json"
    forged = json.loads(found.read_text(encoding="utf-8"))
    forged |= {"key": "0" * 64, "session": {**forged["session"], "goals": []}}
    found.write_text(json.dumps(forged), encoding="utf-8")
    found.with_name("why3.kernel.trusted.mlw.json").write_text('{"key": "', encoding="utf-8")
    seal_unproved(small)
    passes(small, kept=0)
    calls, used, own = "why3/room/calls.mlw", "why3/kernel/trusted.mlw", "why3/small.mlw"
    told: list[Any] = [
        {"goals": [{"tree": {"file": file, "transformations": []}}]} for file in (None, used)
    ]

    def keys() -> list[str]:
        whygate = Program(small, "whygate")
        keys = [whygate.key(calls, [used], each) for each in told]
        return [*keys, whygate.key(own, [own], told[0])]

    # A comment in a theory says nothing to those that use it: they are not even read again, unless
    # they have goals there.
    before = keys()
    edit(small / used, "  use int.Int\n", "  (* New. *)\n\n  use int.Int\n")
    assert [a == b for a, b in zip(before, keys(), strict=True)] == [True, False, True]
    written = found.stat().st_mtime_ns
    seal_unproved(small)
    passes(small, kept=PROOFS)
    assert found.stat().st_mtime_ns == written
    # The body of a program is no part of what it states, but of what is proved.
    before = keys()
    edit(at.theory, "  = x + x\n", "  = 2 * x\n")
    assert [a == b for a, b in zip(before, keys(), strict=True)] == [True, True, False]
    # Another driver may ask something else.
    edit(small / "proofs" / "gate" / "cvc5.drv", "(* Why3 driver", "(* A driver")
    passes(small, kept=0)


def test_what_another_version_of_why3_has_recorded_stays(small: Path) -> None:
    at, other = Place(small, "Small"), BY_TWO.replace(WHY3, "0.1")
    forge("multiple", other)(at)
    forge("double_positive", "keep", f" {other}")(at)
    assert run(small, "update", "small").returncode == 0
    text = at.session.read_text(encoding="utf-8")
    # The same task is proved, beside; another one, of which more is kept, stands in its place.
    assert f"Small.multiple\n {other}\n {WHY3}: " in text
    kept = f"Small.double_positive\n keep\n  {other}\n instead {WHY3}\n  keep Small.double\n"
    assert f"{kept}   {WHY3}: " in text
    passes(small)
    assert run(small, "update", "small").returncode == 0
    assert at.session.read_text(encoding="utf-8") == text


def test_a_version_of_why3_that_has_not_seen_the_sources_is_behind(small: Path) -> None:
    at, here, systems = Place(small, "Small"), re.escape(WHY3), toolchain.systems()
    other, unknown = sorted(systems.keys() - {WHY3})
    goals = "double_positive double_injective twice'vc multiple"
    names = ", ".join(f"Small.{name}" for name in goals.split())
    said = f"why3/small.mlw: not proved with Why3 {{}} as it is: {names}\n"
    text = at.session.read_text(encoding="utf-8")
    at.session.write_text(
        re.sub(rf"(?m)^( *){here}(.*)$", rf"\g<0>\n\g<1>{other}\2", text), encoding="utf-8"
    )
    # A comment is not what is proved.
    edit(at.theory, "Numbers, doubled.", "Numbers, and others.")
    seal_unproved(small)
    printed = passes(small)
    assert said.format(other) not in printed
    assert said.format(unknown) in printed
    assert f'Why3 {other} is behind: make update THEORY="room/calls" on {systems[other]}' in printed
    assert proved_with(small) == {("Small", *sorted([WHY3, other])), ("Calls", WHY3)}
    # What is proved here of another program, the other version has never seen.
    edit(at.theory, "  = x + x\n", "  = 2 * x\n")
    passes(small)
    assert proved_with(small) == {("Small",), ("Calls", WHY3)}
    assert run(small, "update", "small").returncode == 0
    printed = passes(small)
    assert said.format(other) in printed
    assert said.format(WHY3) not in printed
    assert proved_with(small) == {("Small", WHY3), ("Calls", WHY3)}


def proved_with(tree: Path) -> set[tuple[str, ...]]:
    """Give the modules of goals, each with the versions of Why3 that the gate counts for it."""
    facts = json.loads((tree / FACTS).read_text(encoding="utf-8"))["facts"]
    goals = [goal for session in facts["sessions"] for goal in session["goals"]]
    return {(goal["module"], *goal["versions"]) for goal in goals}


# --- the environment ----------------------------------------------------------------------------


def test_nothing_in_the_environment_matters(small: Path, tmp_path: Path) -> None:
    names = ("why3", "why3server", "why3cpulimit", "z3", "cvc5", "alt-ergo", "sh", "ocamlfind")
    write(tmp_path, dict.fromkeys(names, f"#!/bin/bash\ntouch {tmp_path}/ran\necho unsat\n"))
    for name in names:
        (tmp_path / name).chmod(0o755)
    modules = ("json.py", "jinja2.py", "assurance.py", "sitecustomize.py")
    write(tmp_path, dict.fromkeys(modules, "import os\nos._exit(0)\n"))
    steering = ("WHY3LIB", "WHY3DATA", "WHY3CONFIG", "WHY3LOADPATH", "OCAMLPATH", "OCAMLFIND_CONF")
    python = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE")
    environment = dict.fromkeys((*steering, *python), str(tmp_path))
    # Why3 would look for a driver here first.
    driver = 'prelude "(assert false)"\nimport "/usr/share/why3/drivers/z3_471.drv"\n'
    write(small, {"z3_471": driver, "cvc4_17_counterexample": "no driver"})
    environment |= {"PATH": str(tmp_path), "LD_PRELOAD": str(tmp_path / "forged.so")}
    shutil.rmtree(small / "build" / "gate")
    done = run(small, "gate", environment=environment, cwd=small)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"proofs: {PROOFS} run now, 0 kept" in done.stdout
    assert not (tmp_path / "ran").exists()
    # The loader complains once, about Python itself.
    assert done.stderr.count("forged.so") == 1


def test_code_of_other_folders_cannot_turn_the_verdict(small: Path) -> None:
    assert run(small, "pages").returncode == 0
    forge("multiple", BY_TWO)(Place(small, "Small"))
    others = ("certificates", "certify", "evidence", "validate")
    for path in (path for name in others for path in (small / "proofs" / name).glob("*.py")):
        with path.open("a", encoding="utf-8") as file:
            file.write("from gate import judge\njudge.goal_faults = lambda *_: iter(())\n")
    replay = f"why3/small.mlw:19: Small.multiple {REPLAY}Alt-Ergo 2.0.0 answers"
    same(
        failures(small),
        [replay, "Small.multiple is proved by 1 families of provers, Z3; two are w"],
    )
    # No pages stand there of what has failed, and none can be made.
    assert run(small, "pages").returncode == 1
    started = small / "proofs" / "verdict.py"
    edit(started, "from gate import claims,", "import evidence.records\nfrom gate import claims,")
    loaded = "is loaded while the gate judges: expected gate/ alone"
    paths = {"": "__init__", ".records": "records"}
    named = [f"proofs/evidence/{path}.py: evidence{name} {loaded}" for name, path in paths.items()]
    said = run(small, "gate").stdout
    # That a proof failed is not kept.
    assert f"proofs: {PROOFS - IN_CALLS} run now, {IN_CALLS} kept from earlier runs" in said
    assert said.splitlines()[-3:-1] == named
    assert "gate: FAILED, 2 failures; " in said


def test_bytecode_of_a_judge_that_finds_nothing_is_not_believed(small: Path) -> None:
    source = small / "proofs" / "gate" / "judge.py"
    text = source.read_text(encoding="utf-8")
    code = compile(f"{text}\ndef judge(*_): return []\n", str(source), "exec")
    forged = source.parent / "__pycache__" / "judge.cpython-311.pyc"
    forged.parent.mkdir()
    unchecked = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
    forged.write_bytes(unchecked + marshal.dumps(code))
    (small / "proofs" / "sessions" / "stray").touch()
    found = failures(small, options=("-I", "-S"))
    same(found, ["proofs/sessions/stray: is a stray file: no theory with goals has these proofs"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("build/provers/alt-ergo/usr/bin/alt-ergo", "Alt-Ergo is not the pinned build: its SHA-2"),
        ("build/why3.conf", "Why3 is not the pinned build: its SHA-256 is "),
    ],
)
def test_what_was_replaced_is_not_run(small: Path, name: str, said: str) -> None:
    (small / "build" / "provers").unlink()
    shutil.copytree(ROOT / "build" / "provers", small / "build" / "provers")
    (small / name).write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    done = run(small, "gate")
    assert done.returncode == 1
    assert re.search(rf"^gate: (?:{small}/)?{name}:? {said}", done.stderr)
    assert not (small / "ran").exists()


# --- interruptions ------------------------------------------------------------------------------

HARD = """\
module Hard
  use int.Int
  goal hard: forall x y z. 0 < x -> 0 < y -> 0 < z -> x * x * x + y * y * y <> z * z * z
end
"""


def running(tree: Path) -> list[str]:
    """Give the command lines of all processes that name a tree."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes().replace(b"\0", b" ").decode())
    return [line for line in found if str(tree) in line]


@contextlib.contextmanager
def started(tree: Path, lines: int) -> Iterator[subprocess.Popen[str]]:
    """Start the gate, and wait until it has printed so many lines, one for each theory."""
    (tree / "build" / "temporary").mkdir()
    with subprocess.Popen(
        [sys.executable, *ISOLATED, str(tree / "proofs" / "run.py"), "gate"],
        env={**os.environ, "TMPDIR": str(tree / "build" / "temporary")},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        for _ in range(lines):
            process.stdout.readline()
        yield process


def test_what_is_interrupted_leaves_nothing_running(small: Path) -> None:
    at = Place(small, "Hard")
    write(small, {"why3/hard.mlw": HARD, "proofs/sessions/hard.proofs": "Hard.hard\n"})
    forge("hard", by("Z3", "CVC4", "CVC5"))(at)
    # The line that there is no git, and the other theories.
    with started(small, 4) as process:
        end = time.monotonic() + 60
        while not any(" replay why3/hard.mlw" in line for line in running(small)):
            assert time.monotonic() < end
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 130
        assert running(small) == []
    assert not list((small / "build" / "temporary").iterdir())
    at.theory.unlink()
    at.session.unlink()
    passes(small, kept=PROOFS)


def test_a_change_while_the_gate_runs_is_noticed(small: Path) -> None:
    with started(small, 1) as process:
        edit(Place(small, "Small").theory, "The program computes the double.", "It computes.")
        printed = process.communicate()[0]
    assert process.returncode == 1
    assert "why3, proofs: were changed while the gate ran\n" in printed


# --- provers that say something else ------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "answer", "what"),
    [
        ("provable", "unknown", "answers unknown to a goal that is true: it cannot be trusted"),
        ("provable", "nothing", "answers nothing to a goal that is true: it cannot be trusted"),
        ("refutable", "Valid", "answers Valid to a goal that is false: it cannot be trusted"),
        ("refutable", "nothing", "answers nothing to a goal that is false: it cannot be trusted"),
    ],
)
def test_a_prover_that_proves_nothing_or_everything(goal: str, answer: str, what: str) -> None:
    right = [{"goal": "provable", "answer": "Valid"}, {"goal": "refutable", "answer": "Timeout"}]
    wrong = [each for each in right if each["goal"] != goal]
    wrong += [{"goal": goal, "answer": answer}] * (answer != "nothing")
    provers: Any = [{"name": name, "canary": right} for name in judge.PROVERS]
    assert list(judge.prover_faults(provers)) == []
    provers[-1]["canary"] = wrong
    assert list(map(str, judge.prover_faults(provers))) == [f"build/why3.conf: Z3 {what}"]


GIVEN_UP = ("sat", "unknown", "Steps limit reached: 61", "I don't know (0.1) (9 steps)", "Timeout")
PROVES = "CVC5 proves false from what the theory uses, defines and proves"
BROKEN = "CVC5 does not work when it is asked for a contradiction: "


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        *((answer, "") for answer in GIVEN_UP),
        ("Valid", PROVES),
        ("Inconsistent assumption", f"{BROKEN}Inconsistent assumption"),
        ("(error", f"{BROKEN}(error"),
        ("nothing", f"{BROKEN}nothing"),
    ],
)
def test_what_a_prover_says_to_a_contradiction(answer: str, what: str) -> None:
    others = [{"prover": name, "about": "", "answer": "unknown"} for name in ("Alt-Ergo", "Z3")]
    asked = {"prover": "CVC5", "about": "", "answer": answer}
    session: Any = {"file": "why3/small.mlw", "context": [*others, asked]}
    same([failure.what for failure in judge.context_faults(session)], [what] * bool(what))
    session["context"].pop()
    same([str(f) for f in judge.context_faults(session)], ["CVC5 was not asked for a contradic"])
