"""The command line: shape, index, strides, check, and the common parts of all subcommands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import wraps
from inspect import signature
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import SMALL, Run, Shape, small_operands, word

import whycast
from whycast._command import _check
from whycast._rules import RULES, Operands, Rule
from whycast.testing import cases, check
from whycast.testing._peers import PEERS

BIG = 2**70


def package_answer(rule: Rule, asked: Operands) -> Shape | ValueError:
    try:
        results = rule.broadcast([np.zeros(shape, np.int8) for shape in asked.shapes], asked)
    except ValueError as error:
        return error
    return results[0].shape


UNKNOWN = "(3, N, ?0|a_x) if ?0 = 1 or a_x = 1 or ?0 = a_x"


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [
        ("shape scalar 5", 0, "5"),
        ("shape 3,1 (1,4) [4] 1×4 (4,) [] torch.Size([1,4])", 0, "3x4"),
        ("shape --rule numpy 2x0 1 scalar", 0, "2x0"),
        (f"shape {BIG}x1 4", 0, f"{BIG}x4"),
        ("shape N,4 1,M", 0, "(N, 4) if (M = 1 or M = 4) and N is not 0"),
        ("shape --rule numpy 3xNx? (a_x,) N×1 scalar [] torch.Size([1])", 0, UNKNOWN),
        ("shape --rule expand Nx4 K --known M=4,N>=2 --known K=M", 0, "(N, 4)"),
        ("shape N,3 4", 1, "shapes never broadcast: axis 1 of the common rank 2, tensor 0 has "),
        ("index 3x1 2x3x4 1,2,3", 0, "2,0"),
        ("index () 2x3 1,2", 0, "()"),
        (f"index {BIG} {BIG} {BIG - 1}", 0, f"{BIG - 1}"),
        ("index 3x1 2x3x4 1,3,0", 1, "index, axis 1: expected at least 0 and less than the target"),
        ("index --rule numpy-to 3 4 0", 1, "array of shape (3,) does not broadcast to shape (4,)"),
        ("index --rule in-dim 3x1 2x4x3 1,3,2 --axes 2,0", 0, "2,0"),
        ("index --rule ngraph 3x4 3x2x4 2,1,3 --axes 1", 0, "2,3"),
        ("strides --rule openvino-bidirectional 2x3x1 4 --itemsize 4", 0, "12,4,0"),
        ("strides 3x2 3x2 --itemsize 8", 0, "16,8"),
        ("strides 3x2 5x3x2 --strides -2,6", 0, "0,-2,6"),
        ("strides () ()", 0, "()"),
        (f"strides {BIG}x{BIG}x2 {BIG}x{BIG}x2", 0, f"{2 * BIG},2,1"),
        ("strides 3 4", 1, "shape (3,) does not broadcast to (4,): axis 0"),
    ],
)
def test_answers(run: Run, words: str, code: int, printed: str) -> None:
    done = run(words)
    if code:
        done = done._replace(err=done.err[: len(printed)])
    assert done == ((1, "", printed) if code else (0, f"{printed}\n", ""))


@pytest.mark.parametrize(
    ("words", "asked", "answer"),
    [
        ("shape 3x1 4", {"shapes": [[3, 1], [4]]}, {"result": [3, 4]}),
        (
            "shape --rule numpy 2x3 2",
            {"rule": "numpy", "shapes": [[2, 3], [2]]},
            {
                "refused": "shapes do not broadcast (NumPy's rule): axis 1 of the common rank 2",
                **{"axis": 1, "tensor": 1, "size": 2, "expected": 3},
            },
        ),
        (
            "shape --rule numpy-to N M,4 --known N>1",
            {"rule": "numpy-to", "shape": ["N"], "target": ["M", 4], "known": {"N": ">1"}},
            {
                **{"result": ["M", 4], "condition": ["N = 4"], "condition of SONNX": []},
                "clauses": [{"equations": [["N", 4]], "axis": 1}],
                "clauses of SONNX": [],
            },
        ),
        (
            "index 3 3 7",
            {"shape": [3], "target": [3], "index": [7]},
            {"refused": "index, axis 0: expected at least 0 and less than the target's size 3"},
        ),
        (
            "strides --rule openvino-explicit 3 2 --axes 5 --itemsize 2",
            {"rule": "openvino-explicit", "shape": [3], "target": [2], "axes": [5], "strides": [2]},
            {"refused": "axes_mapping, position 0: expected an axis of target_shape"},
        ),
    ],
)
def test_json(run: Run, words: str, asked: dict[str, Any], answer: dict[str, Any]) -> None:
    done = run(f"{words} --json")
    found = json.loads(done.out)
    if "refused" in answer:
        found["refused"] = found["refused"][: len(answer["refused"])]
    assert list(found.items()) == list(({"rule": "sonnx"} | asked | answer).items())
    assert (done.code, done.err) == (1 if "refused" in answer else 0, "")


def test_shape_answers_as_the_package_does(run: Run) -> None:
    for rule, asked, words in small_operands():
        answer = package_answer(rule, asked)
        if isinstance(answer, ValueError):
            said = str(answer).replace("in whycast.numpy_rule", "whycast shape --rule numpy")
            assert run(f"shape {words}") == (1, "", f"{said}\n"), words
        else:
            assert run(f"shape {words}") == (0, f"{word(answer)}\n", ""), words


def test_refusals_about_axes_are_those_of_the_package() -> None:
    """Rule.refusal takes no arrays, but returns the error of the function that takes arrays."""
    seen = set()
    for rule in [rule for rule in RULES.values() if rule.takes == "axes"]:
        for own, target in product(SMALL, repeat=2):
            for count in range(3):
                for axes in product(range(-1, 3), repeat=count):
                    asked = Operands((own,), target, axes)
                    error, answer = rule.refusal(asked), package_answer(rule, asked)
                    assert (error is None) == isinstance(answer, tuple)
                    if error is not None:
                        assert (type(error), str(error)) == (type(answer), str(answer))
                        seen.add((rule.name, str(error).partition(":")[0].partition(",")[0]))
    assert len(seen) == 12


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_refusal_of_large_sizes_names_the_axis(run: Run, rule: Rule) -> None:
    axes = {"ngraph": "--axes 0", "openvino-explicit": "--axes 1,2", "in-dim": "--axes 1,2"}
    done = run(f"shape --rule {rule.name} {BIG}x2 4x3x2 {axes.get(rule.name, '')} --json")
    said = json.loads(done.out)
    assert (done.code, said["axis"]) == (1, 1)
    assert {said["size"], said["expected"]} == {BIG, 3}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("", "required: COMMAND"),
        ("shapes 3", "'shapes'"),
        ("shape", "required: SHAPE"),
        ("shape -1x3", "got '-1x3'"),
        ("shape (3, 1)", "or names, such as 3x1, N,4 or (N, 4), or () for rank 0, got '(3,'"),
        ("shape batchxseq 3", "commas where a name has an x: 'batch,seq' or '(batchxseq,)', got"),
        ("shape 3 idx", "commas where a name has an x: '(idx,)', got 'idx'"),
        ("shape (Nx3)", "commas where a name has an x: '(N,3)', got"),
        (f"shape {'N' * 3000}", "at most 2000 letters and digits, got 'NNN"),
        ("index N,4 N,4 0,0", "numbers here, got a name in 'N,4'; shape and explain take names"),
        ("shape N 3 --rule ngraph", "rule ngraph takes numbers; sonnx, numpy, numpy-to, expand, "),
        ("explain N 3 --axes 0", "--axes: the rules that take axes take numbers"),
        ("shape N M --known N>M", "expected such as 'N>=2,M=N', got 'N>M'"),
        ("shape N M --known N>1,K=3", "--known: the shapes have no name K"),
        ("shape 3 3 --known N=M,M=N", "--known: the shapes have no name N"),
        ("shape N M --known N>1,", "expected such as 'N>=2,M=N', got 'N>1,'"),
        ("shape N M --known N>1,N=M", "--known: expected one fact for each name"),
        ("shape 3,4x2", "got '3,4x2'"),
        ("shape 1,000", "got '1,000'"),
        ("shape \u0663", "got '\u0663'"),
        (f"shape {'9' * 3000}", "at most 2000 digits, got '9999999"),
        ("shape --rule numpi 3", "'numpi'"),
        ("shape --rule expand 3", "rule expand takes two shapes, that of the tensor and the tar"),
        ("shape --rule in-dim 3 3", "rule in-dim takes axes, its broadcast_dimensions"),
        ("shape 3 3 --axes 0", "rule sonnx takes none; openvino-explicit, ngraph and in-dim do"),
        ("index 3 3 0,1", "index: expected 1 indices, one for each axis of target, got 2"),
        ("strides 3 3 --itemsize 0", "at least 1, got '0'"),
        ("strides 3 3 --itemsize 2 --strides 2", "not allowed with"),
        ("strides 3 3 --strides 2,2", "--strides: expected 1, one for each axis of the tensor"),
        ("explain 3 --axes 0", "--axes: expected two shapes beside it, got 1"),
        ("check", "expected one TARGET, or a program after --"),
        ("check numpy -- ./program", "expected one TARGET, or a program after --"),
        ("check numpy --seconds x", "--seconds: "),
        ("cases --format jsonl --out \ud800", r"expected the name of a file, got '\ud800'"),
        ("check numpy --dtypes float32,float31", "expected some of int32, float32, "),
    ],
)
def test_bad_usage(run: Run, words: str, text: str) -> None:
    done = run(words)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert "error: " in done.err


def test_help_and_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert run("--version") == (0, f"whycast {whycast.__version__}\n", "")
    done = run("--help")
    assert done.code == 0
    for command in ("shape", "explain", "index", "strides", "check"):
        assert f"\n    {command} " in done.out
        assert run(f"{command} --help").out.startswith(f"usage: whycast {command} ")
    assert f"one of {', '.join(RULES)}; by default sonnx" in run("shape --help").out


OPTIONS = """--seconds all --seed 5 --every 2 --dtypes int8,bool --max-size 9 --max-rank 3
    --refuses KeyError,None --tensors 1-3 --demand rank=64,size=9 --timeout 1.5 --memory 7"""
VALUES: dict[str, object] = {
    **{"seconds": None, "seed": 5, "every": 2, "dtypes": ["int8", "bool"], "max_size": 9},
    **{"max_rank": 3, "refuses": ["KeyError", "None"], "tensors": (1, 3), "timeout": 1.5},
    **{"demand": {"rank": 64, "size": 9}, "memory": 7.0},
}


def test_check_gets_all_options_and_a_program_its_own_words(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    given: list[tuple[object, dict[str, object]]] = []

    @wraps(check)
    def asked(target: object, **options: object) -> SimpleNamespace:
        given.append((target, {name: options[name] for name in ("level", "up_to", *VALUES)}))
        return SimpleNamespace(ok=True, deviations=())

    monkeypatch.setattr(_check, "check", asked)
    assert run(f"check {OPTIONS} --up-to shape -- ./program --rule -1 -- x").code == 0
    assert run("check numpy --level index").code == 0
    (program, all_of_them), (target, none) = given
    assert (program, target) == (["./program", "--rule", "-1", "--", "x"], "numpy")
    assert all_of_them == {"level": "shape", "up_to": True} | VALUES
    defaults = {name: signature(check).parameters[name].default for name in VALUES}
    assert none == {"level": "index", "up_to": False} | defaults
    assert run("shape -- 3x1") == (0, "3x1\n", "")


def test_one_definition_of_the_options(run: Run) -> None:
    """Options that `cases` and `check` share have the same defaults and texts."""
    of_check, of_cases = _check.options_of(check), _check.options_of(cases)
    assert [name for name in of_cases if of_cases[name] != of_check.get(name)] == ["random"]
    assert (set(VALUES), len(of_cases)) == (set(of_check), 6)
    assert "highest rank. JavaScript's" in " ".join(run("cases --help").out.split())


QUICK = "--rule numpy --seconds all --every 20"


def test_check_lists_the_peers(run: Run) -> None:
    done = run("check --peers")
    lines = [line.split(maxsplit=1) for line in done.out.splitlines()]
    assert (done.code, [name for name, _ in lines]) == (0, [*PEERS])
    assert ["numpy", np.__version__] in lines


def test_check_writes_json_and_what_junit_reads(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    done = run(f"check numpy {QUICK} --dtypes float32,uint8 --json --junit {file}")
    said = json.loads(done.out)
    assert (done.code, done.err, said["ok"]) == (0, "", True)
    assert said["left_out"]["a dtype that is not to be asked"] > 5
    suite = ElementTree.parse(file).getroot()
    assert {each.get("classname") for each in suite} == {"whycast.numpy.data"}
    done = run(f"check numpy {QUICK} --level verdict --junit {tmp_path}")
    assert done.out.endswith("\nnothing deviates\n")
    assert done.code == 2
    assert done.err == (
        f"whycast check: error: --junit: expected the name of a file, got the folder {tmp_path}\n"
    )


@pytest.mark.parametrize("on_terminal", [True, False])
def test_check_shows_progress(run: Run, monkeypatch: pytest.MonkeyPatch, on_terminal: bool) -> None:
    """On a terminal, progress is one line, cleared before the report; else it is several lines."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: on_terminal)
    done = run(f"check numpy {QUICK} --level verdict --progress")
    told = done.err.split("\r\x1b[K")[1:] if on_terminal else [*done.err.splitlines(), ""]
    assert (done.code, told.pop()) == (0, "")
    pattern = (
        rf"numpy {re.escape(np.__version__)}, verdict: \d+ cases, (\d+) of (\d+) fixed ones "
        r"reached, 0 kinds of deviation, about \d+ s left"
    )
    ends = [re.fullmatch(pattern, line) for line in told]
    assert all(ends), told
    assert not on_terminal or (ends[-1] and ends[-1][1] == ends[-1][2])


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_only_the_module_of_the_subcommand_is_imported() -> None:
    imported = "print(sorted(name for name in sys.modules if '._explain' in name))"
    begin = "import sys; from whycast._command import main; main(['shape', '3'])"
    done = python("-c", f"{begin}; {imported}; main(['explain', '3', '--json']); {imported}")
    first, before, _, after = done.stdout.splitlines()
    assert (first, before, after) == ("3", "[]", "['whycast._command._explain']")


LINES = "cases --rule ngraph --format jsonl --level index --out -"


@pytest.mark.parametrize(("words", "number"), [("--help", 1), (LINES, 1), ("shape 3 4", 2)])
def test_output_without_a_reader_is_no_refusal(words: str, number: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    full = os.open("/dev/full", os.O_WRONLY)
    full_error = "whycast: error: [Errno 28] No space left on device\n"
    for stream, code, complaint in ((writer, 141, ""), (full, 74, full_error)):
        done = subprocess.run(
            [sys.executable, "-m", "whycast", *words.split()],
            stdout=stream if number == 1 else subprocess.PIPE,
            stderr=stream if number == 2 else subprocess.PIPE,
            text=True,
            check=False,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        os.close(stream)
        said = (done.returncode, done.stderr if number == 1 else done.stdout)
        assert said == (code, complaint if number == 1 else "")


def test_a_fault_of_ours_is_no_refusal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whycast._command.import_module", lambda name: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        run("shape 3")
    done = python("-c", "from whycast import _command as c; del c.parser; exit(c.main())")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.endswith("NameError: name 'parser' is not defined\n")
