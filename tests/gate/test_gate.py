"""The gate passes a sound tree, and names each fault of a changed tree."""

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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_tree
from small_tree import PROOFS, edit, failures, passes, run, same, seal_unproved, small, write

from gate import judge, mapped, program, toolchain
from gate.program import Program

__all__ = ["small"]

OTHER = "has another statement than when reviewed on"
REPLAY = "has a recorded proof that does not replay: "
FALSE = "proves false from what the theory uses, defines and proves"
TAKEN = "is taken for granted: axiom (none is allowed here)"
UNLISTED = "is not in proofs/claims.lock: nobody"
PLACE = "is a position or an attribute: it is not allowed in a source"
INT = "/usr/share/why3/stdlib/int.mlw"
DRIVER = mapped.DRIVERS["Python"]
TAG = "[E_Small_any_Derived_010]"


OWN, RECORD = "why3/small.mlw", "proofs/sessions/small.proofs"
CALLS, USED = "why3/room/calls.mlw", "why3/kernel/trusted.mlw"
WHY3 = toolchain.read()["Why3"].version


def by(*provers: str, version: str = WHY3) -> str:
    return f"{version}: {', '.join(f'{prover} 0.01' for prover in provers)}"


BY_TWO = by("Alt-Ergo", "Z3")
KEPT = f" keep\n  {BY_TWO}\n"


LESS = "forall x. x < x + 1"
GOALS = {
    "unproved": ("forall x y: int. x = y", ""),
    "vacuous": ("forall x. x < 0 -> 0 < x -> x = 1", KEPT),
    "invented": ("forall x y: int. x = y", f" {BY_TWO}\n"),
    "alone": (LESS, f" {by('Alt-Ergo')}\n"),
    "related": (LESS, f" {by('CVC4', 'CVC5')}\n"),
    "unknown": (LESS, f" {by('Vampire', 'Z3')}\n"),
    "others": (LESS, f" {by('Alt-Ergo', 'Z3', version='0.1')}\n"),
    "misnamed": (LESS, f" keep gone\n  {BY_TWO}\n"),
    "parted": (LESS, " split\n" + 2 * f"  part\n   {BY_TWO}\n"),
    "weakened": ("forall x y. x + x = y <-> y = 2 * x", KEPT),
}

# The record splits a goal in which both branches bind the same x.
SHARED = """\
  (** Shared. *) let shared (c: bool) : unit ensures { 0 = 1 }
  = let v = pure { if c then (1, 2) else (3, 4) } in
    let ghost (a, b) = v in assert { exists x: int. x = a + b }
end
"""
RECORDED = "Proofs.shared'vc\n split\n" + 2 * f"  part\n   keep\n    {BY_TWO}\n"
RECORDED += "  part\n   split\n    part\n    part\n"

# An instance replaces a parameter by a program without the parameter's contract.
INSTANCE = f"""\
(** Supports {TAG}. *) module Size
  use int.Int
  val size (x: int) : int ensures {{ 0 <= result }}
end
(** Supports {TAG}. *) module Instance
  use int.Int
  let less (x: int) : int = x - 1
  clone Size as S with val size = less
end
"""

THEORY = f"""\
(** Supports {TAG}. *) module NAME
  use int.Int
  (** Less. *) lemma less: forall x. x < x + 1
  (** Twice. *) let twice (x: int) : int
    ensures {{ result = x + x }}
  = x + x
  (** Extra. {TAG} *) lemma extra: forall x. x <= x + 2
end
"""
EXTRA = f"  (** Extra. {TAG} *) lemma extra: forall x. x <= x + 2\n"


TAMPERED = ("Untouched", "Gone", "Removed", "Broken", "Stray", "Marked", "Hiding", "Reaching")

# These axioms pretend to come from Why3's library.
HIDDEN = f"""\
module Away [#"{INT}" 1 0 10]
  use int.Int
  axiom a: forall x. x + 1 = x
end
[##"{INT}" 1 0]
module More
  use int.Int
  axiom b: forall x. x + 2 = x
end
"""

