"""The accelerator: whether it is in use, its answers, and the calls that it leaves to Python.

Other tests of tests/package, except test_wheel.py, run with and without the accelerator.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from array_strategies import DTYPES, OTHER_DTYPES, Array, Subclass, array_lists, elements, plain
from hypothesis import given, strategies
from plain_axes import numpy_mode
from plain_rule import all_shapes
from view_checks import address

import whycast
from whycast import _accelerator, _kernel, lax, ngraph, numpy_rule, onnx, openvino, torch
from whycast._errors import REFUSALS

_native: Any = None
with contextlib.suppress(ImportError):
    _native = importlib.import_module("whycast._native")

# The accelerator's answer if it leaves a call to Python.
LEFT = None
needed = pytest.mark.skipif(_native is None, reason="the accelerator was not built")
NEITHER = "ValueError: WHYCAST_NATIVE: expected 0, 1 or no value, got 'no'"


@pytest.mark.parametrize(
    ("wanted", "there", "said"),
    [
        *(("0", True, "False\n"), ("1", True, "True\n"), (None, True, "True\n")),
        *((None, False, "False\n"), ("1", False, "ImportError: WHYCAST_NATIVE=1 demands ")),
        ("no", True, NEITHER),
    ],
)
def test_the_environment_chooses(wanted: str | None, there: bool, said: str) -> None:
    if there and _native is None:
        pytest.skip("the accelerator was not built")
    hidden = "" if there else "sys.modules['whycast._native'] = None; "
    program = f"import sys; sys.path[:0] = {sys.path!r}; {hidden}import whycast; "
    words = [sys.executable, "-I", "-c", program + "print(whycast.native)"]
    environment = {name: os.environ[name] for name in os.environ if name != "WHYCAST_NATIVE"}
    if wanted is not None:
        environment["WHYCAST_NATIVE"] = wanted
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert said in done.stdout + done.stderr


def test_it_says_whether_it_works() -> None:
    wanted = _native is not None and os.environ.get("WHYCAST_NATIVE") != "0"
    assert whycast.native is wanted
    assert (_accelerator.broadcast_shapes(((3, 1), (4,))) != LEFT) is wanted


SMALL = all_shapes(2, 3)


def of_kernel(program: Callable[..., object], *given_arguments: object) -> object:
    """Return the kernel's answer, or LEFT if it refuses."""
    with contextlib.suppress(*REFUSALS):
        return program(*given_arguments)
    return LEFT


@needed
def test_shapes_and_strides_are_those_of_the_kernel() -> None:
    """[E_Broadcast_any_Step2_030] [E_Broadcast_any_E1_010] [E_Broadcast_any_Derived_110]"""
    for shapes in (*itertools.product(SMALL, repeat=2), *itertools.product(SMALL, repeat=3)):
        wanted = of_kernel(_kernel.broadcast_shapes, shapes)
        assert _native.broadcast_shapes(shapes) == wanted
        assert _native.compatible(shapes) is (wanted != LEFT)
    for shape, target in itertools.product(SMALL, SMALL):
        integers = ([*map(np.int64, shape)], [*map(np.int64, target)])
        wanted = of_kernel(_kernel.broadcast_shapes, (shape, target))
        assert _native.broadcast_shapes(integers) == wanted
        strides = tuple([(-3) ** (k + 1) * 2**40 for k in range(len(shape))])
        expected = of_kernel(_kernel.broadcast_strides, shape, strides, target)
        assert _native.broadcast_strides(shape, [*strides], target) == expected


class Asked:
    def __index__(self) -> int:
        raise AssertionError("asked")

    __iter__: Any = __index__


class Sizes(Asked, tuple[object, ...]): ...


class Number(Asked, int): ...


class Scalar(Asked, np.int64): ...


TO_BE_LEFT: list[object] = [
    *((), [(3,)], None, (3,), ((3,), None), ((3,), "3"), ((3,), b"3"), ((3,), iter((3,)))),
    *(((True,),), ((2.0,),), ((np.int32(2),),), ((np.float64(2),),), ((np.bool_(1),),)),
    *(((-1,),), ((3,), (1, -4)), ((2**63,),), ((-(2**63),),), ((10**100,),), ((-(10**100),),)),
    *((Sizes((3,)),), ((Number(3),),), ((Scalar(3),),), (np.array([3]),), (Sizes(((3,),)),)),
    *((((1,),) * 65), ((1,) * 65,), ((1,) * 513,), ((1,) * 60,) * 9),
]


