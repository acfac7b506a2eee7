"""Mutants of definitions: the drawing, and the report of each outcome."""

import json
from pathlib import Path

import pytest
from small_tree import edit, run, small

from evidence import mutants
from gate import closed
from gate.closed import ROOT
from gate.theories import theory_files

__all__ = ["small"]

THEORY = """\
module M
  (** A 1 < 2 in a comment. *)
  let ghost function shifted (s: seq int) (n: int) : seq int
    requires { 0 <= n }
    ensures { forall k. 0 <= k < n -> result[k] = s[k - n] }
  = create n (pure { fun k -> s[k - n] })

  predicate all (p: bool) = p /\\ (* 0 *) true

  lemma no_definition: 0 < 1
end
"""


def test_mutants_of_a_theory() -> None:
    found = {mutant.change: mutant for mutant in mutants.of_theory("why3/room/m.mlw", THEORY)}
    assert [*found] == ["k [---]{+++} n", "p [-/\\-]{+\\/+} true", "/\\ [-true-]{+false+}"]
    both = found["k [---]{+++} n"]
    assert both.id == "room/m.mlw shifted: k [---]{+++} n"
    assert both.text == THEORY.replace("s[k - n]", "s[k + n]")


def test_each_theory_with_definitions_has_one() -> None:
    theories = {
        file
        for file in theory_files(ROOT)
        if not mutants.WITHOUT.search(file)
        and [*mutants.of_theory(file, (ROOT / file).read_text(encoding="utf-8"))]
    }
    some = mutants.drawn(ROOT, mutants.NUMBER)
    assert {mutant.file for mutant in some} == theories
    assert len({mutant.id for mutant in some}) == mutants.NUMBER
    assert mutants.drawn(ROOT, 20) == some[:20]


def test_what_becomes_of_each_mutant(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(small / "why3/small.mlw", "int = x + x\n", "int = x + x\n\n  function idle : int = 0\n")
    before = closed.sources(small)
    done = run(small, "mutants")
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((small / mutants.REPORT).read_text(encoding="utf-8"))
    found = {result["id"]: result for result in report["results"]}
    killed, alive = "small.mlw double: x [-+-]{+-+} x", "small.mlw idle: = [-0-]{+1+}"
    assert {name: (result["verdict"], result["goal"]) for name, result in found.items()} == {
        killed: ("killed", "Small.double_positive"),
        alive: ("survived", None),
    }
    survived = f"{alive} survived: no goal depends on what it changes\nmutants: FAILED; 2 run"
    assert survived in done.stdout
    assert list((small / "build" / "mutants").iterdir()) == []
    assert closed.sources(small) == before
    listed = small / "proofs/evidence/mutants.py"
    edit(listed, "str] = {\n", f"str] = {{\n    {alive!r}: 'It is idle.',\n")
    assert run(small, "mutants").returncode == 0
    edit(listed, f"{alive!r}: ", f"{killed!r}: '', {alive!r}: ")
    done = run(small, "mutants")
    assert done.returncode == 1
    assert f"{killed} is listed as equivalent, and was noticed\n" in done.stdout
