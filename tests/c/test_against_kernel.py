"""The C against the Python that is extracted from the same theories, bit by bit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, product
from pathlib import Path
from typing import cast

import c_library
import numpy as np
import pytest
from c_library import CODES, HERE, SANITIZED, SOURCE, Library, Outcome

from whycast import _kernel
from whycast._rules import rule_named
from whycast._types import AnyArray, Shape
from whycast.testing import cases, check
from whycast.testing._cases._case import Case, Level
from whycast.testing._cases._values import DTYPES
from whycast.testing._export import _export_c

WIDTHS = (1, 2, 3, 4, 5, 8, 12, 16, 17, 33)


def shapes(rank: int, sizes: Sequence[int]) -> list[Shape]:
    return [*chain.from_iterable(product(sizes, repeat=k) for k in range(rank + 1))]


SMALL = shapes(3, range(4))


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return c_library.library(tmp_path_factory.mktemp("c"))


def wrong(name: str, tensor: int = -1, axis: int = -1) -> Outcome:
    return Outcome(CODES[name], tensor, axis)


def some_bytes(count: int) -> bytes:
    return bytes((1 + k + k // 255 * 17) % 256 for k in range(count))


def elements(data: bytes, width: int) -> list[bytes]:
    return [data[k : k + width] for k in range(0, len(data), width)]


# --- what the kernel says -----------------------------------------------------------------------


def common_shape(given: tuple[Shape, ...]) -> Outcome:
    try:
        shape = _kernel.broadcast_shapes(given)
    except _kernel.NoTensor:
        return wrong("NO_TENSOR")
    except _kernel.NegativeSize:
        return next(
            wrong("NEGATIVE_SIZE", m, axis)
            for m, sizes in enumerate(given)
            for axis, size in enumerate(sizes)
            if size < 0
        )
    except _kernel.E1 as error:
        return wrong("NOT_BROADCASTABLE", error.value.tensor, error.value.axis)
    return Outcome(len(shape), -1, -1, shape)


def view(strides: Shape, shape: Shape, target: Shape) -> Outcome:
    try:
        return Outcome(0, -1, -1, _kernel.broadcast_strides(shape, strides, target))
    except _kernel.RankMismatch:
        return wrong("RANK_MISMATCH", 0)
    except _kernel.NotBroadcastable as error:
        return wrong("NOT_BROADCASTABLE", error.value.tensor, error.value.axis)


def tensor(data: bytes, shape: Shape, target: Shape, width: int) -> Outcome:
    try:
        found = _kernel.broadcast_flat(elements(data, width), shape, target)
    except _kernel.RankMismatch:
        return wrong("RANK_MISMATCH", 0)
    except _kernel.NotBroadcastable as error:
        return wrong("NOT_BROADCASTABLE", error.value.tensor, error.value.axis)
    return Outcome(0, -1, -1, b"".join(found))


# --- one by one -----------------------------------------------------------------------------------


def test_the_codes_are_those_of_the_header() -> None:
    text = (c_library.FOLDER / "whycast.h").read_text(encoding="utf-8")
    for name, code in CODES.items():
        assert f"WHYCAST_{name} = {code}" in text


def test_common_shapes(native: Library) -> None:
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_480]"""
    few, negative = shapes(2, range(4)), shapes(2, range(-1, 3))
    assert native.shape(()) == common_shape(())
    for given in chain(
        product(SMALL, repeat=1),
        product(SMALL, repeat=2),
        product(few, repeat=3),
        product(negative, repeat=2),
        product(shapes(1, range(-1, 4)), repeat=4),
    ):
        assert native.shape(given) == common_shape(given), given


def test_there_has_to_be_room_for_the_common_shape(native: Library) -> None:
    """[E_Broadcast_any_Derived_480]"""
    for given in product(SMALL[::3], repeat=2):
        expected = common_shape(given)
        for capacity in range(4):
            exceeded = expected.code > capacity
            right = wrong("CAPACITY_EXCEEDED") if exceeded else expected
            assert native.shape(given, capacity) == right, (given, capacity)


def test_strides_of_views(native: Library) -> None:
    """[E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_500]"""
    for shape, target in product(SMALL, repeat=2):
        strides = (-24, 2**63 - 1, -(2**63))[: len(shape)]
        assert native.strides(strides, shape, target) == view(strides, shape, target)


