"""The proved laws on bytes, executed: what is broadcast axis by axis, in memory of the output.

Every test names the theorem it executes. In no input does a byte occur twice, so that one misplaced
byte shows.
"""

from __future__ import annotations

import struct
from itertools import product
from math import prod

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


def spread(memory: bytearray, count: int, block: int, times: int) -> None:
    """Repeat the blocks at the beginning where they are, as c/repeated_bytes.mlw defines it."""
    row = block * times
    memory[:count] = bytes(memory[k // row * block + k % block] for k in range(count))


def broadcast_bytes(
    memory: bytearray, data: bytes, shape: Shape, target: Shape, width: int
) -> list[tuple[int, int, int]]:
    """Run what c/broadcast_bytes.mlw does, and return where it is after each axis: a, m, b."""
    if 0 in target:
        return []
    left, block = prod(shape), width
    memory[: left * width] = data[: left * width]
    stages = [(len(target), left, block)]
    for a in reversed(range(len(target))):
        size, times = prepend(shape, len(target))[a], target[a]
        if size == times:
            assert left % times == 0
            left //= times
        else:
            assert size == 1
            spread(memory, left * times * block, block, times)
        block *= times
        stages.append((a, left, block))
    return stages


def distinct_bytes(shape: Shape, width: int) -> bytes:
    """As many bytes as a tensor has, all different and none of 254 and 255."""
    return bytes(range(prod(shape) * width))


@pytest.mark.parametrize("width", WIDTHS)
def test_axis_by_axis_each_byte_due_is_there(width: int) -> None:
    """bytes_axis, c/stages.mlw, next_grows, stage_grown, stage_kept, last_stage, c/passes.mlw, and
    broadcast_bytes, c/broadcast_bytes.mlw: every stage has the bytes of the shape between, no more
    than the output, at least twice as many where an axis has grown; nothing beyond is written, and
    two bytes for each one of each pass and the copy are at most four for each one of the output.

    [E_Broadcast_any_Derived_460] [E_Broadcast_any_Derived_470]
    """
    assert len(PAIRS) > 500
    for shape, target in PAIRS:
        data = distinct_bytes(shape, width)
        total = prod(target) * width
        memory = bytearray(total) + BEYOND
        stages = broadcast_bytes(memory, data, shape, target, width)
        assert memory == bytes_due(data, shape, target, width) + BEYOND
        assert bool(stages) == (0 not in target)
        written = len(data)
        held = len(data)
        for a, left, block in stages:
            padded = prepend(shape, len(target))
            assert left == prod(padded[:a])
            assert block == prod(target[a:]) * width
            assert left * block <= total
            if left * block != held:
                assert left * block >= 2 * held
                written += 2 * left * block
                held = left * block
        assert not stages or written <= 4 * total


def test_each_stage_is_a_broadcast() -> None:
    """bytes_copied, bytes_axis, c/stages.mlw: after each axis the bytes are those of the shape that
    has the target's sizes from there on. [E_Broadcast_any_Derived_460]
    """
    for shape, target in PAIRS:
        data = distinct_bytes(shape, 2)
        for a in range(len(target) + 1):
            between = (*prepend(shape, len(target))[:a], *target[a:])
            memory = bytearray(prod(target) * 2)
            if 0 not in target:
                broadcast_bytes(memory, data, prepend(shape, len(target)), between, 2)
                due = bytes_due(data, shape, between, 2)
                assert memory[: len(due)] == due
                assert len(due) <= len(memory)


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
