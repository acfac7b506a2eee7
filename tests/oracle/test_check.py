"""The check, tried from outside: right implementations pass, each wrong one is caught."""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import implementations
import numpy as np
import pytest
from implementations import Levels

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino
from whycast._errors import BroadcastError
from whycast._rules import RULES, Operands
from whycast.testing import Case, Deviation, Report, TargetError, cases, check
from whycast.testing._peers import PEERS, _register
from whycast.testing._peers._register import Entry
from whycast.testing._run import _targets

Shape = tuple[int, ...]

HERE = Path(__file__).parent


class Wrong(NamedTuple):
    """A wrong implementation, in what it deviates, and the smallest case in which it does."""

    name: str
    kind: str
    case: Case
    rule: str = "sonnx"
    level: Any = "data"


def float16(*shapes: tuple[int, ...]) -> Case:
    return Case(shapes, dtypes=("float16",) * len(shapes))


ONE_FITS = Case(((0, 0),), (0, 1))
WRONG = (
    Wrong("zeros", "elements", Case(((), ()))),
    Wrong("swapped_axes", "elements", Case(((), (2, 2)))),
    Wrong("last_instead_of_first", "elements", Case(((2,), (2, 1)))),
    Wrong("maximum_rule", "refuses", Case(((), (0,))), rule="numpy"),
    Wrong("numpys_rule", "accepts", Case(((), (0,)))),
    Wrong("flattened", "shape", Case(((), ()))),
    Wrong("dtype_changed", "dtype", float16(())),
    Wrong("nan_canonical", "nan", float16((2,))),
    Wrong("zero_unsigned", "zero", float16((2,))),
    Wrong("writable_alias", "writable", Case(((), ()))),
    Wrong("wrong_at_rank_5", "elements", Case(((1,) * 5,))),
    Wrong("wrong_at_9_tensors", "elements", Case(((),) * 9)),
    Wrong("wrong_on_reversed_strides", "elements", Case(((1,),), layouts=("reversed",))),
    Wrong("wrong_over_64", "elements", Case(((65,),))),
    Wrong("tiles_divisors", "accepts", Case(((2,), (4,)))),
    Wrong("changes_its_input", "input changed", Case(((), (1, 2)))),
    Wrong("hangs", "hang", Case(((), (), ()))),
    Wrong("exits", "exit", Case(((), (0, 0, 0)))),
    Wrong("exits_at_once", "exit", Case(((), (), ()))),
    Wrong("crashes", "crash", Case(((0, 0, 0), (0, 0, 0)))),
    Wrong("eats_memory", "memory", Case(((), (), ()))),
    Wrong("one_array", "no array", Case(((), ()))),
    Wrong("forgets_the_last", "count", Case(((), ()))),
    Wrong("lists", "no array", Case(((), ()))),
    Wrong("refuses_scalars", "refuses", Case(((), ()))),
    Wrong("does_nothing", "refuses", Case(((), ()))),
    Wrong("does_nothing", "refuses", Case(((), ())), level="verdict"),
    Wrong("first_wins", "shape", Case(((), (1,))), level="shape"),
    Wrong(
        "one_is_enough", "accepts", Case(((0, 0),), (0, 1)), rule="openvino-numpy", level="verdict"
    ),
    Wrong("last_axis_at_fault", "axis", Case(((), (0, 0))), level="report"),
    Wrong("transposed_index", "index", Case(((1, 2),), (1, 2), multi_index=(0, 1)), level="index"),
    Wrong("copied_strides", "strides", Case(((1,),), (2,), strides=(4,)), level="strides"),
    Wrong("ignores_the_order_of_axes", "elements", Case(((1, 2),), (2, 2), (1, 0)), rule="in-dim"),
)


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{each.name}-{each.level}" for each in WRONG])
def test_a_wrong_function_is_caught(wrong: Wrong) -> None:
    function = getattr(implementations, wrong.name)
    # To fill the memory must not take longer than one case may.
    timeout = 0.5 if wrong.kind == "hang" else 10
    asked: Any = {"rule": wrong.rule, "level": wrong.level}
    report = check(function, **asked, seconds=0, timeout=timeout, memory=200)
    assert not report.ok
    (first, *_) = report.deviations
    assert (first.kind, first.case) == (wrong.kind, wrong.case), str(report)
    assert all(each.kind == wrong.kind for each in report.deviations), str(report)


