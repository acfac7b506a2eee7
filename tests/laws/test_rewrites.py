"""Rewrites of an ONNX model, executed: Expand is the package's, the other nodes are NumPy's.

Every test names the theorem it executes, of why3/model. No element occurs twice in the arrays, and
the shapes are all small ones, with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
from array_strategies import Array, distinct_arrays
from plain_rule import Shape, all_shapes

import whycast
from whycast.onnx import expand

SHAPES = [*all_shapes(2, 3)]


def pairs() -> Iterator[tuple[Shape, Shape, Shape]]:
    """Give all pairs of the small shapes that are compatible, and their common shape."""
    for s in SHAPES:
        for t in SHAPES:
            try:
                yield s, t, np.broadcast_shapes(s, t)
            except ValueError:
                continue


def numbers(*shapes: Shape) -> list[Any]:
    """Give arrays of numbers that have no element in common."""
    return [*distinct_arrays(shapes)]


def same(x: Array, y: Array) -> bool:
    """Compare shapes and elements."""
    return x.shape == y.shape and x.tolist() == y.tolist()


def broadcasts_to(s: Shape, d: Shape) -> bool:
    """Say whether NumPy broadcasts a shape to another."""
    try:
        return np.broadcast_shapes(s, d) == d
    except ValueError:
        return False


def mixed(s: Shape, t: Shape) -> bool:
    """Say whether a 0 meets a 1."""
    return any({*sizes} == {0, 1} for sizes in zip_longest(s[::-1], t[::-1], fillvalue=1))


def test_element_wise_node() -> None:
    """Expands that do not grow the output change nothing: expand_left_out, model/rewrites.mlw.

    Nor does SONNX's Broadcast, where no 0 meets a 1: sonnx_explicit_output, in the same theory.

    [E_Broadcast_any_Derived_600]
    """
    kept, grown = 0, 0
    for s, t, d in pairs():
        x, y = numbers(s, t)
        assert same(expand(x, d) + expand(y, d), x + y)
        assert expand(x, d).shape == expand(y, d).shape == d
        if not mixed(s, t):
            z, w = whycast.broadcast(x, y)
            assert z.shape == w.shape == d
            assert same(z + w, x + y)
        for u in SHAPES:
            try:
                z = expand(x, u) + y
            except ValueError:
                assert not broadcasts_to(u, d)
                continue
            assert same(z, x + y) == broadcasts_to(u, d)
            kept, grown = kept + broadcasts_to(u, d), grown + (not broadcasts_to(u, d))
    assert kept
    assert grown


def test_reshape_and_tile() -> None:
    """Expand is Reshape and Tile: step1_reshaped, expand_tile, model/reshape.mlw, model/tiles.mlw.

    [E_Broadcast_any_Derived_620]
    """
    for s, t, d in pairs():
        (x,) = numbers(s)
        padded = (1,) * (len(d) - len(s)) + s
        repeats = [size if own == 1 else 1 for own, size in zip(padded, d, strict=True)]
        assert same(np.tile(x.reshape(padded), repeats), expand(x, t))


def test_stacks_of_matrices() -> None:
    """MatMul of expanded stacks is MatMul: expanded_stacks_output, model/matrices.mlw.

    Ones may stand in the place of the sizes of the matrices: expand_joint_ones, model/stacks.mlw.

    [E_Broadcast_any_Derived_630]
    """
    for s, t, d in pairs():
        x, y = numbers((*s, 2, 3), (*t, 3, 2))
        for u, v in (((2, 3), (3, 2)), ((1, 1), (1, 1))):
            assert same(np.matmul(expand(x, d + u), expand(y, d + v)), np.matmul(x, y))


def test_sizes_at_run_time() -> None:
    """Where gives NumPy's sizes, Max where no 0 meets a 1: where_shape_numpy, model/run_time.mlw.

    [E_Broadcast_any_Derived_660]
    """
    wrong = 0
    for s, t, d in pairs():
        a, b = (np.array((1,) * (len(d) - len(u)) + u, dtype=int) for u in (s, t))
        assert tuple(np.where(a == 1, b, a)) == d
        assert (tuple(np.maximum(a, b)) != d) == mixed(s, t)
        wrong += mixed(s, t)
    assert wrong
