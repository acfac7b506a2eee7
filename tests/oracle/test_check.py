"""The check from outside: right implementations pass, wrong implementations are caught."""

from __future__ import annotations

import itertools
import math
import os
import re
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import SkipTest
from xml.etree import ElementTree

import implementations
import numpy as np
import operators
import pytest
from implementations import WRONG, Holder, Levels, Wrong, assert_ends, sized, where
from museum import MUSEUM, Exhibit

import whycast
from whycast import lax, numpy_rule, onnx, symbolic
from whycast._errors import BroadcastError
from whycast._rules import RULES, Operands
from whycast.testing import Case, TargetError, _check, cases, check, stages
from whycast.testing._cases._fixed import fixed
from whycast.testing._cases._smaller import smaller
from whycast.testing._cases._values import STRINGS
from whycast.testing._peers import PEERS
from whycast.testing._report import _symbolic
from whycast.testing._run import _child, _targets

Shape = tuple[int, ...]

HERE = Path(__file__).parent


def shown(exhibit: Exhibit) -> Wrong:
    case = exhibit.wrong.case or Case(())
    expected, got = (f"^{re.escape(text)}$" for text in (exhibit.expected, exhibit.got))
    asked = {"max_rank": max(map(len, case.every_shape)) + 1}
    return exhibit.wrong._replace(asked=asked, expected=expected, got=got)


CAUGHT = (*WRONG, *map(shown, MUSEUM))


