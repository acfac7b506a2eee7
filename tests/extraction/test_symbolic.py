"""The extracted Python on unknown integers: what is proved, and that nothing false passes for it.

`make validate` does the same for larger ranks and for all faults.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from types import ModuleType
from typing import Any

import pytest
import z3

from gate.closed import ROOT
from gate.terms import Condition
from validate import command as validate
from validate import faults, kernel, paths, validation, whole
from validate import report as validated
from validate.paths import Explorer, left_out
from validate.programs import ANY, BY_CONTRACT, Program, contracts, programs
from validate.validation import Finding, Result, Validation
from validate.values import Unknown

TEXT = (ROOT / validated.KERNEL).read_text(encoding="utf-8")
NAMES = [each.name for each in ast.parse(TEXT).body if isinstance(each, ast.FunctionDef)]
EQUIVALENT = validated.equivalents(ROOT / validated.EQUIVALENT)

# These have many forms, or paths, at rank 2, which `make validate` takes.
MANY = ("broadcast_all", "broadcast_views", "symbolic_zeros", "symbolic_conditions")

# One fault of thirty is planted here.
FAULTS = list(faults.faults(TEXT))
PLANTED = [fault for fault in FAULTS if str(fault) not in EQUIVALENT][::30]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return kernel.load(TEXT)


@pytest.fixture(scope="module")
def named(module: ModuleType) -> dict[str, Program]:
    return {program.name: program for program in programs(contracts(), module)}


def run(program: Program, module: ModuleType, *arguments: Any) -> Result:
    return Validation(program, arguments, module).run()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_program_keeps_its_contract(
    name: str, module: ModuleType, named: dict[str, Program]
) -> None:
    """[E_Broadcast_any_Derived_140]"""
    relied_on = named.get(BY_CONTRACT.get(name, ""))
    forms = list(named[name].forms(1 if name in MANY else 2))
    results = [Validation(named[name], given, module, relied_on).run() for given in forms]
    assert [finding for result in results for finding in result.findings] == []
    assert sum(result.paths for result in results) > 0


@pytest.mark.parametrize("fault", PLANTED, ids=str)
def test_a_planted_fault_is_noticed(fault: faults.Fault, named: dict[str, Program]) -> None:
    finding = faults.noticed(fault, named)
    assert finding is not None
    assert finding.input.startswith(f"{fault.program}(")


def planted(old: str, new: str) -> ModuleType:
    assert TEXT.count(old) == 1
    return kernel.load(TEXT.replace(old, new))


def test_a_difference_has_its_path_and_an_input(named: dict[str, Program]) -> None:
    changed = planted("if size < 0:\n                raise NegativeSize()\n", "pass\n")
    (finding,) = run(named["broadcast_shapes"], changed, ((ANY,),)).findings
    what = "not ensures { (Returns result: outcome (seq int) error) = common_outcome shapes }"
    assert finding == Finding(
        "broadcast_shapes",
        "(((?,),),)",
        what,
        ["Not(shapes[0][0] > 0)"],
        "broadcast_shapes(((-1,),),)",
        "(-1,)",
    )
    assert validate.shown(finding).splitlines() == [
        f"broadcast_shapes(((?,),),): {what}",
        "  path      Not(shapes[0][0] > 0)",
        "  input     broadcast_shapes(((-1,),),)",
        "  got       (-1,)",
    ]


@pytest.mark.parametrize(
    ("new", "what"),
    [
        ("elements = data", "an argument itself is returned"),
        ("elements = list(data)\n    data[0] = data[1]", "an argument is changed"),
    ],
)
def test_a_list_that_is_not_the_programs_own_is_noticed(
    new: str, what: str, named: dict[str, Program]
) -> None:
    changed = planted("elements = list(data)", new)
    data = [kernel.Element("x"), kernel.Element("y")]
    (finding,) = run(named["broadcast_flat"], changed, data, (2,), (2,)).findings
    assert finding.what == what


# What it refuses


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "TypeError": lambda a: a // 2,
    "'Number' object": lambda a: a.bit_length(),
    "a number is taken for a truth value": lambda a: 1 if a else 0,
    "the class of a number is asked for": lambda a: isinstance(a, int),
    "a number meets str": lambda a: a == "a",
    "a number meets bool": lambda a: a + True,
    "a truth value is compared": lambda a: (a == 1) == (a == 2),
    "a truth value that nobody decided": lambda a: a == 1,
    "can be any": lambda a: [0] * (a - a + 100),
    "unhashable": lambda a: {a},
    "a value is of the type str": lambda a: "a" if a == 1 else 0,
    "a path takes more than": lambda a: endless(a),
    "more than 90 decisions": lambda a: [n for n in range(99) if a == n],
    "runs out": lambda a: [a][1],
}


def endless(a: Any) -> Any:
    while a == a + 0 * a:
        pass


@pytest.mark.parametrize("what", OPERATIONS)
def test_what_is_not_known_of_an_integer_is_no_proof(
    what: str, module: ModuleType, named: dict[str, Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "a path takes more than":
        monkeypatch.setattr(validation, "SECONDS", 0.1)
    monkeypatch.setattr(paths, "DECISIONS", 90)
    monkeypatch.setattr(module, "f", lambda a, b, c: OPERATIONS[what](a))
    (finding,) = run(named["f"], module, ANY, ANY, ANY).findings
    expected = {"unhashable": "TypeError", "runs out": "IndexError"}.get(what, what)
    assert expected in finding.what + finding.got


def test_a_kernel_with_constructs_that_are_not_known_is_refused() -> None:
    text = "class E1: pass\ndef f(a: int, b: int) -> int:\n    return "
    kernel.load(f"{text}E1\n")
    for code in ("a is b", "type(a)", "[x for x in a]", "a // b", "lambda: a", "int(a)", "f'{a}'"):
        with pytest.raises(Unknown):
            kernel.load(f"{text}{code}\n")


def test_no_answer_of_z3_is_no_proof(
    module: ModuleType, named: dict[str, Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    with pytest.raises(Unknown, match="Z3 has no answer"):
        left_out(z3.BoolVal(True), [])
    (finding,) = run(named["f"], module, ANY, ANY, ANY).findings
    assert finding.what.startswith("Z3 has no answer")


def test_a_path_that_is_left_out_is_missed() -> None:
    explorer = Explorer(True)
    a, b = (explorer.table.known(z3.Int(name)) for name in "ab")
    found = [path for path, _ in explorer.paths(lambda: (a < b, bool(a < b) and bool(a == 3)))]
    assert len(found) == 3
    assert left_out(explorer.requires, found) is None
    for gone in range(3):
        assert left_out(explorer.requires, [*found[:gone], *found[gone + 1 :]]) is not None
    assert left_out(z3.Int("a") > z3.Int("b"), [path for path in found if len(path) == 1]) is None
    assert left_out(z3.BoolVal(True), []) is not None
    assert left_out(z3.BoolVal(True), [[]]) is None


def test_a_program_that_is_not_the_same_when_run_again_is_refused() -> None:
    explorer = Explorer(True)
    a, runs = explorer.table.known(z3.Int("a")), iter(range(9))
    with pytest.raises(Unknown, match="run again"):
        list(explorer.paths(lambda: bool(a == next(runs))))


def test_a_contract_is_relied_on_where_its_requirements_are_met(
    module: ModuleType, named: dict[str, Program]
) -> None:
    """The program itself is not called; its contract is not asked of another call."""
    shapes, called = named["broadcast_shapes"], named["first_violation"]
    arguments = (((ANY,), (ANY,)),)
    changed = kernel.load(TEXT.replace("def first_violation(", "def not_called("))
    changed.first_violation = None  # type: ignore[attr-defined]
    assert Validation(shapes, arguments, changed, called).run().findings == []
    before = "    first = shapes[0]\n    zero"
    early = planted(before, f"    first_violation(shapes)\n{before}")
    (finding,) = Validation(shapes, arguments, early, called).run().findings
    assert finding.what == "what a program requires that is called is not met"
    other = planted(before, f"    first_violation(shapes[1:])\n{before}")
    (finding,) = Validation(shapes, arguments, other, called).run().findings
    assert finding.what == "a call that is answered by contract has other arguments"


def test_what_must_hold_of_all_programs_together(named: dict[str, Program]) -> None:
    results = [Result(name, "(?,)", 1) for name in NAMES]
    assert list(whole.together(named, NAMES, results, complete=True)) == []
    gone = [result for result in results if result.program not in ("f", "first_mismatch")]
    found = whole.together(named, [n for n in NAMES if n != "f"], gone, complete=True)
    assert [(finding.program, finding.what) for finding in found] == [
        ("f", "is in the kernel or has a contract, and not both"),
        ("first_mismatch", "has no path"),
        ("numpy_broadcast_shapes", "relies on first_mismatch, which is not proved"),
    ]


def test_a_contract_that_is_wrong_is_noticed(module: ModuleType, named: dict[str, Program]) -> None:
    wrong = copy(named["f"])
    wrong.conditions = [
        Condition("ensures", None, "result = a", lambda a, b, c, result: a == result)
    ]
    (finding,) = run(wrong, module, ANY, ANY, ANY).findings
    assert (finding.what, finding.got) == ("not ensures { result = a }", "0")
    wrong.conditions = []
    (finding,) = run(wrong, module, ANY, ANY, ANY).findings
    assert finding.what == "the contract says nothing of such an end"
