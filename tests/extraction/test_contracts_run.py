"""The contracts of the kernel's programs, as predicates made from the WhyML, asked of calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import islice, product
from random import Random
from typing import Any

import pytest

import whycast
from assurance import clauses, closed, contracts
from assurance.calls import calls
from assurance.contracts import BrokenContractError, Contract, Outcome
from whycast import _kernel

CALLS = 1000

MODES = (_kernel.Numpy(), _kernel.Explicit(), _kernel.Bidirectional())

FUNCTIONS = contracts.programs(_kernel)


@pytest.fixture(scope="module")
def of_kernel() -> dict[str, Contract]:
    return contracts.contracts()


def short(name: str) -> str:
    return name.rpartition(".")[2]


@pytest.fixture(params=FUNCTIONS, ids=short)
def contract(request: pytest.FixtureRequest, of_kernel: dict[str, Contract]) -> Contract:
    return of_kernel[request.param]


# What runs


def test_each_program_has_a_contract_that_runs(of_kernel: dict[str, Contract]) -> None:
    """[E_Broadcast_any_Derived_140]"""
    assert len(of_kernel) == 34
    assert all(contract.of_kind("ensures") for contract in of_kernel.values())
    assert contracts.not_executable() == []


def test_right_outcomes_are_allowed(contract: Contract) -> None:
    """[E_Broadcast_any_Derived_140]"""
    ends: Counter[str] = Counter()
    for arguments in calls(contract, CALLS):
        before = repr(arguments)
        outcome = contracts.outcome_of(FUNCTIONS[contract.name], arguments)
        assert contract.excludes(arguments, outcome) is None, arguments
        assert repr(arguments) == before
        ends[type(outcome.error).__name__ if outcome.error else "value"] += 1
    assert ends.keys() == {"value", *contract.exceptions}


# Calls from wherever


def test_calls_among_the_programs_are_asked(of_kernel: dict[str, Contract]) -> None:
    """[E_Broadcast_any_Derived_140]"""
    shapes = [shape for rank in range(3) for shape in product(range(-1, 4), repeat=rank)]
    with contracts.watched() as asked:
        for first, second in product(shapes, repeat=2):
            for program in (_kernel.broadcast_shapes, _kernel.numpy_broadcast_shapes):
                contracts.outcome_of(program, [(first, second)])
    assert {short(name) for name in asked} == {
        "broadcast_shapes",
        "check_shape",
        "check_shapes",
        "first_mismatch",
        "first_violation",
        "numpy_broadcast_shapes",
        "padded_size",
    }
    assert asked.count("kernel.broadcast.COPBroadcast.broadcast_shapes") == len(shapes) ** 2
    assert contracts.programs(_kernel) == FUNCTIONS


def test_the_package_is_asked_through_its_own_names() -> None:
    with contracts.watched() as asked:
        assert whycast.source_index((3, 1), (3, 4), (2, 3)) == (2, 0)
    assert "kernel.broadcast.COPBroadcast.source_index" in asked


# Planted faults


def others(value: Any) -> Iterator[Any]:
    """Give values that are near one, each in another way."""
    if type(value) is int:
        yield from (value + 1, value - 1, -value, 0, 1)
        yield from (value > 0, float(value))
    elif isinstance(value, tuple | list):
        kind = type(value)
        for i, element in islice(enumerate(value), 20):
            for other in others(element):
                yield kind([*value[:i], other, *value[i + 1 :]])
        yield kind(value[1:])
        yield kind([*value, value[-1] if value else 0])
        yield kind(value[::-1])
        yield (list if kind is tuple else tuple)(value)
    elif value in MODES:
        yield from MODES
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            for other in others(getattr(value, field.name)):
                yield replace(value, **{field.name: other})
    else:
        yield 0


def alike(a: Outcome, b: Outcome) -> bool:
    """Tell whether two outcomes are one, types included."""
    return repr(a.value) == repr(b.value) and repr(a.error) == repr(b.error)


def wrong_outcomes(right: Outcome, seen: list[Outcome]) -> Iterator[Outcome]:
    """Give outcomes that are near the right one, and those of other calls."""
    if right.error is None:
        yield from (Outcome(value=value) for value in others(right.value))
    elif hasattr(right.error, "value"):
        raised = type(right.error)
        yield from (Outcome(error=raised(value)) for value in others(right.error.value))
    yield from (Outcome(error=IndexError()), Outcome(error=AssertionError()), *seen)


def test_wrong_outcomes_are_noticed(contract: Contract) -> None:
    """[E_Broadcast_any_Derived_140]"""
    random = Random(contract.name)
    of_calls = [
        (arguments, contracts.outcome_of(FUNCTIONS[contract.name], arguments))
        for arguments in calls(contract, 60, seed=1)
    ]
    noticed = 0
    for arguments, right in of_calls:
        seen = [random.choice(of_calls)[1] for _ in range(5)]
        for wrong in wrong_outcomes(right, seen):
            if not alike(wrong, right):
                assert contract.excludes(arguments, wrong), (arguments, wrong)
                noticed += 1
    assert noticed > 100


def test_a_wrong_program_within_another_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def padded_size(shape: tuple[int, ...], rank: int, i: int) -> int:
        """WhyML: kernel.violation.COPViolation.padded_size"""
        return 1 if i < rank - len(shape) else shape[0]

    monkeypatch.setattr(_kernel, "padded_size", padded_size)
    with (
        contracts.watched(),
        pytest.raises(BrokenContractError, match=r"padded_size\(\(3, 2\), 2, 1\)"),
    ):
        _kernel.first_violation(((3, 2), (4,)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((3, 1), 2, 2), r"requires \{ i < rank \} is not true"),
        (((3, 1), 1, 0), r"requires \{ length shape <= rank \} is not true"),
        (([3, 1], 2, 0), "shape is of another type"),
        (((3, 1), 2, True), "i is of another type"),
        (((3, 1), 2), "another number of arguments"),
    ],
)
def test_a_call_that_is_not_allowed_is_noticed(arguments: tuple[Any, ...], message: str) -> None:
    with contracts.watched(), pytest.raises(BrokenContractError, match=message):
        _kernel.padded_size(*arguments)


def test_a_changed_argument_is_noticed(of_kernel: dict[str, Contract]) -> None:
    contract = of_kernel["kernel.flat.COPFlatBroadcast.broadcast_flat"]

    def changes(data: list[int], shape: tuple[int, ...], target: tuple[int, ...]) -> list[int]:
        found = _kernel.broadcast_flat(data, shape, target)
        data.append(0)
        return found

    with pytest.raises(BrokenContractError, match="its arguments have changed"):
        contracts.checked(contract, changes)([7], (), (2,))


# What the clauses are made of


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda: clauses.every(lambda k: k < 5, 0, None), False),
        (lambda: clauses.every(lambda k: k < 5, None, 5), True),
        (lambda: clauses.every(lambda k: k > 3, None, 5), False),
        (lambda: clauses.every(lambda k: k != 7, None, None), False),
        (lambda: clauses.every(lambda k: not 2 <= k < 4 or k == 2 or k == 3, None, None), True),
        (lambda: clauses.every(lambda k: not 2 <= k < 4 or k == 2, None, None), False),
        (lambda: clauses.every(lambda k: k < 5 or k >= 5, None, None), True),
        (lambda: clauses.every(lambda k: k >= 0, 0, None), True),
        (lambda: clauses.some(lambda k: k == -9, None, None), True),
        (lambda: clauses.some(lambda k: k == -9, 0, None), False),
        (lambda: clauses.some(lambda k: k > 100, 0, None), True),
        (lambda: clauses.every(lambda k: False, None, None), False),
        (lambda: clauses.every(lambda k: False, 3, 3), True),
        (lambda: (clauses.div(-7, 2), clauses.mod(-7, 2)), (-4, 1)),
        (lambda: (clauses.div(-7, -2), clauses.mod(-7, -2)), (4, 1)),
        (lambda: (clauses.div(7, -2), clauses.mod(7, -2)), (-3, 1)),
    ],
)
def test_quantifiers_and_division(ask: Callable[[], object], expected: object) -> None:
    assert ask() == expected


@pytest.mark.parametrize(
    "ask",
    [
        lambda: clauses.every(lambda k: k * 2 > 0, 0, None),
        lambda: clauses.every(lambda k: (7, 8)[k] > 0, 0, None),
        lambda: clauses.every(lambda k: clauses.every(lambda j: j < k, 0, None), 0, None),
        lambda: list(clauses.indices(2, lambda k: k < 1, lambda k: 0, lambda k: 1)),
    ],
)
def test_what_is_not_decided_is_told(ask: Callable[[], object]) -> None:
    with pytest.raises(clauses.UndecidedError):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: clauses.at((7, 8), -1),
        lambda: clauses.at((7, 8), 2),
        lambda: clauses.put((7, 8), -1, 0),
        lambda: clauses.create(-1, lambda k: k),
        lambda: clauses.div(1, 0),
        lambda: clauses.required(False),
        lambda: clauses.unreachable(),
    ],
)
def test_what_has_no_value_is_told(ask: Callable[[], object]) -> None:
    with pytest.raises(clauses.UndefinedError):
        ask()


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(closed.ToolError, match="ended with 1"):
        contracts.ask("kernel.nothing.Nothing")


# The translation

# A clause for each construct: what it is of the argument 3, or why it does not run.
CLAUSES = {
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
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Contract]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "why3").mkdir()
    programs = [
        f"  let clause_{i} (n: int) : unit\n    ensures {{ {text} }}\n  = ()"
        for i, text in enumerate(CLAUSES)
    ]
    text = "\n".join([SMALL, *programs, "end\n"])
    (folder / "why3" / "small.mlw").write_text(text, encoding="utf-8")
    return contracts.compiled(contracts.ask("small.Small", root=folder), _kernel)


@pytest.mark.parametrize("number", range(len(CLAUSES)), ids=list(CLAUSES))
def test_what_a_clause_becomes(number: int, small: dict[str, Contract]) -> None:
    expected = list(CLAUSES.values())[number]
    found = small[f"small.Small.clause_{number}"].clauses
    wrong = [clause.reason or clause.false_of(3, None) for clause in found]
    if isinstance(expected, str):
        assert any(expected in text for text in wrong if text)
    else:
        assert (wrong == [None] * len(found)) is expected
        assert all(clause.reason is None for clause in found)