def test_byte_sizes(native: Library) -> None:
    """[E_Broadcast_any_Derived_120] [E_Broadcast_any_Derived_510]"""
    limits = (0, 1, 2, 3, 2**31, 2**32, 2**32 + 1, 3037000499, 3037000500, 2**62, 2**63 - 1)
    for shape in shapes(3, limits):
        for width in (-1, 0, 1, 2, 3, 2**62, 2**63 - 1):
            exact = _kernel.size(shape) * width
            found = native.byte_size(shape, width)
            if width < 1:
                assert found == wrong("BAD_WIDTH", 0)
            elif exact >= 2**63:
                assert found == wrong("TOO_LARGE", 0), (shape, width)
            else:
                assert found == Outcome(exact, -1, -1), (shape, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_bytes(width: int, native: Library) -> None:
    """[E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_520]"""
    for shape, target in product(SMALL, repeat=2):
        data, room = some_bytes(math.prod(shape) * width), math.prod(target) * width
        expected = tensor(data, shape, target, width)
        assert native.broadcast(data, shape, target, width, room) == expected, (shape, target)
        if expected.code == 0 and room > 0:
            found = native.broadcast(data, shape, target, width, room - 1)
            assert found == wrong("ROOM_EXCEEDED", 1), (shape, target)
            found = native.broadcast(data[:-1], shape, target, width, room)
            assert found == wrong("EXTENT_EXCEEDED", 0), (shape, target)


def test_all_tensors(native: Library) -> None:
    """[E_Broadcast_any_Signature_010] [E_Broadcast_any_Outputs_010]
    [E_Broadcast_any_Derived_530]
    """
    few = shapes(2, range(4))
    for number, given in enumerate(chain(product(SMALL, repeat=2), product(few[::2], repeat=3))):
        widths = [WIDTHS[(number + m) % len(WIDTHS)] for m in range(len(given))]
        sized = list(zip(given, widths, strict=True))
        data = [some_bytes(math.prod(shape) * width) for shape, width in sized]
        expected = common_shape(given)
        if expected.code >= 0:
            tensors = tuple(tuple(elements(*each)) for each in zip(data, widths, strict=True))
            target, found = _kernel.broadcast_all(given, tensors)
            expected = Outcome(len(target), -1, -1, (target, tuple(map(b"".join, found))))
        else:
            target = ()
        rooms = [math.prod(target) * width for width in widths]
        assert native.broadcast_all(data, given, widths, rooms) == expected, given


def test_an_error_of_one_of_all_tensors_writes_none(native: Library) -> None:
    """[E_Broadcast_any_Derived_530]"""
    given, data, rooms = ((2, 1), (3,)), [some_bytes(4), some_bytes(12)], [12, 24]

    def ask(data: list[bytes], widths: list[int], rooms: list[int]) -> Outcome:
        return native.broadcast_all(data, given, widths, rooms)

    assert ask(data, [2, 4], rooms).code == 2
    assert ask(data, [2, 0], rooms) == wrong("BAD_WIDTH", 1)
    assert ask(data, [2, 2**61], rooms) == wrong("TOO_LARGE", 1)
    assert ask(data, [2, 4], [12, 23]) == wrong("ROOM_EXCEEDED", 1)
    assert ask([data[0], data[1][:-1]], [2, 4], rooms) == wrong("EXTENT_EXCEEDED", 1)


# --- the cases of `whycast check`, and of `whycast cases --format c` ----------------------------


class RefusalError(Exception):
    """The C reports an error; it names the axis for the level report."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"code {outcome.code}, tensor {outcome.tensor}, axis {outcome.axis}")
        self.tensor, self.axis = outcome.tensor, outcome.axis


class Target:
    """The C as `check` asks it, at each level that it has."""

    def __init__(self, native: Library) -> None:
        self.native = native

    def verdict(self, *given: Shape) -> bool:
        return self.native.shape(given).code >= 0

    def shape(self, *given: Shape) -> Shape:
        found = self.native.shape(given)
        if found.code < 0:
            raise RefusalError(found)
        return cast("Shape", found.written)

    report = shape

    def strides(self, shape: Shape, strides: Shape, target: Shape) -> Shape:
        found = self.native.strides(strides, shape, target)
        if found.code < 0:
            raise RefusalError(found)
        return cast("Shape", found.written)

    def data(self, *arrays: AnyArray) -> tuple[AnyArray, ...]:
        shapes = [array.shape for array in arrays]
        size = math.prod(self.shape(*shapes))
        widths = [array.itemsize for array in arrays]
        rooms = [width * size for width in widths]
        data = [array.tobytes() for array in arrays]
        target, found = self.native.broadcast_all(data, shapes, widths, rooms).written
        pairs = zip(found, arrays, strict=True)
        return tuple(np.frombuffer(one, array.dtype).reshape(target) for one, array in pairs)


# Not those whose elements are pointers.
FIXED = [name for name in DTYPES if name not in ("object", "StringDType")]


@pytest.mark.parametrize("level", ["verdict", "shape", "strides", "data", "report"])
def test_every_case_of_check(level: Level, native: Library) -> None:
    """[E_Broadcast_any_Derived_490]"""
    report = check(Target(native), level=level, seconds=0, dtypes=FIXED)
    assert report.ok, str(report)
    assert report.cases > 8000


def test_the_exported_cases(tmp_path: Path) -> None:
    def source(level: Level) -> Iterable[Case]:
        return cases("sonnx", level)

    exported = tmp_path / "cases.c"
    _export_c.write(rule_named("sonnx"), source, exported)
    sources = (exported, HERE / "adapter.c", SOURCE)
    # The tables are not written for the strictest of compilers.
    binary = c_library.compiled(tmp_path / "cases", *SANITIZED, *sources, strict=("-std=c99",))
    done = c_library.run(binary)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(" 0 wrong\n") == 3