# Some edits change only sealed texts, which no proof notices; one tags another theorem.
EDITS = [
    ("why3/proofs.mlw", "= y <-> y", "= y -> y"),
    ("why3/gone.mlw", EXTRA, ""),
    ("proofs/sessions/broken.proofs", f"less\n{KEPT}", "less\n smoke_detector_top\n"),
    ("why3/marked.mlw", " lemma less", " lemma less [@inline:trivial] "),
    ("why3/hiding.mlw", "\nend", "\n  use hidden.away.Away\nend"),
    ("why3/reaching.mlw", "\nend", "\n  use witness.Witness\nend"),
    (OWN, "Numbers, doubled.", "Numbers."),
    (OWN, "their doubles are. ", f"their doubles are. {TAG} "),
    (DRIVER, 'val same "%1 == %2"', 'val same "%2 == %1"'),
    (USED, "  val same", "  val more (x: int) : int\n  val same"),
    (USED, "<-> x = y", "/\\ not result"),
]

# The subject of each failure, and a part of its message.
SAID = f"""
why3/proofs.mlw:3: Proofs.unproved|is not proved
Proofs.unproved|has no recorded proof with this Why3 (make update)
why3/proofs.mlw:4: Proofs.vacuous|has hypotheses that no witness satisfies
Proofs.invented|is not proved
Proofs.invented|{REPLAY}Alt-Ergo 2.0.0 answers
Proofs.invented|{REPLAY}Z3
Proofs.invented|is proved by 0 families of provers, none; two are wanted (make update)
Proofs.alone|is proved by 1 families of provers, Alt-Ergo; two are wanted
Proofs.related|is proved by 1 families of provers, CVC; two are wanted
Proofs.unknown|has a proof by Vampire, a prover that is not pinned
Proofs.unknown|is proved by 1 families of provers, Z3
Proofs.others|is not proved
Proofs.others|has no recorded proof with this Why3 (make update)
Proofs.misnamed|is not proved
Proofs.misnamed|cannot be taken apart as it is recorded: not in the context: gone (make update)
Proofs.parted|is not proved
Proofs.parted|cannot be taken apart as it is recorded: has 1 parts, 2 are recorded (make update)
Proofs.weakened|has hypotheses that no witness satisfies
Proofs.weakened|{OTHER}
Proofs.shared'vc|is not proved
Proofs.shared'vc.2.0|has no recorded proof with this Why3
Proofs.shared'vc.2.1|has no recorded proof with this Why3
Proofs.shared'vc|is split although it binds one variable in two places
Proofs.shared'vc.2|is split although it binds one variable in two places
why3/instance.mlw:3: Instance.S.size'refn'vc|is not proved
Instance.S.size'refn'vc|has no recorded proof with this Why3
proofs/sessions/gone.proofs:|Gone.extra is not in why3/gone.mlw any more
proofs/sessions/removed.proofs:|is missing: proofs of the 3 goals of why3/removed.mlw
why3/broken.mlw:|cannot be read: not understood: smoke_detector_top
proofs/sessions/stray.bak:|is a stray file: no theory with goals
proofs/sessions/old.proofs:|is a stray file: no theory with goals has these
why3/marked.mlw:3:|'[@' {PLACE}
why3/hiding.mlw:|Z3 {FALSE}
why3/hiding.mlw:|CVC5 {FALSE}
why3/hidden/away.mlw:1:|'[#' {PLACE}
why3/hidden/away.mlw:5:|'[#' {PLACE}
why3/hidden/away.mlw:|Z3 {FALSE}
why3/hidden/away.mlw:|CVC5 {FALSE}
why3/hidden/away.mlw:3: Away.a|{TAKEN}
why3/hidden/away.mlw: More.b|{TAKEN}, cloned from {INT}:4
why3/reaching.mlw:|reaches witness.Witness of Why3's library: expected one of
why3/room/calls.mlw: Calls|Alt-Ergo proves a goal with its conclusion negated: what
why3/kernel/trusted.mlw:4: kernel.trusted.Tuple.same ensures|is not true
why3/kernel/trusted.mlw:4: Tuple.same|{OTHER}
why3/kernel/trusted.mlw:3: Tuple.more|{UNLISTED}
why3/kernel/trusted.mlw:3: kernel.trusted.Tuple.more|is mapped to nothing by {DRIVER}
why3/small.mlw: theory.prose|{OTHER}
why3/small.mlw:11: Small.double_injective|{UNLISTED}
{DRIVER}:|{OTHER}
why3/trace.toml: trace.derived|{OTHER}
"""