@needed
@pytest.mark.parametrize("shapes", TO_BE_LEFT, ids=range(len(TO_BE_LEFT)))
def test_shapes_that_are_left_to_the_kernel(shapes: object) -> None:
    """[E_Broadcast_any_Derived_150]"""
    assert _native.broadcast_shapes(shapes) == _native.compatible(shapes) == LEFT


@needed
def test_as_much_as_there_is_room_for() -> None:
    answer: Any = _native.broadcast_shapes(((1, np.int64(2**63 - 1)),) * 64)
    assert answer == (1, 2**63 - 1)
    assert {type(size) for size in answer} == {int}
    assert _native.broadcast_shapes(((2,) * 64,) * 8) == (2,) * 64
    for shape, most in (((1,) * 8, 64), ((1,) * 64, 8)):
        arrays = (np.zeros(shape),) * most
        assert [z.shape for z in _native.broadcast_views(arrays)] == [shape] * most
        assert _native.broadcast_views((*arrays, arrays[0])) == LEFT


@needed
@pytest.mark.parametrize(
    "arguments",
    [
        *((None, (), ()), ((), None, ()), ((), (), None), ((1,), (), (1,)), ((), (8,), (1,))),
        *(((1,), (2**63,), (1,)), ((-1,), (8,), (-1,)), ((1,), (8,), (-1,)), ((1,) * 65,) * 3),
    ],
)
def test_strides_that_are_left_to_the_kernel(arguments: tuple[object, object, object]) -> None:
    assert _native.broadcast_strides(*arguments) == LEFT


# SONNX does not have these types; the accelerator copies their elements by width.
BY_WIDTH = tuple(dtype for dtype in OTHER_DTYPES if dtype.kind in "fcSMm")


@needed
@pytest.mark.parametrize("dtype", DTYPES + BY_WIDTH, ids=repr)
def test_arrays_of_every_type(dtype: Any) -> None:
    """[E_Broadcast_any_Step2_050] [E_Broadcast_any_Types_010] [E_Broadcast_any_Accuracy_010]"""
    for shape, target in itertools.product(SMALL, SMALL):
        x = elements(int(np.prod(shape)), dtype).reshape(shape)
        assert (_native.broadcast_views((x,)) != LEFT) == (dtype in DTYPES and dtype.kind != "T")
        guarded = np.zeros(int(np.prod(target)) + 2, dtype)
        z = guarded[1:-1].reshape(target)
        before = guarded.tobytes()
        done = _native.broadcast(z, x) is True
        fits = numpy_mode(shape, target) is not None
        assert done == (dtype.kind not in "OT" and fits)
        if done:
            # Copying a view that repeats elements has the same result.
            assert _native.broadcast(z, np.broadcast_to(x, target)) is True
            assert z.tobytes() == np.broadcast_to(x, target).tobytes()
            width = dtype.itemsize
            assert guarded.tobytes()[:width] + guarded.tobytes()[-width:] == bytes(2 * width)
        else:
            assert guarded.tobytes() == before


