"""Cases as a test program in C for a user's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import TextIO, TypeAlias, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

import whycast
from whycast._rules import Rule
from whycast._types import Shape
from whycast.testing._cases._case import Case, Level

LAYOUT = """\
c: a test program in C99, one file that needs nothing but the standard library, for up to three
functions of yours: the shape of the output, the strides of a view, and the copied data. The
comment at its head says what they take. It prints each case that fails, and how many did."""

_Source: TypeAlias = Callable[[Level], Iterable[Case]]
_Lists: TypeAlias = list[Sequence[int]]
_Row: TypeAlias = tuple[_Lists, Sequence[int] | None]

_MOST_ELEMENTS = 64
_MOST_AXES = 64
_MOST_LISTS = 40
# C has no literal for the least int64_t; no case needs it.
_INT64 = range(-(2**63) + 1, 2**63)
_ANY = -(2**63)

_HEAD = """\
/*
 * Tests of broadcasting in C by one rule, {title}. Written by whycast {version}
 * (whycast cases --rule {name} --format c); its verified functions computed what is expected.
 *
 *     cc -std=c99 THIS_FILE YOURS.c && ./a.out
 *
 * YOURS.c defines the functions that are declared below, or those of them that
 * -DWHYCAST_NO_SHAPE, -DWHYCAST_NO_STRIDES and -DWHYCAST_NO_DATA leave. Each returns 0 where the
 * rule accepts, and anything else where it refuses.
 *
 * broadcast_shape stores the rank and the sizes of the output's shape. There is room for the
 * highest rank of its arguments.
 *
 * broadcast_strides stores the strides of a view that has the shape of the output: those of the
 * tensor, and 0 on axes along which it is repeated. They count in any unit, the same for both, and
 * may be negative. On an axis of size 1, and where there are no elements, any will do.
 *
 * broadcast_data copies a tensor's elements, of itemsize bytes each, to all their places in the
 * output. Both lie in memory without gaps in row-major order.
 *{note}
 * The program prints each case that is wrong, then for each function how many cases there were and
 * how many of them are wrong. It ends with 1 if any is, otherwise with 0.
 */

#if defined(WHYCAST_NO_SHAPE) && defined(WHYCAST_NO_STRIDES) && defined(WHYCAST_NO_DATA)
#error "there is no function left to test"
#endif

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHYCAST_TENSORS {tensors:d}
#define WHYCAST_AXES {axes:d}
#define WHYCAST_LISTS {lists}
#define ANY INT64_MIN
"""
_TARGET_NOTE = """
 * Where a function takes a target, tensors have that shape in common: it is the output's.
 *"""
_SHAPE_OF_TENSORS = """\
int broadcast_shape(size_t count, const size_t *ranks, const int64_t *const *shapes,
                    size_t *result_rank, int64_t *result);"""
_SHAPE = """\
int broadcast_shape(size_t rank, const int64_t *shape,
                    size_t target_rank, const int64_t *target,{axes}
                    size_t *result_rank, int64_t *result);"""
_STRIDES = """\
int broadcast_strides(size_t rank, const int64_t *shape, const int64_t *strides,
                      size_t target_rank, const int64_t *target,{axes}
                      int64_t *result);"""
_DATA = """\
int broadcast_data(size_t itemsize, size_t rank, const int64_t *shape, const void *data,
                   size_t target_rank, const int64_t *target,{axes}
                   void *result);"""


def write(rule: Rule, source: _Source, file: TextIO) -> int:
    head = _HEAD.format(
        title=rule.title,
        lists=_MOST_LISTS,
        version=whycast.__version__,
        name=rule.name,
        note=_TARGET_NOTE if rule.takes == "tensors" else "",
        tensors=rule.takes == "tensors",
        axes=rule.takes == "axes",
    )
    sections = (
        ("shape", _SHAPE_OF_TENSORS if rule.takes == "tensors" else _SHAPE, _shape_rows),
        ("strides", _STRIDES, _strides_rows),
        ("data", _DATA, _data_rows),
    )
    count = 0
    file.write(head)
    for name, prototype, rows in sections:
        indent = " " * (prototype.index("(") + 1)
        axes = f"\n{indent}size_t axes_count, const int64_t *axes," * (rule.takes == "axes")
        file.write(f"\n#ifndef WHYCAST_NO_{name.upper()}\n{prototype.format(axes=axes)}\n\n")
        file.write(f"static const int64_t {name}_cases[] = {{\n")
        for given, result in rows(rule, source):
            row = [len(given), *[n for each in (*given, result) for n in _listed(each)]]
            # Cases with numbers beyond int64_t cannot be asked in C.
            fits = all(number in _INT64 or number == _ANY for number in row)
            if fits and len(given) <= _MOST_LISTS:
                texts = ["ANY" if number == _ANY else str(number) for number in row]
                file.write(f"{','.join(texts)},\n")
                count += 1
        file.write("};\n#endif\n")
    harness = files("whycast.testing._export").joinpath("harness.c").read_text(encoding="ascii")
    file.write(f"\n{harness}")
    return count


def _listed(numbers: Sequence[int] | None) -> list[int]:
    """Return a list as the table has it: its length first, -1 for a refusal."""
    return [-1] if numbers is None else [len(numbers), *numbers]


def _operands(rule: Rule, case: Case) -> _Lists:
    return cast("_Lists", list(rule.arguments(case.shapes, case)))


def _shape_rows(rule: Rule, source: _Source) -> Iterator[_Row]:
    for case in source("shape"):
        yield _operands(rule, case), rule.shape(case)


def _strides_rows(rule: Rule, source: _Source) -> Iterator[_Row]:
    for case in source("strides"):
        strides = cast("Shape", case.strides)
        layout = rule.layout(case, strides)
        view = None
        if layout is not None:
            pairs = zip(layout.strides, layout.shape, strict=True)
            empty = 0 in layout.shape
            view = [_ANY if empty or size == 1 else stride for stride, size in pairs]
        yield [*_operands(rule, case), strides], view


def _data_rows(rule: Rule, source: _Source) -> Iterator[_Row]:
    # At level strides every rule takes one tensor and a target, as here.
    for case in source("strides"):
        (shape,) = case.shapes
        sizes = [shape, cast("Shape", case.target), rule.shape(case) or ()]
        if max(map(math.prod, sizes)) > _MOST_ELEMENTS or max(map(len, sizes)) > _MOST_AXES:
            continue
        data = np.arange(math.prod(shape)).reshape(shape)
        layout = rule.layout(case, data.strides)
        places = None
        if layout is not None:
            places = as_strided(data, layout.shape, layout.strides).ravel().tolist()
        yield _operands(rule, case), places
