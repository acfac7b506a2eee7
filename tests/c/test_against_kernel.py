"""The C against the Python that is extracted from the same theories, by the cases of `check`.

exhaustive.c holds it against plain.c on all small calls, and their errors.
"""

from __future__ import annotations

import math
import re
from itertools import chain, product
from typing import cast

import numpy as np
import pytest
from c_library import FOLDER, SOURCE, Library, Outcome, compiled

from whycast._types import AnyArray, Shape
from whycast.testing import check
from whycast.testing._cases._case import Level
from whycast.testing._cases._values import DTYPES

BAD_WIDTH, TOO_LARGE = -7, -8


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Library:
    binary = tmp_path_factory.mktemp("c") / "whycast.so"
    return Library(compiled(binary, "-O2", "-fPIC", "-shared", SOURCE))


def test_the_codes_stay_what_they_are() -> None:
    """Callers have been compiled with them."""
    found = re.findall(r"WHYCAST_(\w+) = (-\d+)", (FOLDER / "whycast.h").read_text("utf-8"))
    assert [name for name, _ in sorted(found, key=lambda each: -int(each[1]))] == [
        *("NOT_BROADCASTABLE", "RANK_MISMATCH", "NEGATIVE_SIZE", "NEGATIVE_RANK", "NO_TENSOR"),
        *("CAPACITY_EXCEEDED", "BAD_WIDTH", "TOO_LARGE", "ROOM_EXCEEDED", "EXTENT_EXCEEDED"),
    ]
    assert sorted(-int(code) for _, code in found) == [*range(1, 11)]


def test_byte_sizes(native: Library) -> None:
    """[E_Broadcast_any_Derived_120]"""
    limits = (0, 1, 2, 3, 2**31, 2**32, 2**32 + 1, 3037000499, 3037000500, 2**62, 2**63 - 1)
    for shape in chain.from_iterable(product(limits, repeat=rank) for rank in range(4)):
        for width in (-1, 0, 1, 2, 3, 2**62, 2**63 - 1):
            exact = math.prod(shape) * width
            right = Outcome(exact, -1, -1)
            if width < 1:
                right = Outcome(BAD_WIDTH, 0, -1)
            elif exact >= 2**63:
                right = Outcome(TOO_LARGE, 0, -1)
            assert native.byte_size(shape, width) == right, (shape, width)


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
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_110]
    [E_Broadcast_any_Derived_490] [E_Broadcast_any_Signature_010] [E_Broadcast_any_Outputs_010]
    """
    report = check(Target(native), level=level, seconds=0, dtypes=FIXED)
    assert report.ok, str(report)
    assert report.cases > 8000