ROOM = np.arange(40.0)
# A user-defined type, from NumPy's own tests.
SCALED = importlib.import_module("numpy._core._multiarray_umath")._get_sfloat_dtype()(2.0)
UNSUITED: dict[str, Callable[[], tuple[object, object]]] = {
    "no arrays": lambda: (None, ROOM),
    "no array": lambda: (np.empty(3), 2.5),
    "subclass": lambda: (np.empty((2, 3)), np.zeros(3).view(Subclass)),
    "into a subclass": lambda: (np.empty((2, 3)).view(Subclass), np.zeros(3)),
    "other width": lambda: (np.empty((2, 3)), np.zeros(3, "f4")),
    "other kind": lambda: (np.empty((2, 3)), np.zeros(3, "i8")),
    "other order": lambda: (np.empty((2, 3)), np.zeros(3, ">f8")),
    "read-only": lambda: (np.frombuffer(bytes(48)).reshape(2, 3), np.zeros(3)),
    "marked": lambda: (np.broadcast_arrays(np.zeros(3), np.empty((1, 1)))[0], np.zeros(3)),
    "into Fortran order": lambda: (np.empty((2, 3), order="F"), np.zeros(3)),
    "into a window": lambda: (np.empty((2, 6))[:, ::2], np.zeros(3)),
    "of every second": lambda: (np.empty((2, 3)), np.zeros(6)[::2]),
    "does not fit": lambda: (np.empty((2, 3)), np.zeros(2)),
    "higher rank": lambda: (np.empty(3), np.zeros((1, 3))),
    "itself": lambda: (ROOM, ROOM),
    "first part": lambda: (ROOM[:10].reshape(2, 5), ROOM[9:14]),
    "last part": lambda: (ROOM[9:19].reshape(2, 5), ROOM[5:10]),
    "new kind of type": lambda: (np.empty((2, 3)).view(SCALED), np.zeros(3).view(SCALED)),
    "no bytes": lambda: (np.empty((2, 3), "S0"), np.zeros(3, [("a", "S0")])["a"]),
    "empty text": lambda: (np.empty((2, 3), "U0"), np.zeros(3, [("a", "U0")])["a"]),
    **{
        repr(dtype): lambda dtype=dtype: (np.empty((2, 3), dtype), np.empty(3, dtype))  # type: ignore[misc]
        for dtype in OTHER_DTYPES
        if dtype not in BY_WIDTH
    },
}