def test_whatever_was_tampered_with_is_refused(small: Path) -> None:
    text = THEORY.replace("NAME", "Proofs").partition("  (** Less")[0]
    for name, (formula, _) in GOALS.items():
        text += f"  (** A goal. {TAG} *) goal {name}: {formula}\n"
    proofs = "".join(f"Proofs.{name}\n{recorded}" for name, (_, recorded) in GOALS.items())
    records, theories = {"proofs": proofs + RECORDED}, {"proofs": text + SHARED}
    records["instance"], theories["instance"] = "Instance.S.size'refn'vc\n", INSTANCE
    for name in TAMPERED:
        goals = (f"{name}.{goal}\n{KEPT}" for goal in ("less", "twice'vc", "extra"))
        records[name.lower()] = "".join(goals)
        theories[name.lower()] = THEORY.replace("NAME", name)
    write(small, {f"why3/{name}.mlw": text for name, text in theories.items()})
    write(small, {f"proofs/sessions/{name}.proofs": text for name, text in records.items()})
    seal_unproved(small)
    write(small, {"why3/hidden/away.mlw": HIDDEN, "proofs/sessions/stray.bak": ""})
    write(small, {"proofs/sessions/old.proofs": records["stray"]})
    (small / "proofs/sessions/removed.proofs").unlink()
    for file, old, new in EDITS:
        edit(small / file, old, new)
    found = failures(small)
    for line in SAID.strip().splitlines():
        about, what = line.split("|")
        said = next((each for each in found if about in each and what in each), line)
        assert said in found, "\n".join([line, "is not among", *found])
        found.remove(said)
    assert found == []
    # An answer that proves nothing is not kept.
    kept = {path.name for path in (small / "build" / "gate").iterdir()}
    assert "why3.untouched.mlw.json" in kept
    assert kept.isdisjoint({"why3.proofs.mlw.json", "why3.broken.mlw.json"})


def test_a_theory_that_cannot_be_read_is_named(small: Path) -> None:
    untyped = THEORY.replace("NAME", "Untyped").replace("= x + x\n", "= x + true\n")
    write(small, {"why3/untyped.mlw": untyped})
    # One theory has the name of a theory of Why3.
    shadowed = THEORY.replace("NAME", "Shadowed").replace("int.Int", "int.Int  use seq.Seq")
    sequences = "module Seq\n  type seq 'a = Nil\nend\n"
    write(small, {"why3/shadowed.mlw": shadowed, "why3/seq.mlw": sequences})
    expected = [
        "why3/untyped.mlw: cannot be read: why3/untyped.mlw:6: This expression has type bool",
        "why3/shadowed.mlw: cannot be read: why3/shadowed.mlw:2: Ambiguous path: both",
        "why3/seq.mlw: cannot be audited: Ambiguous path: both",
        "why3/untyped.mlw: cannot be audited: why3/untyped.mlw:6: This expression has type bool",
        "why3/shadowed.mlw: cannot be audited: why3/shadowed.mlw:2: Ambiguous path: both",
    ]
    same(failures(small), expected)


def test_characters_that_deceive_a_reader_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"why3/a.mlw": "\n\u200b", "proofs/claims.lock": "\u202e", "c/a.h": "\u2066"})
    write(tmp_path, {"tests/a.py": "\u0430 = 1\n", "tests/t.py": "\x01\t", "README.md": "a\u00e9"})
    (tmp_path / "tests" / "b.h").write_bytes(b"\n\xff")
    expected = ["c/a.h:1: '\\u2066' is LEFT-TO-RIGHT ISOLATE: it is not allowed in a source"]
    expected += ["proofs/claims.lock:1: '\\u202e' is RIGHT-TO-LEFT OVERRIDE"]
    expected += ["tests/a.py:1: '\\u0430' is CYRILLIC SMALL LETTER A"]
    expected += ["tests/b.h:2: '\\udcff' is no name", "tests/t.py:1: '\\x01' is no name"]
    expected += ["why3/a.mlw:2: '\\u200b' is ZERO WIDTH SPACE"]
    for number, explanation in enumerate(("a", "a (b)", "a (*", "*) a", 'a "b', "a\n]")):
        file = f"why3/explained{number}.mlw"
        write(tmp_path, {file: f"module A lemma a [@expl:{explanation}]: true end"})
        expected += [f"{file}:1: '[@' {PLACE}"] * (number > 1)
    same(list(map(str, judge.character_faults(tmp_path))), expected)