@pytest.mark.parametrize("wrong", CAUGHT, ids=[each.name for each in CAUGHT])
def test_a_wrong_implementation_is_caught(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process that the implementation started survives."""
    monkeypatch.setattr(_child, "WARM_UP", 1)
    # Filling the memory must take less than the time for a case.
    timeout = 0.5 if wrong.kind == "hang" else 10
    asked: Any = {"rule": wrong.rule, "level": wrong.level, "every": wrong.every, **wrong.asked}
    report = check(wrong.target, **asked, seconds=None, timeout=timeout, memory=200)
    assert not report.ok
    (first, *_) = report.deviations
    assert first.kind == wrong.kind, str(report)
    if wrong.case is not None:
        assert first.case == wrong.case, str(report)
        assert all(each.kind == wrong.kind for each in report.deviations), str(report)
    assert re.search(wrong.expected, first.expected), str(report)
    assert re.search(wrong.got, first.got), str(report)
    if wrong.cases is not None:
        counts = [each.count for each in report.deviations]
        assert (counts, report.complete) == ([wrong.cases], True)
        assert report.cases == len(list(cases(wrong.rule, wrong.level)))
    # Any text becomes one short line, which XML can contain.
    assert all(len(each.got) < 600 for each in report.deviations)
    ElementTree.fromstring(report.to_junit())
    if isinstance(wrong.target, list):
        assert_ends(wrong.target[-1])


def shape_by_size(*shapes: Shape) -> Iterator[int]:
    yield from whycast.broadcast_shapes(*shapes)


def each_array(*arrays: Any) -> Iterator[Any]:
    yield from whycast.broadcast(*arrays)


def refuses_without_axis(shape: Shape, target: Shape) -> Shape:
    """Name the axis at fault, but no axis if ranks do not fit."""
    error = RULES["openvino-numpy"].refusal(Operands((shape,), target))
    if isinstance(error, BroadcastError):
        raise error
    if error is not None:
        raise ValueError("no")
    return target


WIDER: Callable[[Any], Any] = lambda x: x.astype("c16") if x.dtype.kind == "c" else x  # noqa: E731
# The rule, the level, the function, and N: the check asks every Nth fixed case.
RIGHT: tuple[tuple[str, str, Callable[..., Any], int], ...] = (
    ("sonnx", "data", implementations.right, 1),
    ("sonnx", "data", whycast.broadcast, 1),
    ("sonnx", "verdict", whycast.compatible, 1),
    ("sonnx", "shape", whycast.broadcast_shapes, 1),
    ("sonnx", "report", whycast.broadcast_shapes, 1),
    ("sonnx", "index", whycast.source_index, 1),
    ("sonnx", "strides", whycast.broadcast_strides, 1),
    ("numpy", "data", numpy_rule.broadcast_arrays, 1),
    ("numpy", "report", numpy_rule.broadcast_shapes, 1),
    ("openvino-numpy", "data", numpy_rule.broadcast_to, 1),
    ("openvino-numpy", "report", refuses_without_axis, 1),
    ("openvino-bidirectional", "data", onnx.expand, 1),
    ("in-dim", "data", lax.broadcast_in_dim, 1),
    ("numpy", "adjoint", whycast.sum_to_shape, 1),
    ("sonnx", "adjoint", lambda d, s: whycast.sum_to_shape(WIDER(d), s), 3),
    *[(name, "symbolic", rule.named, 1) for name, rule in RULES.items() if rule.named],
    ("sonnx", "verdict", lambda *shapes: np.bool_(whycast.compatible(*shapes)), 5),
    ("sonnx", "verdict", lambda *shapes: int(whycast.compatible(*shapes)), 5),
    ("sonnx", "verdict", shape_by_size, 5),
    ("sonnx", "shape", lambda *shapes: np.array(whycast.broadcast_shapes(*shapes)), 5),
    ("sonnx", "shape", lambda *shapes: [*map(np.int64, whycast.broadcast_shapes(*shapes))], 5),
    ("sonnx", "shape", shape_by_size, 5),
    ("sonnx", "data", each_array, 5),
    ("sonnx", "data", lambda *xs: deque(whycast.broadcast(*xs)), 5),
    ("sonnx", "data", implementations.each(np.ma.asarray), 5),
    # NumPy has scalars of each kind of dtype, except objects and StringDType.
    ("sonnx", "data", implementations.each(lambda z: z if z.dtype.kind in "OT" else z[()]), 5),
    ("sonnx", "data", implementations.each(Holder), 5),
)


@pytest.mark.parametrize(("rule", "level", "function", "every"), RIGHT)
def test_a_right_function_passes(
    rule: str, level: Any, function: Callable[..., Any], every: int
) -> None:
    asked: Any = {"seconds": None, "every": every, "refuses": ["ValueError"]}
    report = check(function, rule=rule, level=level, **asked)
    assert report.ok, str(report)
    assert report.cases == len(range(0, len(list(cases(rule, level))), every))


def test_the_output_of_a_function_is_no_part_of_the_report(
    capfd: pytest.CaptureFixture[str],
) -> None:
    check(where(lambda _: True, lambda: os.write(1, b"hello\n")), seconds=None, every=400)
    said = capfd.readouterr()
    assert (said.out, said.err[:6]) == ("", "hello\n")


@pytest.mark.parametrize(
    "names", [[], ["__array_interface__"], ["__dlpack__", "__dlpack_device__"]]
)
def test_arrays_by_other_protocols(names: list[str]) -> None:
    """If a protocol lacks some dtypes, their refusals are a limit."""

    def wrapped(array: Any) -> object:
        own = {name: getattr(array, name) for name in names}
        return SimpleNamespace(base=array, **own) if own else memoryview(array)

    def function(*arrays: Any) -> Any:
        if any(x.dtype.kind in "OTU" or not x.dtype.isnative for x in arrays):
            raise TypeError("numbers only, in this machine's order of bytes")
        return [wrapped(np.array(z)) for z in whycast.broadcast(*arrays)]

    report = check(function, seconds=None, every=5)
    (limit,) = report.limits
    assert report.ok, str(report)
    assert limit.startswith(f"data: no dtype {', '.join(sorted((*STRINGS, '>i4', '>f8')))}: with ")


def test_right_programs_pass() -> None:
    """`whycast serve` is right at all its levels."""
    serve = [sys.executable, "-m", "whycast", "serve"]
    report = check(serve, up_to=True, level="report", seconds=None, every=59, memory=0)
    assert report.ok, str(report)
    assert list(report.levels) == ["verdict", "shape", "index", "strides", "data", "report"]
    assert "lines have no layout in memory" in report.left_out


# Rare properties of cases, which some implementations treat wrongly.
SELDOM: dict[str, Callable[[list[Any]], bool]] = {
    "negative strides": lambda xs: any(step < 0 for x in xs for step in x.strides),
    "a stride of 0": lambda xs: any(0 in x.strides and x.size > 1 for x in xs),
    "an array twice": lambda xs: len({*map(id, xs)}) < len(xs),
    "shared memory": lambda xs: any(
        x is not y and np.may_share_memory(x, y) for x, y in itertools.combinations(xs, 2)
    ),
    "unaligned": lambda xs: not all(x.flags.aligned for x in xs),
    "read-only": lambda xs: not all(x.flags.writeable or 0 in x.strides for x in xs),
    "other order of bytes": lambda xs: not all(x.dtype.isnative for x in xs),
    "two dtypes": lambda xs: len({x.dtype for x in xs}) == 2,
    "33 axes": lambda xs: max(x.ndim for x in xs) == 33,
    "11 tensors": lambda xs: len(xs) == 11,
    "a million": lambda xs: math.prod(numpy_rule.broadcast_shapes(*[x.shape for x in xs])) > 10**6,
}
KINDS = "biufcOTUSmM"


def test_cases_have_rare_properties() -> None:
    """Each property and each kind of dtype occurs in an accepted case."""
    left, kinds = dict(SELDOM), set()
    for case in cases("numpy"):
        if RULES["numpy"].shape(case) is not None and max(map(len, case.shapes)) <= 64:
            arrays = case.arrays()
            kinds |= {x.dtype.kind for x in arrays}
            for name in [each for each, has in left.items() if has(arrays)]:
                del left[name]
    assert (left, kinds) == ({}, {*KINDS})


BEYOND_32 = "rank 32: beyond, 27 of 27 "
BEYOND_SIZES = ["size 2,147,483,647: beyond, 16 of 16 ", "tensors 10: beyond, "]


# `answers` maps rank, greatest size and count to True (right), False (refused) or a wrong shape.
@pytest.mark.parametrize(
    ("answers", "kinds", "limits"),
    [
        (lambda rank, size, count: rank < 33, [], [BEYOND_32]),
        (lambda rank, size, count: size < 2**31 and count < 11, [], BEYOND_SIZES),
        # From here on there are deviations, with a limit or without.
        (lambda rank, size, count: rank < 33 and size != 65, ["refuses"], [BEYOND_32]),
        (lambda rank, size, count: rank in (*range(9), 64), ["refuses"], ["rank 64: "]),
        (lambda rank, size, count: rank < 33 and (9,), ["shape"], ["rank 32: "]),
        (lambda rank, size, count: (9,) if rank == 100 else True, ["shape"], []),
        (lambda rank, size, count: rank < 3, ["refuses"], []),
        (lambda rank, size, count: False, ["refuses"], []),
    ],
)
def test_limits_are_no_deviations(
    answers: Callable[[int, int, int], Any], kinds: list[str], limits: list[str]
) -> None:
    def function(*shapes: Shape) -> Any:
        size = max([size for shape in shapes for size in shape], default=0)
        found = answers(max(map(len, shapes)), size, len(shapes))
        return whycast.broadcast_shapes(*shapes) if found is True else found or None

    report = check(function, level="shape", rule="sonnx", seconds=None, every=3)
    found = sorted({each.kind for each in report.deviations} - {"accepts"})
    assert (found, len(report.limits)) == (kinds, len(limits)), str(report)
    for text, wanted in zip(report.limits, limits, strict=True):
        assert text.startswith(f"shape: {wanted}"), text
        assert f"  limit: {text}\n" in str(report)


def test_it_gives_up_a_target_that_always_dies() -> None:
    report = check(implementations.exits_at_once, seconds=None)
    (note,) = report.notes
    assert re.fullmatch(r"data: given up at case \d+: it ends or hangs too often", note)
    assert note in report.to_junit()
    assert not report.complete
    assert sum(each.count for each in report.deviations) == 20


def test_questions_get_smaller_with_their_shapes() -> None:
    def reversed_index(*given: Shape) -> Shape:
        found = whycast.source_index(*given)
        return found[::-1] if len(found) > 4 else found

    def of_32_bits(*given: Shape) -> list[int]:
        return [min(stride, 2**31 - 1) for stride in whycast.broadcast_strides(*given)]

    (found,) = check(reversed_index, level="index", seconds=None).deviations
    assert (found.kind, len(found.case.shapes[0])) == ("index", 5)
    assert found.case.multi_index is not None
    (found,) = check(of_32_bits, level="strides", seconds=None).deviations
    assert (found.case.shapes, found.case.target) == (((2,),), (2,))


def test_random_cases_are_accepted_and_refused_and_small() -> None:
    for name, rule in RULES.items():
        drawn = list(cases(name, random=500))[-500:]
        accepted = [case for case in drawn if rule.shape(case) is not None]
        assert 100 < len(accepted) < 480, name
        most = max(math.prod(shape) for case in drawn for shape in case.every_shape)
        assert 1000 < most <= 65 * 4096, name
        dtypes = {dtype for case in drawn for dtype in case.dtypes}
        assert ("StringDType" in dtypes) == (rule.dtypes != "numbers"), name


@pytest.mark.parametrize(
    ("shapes", "answer", "verdict"),
    [
        ("N M", ("N",), "shape"),
        ("N M", (symbolic.OneOf(("N", "M")),), ""),
        ("N M", (["L"], ["N = 1 or M = 1 or N = M"]), "open"),
        ("N M", ((-1,), None), "open"),
        ("N M", (("M",), ["N = 1"]), ""),
        ("N M", (("N",), ["N = M", "M = 7"]), ""),
        ("N M", ((None, None), ["N = 1"]), "shape"),
        ("N M", (("M",), ["N = 1", "N = 2"]), "cautious"),
        ("N M", ([None], symbolic.broadcast_shapes(("N",), ("M",)).zeros), "condition"),
        ("N M", None, "cautious"),
        ("N N", None, "refuses"),
        ("N 4", [4], ""),
        ("N 4", ("N",), "shape"),
        ("N 4", ((4,), ["N = 0"]), "condition"),
        ("5 4", None, ""),
        ("5 4", (None,), "accepts"),
    ],
)
def test_verdicts_on_names(shapes: str, answer: object, verdict: str) -> None:
    case = sized(*[(int(size) if size.isdecimal() else size,) for size in shapes.split()])
    claim = None if answer is None else _symbolic.read_claim(answer)
    assert _symbolic.judged(RULES["numpy"], case, claim).verdict == verdict


def test_a_cautious_function_passes() -> None:
    def function(*shapes: Any) -> Any:
        found = symbolic.broadcast_shapes(*shapes, rule="numpy")
        if len(found.condition) > 1:
            raise ValueError(found)
        return [None if size == "K" else size for size in found.shape]

    asked: Any = {"rule": "numpy", "level": "symbolic", "up_to": True, "refuses": ["ValueError"]}
    report = check(function, **asked, seconds=None)
    assert report.ok, str(report)
    text = "111 cautious refusals of questions that depend on the names, no deviations"
    assert report.notes == (f"symbolic: {text}",)


def test_names_get_fewer_in_small_examples() -> None:
    """The smallest wrong random case has three names."""

    def function(*shapes: Any) -> Any:
        found = symbolic.broadcast_shapes(*shapes, rule="numpy")
        return [] if "K" in found.shape and len(found.shape) > 2 else found

    asked: Any = {"rule": "numpy", "level": "symbolic", "every": 1404, "max_rank": 3}
    (found,) = check(function, **asked, seconds=3).deviations
    assert found.case == sized(("N", "M", "K"))
    assert {sized((2, "N")), sized(("N", "N"))} <= {*smaller(sized(("N", "M")))}


def test_random_cases_follow_until_the_time_is_over() -> None:
    report = check(whycast.compatible, level="verdict", seconds=1.5, every=20)
    assert report.levels["verdict"]["random"] > 100
    assert 1.5 <= report.seconds < 3.5
    assert report.unasked == {}


def slowly(*arrays: Any) -> Any:
    time.sleep(0.05)
    return implementations.each(implementations.swapped)(*arrays)


@pytest.mark.parametrize(
    ("function", "kind"),
    [(slowly, "elements"), (where(lambda _: True, lambda: time.sleep(60)), "hang")],
)
def test_the_time_is_that_of_the_whole_check(
    function: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report counts the cases for which there was no time."""
    monkeypatch.setattr(_child, "WARM_UP", 1)
    report = check(function, seconds=2, timeout=1)
    assert report.seconds < 6
    assert {each.kind for each in report.deviations} == {kind}
    asked, left = report.levels["data"], report.unasked["data"]
    known = Counter(stage for stage, _ in fixed(RULES["sonnx"], "data"))
    assert Counter(asked) + Counter(left) == known
    assert f"  data: no time for {sum(left.values()):,} cases: small " in str(report)
    assert kind == "hang" or len(asked) == 6


def test_a_search_and_a_check_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time, a search keeps the first example; a stopped check asks no further level."""

    def slow_where_wrong(*arrays: Any) -> Any:
        time.sleep(0.5 * (max(x.ndim for x in arrays) == 5))
        return implementations.wrong_at_rank_5(*arrays)

    monkeypatch.setattr(_check, "_SECONDS", 0.1)
    (found,) = check(slow_where_wrong, seconds=None, every=300).deviations
    assert found.case.weight > Case(((1,) * 5,)).weight
    stop = threading.Event()
    asked: Any = {"up_to": True, "seconds": None, "progress": lambda _: stop.set(), "stop": stop}
    report = check(whycast.compatible, level="shape", **asked)
    assert ([*report.levels], report.complete) == (["verdict"], False)


@pytest.mark.parametrize("pauses", [itertools.chain([4], itertools.repeat(0)), itertools.repeat(1)])
def test_a_target_that_compiles_does_not_hang(pauses: Iterator[float]) -> None:
    """A target that compiles once, or for each call, passes; some cases are not asked."""

    def compiles(*arrays: Any) -> Any:
        time.sleep(next(pauses))
        return whycast.broadcast(*arrays, copy=True)

    report = check(compiles, seconds=0.5, timeout=2)
    assert (report.ok, report.deviations, bool(report.unasked)) == (True, (), True)


def test_stages_judge_their_own_cases() -> None:
    right = {str(each): each for each in stages(whycast.compatible, level="verdict", every=20)}
    right["verdict-small"].check()
    with pytest.raises(SkipTest):
        right["verdict-random"].check()
    late = stages(slowly, seconds=0.2)
    with pytest.raises(AssertionError, match="no time for"):
        late[0].check()
    wrong = {str(each): each for each in stages(implementations.wrong_at_rank_5)}
    wrong["data-small"].check()
    with pytest.raises(AssertionError, match="call  "):
        wrong["data-ranks"].check()
    for each in stages("mylib:nonsense"):
        with pytest.raises(TargetError, match="mylib"):
            each.check()
    with pytest.raises(ValueError, match="numpi"):
        stages("numpi")


def numbers_alone(*arrays: Any) -> Any:
    assert all(x.dtype.kind in "fiub" and x.dtype != np.int32 for x in arrays)
    return whycast.broadcast(*arrays)


def test_dtypes_that_an_implementation_has() -> None:
    report = check(numbers_alone, dtypes=("float32", "uint8", "bool"), seconds=None, every=5)
    assert report.ok, str(report)
    assert report.left_out["a dtype that is not to be asked"] > 50
    assert report.levels["data"]["small"] == 1470
    assert not check(numbers_alone, seconds=None, every=5).ok
    of_numpy: Any = {"rule": "numpy", "dtypes": ["complex128"], "seconds": None, "every": 5}
    assert check(numpy_rule.broadcast_arrays, **of_numpy).levels["data"]["small"] == 1470
    # The smallest example also has one of the demanded dtypes.
    wrong = check(implementations.wrong_at_rank_5, dtypes=("uint8",), seconds=None)
    assert [each.case for each in wrong.deviations] == [Case(((1,) * 5,), dtypes=("uint8",))]


def test_an_object_with_functions_for_levels() -> None:
    report = check(Levels, level="report", up_to=True, seconds=None, every=5)
    assert report.notes == ("index: not offered", "report: not offered")
    assert list(report.levels) == ["verdict", "shape", "strides", "data"]
    assert {(each.level, each.kind) for each in report.deviations} == {("data", "elements")}


async def asynchronous(*shapes: Shape) -> bool:
    return whycast.compatible(*shapes)


class Ends:
    """Ends any process, except the test's, that reads its attribute `verdict`."""

    parent = os.getpid()

    @property
    def verdict(self) -> Any:
        if os.getpid() != self.parent:
            os._exit(5)
        return whycast.compatible


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("numpi", "target 'numpi': expected one of numpy, "),
        ("numpy", "target numpy: offers nothing at that level by the rule ngraph"),
        ("no_such_module:f", "cannot be imported: ModuleNotFoundError: No module named"),
        ("whycast:broadcasts", "cannot be imported: AttributeError: module 'whycast' has no attri"),
        (f"{HERE / 'implementations.py'}:HERE", "cannot be imported: AttributeError"),
        ("math:pi", r"target math:pi: expected a function, got 3.14\d+ \(float\)"),
        (["/no/such/program"], "target /no/such/program: there is no such program"),
        ([__file__], "test_check.py: cannot be run"),
        (3, r"target: expected a function, a name or the arguments of a program, got 3 \(int\)"),
        ([], r"target: expected a program and its arguments, got \[\] \(list\)"),
        (asynchronous, "a function that returns its answer, got an asynchronous one"),
        (Ends(), "ended with exit code 5, before it was asked anything"),
    ],
)
def test_bad_targets(target: object, text: str) -> None:
    with pytest.raises(TargetError, match=text):
        check(target, rule="ngraph", level="verdict", seconds=None)