@needed
@pytest.mark.parametrize("name", UNSUITED)
def test_arrays_that_are_left_to_numpy(name: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    before = ROOM.tolist()
    assert _native.broadcast(*UNSUITED[name]()) == LEFT
    if name in ("no array", "subclass", "new kind of type", "no bytes", "empty text"):
        assert _native.expand(UNSUITED[name]()[1], (2, 3)) == LEFT
    assert ROOM.tolist() == before


ALONG_AXES = ("explicit", "in_dim", "ngraph")
NAMES = (
    *("broadcast", "broadcast_shapes", "broadcast_strides", "broadcast_to", "broadcast_views"),
    *("compatible", "expand", "p", "repeated", *ALONG_AXES),
)


def reports(ask: Callable[..., object], *given_arguments: object) -> list[object]:
    """Return the error or all properties of the views, except unused strides."""
    try:
        answer: Any = ask(*given_arguments)
    except (TypeError, ValueError) as error:
        return [type(error), str(error)]
    found: list[object] = []
    for z in answer if isinstance(answer, tuple) else (answer,):
        pairs = zip(z.strides, z.shape, strict=True)
        used = [stride for stride, size in pairs if size > 1 and z.size]
        dtype = id(z.dtype) if z.dtype.kind != "T" else 0
        start = z.size and address(z, (0,) * z.ndim)
        found.append((type(z), z.shape, dtype, z.flags.num, id(z.base), start, used))
    return found


@needed
@given(
    array_lists(dtypes=DTYPES + OTHER_DTYPES),
    strategies.lists(strategies.sampled_from([0, 1, 1, 2, 3, -1, 2**62]), max_size=5),
)
def test_views_are_those_that_python_makes(arrays: tuple[Array, ...], target: list[int]) -> None:
    """[E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_160]"""
    x = arrays[0]
    calls: list[tuple[Callable[..., object], tuple[object, ...]]] = [(whycast.broadcast, arrays)]
    for shape in (tuple(target), target, (2, *plain(x).shape), (*plain(x).shape, *target)):
        for function in (whycast.broadcast_to, onnx.expand, torch.expand, numpy_rule.broadcast_to):
            calls.append((function, (x, shape)))
        axes = range(plain(x).ndim)
        calls.append((openvino.broadcast, (x, shape, axes, "explicit")))
        calls.append((lax.broadcast_in_dim, (x, shape[::-1], tuple(axes[::-1]))))
        calls.append((ngraph.broadcast, (x, shape, tuple(range(len(shape)))[len(axes) :])))
    found = []
    for module in (_native, None):
        with pytest.MonkeyPatch.context() as patch:
            for name in NAMES:
                patch.setattr(_accelerator, name, getattr(module, name, _accelerator._leave))
            found.append([reports(function, *given_ones) for function, given_ones in calls])
    assert found[0] == found[1]


@needed
def test_what_is_answered() -> None:
    """[E_OpenvinoBroadcast_any_Derived_030]"""
    row = np.zeros(3)
    assert LEFT not in (_native.repeated((3,), (2, 3)), _native.p((2, 3), (0,)))
    assert _native.broadcast_to(row, (2, 3)) is not LEFT
    assert _native.expand(row, (2, 1)) is not LEFT
    for name, axis in zip(ALONG_AXES, (1, 1, 0), strict=True):
        assert getattr(_native, name)(row, (2, 3), (axis,)) is not LEFT


STRINGS = np.array([["a", np.str_("b" * 99)], ["c", None]], object)
# NULLS has null pointers, which NumPy reads as None; ODD has strings at odd addresses.
NULLS = np.array([None, None])
ctypes.memset(NULLS.ctypes.data, 0, NULLS.nbytes)
ODD = np.array([(1, "a"), (2, "b")], [("a", "i1"), ("b", "O")])["b"]


@needed
def test_elements_that_are_strings() -> None:
    """[E_Broadcast_any_Types_010]"""
    empty = STRINGS[:, :0]
    for x in (STRINGS[:1], STRINGS[::-1, :1].T, STRINGS[::-1][1:], empty, empty.T, ODD):
        assert _native.broadcast_views((x,)) != LEFT
    for x in (STRINGS, STRINGS[::-1].T, np.broadcast_to(STRINGS[1, 1:], (9, 9)), NULLS):
        assert _native.broadcast_views((x,)) == LEFT


@needed
@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_arguments(name: str) -> None:
    for count in (0, 4, 5):
        with pytest.raises(TypeError, match=rf"^expected \d arguments, got {count}$"):
            getattr(_native, name)(*[()] * count)


@needed
def test_lists_that_other_threads_change() -> None:
    sizes: list[object] = []

    def change_or_ask(asks: bool) -> set[object]:
        found = set()
        for _ in range(20000):
            if asks:
                found.add(_native.broadcast_shapes(((3, 4), sizes)))
            else:
                sizes[:] = [1] * 60 + [np.int64(3), 10**9]
                sizes.clear()
        return found

    with ThreadPoolExecutor(4) as pool:
        answers = set[object]().union(*pool.map(change_or_ask, (True, False) * 2))
    assert answers <= {(3, 4), LEFT}


@needed
def test_nothing_stays() -> None:
    """The accelerator releases all references."""
    x, y = np.zeros((2, 3), "f4"), np.zeros((4, 1), "f4")
    # NumPy can broadcast the first of these arrays to the common shape, not the second.
    large = (np.broadcast_to(np.zeros(1, "i1"), (2**31, 1)), np.broadcast_to(1.0, (2**31,)))
    tensors = ((x, STRINGS[:1, :1]), (x, y), (y, x), large)
    arguments: list[tuple[Callable[..., object], tuple[object, ...]]] = [
        *((_native.broadcast_shapes, (shapes,)) for shapes in TO_BE_LEFT),
        (_native.broadcast_shapes, (((3000, 1), (1, np.int64(4000))),)),
        *((_native.broadcast_strides, ((3,), (8000,), (4, size))) for size in (3, 4)),
        *((_native.broadcast, each()) for each in UNSUITED.values()),
        *((_native.broadcast_views, (each,)) for each in tensors),
        *((_native.expand, (y, shape)) for shape in ((3,), (5, 1), (2**62, 4, 1))),
        *((_native.broadcast_to, (y, shape)) for shape in ((4, 5), (3,), (2**62, 4, 1))),
        *((getattr(_native, name), (y, (4, 5), axes)) for name in ALONG_AXES for axes in SMALL),
        (_native.broadcast, (np.empty((2, 3)), np.zeros(3))),
        (_native.broadcast, (np.empty((200, 300)), np.zeros(300))),
    ]

    def run() -> None:
        for function, given_arguments in arguments:
            for _ in range(300):
                with contextlib.suppress(ValueError, TypeError, IndexError):
                    function(*given_arguments)
        gc.collect()

    singles = (None, True, np.ndarray, np.int64, x, y, x.dtype, STRINGS, STRINGS.dtype)
    run()
    blocks, counts = sys.getallocatedblocks(), list(map(sys.getrefcount, singles))
    run()
    assert sys.getallocatedblocks() - blocks < 300
    differences = zip(counts, map(sys.getrefcount, singles), strict=True)
    assert all(abs(after - before) < 100 for before, after in differences)
