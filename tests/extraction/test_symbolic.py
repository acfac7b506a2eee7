"""The extracted Python on unknown integers: proofs, and faults that must not pass.

`make validate` covers larger ranks and all programs that compute on integers.
"""

from collections.abc import Callable
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import z3

from gate.closed import ToolError
from gate.terms import Condition
from validate import command as validate
from validate import kernel, paths, validation
from validate.paths import Explorer, Number, Unknown, left_out
from validate.validation import ANY, Program, Result, Validation, contracts, programs

TEXT = validate.KERNEL.read_text(encoding="utf-8")
FACTS = contracts()
NAMED = {program.name: program for program in programs(FACTS, kernel.load(TEXT))}

# The small cases of tests/package can miss faults in these programs.
HARD = ["goes_on", "loop_plan", *(name for name in NAMED if "symbol" in name)]
HARD += ["shape_of_numbers", "largest_rank", "found", "with_clause", "has_one"]
# These programs have many paths at rank 2.
MANY = {"symbolic_sizes", "symbolic_conditions", "shape_of_numbers"}

# A fault: the program, a text, and its replacement.
FAULTS = """
pad|prepended < 0|prepended < -1
check_shape|size < 0|size <= 0
broadcast_shapes|x > 1|x > 2
source_index|index[i] >= target[i]|index[i] > target[i]
place_strides|AxisMisfit(j)|AxisMisfit(axis)
mode_of|return mode|return Numpy()
view_strides|view[axis] = 0|pass
goes_on|size * more[m]|size + more[m]
loop_plan|n > 0|n > 1
shape_of_numbers|z >= 0|z > 0
symbols_and_one|if not has_one|if has_one
"""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return kernel.load(TEXT)


def run(program: Program, module: ModuleType, *form: Any) -> Result:
    return Validation(program, form, module).run()


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_each_program_keeps_its_contract(name: str, module: ModuleType) -> None:
    """[E_Broadcast_any_Derived_140]"""
    forms = NAMED[name].forms(1 if name in MANY else 2)
    results = [run(NAMED[name], module, *form) for form in forms]
    assert [result for result in results if result.fault] == []
    assert sum(result.paths for result in results) > 0


def planted(name: str, old: str, new: str) -> str:
    above, head, below = TEXT.partition(f"\ndef {name}(")
    body, end, rest = below.partition("\n\n\n")
    assert old in body
    return above + head + body.replace(old, new, 1) + end + rest


@pytest.mark.parametrize("fault", FAULTS.split("\n")[1:-1])
def test_a_planted_fault_is_noticed(fault: str) -> None:
    name, *change = fault.split("|")
    changed, forms = kernel.load(planted(name, *change)), NAMED[name].forms(3)
    # Small arguments come first.
    ordered = sorted(forms, key=lambda form: len(str(form)))
    assert any(run(NAMED[name], changed, *form).fault for form in ordered)


def test_what_differs_fails_with_path_and_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validate, "contracts", lambda: FACTS)
    changed = tmp_path / "_kernel.py"
    old = "if size < 0:\n                raise NegativeSize()\n"
    changed.write_text(planted("broadcast_shapes", old, "pass\n"), encoding="utf-8")
    monkeypatch.setattr(validate, "KERNEL", changed)
    assert validate.main(["--bound", "1", "--only", "f", "broadcast_shapes"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("f: proved; ")
    contract = "(Returns result: outcome (seq int) error) = common_outcome shapes"
    *lines, _, last = shown[shown.index("broadcast_shapes(((?,),),)") :].splitlines()
    assert lines == [
        f"broadcast_shapes(((?,),),): not ensures {{ {contract} }}",
        "  path      Not(0 < shapes[0][0]) and 0 > shapes[0][0]",
        "  input     broadcast_shapes(((-1,),),)",
        "  got       (-1,)",
    ]
    assert last.startswith("validate: FAILED; 2 programs, ")
    with pytest.raises(ToolError, match="g, h: not a program of the kernel"):
        validate.main(["--only", "g", "h"])
    changed.write_text(TEXT.replace("def f(", "def g("), encoding="utf-8")
    with pytest.raises(ToolError, match="f, g: in the kernel or with a contract, not both"):
        validate.main(["--only", "pad"])


def endless(a: Any) -> Any:
    while a == a + 0 * a:
        pass


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "TypeError": lambda a: a // 2,
    "'Number' object": lambda a: a.bit_length(),
    "a number is taken for a truth value": lambda a: 1 if a else 0,
    "a number meets str": lambda a: a == "a",
    "a number meets bool": lambda a: a + True,
    "can be any": lambda a: [0] * (a - a + 100),
    "unhashable": lambda a: {a},
    "the contract has no such end": lambda a: "a" if a == 1 else 0,
    "a path takes more than": endless,
    "more than 90 decisions": lambda a: [n for n in range(99) if a == n],
    "runs out": lambda a: [a][1],
}


@pytest.mark.parametrize("what", OPERATIONS)
def test_unknown_values(what: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "a path takes more than":
        monkeypatch.setattr(validation, "SECONDS", 0.1)
    monkeypatch.setattr(paths, "DECISIONS", 90)
    monkeypatch.setattr(module, "f", lambda a, b, c: OPERATIONS[what](a))
    result = run(NAMED["f"], module, ANY, ANY, ANY)
    expected = {"unhashable": "TypeError", "runs out": "IndexError"}.get(what, what)
    assert expected in result.fault + result.got


def test_a_kernel_with_constructs_that_are_not_known_is_refused() -> None:
    text = "class E1: pass\ndef f(a: int, b: int) -> int:\n    return "
    kernel.load(f"{text}E1\n")
    for code in ("a is b", "type(a)", "[x for x in a]", "a // b", "lambda: a", "int(a)", "f'{a}'"):
        with pytest.raises(Unknown):
            kernel.load(f"{text}{code}\n")


def test_no_answer_of_z3_is_no_proof(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    with pytest.raises(Unknown, match="Z3 has no answer"):
        left_out([])
    assert run(NAMED["f"], module, ANY, ANY, ANY).fault.startswith("Z3 has no answer")


def test_a_path_that_is_left_out_is_missed() -> None:
    explorer = Explorer()
    a, b = (Number(explorer, z3.Int(name)) for name in "ab")
    found = [path for path, _ in explorer.paths(lambda: a < b and a == 3)]
    assert len(found) == 3
    assert not left_out(found)
    for gone in range(3):
        assert left_out([*found[:gone], *found[gone + 1 :]])
    assert left_out([])
    assert not left_out([[]])


def test_a_program_that_is_not_the_same_when_run_again_is_refused() -> None:
    explorer, runs = Explorer(), iter(range(9))
    a = Number(explorer, z3.Int("a"))
    with pytest.raises(Unknown, match="run again"):
        list(explorer.paths(lambda: a == next(runs)))


def test_a_contract_that_is_wrong_is_noticed(module: ModuleType) -> None:
    wrong = copy(NAMED["f"])
    wrong.conditions = [Condition("ensures", None, "result = a", lambda a, b, c, r: a == r)]
    result = run(wrong, module, ANY, ANY, ANY)
    assert (result.fault, result.got) == ("not ensures { result = a }", "0")
    wrong.conditions = []
    fault = run(wrong, module, ANY, ANY, ANY).fault
    assert fault == "the contract allows no such end"