def test_sealing_shows_what_was_sealed_before(small: Path) -> None:
    theory = small / OWN
    edit(theory, "0 < x <-> 0 <", "0 < x -> 0 <")
    alone = run(small, "seal").stdout
    assert alone.startswith("no commit here has a lock: what was sealed before cannot be shown")
    assert "Small.double_positive: new\n  A number is positive exactly if" in alone
    git = ("git", "-C", str(small), "-c", "user.name=a", "-c", "user.email=a")
    for command in (["init", "-q"], ["add", "-f", "why3", "proofs"], ["commit", "-qm", "."]):
        subprocess.run([*git, *command], check=True)
    edit(theory, f"double. {TAG} *)\n  let", "double. *)\n  let")
    edit(theory, "0 < x -> 0 <", "0 < x <-> 0 <")
    said = run(small, "seal").stdout
    gone = "why3/small.mlw: Small.twice'vc: gone\n  The program computes the double.\n"
    assert said.startswith(gone)
    assert "why3/small.mlw:8: Small.double_positive: changed\n  A number is" in said
    assert "  forall x:int. 0 < x [-->-]{+<->+} 0 < double x\n" in said
    *_, clause, programs = said.splitlines()
    assert clause == "why3/trace.toml: trace.derived: changed"
    assert programs.startswith("  E_Small_any_Derived_010 | ")


def test_the_untouched_tree_passes_with_all_answers_kept(small: Path) -> None:
    printed = passes(small, kept=PROOFS)
    assert "trusted, without a body: Tuple.same\n" in printed
    assert "5 goals of 3 theories in 5 parts, 0 of them from their whole context" in printed
    for version in toolchain.systems():
        told = f"Why3 {version} is behind: make update THEORY="
        assert (told in printed) == (version != WHY3)
    made = run(small, "pack")
    assert made.stdout.startswith("evidence: build/evidence/evidence.json;"), made.stderr
    assert (small / "build" / "evidence" / "evidence.json").is_file()
    write(small, {"tests/new.py": ""})
    assert "the sources are not those on which the gate has passed" in run(small, "pack").stderr
    # An update changes no byte of a complete record; `--only` needs a part of a goal's name.
    recorded = small / RECORD
    before = recorded.read_bytes()
    assert run(small, "update").returncode == 0
    assert recorded.read_bytes() == before
    nothing = run(small, "update", "--only", "Small.thrice")
    assert (nothing.returncode, nothing.stderr) == (1, "no goal has Small.thrice in its name\n")


def keys(tree: Path) -> list[str]:
    """Return three keys: CALLS alone, CALLS with a goal in USED (which CALLS uses), OWN."""
    whygate = Program(tree)
    told: Any = [{"goals": [{"tree": {"file": f, "transformations": []}}]} for f in (None, USED)]
    return [*(whygate.key(CALLS, [USED], each) for each in told), whygate.key(OWN, [OWN], told[0])]