def both_ways(data: Any, target: tuple[int, ...]) -> Any:
    return openvino.broadcast(data, target, mode="bidirectional")


RIGHT: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("sonnx", "data", implementations.right),
    ("sonnx", "data", implementations.talkative),
    ("sonnx", "data", whycast.broadcast),
    ("sonnx", "verdict", whycast.compatible),
    ("sonnx", "shape", whycast.broadcast_shapes),
    ("sonnx", "report", whycast.broadcast_shapes),
    ("sonnx", "index", whycast.source_index),
    ("sonnx", "strides", whycast.broadcast_strides),
    ("numpy", "data", numpy_rule.broadcast_arrays),
    ("numpy", "shape", numpy_rule.broadcast_shapes),
    ("numpy", "report", numpy_rule.broadcast_shapes),
    ("expand", "data", onnx.expand),
    ("openvino-numpy", "data", openvino.broadcast),
    ("openvino-numpy", "data", numpy_rule.broadcast_to),
    ("openvino-explicit", "data", lambda x, s, a: openvino.broadcast(x, s, a, "explicit")),
    (
        "openvino-bidirectional",
        "data",
        lambda x, s: openvino.broadcast(x, s, None, "bidirectional"),
    ),
    ("ngraph", "data", ngraph.broadcast),
    ("in-dim", "data", lax.broadcast_in_dim),
)


@pytest.mark.parametrize(("rule", "level", "function"), RIGHT)
def test_a_right_function_passes(rule: str, level: Any, function: Callable[..., Any]) -> None:
    report = check(function, rule=rule, level=level, seconds=0)
    assert report.ok, str(report)
    assert report.cases == len(list(cases(rule, level)))


# --- programs ---------------------------------------------------------------------------------


PROGRAM = (sys.executable, "-S", str(HERE / "program.py"))

WRONG_PROGRAMS = {
    "last tensor first": "elements",
    "prints garbage": "garbage",
    "stops early": "stopped",
    "crashes": "stopped",
    "hangs": "hang",
}


@pytest.mark.parametrize("wrong", WRONG_PROGRAMS)
def test_a_wrong_program_is_caught(wrong: str) -> None:
    """And none lives on."""
    timeout = 0.5 if wrong == "hangs" else 10
    report = check([*PROGRAM, wrong], seconds=0, every=9, timeout=timeout, memory=0)
    assert WRONG_PROGRAMS[wrong] in {each.kind for each in report.unknown}, str(report)
    # One that was killed is there for a moment.
    deadline = time.monotonic() + 10
    while lives(f"program.py\0{wrong}\0".encode()):
        assert time.monotonic() < deadline


def lives(ending: bytes) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        # Others end while they are looked at.
        with suppress(OSError):
            if path.read_bytes().endswith(ending):
                return True
    return False


def test_a_right_program_passes() -> None:
    report = check(PROGRAM, seconds=0, memory=0)
    assert report.ok, str(report)
    assert "a layout in memory, of which lines say nothing" in report.left_out


def test_a_program_at_all_levels() -> None:
    """The reference itself is one."""
    report = check(
        [sys.executable, "-m", "whycast", "serve"], up_to=True, level="report", seconds=0, every=29
    )
    assert report.ok, str(report)
    assert list(report.levels) == ["verdict", "shape", "index", "strides", "data", "report"]


# --- how it goes on ---------------------------------------------------------------------------


