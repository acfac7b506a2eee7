"""The extracted Python on unknown integers: what is proved, and that nothing false passes for it.

`make validate` does the same for larger ranks and for all faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import z3

from assurance import validate, validated
from symbolic import (
    faults,
    kernel,
    paths,
    programs,
    register,
    texts,
    texts_axes,
    texts_data,
    validation,
    whole,
)
from symbolic.logic import Case, Record, Returns
from symbolic.paths import Explorer, Path, left_out
from symbolic.programs import ANY, Program
from symbolic.validation import Finding, Result, Validation
from symbolic.values import Unknown

TEXT = (validate.ROOT / validated.KERNEL).read_text(encoding="utf-8")
PROGRAMS = register.programs(2)
NAMED = {program.name: program for program in PROGRAMS}
EQUIVALENT = validate.equivalents(validate.ROOT)

# One fault of thirty is planted here.
FAULTS = list(faults.faults(TEXT))
PLANTED = [fault for fault in FAULTS if str(fault) not in EQUIVALENT][::30]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return kernel.load(TEXT)


def run(program: Program, module: ModuleType, *arguments: Any) -> Result:
    return Validation(program, arguments, module, NAMED).run()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_each_program_is_what_the_texts_say(program: Program, module: ModuleType) -> None:
    results = [run(program, module, *arguments) for arguments in program.forms(2)]
    assert [finding for result in results for finding in result.findings] == []
    assert sum(result.paths for result in results) > 0
    proved = {(each.name, validation.form(form)) for each in PROGRAMS for form in each.forms(2)}
    assert all(result.relied_on <= proved for result in results)


@pytest.mark.parametrize("fault", PLANTED, ids=str)
def test_a_planted_fault_is_noticed(fault: faults.Fault) -> None:
    finding = faults.noticed(fault, PROGRAMS)
    assert finding is not None
    assert finding.input.startswith(f"{fault.program}(")
    assert finding.expected != finding.got


def planted(old: str, new: str) -> ModuleType:
    assert TEXT.count(old) == 1
    return kernel.load(TEXT.replace(old, new))


def test_a_difference_has_its_path_an_input_and_what_was_expected() -> None:
    changed = planted("if size < 0:\n                raise NegativeSize()\n", "pass\n")
    (finding,) = run(NAMED["broadcast_shapes"], changed, ((ANY,),)).findings
    assert finding == Finding(
        "broadcast_shapes",
        "(((?)))",
        "differs",
        ["Not(shapes[0][0] > 0)"],
        "broadcast_shapes(((-1,),),)",
        "raises NegativeSize()",
        "(-1,)",
    )
    assert validate.shown(finding).splitlines() == [
        "broadcast_shapes(((?))): differs",
        "  path      Not(shapes[0][0] > 0)",
        "  input     broadcast_shapes(((-1,),),)",
        "  expected  raises NegativeSize()",
        "  got       (-1,)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "got"),
    [
        (
            "raise AxisMisfit(j)\n    return tuple",
            "raise AxisMisfit(axis)\n    return tuple",
            "AxisMisfit(1)",
        ),
        (
            "raise AxisMisfit(j)\n    return tuple",
            "raise AxesCount()\n    return tuple",
            "AxesCount()",
        ),
        (
            "raise AxisMisfit(j)\n    return tuple",
            "raise j\n    return tuple",
            "builtins.TypeError(",
        ),
    ],
)
def test_another_exception_or_another_payload_is_noticed(old: str, new: str, got: str) -> None:
    forms = ((ANY,), (ANY,), (ANY, ANY), (ANY,))
    (finding,) = run(NAMED["place_strides"], planted(old, new), *forms).findings
    assert finding.expected == "raises AxisMisfit(0)"
    assert finding.got.startswith(f"raises {got}")


@pytest.mark.parametrize(
    ("new", "what"),
    [
        ("elements = data", "an argument itself is returned"),
        ("elements = list(data)\n    data[0] = data[1]", "an argument is changed"),
    ],
)
def test_a_list_that_is_not_the_programs_own_is_noticed(new: str, what: str) -> None:
    changed = planted("elements = list(data)", new)
    data = list(programs.listed("x", 2))
    (finding,) = run(NAMED["broadcast_flat"], changed, data, (ANY,), (ANY,)).findings
    assert finding.what == what


def test_what_the_texts_say_gives_their_examples() -> None:
    assert texts_axes.p([10, 11, 12, 13, 14], [1, 3]) == (10, 12, 14)
    (view,) = texts_axes.without_axes((16, 1, 1), (1, 1, 1), (1, 16, 50, 50), Record("Numpy"))[4:]
    assert view == Case(True, Returns(((1, 16, 50, 50), (0, 1, 0, 0))))
    assert list(texts_data.moved("abc", (3, 1), (3, 2))) == [*"aabbcc"]
    assert list(texts_data.moved("abc", (3,), (2, 3))) == [*"abcabc"]
    assert texts.output_shape([(3, 1), (4,)]) == (3, 4)
    assert texts.violation([(3, 2), (4,)]) == Record("Violation", (0, 1, 2, 4))
    assert texts.mismatch([(3, 2), (4,)]) == Record("Mismatch", (0, 1, 1))


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
    what: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    if what == "a path takes more than":
        monkeypatch.setattr(validation, "SECONDS", 0.1)
    monkeypatch.setattr(paths, "DECISIONS", 90)
    monkeypatch.setattr(module, "f", lambda a, b, c: OPERATIONS[what](a))
    (finding,) = run(NAMED["f"], module, ANY, ANY, ANY).findings
    expected = {"unhashable": "TypeError", "runs out": "IndexError"}.get(what, what)
    assert expected in finding.what + finding.got


@pytest.mark.parametrize(
    "code",
    [
        "a is b",
        "type(a)",
        "[x for x in a]",
        "a // b",
        "lambda: a",
        "E1",
        "eval(a)",
        "int(a)",
        "f'{a}'",
    ],
)
def test_a_kernel_with_constructs_that_are_not_known_is_refused(code: str) -> None:
    with pytest.raises(Unknown) if code != "E1" else pytest.MonkeyPatch.context():
        kernel.load(f"class E1: pass\ndef f(a: int, b: int) -> int:\n    return {code}\n")


def test_no_answer_of_z3_is_no_proof(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    with pytest.raises(Unknown, match="Z3 has no answer"):
        left_out(z3.BoolVal(True), [])
    (finding,) = run(NAMED["f"], module, ANY, ANY, ANY).findings
    assert finding.what.startswith("Z3 has no answer")


def test_a_path_that_is_left_out_is_missed() -> None:
    explorer = Explorer(True)
    a, b = explorer.table.variable("a"), explorer.table.variable("b")
    found = [path for path, _ in explorer.paths(lambda: (a < b, bool(a < b) and bool(a == 3)))]
    assert len(found) == 3
    assert left_out(explorer.requires, found) is None
    for gone in range(3):
        assert left_out(explorer.requires, [*found[:gone], *found[gone + 1 :]]) is not None
    assert (
        left_out(z3.Int("a") > z3.Int("b"), [path for path in found if len(path.decisions) == 1])
        is None
    )
    assert left_out(z3.BoolVal(True), []) is not None
    assert left_out(z3.BoolVal(True), [Path(())]) is None


def test_a_program_that_is_not_the_same_when_run_again_is_refused() -> None:
    explorer = Explorer(True)
    a, runs = explorer.table.variable("a"), iter(range(9))
    with pytest.raises(Unknown, match="run again"):
        list(explorer.paths(lambda: bool(a == next(runs))))


def test_a_contract_is_relied_on_where_its_requirements_are_met(module: ModuleType) -> None:
    shapes, shape = NAMED["broadcast_shapes"], NAMED["check_shape"]
    free = replace(shapes, by_contract=("check_shape",))
    narrow = replace(shape, requires=lambda shape: shape[0] < 7)
    changed = planted(
        "    first = shapes[0]\n    zero", "    first = shapes[0]\n    check_shape(first)\n    zero"
    )
    arguments = (((ANY,),),)
    assert Validation(free, arguments, changed, NAMED).run().findings == []
    (finding,) = Validation(free, arguments, changed, {"check_shape": narrow}).run().findings
    assert finding.what == finding.got == "what check_shape requires is not met"
    assert finding.input in {f"broadcast_shapes((({size},),),)" for size in range(7, 99)}


def test_what_must_hold_of_all_programs_together(module: ModuleType) -> None:
    results = [Result(program.name, "(?)", 1) for program in PROGRAMS]
    assert list(whole.together(TEXT, PROGRAMS, results, complete=True)) == []
    results[0].relied_on.add(("f", "(x)"))
    results[1].paths = 0
    found = whole.together(TEXT, [*PROGRAMS[1:], PROGRAMS[0]][:-2], results, complete=True)
    assert [(finding.program, finding.what.partition(",")[0]) for finding in found] == [
        ("broadcast_all", "is in the kernel or in the list of programs"),
        ("f", "is in the kernel or in the list of programs"),
        (PROGRAMS[1].name, "has no path"),
        ("f", "relies on f(x)"),
    ]
    backwards = list(whole.together(TEXT, PROGRAMS[::-1], results[2:], complete=False))
    assert "relies on what is not proved before it" in {finding.what for finding in backwards}


def test_a_case_of_the_texts_that_is_wrong_is_noticed(module: ModuleType) -> None:
    wrong = replace(NAMED["f"], cases=lambda a, b, c: [Case(b == c, Returns(a))])
    (finding,) = run(wrong, module, ANY, ANY, ANY).findings
    assert finding.expected == "nothing that the texts name"
    assert finding.got == "0"
