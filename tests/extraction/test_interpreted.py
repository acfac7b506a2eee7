"""The extracted programs give what the WhyML gives, evaluated and executed as it is."""

from __future__ import annotations

import re

import pytest

from assurance import closed, contracts, erased, extraction, interpreter
from assurance.contracts import Outcome
from assurance.interpreter import Call
from whycast import _kernel

# Of each program; `make validate` takes thousands.
EVALUATED = 100
EXECUTED = 25

SHAPES = "kernel.broadcast.COPBroadcast.broadcast_shapes"
FLAT = "kernel.flat.COPFlatBroadcast.broadcast_flat"
VIEW = "kernel.openvino.COPOpenvino.view_without_axes"
DISTINCT = "kernel.in_dim.COPInDim.check_distinct"

CALLS = {
    Call(SHAPES, (((3, 1), (4,)),)): Outcome(value=(3, 4)),
    Call(SHAPES, (((), ()),)): Outcome(value=()),
    Call(SHAPES, ((),)): Outcome(error=_kernel.NoTensor()),
    Call(SHAPES, (((3, 2), (4,)),)): Outcome(error=_kernel.E1(_kernel.Violation(0, 1, 2, 4))),
    Call(DISTINCT, ((1, 2, 1), 3)): Outcome(error=_kernel.AxesNotDistinct((0, 2))),
    Call(VIEW, ((), (), (2,), _kernel.Numpy())): Outcome(value=((2,), (0,))),
    Call("kernel.openvino.COPOpenvino.mode_of", (_kernel.Given(_kernel.Explicit()),)): Outcome(
        value=_kernel.Explicit()
    ),
    Call("kernel.broadcast.COPBroadcast.offset", ((10**20, 3), (-(10**20), 7))): Outcome(
        value=21 - 10**40
    ),
}


def test_ends_of_calls() -> None:
    """[E_Broadcast_any_Derived_140]"""
    asked = [*CALLS, Call(FLAT, ([5, 6], (2, 1), (2, 2)))]
    ends = [*CALLS.values(), Outcome(value=[5, 5, 6, 6])]
    assert list(map(repr, interpreter.evaluated(asked))) == list(map(repr, ends))
    by_why3 = [interpreter.as_tuple(end) for end in ends]
    assert list(map(repr, interpreter.executed(asked))) == list(map(repr, by_why3))


def test_whyml_and_python_agree() -> None:
    """[E_Broadcast_any_Derived_140]"""
    table = interpreter.compare(EVALUATED, EXECUTED)
    assert [row.program for row in table] == list(contracts.contracts())
    assert all(row.values + row.raised == EVALUATED for row in table)
    assert [text for row in table for text in row.different] == []


# What is noticed


def test_another_program_in_python_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(a: int, b: int, c: int) -> int:
        """WhyML: kernel.broadcast.COPBroadcast.f"""
        return a if b <= c else 0

    monkeypatch.setattr(_kernel, "f", f)
    asked = [Call("kernel.broadcast.COPBroadcast.f", (2, b, 3)) for b in (2, 3, 4)]
    ends = interpreter.evaluated(asked)
    by_why3 = dict(enumerate(interpreter.executed(asked)))
    row = next(row for row in interpreter.rows(asked, ends, by_why3) if row.values)
    assert row.different == [
        "kernel.broadcast.COPBroadcast.f(2, 2, 3): Outcome(value=2, error=None), "
        f"in WhyML Outcome(value=0, error=None){by}"
        for by in ("", " by Why3's interpreter")
    ]


def test_a_call_without_an_end_is_no_agreement() -> None:
    asked = [Call("kernel.violation.COPViolation.padded_size", ((3, 1), 2, 5))]
    assert interpreter.evaluated(asked) == ["element 5 of 2"]
    assert re.search("array element could not be retrieved", str(interpreter.executed(asked)))


def test_an_unknown_program_is_told() -> None:
    with pytest.raises(closed.ToolError, match="whyrun ended with 1"):
        interpreter.evaluated([Call("kernel.broadcast.COPBroadcast.nothing", ())])


# What is left out


def test_programs_alone_are_left() -> None:
    texts = [erased.erased(file.read_text("utf-8")) for file in extraction.program_files()]
    left_out = re.compile(
        r"\b(ghost|Spec|requires|ensures|returns|invariant|assert|pure|predicate)\b"
    )
    assert [found for text in texts for found in left_out.findall(text)] == []


def test_what_is_left_out() -> None:
    text = """(** A program. (* inside *) *)
module M
  use int.Int
  use core.shape.Shape as Spec

  predicate p (n: int) =
    n = 0

  (** It counts. *)
  let f (x: 'a) (n: int) : int
    requires { p n /\\\\ (forall k. { k } = { k }) }
    ensures  { result = n }
    raises   { E v -> v = 1 }
    raises   { N -> true }
  = let ghost m = let k = n in k in
    assert { m = n };
    ghost (lemma m (n));
    begin ensures { true }
      if pure { n = 0 } then () else n
    end
end
"""
    lines = [line.strip() for line in erased.erased(text).splitlines() if line.strip()]
    assert lines == [
        "module M",
        "use int.Int",
        "let f (x: int) (n: int) : int",
        "raises { E _ -> true }",
        "raises { N -> true }",
        "=",
        "();",
        "();",
        "begin",
        "if true then () else n",
        "end",
        "end",
    ]