def test_the_run_goes_on_behind_a_case_that_ends_the_process() -> None:
    def once(*arrays: Any) -> Any:
        if [x.shape for x in arrays] == [(2,), (1,)]:
            os.abort()
        return whycast.broadcast(*arrays)

    report = check(once, seconds=0)
    (crash,) = report.deviations
    assert (crash.kind, crash.detail, crash.count) == ("crash", "with SIGABRT", 1)
    assert report.cases == len(list(cases()))
    assert report.complete


def test_it_gives_up_on_what_always_dies() -> None:
    report = check(implementations.exits_at_once, seconds=0)
    assert "given up at case 84" in report.to_junit()
    assert not report.complete
    assert report.notes == ("data: given up at case 84: it ends, or hangs, too often",)
    assert sum(each.count for each in report.deviations) == 20


def test_the_same_seed_gives_the_same_random_cases() -> None:
    some = [list(cases("in-dim", "data", seed=seed, random=50))[-50:] for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]


def test_random_cases_are_accepted_and_refused() -> None:
    for rule in ("sonnx", "expand", "ngraph", "in-dim"):
        drawn = list(cases(rule, "shape", random=300))[-300:]
        accepted = sum(RULES[rule].shape(case) is not None for case in drawn)
        assert 60 < accepted < 280, (rule, accepted)


def test_random_arrays_are_small() -> None:
    for rule in RULES:
        drawn = list(cases(rule, random=1000))[-1000:]
        most = max(
            math.prod(shape) for case in drawn for shape in (*case.shapes, case.target or ())
        )
        assert 1000 < most <= 65 * 4096, rule


def test_random_cases_follow_until_the_time_is_over() -> None:
    report = check(whycast.compatible, level="verdict", seconds=3, every=20)
    assert report.levels["verdict"]["random"] > 100
    assert 3 <= report.seconds < 6


def numbers_alone(*arrays: Any) -> Any:
    assert all(x.dtype.kind in "fiub" and x.dtype != np.int32 for x in arrays)
    return whycast.broadcast(*arrays)


def test_dtypes_that_an_implementation_has() -> None:
    report = check(numbers_alone, dtypes=("float32", "uint8", "bool"), seconds=1)
    assert report.ok, str(report)
    assert report.left_out["a dtype that is not to be asked"] > 100
    assert report.levels["data"]["small"] == 7350
    assert not check(numbers_alone, seconds=0).ok
    # The smallest example is one of those dtypes too.
    wrong = check(implementations.wrong_at_rank_5, dtypes=("uint8",), seconds=0)
    assert [each.case for each in wrong.deviations] == [Case(((1,) * 5,), dtypes=("uint8",))]


def test_rules_of_texts_without_strings_ask_for_none() -> None:
    for rule in RULES:
        asked = {dtype for case in cases(rule, random=200) for dtype in case.dtypes}
        assert ("StringDType" in asked) == (rule in ("sonnx", "numpy", "expand")), rule


def test_a_refusal_for_the_ranks_has_no_axis_to_be_named() -> None:
    def function(shape: Shape, target: Shape) -> Shape:
        error = RULES["openvino-numpy"].refusal(Operands((shape,), target))
        if isinstance(error, BroadcastError):
            raise error
        if error is not None:
            raise ValueError("no")
        return target

    report = check(function, rule="openvino-numpy", level="report", seconds=0)
    assert report.ok, str(report)


def test_an_object_with_functions_for_levels() -> None:
    report = check(Levels, level="report", up_to=True, seconds=0)
    assert report.notes == ("index: not offered", "report: not offered")
    assert list(report.levels) == ["verdict", "shape", "strides", "data"]
    assert {(each.level, each.kind) for each in report.deviations} == {("data", "elements")}


def test_progress_is_told() -> None:
    said: list[str] = []
    check(whycast.compatible, level="verdict", seconds=1, progress=said.append)
    assert said[-1].endswith(" cases, 0 kinds of deviation")


