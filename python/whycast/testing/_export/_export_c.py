"""Cases as a test program in C for a user's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any, TextIO

import numpy as np
from numpy.lib.stride_tricks import as_strided

import whycast
from whycast._rules import Rule
from whycast.testing._cases._case import Case, Level

LAYOUT = """\
c: a test program in C99, one file that needs nothing but the standard library, for up to three
functions of yours: the shape of the output, the strides of a view, and the copied data. Its first
comment describes them. It prints each failed case and their number."""

_MOST_ELEMENTS = 64
_MOST_AXES = 64
_MOST_LISTS = 40
# C has no literal for the least int64_t; no case needs it.
_INT64 = range(-(2**63) + 1, 2**63)
_ANY = -(2**63)

_HEAD = """\
/*
 * Tests of broadcasting in C by one rule, {title}. Written by whycast {version}
 * (whycast cases --rule {name} --format c); its verified functions computed the results.
 *
 *     cc -std=c99 THIS_FILE YOURS.c && ./a.out
 *
 * YOURS.c defines the functions below, without those that -DWHYCAST_NO_SHAPE,
 * -DWHYCAST_NO_STRIDES and -DWHYCAST_NO_DATA drop. Each returns 0 if the rule accepts, and another
 * number if the rule refuses.
 *
 * broadcast_shape stores the rank and the sizes of the output's shape. The result has room for the
 * highest rank of the arguments.
 *
 * broadcast_strides stores the strides of a view with the shape of the output: those of the tensor,
 * and 0 on axes along which the tensor repeats. They have any unit, the same for both, and may be
 * negative. On an axis of size 1, and without elements, any stride is right.
 *
 * broadcast_data copies a tensor's elements, of itemsize bytes each, to all their places in the
 * output. Both lie in memory without gaps in row-major order.
 *{note}
 * The program prints each wrong case, then for each function the numbers of cases and of wrong
 * cases. It ends with 1 if a case is wrong, otherwise with 0.
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
 * A target is the common shape of the tensors, and the output's shape.
 *"""
_SHAPES = """\
int broadcast_shape(size_t count, const size_t *ranks, const int64_t *const *shapes,
                    size_t *result_rank, int64_t *result);"""
# The tensor's other arguments and the results of each function.
_ARGUMENTS = {
    "shape": ("", "", "size_t *result_rank, int64_t *result"),
    "strides": ("", ", const int64_t *strides", "int64_t *result"),
    "data": ("size_t itemsize, ", ", const void *data", "void *result"),
}


def write(rule: Rule, source: Callable[[Level], Iterable[Case]], file: TextIO) -> int:
    head = _HEAD.format(
        title=rule.title,
        lists=_MOST_LISTS,
        version=whycast.__version__,
        name=rule.name,
        note=_TARGET_NOTE if rule.takes == "tensors" else "",
        tensors=rule.takes == "tensors",
        axes=rule.takes == "axes",
    )
    count = 0
    file.write(head)
    for level, (before, behind, results) in _ARGUMENTS.items():
        begin = f"int broadcast_{level}("
        axes = ["size_t axes_count, const int64_t *axes"] * (rule.takes == "axes")
        tensor = f"{before}size_t rank, const int64_t *shape{behind}"
        parts = [tensor, "size_t target_rank, const int64_t *target", *axes, results]
        parted = f",\n{' ' * len(begin)}".join(parts)
        of_tensors = level == "shape" and rule.takes == "tensors"
        prototype = _SHAPES if of_tensors else f"{begin}{parted});"
        file.write(f"\n#ifndef WHYCAST_NO_{level.upper()}\n{prototype}\n\n")
        file.write(f"static const int64_t {level}_cases[] = {{\n")
        # At level strides every rule takes one tensor and a target, as broadcast_data does.
        for case in source("shape" if level == "shape" else "strides"):
            row = _row(rule, level, case)
            # Cases with numbers beyond int64_t cannot be asked in C.
            if all(number in _INT64 or number == _ANY for number in row) and row[0] <= _MOST_LISTS:
                texts = ["ANY" if number == _ANY else str(number) for number in row]
                file.write(f"{','.join(texts)},\n")
                count += 1
        file.write("};\n#endif\n")
    harness = files("whycast.testing._export").joinpath("harness.c").read_text(encoding="ascii")
    file.write(f"\n{harness}")
    return count


def _row(rule: Rule, level: str, case: Case) -> list[int]:
    """Return a row of the table: the number of lists, the lists of a case, and the result."""
    given: Any = list(rule.arguments(case.shapes, case))
    result: Sequence[int] | None = rule.shape(case)
    if level == "strides":
        given.append(case.strides)
        if (view := rule.layout(case, case.strides or ())) is not None:
            pairs = zip(view.strides, view.shape, strict=True)
            result = [_ANY if 0 in view.shape or size == 1 else stride for stride, size in pairs]
    elif level == "data":
        sizes = [*case.every_shape, result or ()]
        if max(map(math.prod, sizes)) > _MOST_ELEMENTS or max(map(len, sizes)) > _MOST_AXES:
            return [_MOST_LISTS + 1]
        places = np.arange(math.prod(case.shapes[0])).reshape(case.shapes[0])
        if (view := rule.layout(case, places.strides)) is not None:
            result = as_strided(places, view.shape, view.strides).ravel().tolist()
    if level != "shape" and view is None:
        result = None
    row = [len(given)]
    for numbers in (*given, result):
        # The length of a list comes first, -1 for a refusal.
        row += [-1] if numbers is None else [len(numbers), *numbers]
    return row
