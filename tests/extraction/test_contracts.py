"""Conditions of contracts as Python: what they are made of, and what whycontract makes of WhyML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gate import closed
from validate import conditions, contracts

# What the conditions are made of


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda: conditions.every(lambda k: k < 5, 0, None), False),
        (lambda: conditions.every(lambda k: k < 5, None, 5), True),
        (lambda: conditions.every(lambda k: k > 3, None, 5), False),
        (lambda: conditions.every(lambda k: k != 7, None, None), False),
        (lambda: conditions.every(lambda k: not 2 <= k < 4 or k == 2 or k == 3, None, None), True),
        (lambda: conditions.every(lambda k: not 2 <= k < 4 or k == 2, None, None), False),
        (lambda: conditions.every(lambda k: k < 5 or k >= 5, None, None), True),
        (lambda: conditions.every(lambda k: k >= 0, 0, None), True),
        (lambda: conditions.some(lambda k: k == -9, None, None), True),
        (lambda: conditions.some(lambda k: k == -9, 0, None), False),
        (lambda: conditions.some(lambda k: k > 100, 0, None), True),
        (lambda: conditions.every(lambda k: False, None, None), False),
        (lambda: conditions.every(lambda k: False, 3, 3), True),
        (lambda: (conditions.div(-7, 2), conditions.mod(-7, 2)), (-4, 1)),
        (lambda: (conditions.div(-7, -2), conditions.mod(-7, -2)), (4, 1)),
        (lambda: (conditions.div(7, -2), conditions.mod(7, -2)), (-3, 1)),
    ],
)
def test_quantifiers_and_division(ask: Callable[[], object], expected: object) -> None:
    assert ask() == expected


@pytest.mark.parametrize(
    "ask",
    [
        lambda: conditions.every(lambda k: k * 2 > 0, 0, None),
        lambda: conditions.every(lambda k: (7, 8)[k] > 0, 0, None),
        lambda: conditions.every(lambda k: conditions.every(lambda j: j < k, 0, None), 0, None),
        lambda: list(conditions.indices(2, lambda k: k < 1, lambda k: 0, lambda k: 1)),
    ],
)
def test_what_is_not_decided_is_told(ask: Callable[[], object]) -> None:
    with pytest.raises(conditions.UndecidedError):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: conditions.at((7, 8), -1),
        lambda: conditions.at((7, 8), 2),
        lambda: conditions.put((7, 8), -1, 0),
        lambda: conditions.create(-1, lambda k: k),
        lambda: conditions.div(1, 0),
        lambda: conditions.required(False),
        lambda: conditions.unreachable(),
    ],
)
def test_what_has_no_value_is_told(ask: Callable[[], object]) -> None:
    with pytest.raises(conditions.UndefinedError):
        ask()


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(closed.ToolError, match="ended with 1"):
        contracts.ask("kernel.nothing.Nothing")


# The translation

# A condition for each construct: what it is of the argument 3, or why it does not run.
CONDITIONS = {
    "forall k. 0 <= k < n -> k < 3": True,
    "forall k. 0 <= k < n -> k < 2": False,
    "exists k. 0 <= k < n /\\ k * k = 4": True,
    "forall k. k < 5 -> k < n": False,
    "exists k. k = 100": True,
    "forall j k. 0 <= j < k < n -> j + k <= 3": True,
    "forall j k. 0 <= j < k < n -> j + k <= 2": False,
    "forall k. below k n -> k < 3": True,
    "forall i. valid i n -> i[0] + i[1] <= 4": True,
    "forall i. valid i n -> i[0] + i[1] <= 3": False,
    "let m = n + 1 in m = 4 && (m = 5 -> false)": True,
    "match (n, n + 1) with (a, b) -> a < b end": True,
    "match Some n with None -> false | Some m -> m = 3 end": True,
    "Some n = Some 3": True,
    "Some n = None": False,
    "(create n (fun k -> k * k))[2] = 4": True,
    "create 2 (fun k -> k) = cons 0 (singleton 1)": True,
    "div (- n) 2 = -2 /\\ mod (- n) 2 = 1": True,
    "factorial n = 6": True,
    "if n = 3 then not false else false": True,
    "n = 3 <-> n = 4": False,
    "(fun k -> k = n) 3": True,
    "(create n (fun k -> k))[3] = 0": "has no value",
    "(create n (fun k -> k))[-1] = 0": "has no value",
    "factorial (-1) = 1": "has no value",
    "div n 0 = 0": "has no value",
    "forall k. k + 1 > k": "has no value",
    "forall f: int -> int. f n = f n": "all values of the type int -> int",
    "forall i: seq int. length i = 2 -> i[0] <= 2": "all values of the type seq int",
    "forall b: bool. b = b": "all values of the type bool",
    "(fun k -> k) = (fun k -> k + n)": "compares values of the type int -> int",
    "Some (fun k -> k) = Some (fun k -> k + n)": "compares values of the type option (int -> int)",
    "unknown n": "unknown: it has no definition",
    "through_unknown n": "through_unknown: unknown: it has no definition",
    "n = 4 \\/ 2.0 = 3.0": "compares values of the type real",
    "inductively n": "inductively: it has no definition",
}

SMALL = """
module Small
  use int.Int
  use int.EuclideanDivision
  use seq.Seq
  use option.Option
  predicate below (k n: int) = 0 <= k < n
  predicate valid (i: seq int) (n: int) =
    length i = 2 /\\ forall k. 0 <= k < 2 -> 0 <= i[k] < n
  predicate unknown (n: int)
  predicate through_unknown (n: int) = n = 0 \\/ unknown n
  inductive inductively int = | Base: inductively 0
  let rec ghost function factorial (n: int) : int
    requires { 0 <= n }
    variant { n }
  = if n = 0 then 1 else n * factorial (n - 1)
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "why3").mkdir()
    programs = [
        f"  let condition_{i} (n: int) : unit\n    ensures {{ {text} }}\n  = ()"
        for i, text in enumerate(CONDITIONS)
    ]
    text = "\n".join([SMALL, *programs, "end\n"])
    (folder / "why3" / "small.mlw").write_text(text, encoding="utf-8")
    return contracts.ask("small.Small", root=folder)


@pytest.mark.parametrize("number", range(len(CONDITIONS)), ids=list(CONDITIONS))
def test_what_a_clause_becomes(number: int, small: dict[str, Any]) -> None:
    expected = list(CONDITIONS.values())[number]
    names = {**vars(conditions), "Any": Any, "dataclass": dataclass}
    exec(small["definitions"], names)
    (found,) = (
        p["conditions"] for p in small["programs"] if p["name"].endswith(f"condition_{number}")
    )
    if isinstance(expected, str) and expected != "has no value":
        assert any(expected in (condition["reason"] or "") for condition in found)
        return
    assert [condition["reason"] for condition in found] == [None] * len(found)

    def holds() -> bool:
        return all(eval(condition["python"], names)(3, None) is True for condition in found)

    if isinstance(expected, str):
        with pytest.raises((conditions.UndefinedError, conditions.UndecidedError)):
            holds()
    else:
        assert holds() is expected
