"""The gate lets a sound tree pass and names what is wrong with any other.

What was tampered with in a theory of its own is judged in one run of the gate, of a tree with all
of these theories; what concerns the whole tree is tried in copies of the small one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from small_tree import FILES, edit, failures, make, passes, run, same, seal, small, write

__all__ = ["small"]


# --- theories that were tampered with -----------------------------------------------------------

# No other module may have the name: all of them stand in one tree, and in one list of claims.
THEORY = """\
(** Supports [E_Small_any_Derived_010]. *) module {name}
  use int.Int
  lemma less: forall x. x < x + 1
  let twice (x: int) : int
    ensures {{ result = x + x }}
  = x + x
end
"""

TAKEN = "is taken for granted: axiom (none is allowed here)"
STALE = "is stale: it, or what it rests on, has changed since it was proved; the recorded proofs"
OTHER = "says something else than what was reviewed"
REPLAY = "has a recorded proof that does not replay: "
FALSE = "proves false from what the theory uses, defines and proves"
DIFFERS = "is not the same in the session and in the theory that is audited and extracted"
PLACE = "gives a text another place: none is allowed here"


class Place(NamedTuple):
    """One of the theories of the tree."""

    tree: Path
    name: str

    @property
    def theory(self) -> Path:
        return self.tree / "why3" / f"{self.name.lower()}.mlw"

    @property
    def session(self) -> Path:
        return self.tree / "proofs" / "sessions" / self.name.lower() / "why3session.xml"


def theory(old: str, new: str) -> Callable[[Place], None]:
    """Edit the theory."""
    return lambda at: edit(at.theory, old, new)


def session(pattern: str, new: str) -> Callable[[Place], None]:
    """Replace what matches first in the session."""

    def change(at: Place) -> None:
        text, count = re.subn(pattern, new, at.session.read_text(encoding="utf-8"), count=1)
        assert count == 1, at.session.read_text(encoding="utf-8")
        at.session.write_text(text, encoding="utf-8")

    return change


def forge(goal: str, *provers: str, inside: str = "%s") -> Callable[[Place], None]:
    """Write proofs by hand, in the place of all that a goal has."""

    def change(at: Place) -> None:
        text, made = at.session.read_text(encoding="utf-8"), ""
        for number, prover in enumerate(provers, start=90):
            name, version = prover.split()
            listed = f'<prover id="{number}" name="{name}" version="{version}"/>\n<file '
            text = text.replace("<file ", listed, 1)
            made += f'<proof prover="{number}"><result status="valid" time="0.01"/></proof>'
        whole = rf'(?s)<goal name="{goal}"([^>]*?)(?: proved="\w+")?(/>|>.*?</goal>)'
        forged = rf'<goal name="{goal}"\1 proved="true">{inside % made}</goal>'
        text, count = re.subn(whole, forged, text)
        assert count == 1, text
        at.session.write_text(text, encoding="utf-8")

    return change


def swap(at: Place) -> None:
    """Let the session be of another file, which is not the one that is audited and extracted."""
    decoy = at.tree / "decoy"
    (decoy / "deep").mkdir(parents=True)
    text = at.theory.read_text(encoding="utf-8")
    (decoy / at.theory.name).write_text(text.replace(f"  {EXTRA}\n", ""), encoding="utf-8")
    edit(at.theory, "= x + x\n", "= x + x + x\n")
    (at.tree / "why3" / "x").symlink_to("../decoy/deep")
    session('<path name="why3"/>', r'\g<0><path name="x"/><path name=".."/>')(at)
    session('(?s)<goal name="extra".*?</goal>', "")(at)


def remove(at: Place) -> None:
    shutil.rmtree(at.session.parent)


def stray(at: Place) -> None:
    shutil.copytree(at.session.parent, at.session.parent.with_name("old"))
    (at.session.parent / "why3session.xml.bak").touch()


def mistake(at: Place) -> None:
    """Let the session be of another theory, with the same goals."""
    shutil.copy(at.theory, at.theory.with_name("copied.mlw"))
    session(f'"{at.theory.name}"', '"copied.mlw"')(at)


EXTRA = "lemma extra: forall x. x <= x + 2"
EQUAL = "goal equal: forall x y: int. x = y"
WRONG = "goal wrong: false"
SOME = "goal some: exists x. 3 * x = 21"
SMOKE = '<transf name="smoke_detector_top" proved="true"><goal name="wrong.0">%s</goal></transf>'
ALT_ERGO, Z3, CVC4, CVC5 = "Alt-Ergo 2.0.0", "Z3 4.8.12", "CVC4 1.8", "CVC5 1.0.3"

# What stands in the theory besides when it is sealed, how it is tampered with, and what the gate
# says: `T` is the theory, `S` its session.
TAMPERED: dict[str, tuple[str, Callable[[Place], None], list[str]]] = {
    # proofs
    "Weakened": (
        "",
        theory("x < x + 1", "x <= x + 1"),
        [f"T:3: less {STALE} still prove it (make update)", f"T:3: less {OTHER}"],
    ),
    "Changed": (
        "",
        theory("= x + x\n", "= x + x + x\n"),
        [f"T:4: twice'vc {STALE} do not prove it any more", "T:4: twice'vc is proved by 0 fam"],
    ),
    "Gone": (
        EXTRA,
        theory(EXTRA, ""),
        ["S: stale session: goal extra is not in T (make update)", "extra is listed, and not th"],
    ),
    "Unproved": (EQUAL, lambda at: None, ["T:7: equal is not proved", "T:7: equal has no proof"]),
    "Invented": (
        EQUAL,
        forge("equal", ALT_ERGO, Z3),
        [
            "T:7: equal is not proved",
            f"T:7: equal {REPLAY}Alt-Ergo 2.0.0 answers",
            f"T:7: equal {REPLAY}Z3 4.8.12 answers",
            "T:7: equal is proved by 0 families of provers, none; two are wanted",
        ],
    ),
    "Second": (
        SOME,
        forge("some", Z3, ALT_ERGO),
        [
            f"T:7: some {REPLAY}Alt-Ergo 2.0.0 answers",
            "T:7: some is proved by 1 families of provers, Z3; two are wanted",
        ],
    ),
    "Unsound": (
        WRONG,
        forge("wrong", ALT_ERGO, Z3, inside=SMOKE),
        [
            f"T:7: wrong {STALE} still prove it",
            "T:7: wrong is taken apart by smoke_detector_top, which the gate does not know as sound",
        ],
    ),
    "Alone": ("", forge("less", ALT_ERGO), ["T:3: less is proved by 1 families of provers, Alt-"]),
    "Related": ("", forge("less", CVC4, CVC5), ["T:3: less is proved by 1 families of provers, C"]),
    "Attempted": (
        "",
        session('"valid"', '"timeout"'),
        ["that proves nothing (recorded: Timeout)"],
    ),
    "Older": (
        "",
        forge("less", "Alt-Ergo 2.3.0", Z3),
        [
            "less has a proof by Alt-Ergo 2.3.0; Alt-Ergo 2.0.0 is pinned",
            "T:3: less is proved by 1 families of provers, Z3; two are wanted (make update)",
        ],
    ),
    "Unknown": (
        "",
        forge("less", "Vampire 4.8", Z3),
        ["less has a proof by Vampire 4.8, a prover that is not pinned", "by 1 families"],
    ),
    # sessions
    "Removed": (
        "",
        remove,
        [
            "S: why3session.xml is missing",
            "S: why3shapes.gz is missing",
            "S: there is no session of the 2 goals of T (make update)",
        ],
    ),
    "Shapeless": (
        "",
        lambda at: at.session.with_name("why3shapes.gz").unlink(),
        [
            "S: why3shapes.gz is missing (make update)",
            f"T:3: less {STALE} still prove it",
            f"T:4: twice'vc {STALE} still prove it",
        ],
    ),
    "Broken": ("", session("(?s).*", "<why3session"), ["T: cannot be read: "]),
    "Emptied": (
        "",
        session("(?s)<file .*</file>", ""),
        ["T:3: less is not proved", "less has no proof in the session", "is not", "has no proof"],
    ),
    "Stray": ("", stray, ["S/why3session.xml.bak: stray file"]),
    "Mistaken": ("", mistake, ["S: the session is of why3/copied.mlw, not of T"]),
    "Decoyed": (
        EXTRA,
        swap,
        [
            "S: the session is of decoy/decoyed.mlw, not of T",
            f"S: extra {DIFFERS}",
            f"S: twice'vc {DIFFERS}",
            "T:7: extra has no goal: nothing proves it",
        ],
    ),
    # theories
    "Untyped": (
        "",
        theory("= x + x\n", "= x + true\n"),
        ["T: cannot be read: T:6: This expression has type bool", "T: cannot be audited: T:6: "],
    ),
    "Contradictory": (
        "",
        theory("lemma", "axiom wrong: forall x. x + 1 = x\n  lemma"),
        [
            f"T: Z3 {FALSE}",
            f"T: CVC5 {FALSE}",
            f"T:4: less {STALE} still prove it",
            f"T:5: twice'vc {STALE} still prove it",
            f"T:3: wrong {TAKEN}",
            "T:3: wrong is not listed in proofs/claims.txt",
        ],
    ),
    "Shadowed": (
        "use seq.Seq as S",
        lambda at: write(at.tree, {"why3/seq.mlw": "module Seq\n  type seq 'a = Nil\nend\n"}),
        ["T: cannot be audited: T:7: Ambiguous path: ", *["is a goal of nothing that the audit"] * 2],
    ),
}


class Run(NamedTuple):
    """What the gate says of a tree."""

    failures: list[str]

    def of(self, name: str) -> list[str]:
        """Give what it says of a theory, of its session, or of a claim of it, in short."""
        found = []
        for line in self.failures:
            short = line.replace(f"why3/{name.lower()}.mlw", "T").replace(f"{name}.", "")
            short = short.replace(f"proofs/sessions/{name.lower()}", "S")
            if short != line:
                found.append(short)
        return found


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Let the gate judge all that was tampered with, in one tree."""
    files, claimed = dict(FILES), FILES["proofs/claims.txt"]
    for name, (more, _, _) in TAMPERED.items():
        text = THEORY.format(name=name).replace("end\n", f"  {more}\nend\n")
        files[f"why3/{name.lower()}.mlw"] = text
        goals = ["twice'vc", *re.findall(r"(?:lemma|goal) (\w+)", text)]
        lines = [f"{name}.{goal}  {'0' * 16}  A sentence.\n" for goal in goals]
        claimed += f"# {name.lower()}.mlw\n{''.join(lines)}"
    files["proofs/claims.txt"] = claimed
    tree = make(tmp_path_factory.mktemp("tampered") / "tree", files)
    for name, (_, change, _) in TAMPERED.items():
        change(Place(tree, name))
    return Run(failures(tree))


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_tampered_with_is_refused(judged: Run, name: str) -> None:
    same(judged.of(name), TAMPERED[name][2])
