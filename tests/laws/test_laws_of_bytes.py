"""The proved laws on bytes, executed: what is broadcast axis by axis, in memory of the output.

Every test names the theorem it executes. In no input does a byte occur twice, so that one misplaced
byte shows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import pytest
from plain_rule import Shape, all_shapes, e1, fits, indices, maxima, prepend, source

from whycast import reference

SHAPES = all_shapes(3, 3)
PAIRS = [
    (shape, target)
    for shape, target in product(SHAPES, repeat=2)
    if len(shape) <= len(target) and fits(shape, target) is None
]
WIDTHS = (1, 2, 3)
# Bytes of a part: none, one, some, and more than there are.
PARTS = (0, 1, 5, 12, 131072)
BEYOND = b"\xfe\xff\xfe\xff"


def position(index: Shape, shape: Shape) -> int:
    """Place of an element in row-major order."""
    place = 0
    for i, size in zip(index, shape, strict=True):
        place = place * size + i
    return place


def bytes_due(data: bytes, shape: Shape, target: Shape, width: int) -> bytes:
    """Each byte of the output, from the predicate is_byte_broadcast of c/bytes.mlw."""
    due = {
        position(i, target) * width + c: data[position(source(shape, target, i), shape) * width + c]
        for i in indices(target)
        for c in range(width)
    }
    assert sorted(due) == list(range(prod(target) * width))
    return bytes(due[k] for k in sorted(due))


def spread(memory: bytearray, base: int, count: int, block: int, times: int) -> None:
    """Repeat the blocks from a place on where they are, as c/repeated_bytes.mlw defines it."""
    row = block * times
    memory[base : base + count] = bytes(
        memory[base + k // row * block + k % block] for k in range(count)
    )


class Stage(NamedTuple):
    """Units from `first` on, at `base`: their axes from `axis` on have grown, and they had `held`
    bytes before the last one has. Those of `left` blocks of `block` bytes they have now.
    """

    unit_axis: int
    axis: int
    first: int
    units: int
    base: int
    left: int
    block: int
    held: int


def grow(
    memory: bytearray, stage: Stage, shape: Shape, target: Shape, last: int
) -> Iterator[Stage]:
    """Let the axes down to `last` grow, and say where it is after each."""
    _, high, first, units, base, left, block, _ = stage
    for a in reversed(range(last, high)):
        size, times = prepend(shape, len(target))[a], target[a]
        held = left * block
        if size == times:
            assert left % times == 0
            left //= times
        else:
            assert size == 1
            spread(memory, base, left * times * block, block, times)
        block *= times
        yield Stage(last, a, first, units, base, left, block, held)


def broadcast_bytes(
    memory: bytearray, data: bytes, shape: Shape, target: Shape, width: int, part: int
) -> Iterator[Stage]:
    """Run what c/broadcast_bytes.mlw does, with parts of so many bytes, and say where it is."""
    if 0 in target:
        return
    padded, rank = prepend(shape, len(target)), len(target)
    k, block = rank, width
    while k > 0 and block * target[k - 1] <= part:
        k -= 1
        block *= target[k]
    row = prod(padded[k:]) * width
    units, most = prod(padded[:k]), max(1, part // block)
    for first in range(0, units, most):
        count = min(most, units - first)
        base = first * block
        memory[base : base + count * row] = data[first * row : (first + count) * row]
        copied = Stage(k, rank, first, count, base, count * prod(padded[k:]), width, 0)
        yield copied
        yield from grow(memory, copied, shape, target, k)
    whole = Stage(0, k, 0, 1, 0, units, block, units * block)
    yield whole
    yield from grow(memory, whole, shape, target, 0)


def distinct_bytes(shape: Shape, width: int) -> bytes:
    """As many bytes as a tensor has, all different and none of 254 and 255."""
    return bytes(range(prod(shape) * width))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("width", WIDTHS)
def test_axis_by_axis_each_byte_due_is_there(width: int, part: int) -> None:
    """due_first, due_grown, due_last, c/due_bytes.mlw, part_within, part_room, next_grows,
    c/part_sizes.mlw, first_stage, stage_grown, stage_kept, more_units, all_units, last_stage,
    c/passes.mlw, grow and broadcast_bytes, c/broadcast_bytes.mlw: whatever parts are made, at every
    stage their bytes are those due there, no more than the output, at least twice as many where an
    axis has grown; nothing beyond is written, and two bytes for each one of each pass and the
    copies are at most four for each one of the output.

    [E_Broadcast_any_Derived_460] [E_Broadcast_any_Derived_470]
    """
    assert len(PAIRS) > 500
    for shape, target in PAIRS:
        data = distinct_bytes(shape, width)
        total = prod(target) * width
        padded = prepend(shape, len(target))
        memory = bytearray(total) + BEYOND
        written = 0
        for stage in broadcast_bytes(memory, data, shape, target, width, part):
            k, a, first, units, base, left, block, held = stage
            count = left * block
            assert left == units * prod(padded[k:a])
            assert block == prod(target[a:]) * width
            assert base + count <= base + units * prod(target[k:]) * width <= total
            begin = first * prod(padded[k:a]) * block
            due = bytes_due(data, shape, (*padded[:a], *target[a:]), width)
            assert memory[base : base + count] == due[begin : begin + count]
            if held != count:
                assert 2 * held <= count
                written += 2 * count if held else count
        assert memory == bytes_due(data, shape, target, width) + BEYOND
        assert written <= 4 * total


def test_what_is_due_is_determined() -> None:
    """due_broadcast, due_unique, due_kept, size_partly, c/due_bytes.mlw: after each axis the bytes
    are those of the shape that has the target's sizes from there on. [E_Broadcast_any_Derived_460]
    """
    for shape, target in PAIRS:
        data = distinct_bytes(shape, 2)
        padded = prepend(shape, len(target))
        for a in range(len(target) + 1):
            between = (*padded[:a], *target[a:])
            due = bytes_due(data, shape, between, 2)
            assert len(due) == prod(padded[:a]) * prod(target[a:]) * 2
            if a < len(target) and padded[a] == target[a]:
                assert due == bytes_due(data, shape, (*padded[: a + 1], *target[a + 1 :]), 2)


def test_units_before_and_behind() -> None:
    """units_before, units_from, unit_within, c/units.mlw. [E_Broadcast_any_Derived_460]"""
    for shape, target in PAIRS:
        y = prepend(shape, len(target))
        for k in range(len(y) + 1):
            for a in range(k, len(y) + 1):
                assert prod(y[:k]) * prod(y[k:a]) == prod(y[:a])
                assert prod(y[k:a]) * prod(y[a:]) == prod(y[k:])
                if 0 not in target:
                    assert 1 <= prod(y[k:a]) * prod(target[a:]) <= prod(target[k:])


@pytest.mark.parametrize("width", WIDTHS)
def test_all_bytes_are_those_of_the_outputs(width: int) -> None:
    """broadcast_in_bytes, c/tensors_in_bytes.mlw: of tensors of which the elements are bytes.

    [E_Broadcast_any_Derived_440] [E_Broadcast_any_Derived_450]
    """
    for pair in product(all_shapes(2, 3), repeat=2):
        if e1(pair) is None:
            inputs = [distinct_bytes(shape, width) for shape in pair]
            lists = [[data[k : k + width] for k in range(0, len(data), width)] for data in inputs]
            target, outputs = reference.broadcast_all(list(zip(lists, pair, strict=True)))
            assert target == maxima(pair)
            for data, shape, z in zip(inputs, pair, outputs, strict=True):
                assert b"".join(z) == bytes_due(data, shape, target, width)


@pytest.mark.parametrize("code", ["<h", ">h", "<q", "<d", ">d"])
def test_elements_are_broadcast_with_their_bytes(code: str) -> None:
    """encodes_broadcast, encodes_flat_broadcast, c/encoded_tensors.mlw: numbers, however they are
    written as bytes, and the reference for lists. [E_Broadcast_any_Derived_440]
    """
    for shape, target in PAIRS:
        if len(target) == 2:
            elements = [257 * k + 3 for k in range(prod(shape))]
            outputs = reference.broadcast(elements, shape, target)
            data, due = (b"".join(struct.pack(code, e) for e in x) for x in (elements, outputs))
            assert due == bytes_due(data, shape, target, struct.calcsize(code))
