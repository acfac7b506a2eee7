"""The C against the Python that is extracted from the same theories, by the cases of `check`.

exhaustive.c holds it against plain.c on all small calls, and their errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
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
from whycast.testing import _export_c, cases, check
from whycast.testing._case import Case, Level
from whycast.testing._values import DTYPES

WIDTHS = (1, 2, 3, 4, 5, 8, 12, 16, 17, 33)
SMALL = [*chain.from_iterable(product(range(4), repeat=rank) for rank in range(4))]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return c_library.library(tmp_path_factory.mktemp("c"))


def test_the_codes_are_those_of_the_header() -> None:
    text = (c_library.FOLDER / "whycast.h").read_text(encoding="utf-8")
    for name, code in CODES.items():
        assert f"WHYCAST_{name} = {code}" in text


def test_byte_sizes(native: Library) -> None:
    """[E_Broadcast_any_Derived_120]"""
    limits = (0, 1, 2, 3, 2**31, 2**32, 2**32 + 1, 3037000499, 3037000500, 2**62, 2**63 - 1)
    for shape in chain.from_iterable(product(limits, repeat=rank) for rank in range(4)):
        for width in (-1, 0, 1, 2, 3, 2**62, 2**63 - 1):
            exact = math.prod(shape) * width
            right = Outcome(exact, -1, -1)
            if width < 1:
                right = Outcome(CODES["BAD_WIDTH"], 0, -1)
            elif exact >= 2**63:
                right = Outcome(CODES["TOO_LARGE"], 0, -1)
            assert native.byte_size(shape, width) == right, (shape, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_bytes(width: int, native: Library) -> None:
    """Those of the list program.

    [E_Broadcast_any_Derived_130]
    """
    for shape, target in product(SMALL, repeat=2):
        data = bytes((1 + k + k // 255 * 17) % 256 for k in range(math.prod(shape) * width))
        elements = [data[k : k + width] for k in range(0, len(data), width)]
        found = native.broadcast(data, shape, target, width, math.prod(target) * width)
        try:
            moved = _kernel.broadcast_flat(elements, shape, target)
        except (_kernel.RankMismatch, _kernel.NotBroadcastable):
            assert found.code in (CODES["RANK_MISMATCH"], CODES["NOT_BROADCASTABLE"])
        else:
            assert found == Outcome(0, -1, -1, b"".join(moved)), (shape, target)


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
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_110]
    [E_Broadcast_any_Derived_490] [E_Broadcast_any_Signature_010] [E_Broadcast_any_Outputs_010]
    """
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