def test_kept_answers(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unchanged(file: str, old: str, new: str) -> list[bool]:
        before = keys(small)
        edit(small / file, old, new)
        return [a == b for a, b in zip(before, keys(small), strict=True)]

    clone = shutil.copytree(small, tmp_path / "deeper" / "clone", symlinks=True)
    assert keys(clone) == keys(small)
    # A theory's comment does not matter to its users, unless they have goals in the theory. A
    # change of a program's body changes its proof, not its statement.
    comment = "  use int.Int\n", "  (* New. *)\n\n  use int.Int\n"
    assert unchanged(USED, *comment) == [True, False, True]
    assert unchanged(OWN, "Numbers, doubled.", "Numbers, and others.") == [True, True, False]
    assert unchanged(OWN, "  = x + x\n", "  = 2 * x\n") == [True, True, False]
    # The gate ignores answers about other files, and truncated files of answers.
    found = small / "build" / "gate" / "why3.room.calls.mlw.json"
    forged = json.loads(found.read_text(encoding="utf-8"))
    forged |= {"key": "0" * 64, "session": {**forged["session"], "goals": []}}
    found.write_text(json.dumps(forged), encoding="utf-8")
    found.with_name("why3.kernel.trusted.mlw.json").write_text('{"key": "', encoding="utf-8")
    seal_unproved(small)
    passes(small, kept=0)
    # A change of a file in DECIDING changes all keys.
    monkeypatch.setattr(toolchain, "HERE", small / "proofs" / "gate")
    monkeypatch.setattr(toolchain, "verify", lambda: [])
    for name in program.DECIDING:
        before = keys(small)
        with (small / "proofs" / "gate" / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        assert {*before}.isdisjoint(keys(small))


def test_what_another_version_of_why3_has_recorded_stays(small: Path) -> None:
    record, other = small / RECORD, by("Alt-Ergo", "Z3", version="0.1")
    text = record.read_text(encoding="utf-8")
    for goal, lines in (("multiple", f" {other}\n"), ("double_positive", f" keep\n  {other}\n")):
        text, count = re.subn(rf"(?m)^(Small\.{goal}\n)(?: .*\n)*", rf"\g<1>{lines}", text)
        assert count == 1
    record.write_text(text, encoding="utf-8")
    assert run(small, "update", "small").returncode == 0
    text = record.read_text(encoding="utf-8")
    # A proof of the same task joins the other version's lines; a different task gets its own lines.
    assert f"Small.multiple\n {other}\n {WHY3}: " in text
    kept = f"Small.double_positive\n keep\n  {other}\n instead {WHY3}\n  keep Small.double\n"
    assert f"{kept}   {WHY3}: " in text
    passes(small)


def test_a_version_of_why3_that_has_not_seen_the_sources_is_behind(small: Path) -> None:
    record, systems = small / RECORD, toolchain.systems()
    other, unknown = sorted(systems.keys() - {WHY3})

    def behind() -> set[str]:
        session = Program(small).session(OWN, [OWN])
        told = [*judge.behind({"sessions": [session]}, systems)]
        goals = ("double_positive", "double_injective", "twice'vc", "multiple")
        names = ", ".join(f"Small.{name}" for name in goals)
        found = {v for v in systems if any(f"with Why3 {v} as it is: {names}" in t for t in told)}
        assert len(told) == 2 * len(found)
        return found

    text = record.read_text(encoding="utf-8")
    text = re.sub(rf"(?m)^( *){re.escape(WHY3)}(.*)$", rf"\g<0>\n\g<1>{other}\2", text)
    record.write_text(text, encoding="utf-8")
    edit(small / OWN, "Numbers, doubled.", "Numbers, and others.")
    assert behind() == {unknown}
    # No version has a record of the changed program.
    edit(small / OWN, "  = x + x\n", "  = 2 * x\n")
    assert behind() == {*systems}
    assert run(small, "update", "small").returncode == 0
    assert behind() == {other, unknown}


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
    program = small / "build" / "binaries" / "whygate"
    made = program.stat().st_mtime_ns
    done = run(small, "gate", "--fresh", environment=environment, cwd=small)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"proofs: {PROOFS} run now, 0 kept" in done.stdout
    assert program.stat().st_mtime_ns > made
    assert not (tmp_path / "ran").exists()
    # The loader complains about forged.so only when it starts Python itself.
    assert done.stderr.count("forged.so") == 1


def test_code_that_is_none_of_the_gates_cannot_turn_the_verdict(small: Path) -> None:
    """Forged bytecode of a judge, and a module of another folder."""
    source = small / "proofs" / "gate" / "judge.py"
    text = source.read_text(encoding="utf-8")
    code = compile(f"{text}\ndef judge(*_): return []\n", str(source), "exec")
    forged = source.parent / "__pycache__" / f"judge.{sys.implementation.cache_tag}.pyc"
    forged.parent.mkdir()
    unchecked = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
    forged.write_bytes(unchecked + marshal.dumps(code))
    importing = "import evidence.records\nfrom gate import claims,"
    edit(small / "proofs" / "verdict.py", "from gate import claims,", importing)
    # A failed run removes the facts of an earlier run.
    write(small, {"proofs/sessions/stray": "", "build/evidence/evidence.json": ""})
    loaded = "is loaded while the gate judges: expected gate/ alone"
    named = (("__init__", "evidence"), ("records", "evidence.records"))
    expected = ["proofs/sessions/stray: is a stray file: no theory with goals has these proofs"]
    expected += [f"proofs/evidence/{file}.py: {name} {loaded}" for file, name in named]
    same(failures(small, options=("-I", "-S")), expected)
    assert run(small, "pack").returncode == 1


HARD = """\
module Hard
  use int.Int
  goal hard: forall x y z. 0 < x -> 0 < y -> 0 < z -> x * x * x + y * y * y <> z * z * z
end
"""


def running(tree: Path) -> list[str]:
    """List the command lines of all processes that name a tree."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes().replace(b"\0", b" ").decode())
    return [line for line in found if str(tree) in line]


@contextlib.contextmanager
def started(tree: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the gate, and wait for its first line: a report that git is missing."""
    (tree / "build" / "temporary").mkdir()
    command = [sys.executable, *small_tree.ISOLATED, str(tree / "proofs" / "run.py"), "gate"]
    env = {**os.environ, "TMPDIR": str(tree / "build" / "temporary")}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        yield process


def test_what_is_interrupted_leaves_nothing_running(small: Path) -> None:
    proofs = f"Hard.hard\n {by('Z3', 'CVC4', 'CVC5')}\n"
    write(small, {"why3/hard.mlw": HARD, "proofs/sessions/hard.proofs": proofs})
    with started(small) as process:
        end = time.monotonic() + 60
        while not any(" replay why3/hard.mlw" in line for line in running(small)):
            assert time.monotonic() < end
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 130
        assert running(small) == []
    assert not list((small / "build" / "temporary").iterdir())


def test_a_change_while_the_gate_runs_is_noticed(small: Path) -> None:
    with started(small) as process:
        edit(small / OWN, "The program computes the double.", "It computes.")
        printed = process.communicate()[0]
    assert process.returncode == 1
    assert "why3, proofs: were changed while the gate ran\n" in printed


def test_a_prover_that_proves_nothing_or_everything() -> None:
    def said(**answers: str) -> list[str]:
        right = {"provable": "Valid", "refutable": "Timeout"}
        given = {name: right | (answers if name == "Z3" else {}) for name in judge.PROVERS}
        canaries = {n: [{"goal": g, "answer": a} for g, a in given[n].items() if a] for n in given}
        provers: Any = [{"name": name, "canary": canary} for name, canary in canaries.items()]
        return [str(failure) for failure in judge.prover_faults(provers)]

    assert said() == []
    told = "build/why3.conf: Z3 answers {} to a goal that is {}: it cannot be trusted"
    assert said(provable="unknown") == [told.format("unknown", "true")]
    assert said(provable="") == [told.format("nothing", "true")]
    assert said(refutable="Valid") == [told.format("Valid", "false")]
    assert said(refutable="") == [told.format("nothing", "false")]


def test_what_a_prover_says_to_a_contradiction() -> None:
    broken = ("Inconsistent assumption", "(error", "nothing")
    expected = {"Valid": FALSE}
    expected |= {t: f"does not work when it is asked for a contradiction: {t}" for t in broken}
    gives_up = (
        "sat",
        "unknown",
        "Steps limit reached: 61",
        "I don't know (0.1) (9 steps)",
        "Timeout",
    )
    asked = [("CVC5", answer) for answer in (*gives_up, *expected)]
    context = [{"prover": name, "about": "", "answer": answer} for name, answer in asked]
    session: Any = {"file": "why3/small.mlw", "context": context}
    assert [failure.what for failure in judge.context_faults(session)] == [
        *(f"{prover} was not asked for a contradiction" for prover in ("Alt-Ergo", "Z3")),
        *(f"CVC5 {what}" for what in expected.values()),
    ]