# --- bad targets ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("numpi", "target 'numpi': expected one of numpy, "),
        ("numpy", "target numpy: has nothing to be asked by the rule ngraph at that level"),
        ("no_such_module:f", "cannot be imported: ModuleNotFoundError: No module named"),
        ("whycast:broadcasts", "cannot be imported: AttributeError: module 'whycast' has no attri"),
        (f"{HERE / 'implementations.py'}:HERE", "cannot be imported: AttributeError"),
        (["/no/such/program"], "target /no/such/program: there is no such program"),
        (3, r"target: expected a function, a name or the arguments of a program, got 3 \(int\)"),
        ([], r"target: expected a program and its arguments, got \[\] \(list\)"),
    ],
)
def test_bad_targets(target: object, text: str) -> None:
    with pytest.raises(TargetError, match=text):
        check(target, rule="ngraph", seconds=0)


def test_a_peer_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = replace(PEERS["numpy"], name="lost", needs=("numpy", "no-such-runtime"))
    monkeypatch.setitem(PEERS, "lost", lost)
    text = r"target lost: no-such-runtime is not installed: pip install 'whycast\[oracle\]'"
    with pytest.raises(TargetError, match=text):
        check("lost", seconds=0)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtypes": "int8"}, TypeError, r"dtypes: expected a sequence of names, got 'int8' \(str"),
        ({"rule": "sonnxx"}, ValueError, "rule: expected one of 'sonnx', "),
        ({"level": "all"}, ValueError, "level: expected one of 'verdict', "),
        ({"every": 0}, ValueError, "every: expected at least 1, got 0"),
        ({"every": 2.5}, TypeError, r"every: expected an int, got 2.5 \(float\)"),
        ({"seconds": -1}, ValueError, "seconds: expected at least 0, got -1"),
        ({"timeout": 0}, ValueError, "timeout: expected more than 0, got 0"),
        ({"memory": "1"}, TypeError, r"memory: expected a number, got '1' \(str\)"),
        ({"seed": None}, TypeError, r"seed: expected an int, got None"),
    ],
)
def test_bad_arguments(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        check(whycast.broadcast, **arguments)


def test_a_module_that_ends_the_process_when_imported(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os; os._exit(3)", encoding="utf-8")
    with pytest.raises(TargetError, match="the process ended with exit code 3, when imported"):
        check(f"{tmp_path / 'ends.py'}:f")


def test_files_and_modules_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may import its neighbour, and a module may be in the folder in which one is."""
    (tmp_path / "neighbour_of_mine.py").write_text("from whycast import compatible", "utf-8")
    (tmp_path / "mine.py").write_text("from neighbour_of_mine import compatible as f", "utf-8")
    asked: Any = {"level": "verdict", "seconds": 0, "every": 20}
    assert check(f"{tmp_path / 'mine.py'}:f", **asked).ok
    monkeypatch.chdir(tmp_path)
    assert check("mine:f", **asked).ok


# --- reports ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report() -> Report:
    return check(implementations.nan_canonical, seconds=0)


def test_the_report_that_people_read(report: Report) -> None:
    first, levels, *rest = str(report).splitlines()
    assert first.startswith("implementations:nan_canonical by the rule sonnx: 10,079 cases in ")
    assert levels == (
        "  data: small 7,350, many 484, ranks 1,512, sizes 173, dtypes 180, layouts 380"
    )
    assert rest == [
        "1. data: a NaN of other bits: 119 cases",
        "    call      f(*Case(((2,),), dtypes=('float16',)).arrays())",
        "    expected  array 0: at (1,) nan, bits 7e05",
        "    got       array 0: at (1,) nan, bits 7e00",
        "    clause    E_Broadcast_any_Accuracy_010",
        "1 kind of deviation",
    ]


def test_the_call_reproduces_the_deviation(report: Report) -> None:
    (found,) = report.deviations
    names = {"Case": Case, "f": implementations.nan_canonical}
    (result,) = eval(found.call, names)
    names["f"] = whycast.broadcast
    (expected,) = eval(found.call, names)
    assert result.tobytes() != expected.tobytes()


def test_json(report: Report) -> None:
    found = report.to_dict()
    assert (found["ok"], found["rule"], found["levels"]["data"]["small"]) == (False, "sonnx", 7350)
    (deviation,) = found["deviations"]
    assert deviation["case"] == {"shapes": ((2,),), "dtypes": ("float16",)}
    assert deviation["clause"] == "E_Broadcast_any_Accuracy_010"


def test_junit(report: Report) -> None:
    suite = ElementTree.fromstring(report.to_junit())
    failed = [each.get("name") for each in suite if each.find("failure") is not None]
    assert [each.get("name") for each in suite] == [
        *("small", "many", "ranks", "sizes", "dtypes", "layouts"),
    ]
    assert failed == ["dtypes"]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "1")


def test_a_report_of_nothing_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(value: Any, name: str) -> _targets.Opened:
        return _targets.Opened(name, lambda *_: value, lambda *_: "it rains")

    monkeypatch.setattr(_targets, "_object", opened)
    report = check(whycast.compatible, level="verdict", seconds=0)
    count = len(list(cases(level="verdict")))
    assert not report.ok
    assert str(report).splitlines()[1:] == [
        "  verdict: none",
        f"  not asked: {count:,} cases: it rains",
        "not all that was to be asked was asked",
    ]
    (run,) = ElementTree.fromstring(report.to_junit())
    assert (run.get("name"), run.findtext("failure")) == ("run", "nothing was asked")


# --- known deviations -------------------------------------------------------------------------


def entry(**changes: Any) -> Entry:
    found: dict[str, Any] = {
        "peer": "numpy",
        "version": "2",
        "rule": "sonnx",
        "levels": ("verdict",),
        "kind": "accepts",
        "where": ("only NumPy's rule accepts",),
        "reason": "NumPy lets a 0 meet a 1.",
        "source": "finding F2",
    }
    return Entry(**{**found, **changes})


def checked(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> Report:
    monkeypatch.setattr(_register, "register", lambda: entries)
    return check("numpy", level="verdict", seconds=0)


def test_what_the_register_knows_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(monkeypatch, entry())
    assert report.ok, str(report)
    (found,) = report.deviations
    assert found.known == "NumPy lets a 0 meet a 1."
    assert str(report).splitlines()[-1] == "nothing else deviates"


def test_what_it_does_not_know_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(monkeypatch)
    assert [each.kind for each in report.unknown] == ["accepts"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "refuses"}, r"verdict: refuses: .* \(of version 2; in no case\)"),
        ({"where": ()}, r"verdict: accepts: .* not in [\d,]+ of the cases it covers\)"),
    ],
)
def test_what_it_knows_and_does_not_occur_fails(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], text: str
) -> None:
    report = checked(monkeypatch, entry(), entry(**changes))
    assert not report.ok
    (stale,) = report.stale
    assert re.fullmatch(text, stale), stale
    assert str(report).splitlines()[-2:] == [
        "known deviations that do not occur as the register says:",
        f"  {stale}",
    ]


def test_what_occurs_sometimes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch, entry(where=(), sometimes=True)).ok


def test_known_deviations_have_all_that_they_need() -> None:
    for each in _register.register():
        assert each.reason.endswith("."), each
        assert each.source, each
        assert each.version, each


def test_a_deviation_shows_itself() -> None:
    shown = str(
        Deviation(
            *("shape", "small", "shape", "", 2, Case(((),)), "f(())", "()", "(1,)"),
            clause="",
        )
    )
    assert shown.splitlines() == [
        "shape: another shape: 2 cases",
        "    call      f(())",
        "    expected  ()",
        "    got       (1,)",
    ]