def test_a_peer_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = replace(PEERS["numpy"], name="lost", needs=("numpy", "no-such-runtime"))
    monkeypatch.setitem(PEERS, "lost", lost)
    text = r"target lost: no-such-runtime is not installed: pip install 'whycast\[oracle\]'"
    with pytest.raises(TargetError, match=text):
        check("lost", seconds=None)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtypes": "int8"}, TypeError, r"dtypes: expected a sequence of names, got 'int8' \(str"),
        ({"dtypes": ["complex128"]}, ValueError, "dtypes: expected .*, >f8, got 'complex128'"),
        ({"refuses": [KeyError]}, ValueError, "refuses: expected names, got <class 'KeyError'>"),
        ({"rule": "sonnxx"}, ValueError, "rule: expected one of 'sonnx', "),
        ({"rule": 5}, TypeError, r"rule: expected a str, got 5 \(int\)"),
        (
            {"level": "all"},
            ValueError,
            "level: expected one of 'verdict', .*, 'adjoint', got 'all'",
        ),
        ({"level": "symbolic", "rule": "ngraph"}, ValueError, "level: .*'report', got 'symbolic'"),
        ({"demand": {"ranks": 3}}, ValueError, "demand: expected some of rank, size, tensors, got"),
        ({"tensors": 0}, ValueError, r"tensors: expected a number or two, such as \(1, 3\), got 0"),
        ({"tensors": (3, 2)}, ValueError, r"tensors: .*, got \(3, 2\)"),
        ({"every": 0}, ValueError, "every: expected at least 1, got 0"),
        ({"every": 2.5}, TypeError, r"every: expected an int, got 2.5 \(float\)"),
        ({"seconds": -1}, ValueError, "seconds: expected at least 0, got -1"),
        ({"seconds": 0}, ValueError, "seconds: expected more than 0, got 0"),
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
    """A file may import a neighbour; a module may be in the current folder."""
    (tmp_path / "neighbour_of_mine.py").write_text("from whycast import compatible", "utf-8")
    (tmp_path / "mine.py").write_text("from neighbour_of_mine import compatible as f", "utf-8")
    asked: Any = {"level": "verdict", "seconds": None, "every": 20}
    assert check(f"{tmp_path / 'mine.py'}:f", **asked).ok
    monkeypatch.chdir(tmp_path)
    assert check("mine:f", **asked).ok
    (tmp_path / "relative.py").write_text("from .mine import f", "utf-8")
    with pytest.raises(TargetError, match=r"with no known parent package; expected relative:f$"):
        check("relative.py:f", **asked)


def test_a_report_as_text_and_as_data() -> None:
    report = check(implementations.nan_canonical, seconds=None)
    first, levels, *rest = str(report).splitlines()
    assert first.startswith("implementations:nan_canonical by the rule sonnx: 10,411 cases in ")
    assert levels == (
        "  data: small 7,350, many 570, ranks 1,568, sizes 175, dtypes 204, layouts 544"
    )
    assert rest == [
        "1. data: a NaN of other bits: 162 cases",
        "    call      from whycast.testing import Case; from implementations import nan_canonical"
        " as f; f(*Case(((2,),), dtypes=('float16',)).arrays())",
        "    expected  array 0: at (1,) nan, bits 7e05",
        "    got       array 0: at (1,) nan, bits 7e00",
        "    clause    E_Broadcast_any_Accuracy_010",
        "1 kind of deviation",
    ]
    with pytest.raises(TypeError, match="`ok`"):
        assert report
    found = report.to_dict()
    assert (found["ok"], found["rule"], found["levels"]["data"]["small"]) == (False, "sonnx", 7350)
    (deviation,) = found["deviations"]
    assert deviation["case"] == {"shapes": ((2,),), "dtypes": ("float16",)}
    assert deviation["clause"] == "E_Broadcast_any_Accuracy_010"
    suite = ElementTree.fromstring(report.to_junit())
    assert [each.get("name") for each in suite] == [*found["levels"]["data"]]
    failed = [each.get("name") for each in suite if each.find("failure") is not None]
    assert failed == ["dtypes", "layouts"]
    assert (suite.get("tests"), suite.get("failures")) == ("6", "2")


@pytest.mark.parametrize(
    ("target", "level", "right"),
    [
        ("implementations:nan_canonical", "data", whycast.broadcast),
        (implementations.half_of_the_bits, "index", whycast.source_index),
        ("implementations:Levels", "data", whycast.broadcast),
        (f"{HERE / 'operators.py'}:padded_behind", "operator", np.add),
        ("operators:leaves", "inplace", lambda out, x, y: np.add(x, y, out=out)),
        ("implementations:copied_strides", "strides", whycast.broadcast_strides),
        ("operators:swapped", "adjoint", lambda d, *x: operators.sums(d, *[z.shape for z in x])),
    ],
)
def test_a_call_can_be_pasted(target: Any, level: Any, right: Callable[..., Any]) -> None:
    """The call includes its imports, and shows the deviation."""
    (first, *_) = check(target, level=level, seconds=None, every=3).deviations
    code, _, call = first.call.rpartition("; ")
    results = []
    for names in ({}, {"f": right}):
        known: dict[str, Any] = {}
        exec(code, known)
        results.append(repr([eval(call, known | names), known.get("out")]))
    assert results[0] != results[1], first.call


def test_a_report_of_nothing_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(target: Any, rule: object) -> _targets.Opened:
        return _targets.Opened(target.name, lambda *_: target.given, lambda *_: "it rains")

    monkeypatch.setattr(_targets, "_object", opened)
    report = check(whycast.compatible, level="verdict", seconds=None)
    count = len(list(cases(level="verdict")))
    assert not report.ok
    assert str(report).splitlines()[1:] == [
        "  verdict: none",
        f"  not asked: {count:,} cases: it rains",
        "the check is incomplete",
    ]
    (run,) = ElementTree.fromstring(report.to_junit())
    assert (run.get("name"), run.findtext("failure")) == ("run", "no case was asked")
