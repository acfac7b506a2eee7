"""SONNX-1 and SONNX-0, read clause by clause, counting from 1; the package counts from 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from plain_rule import all_shapes

import whycast

Index = tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    sizes: tuple[int, ...]
    elements: dict[Index, object]

    def size(self, i: int) -> int:
        assert 1 <= i <= len(self.sizes)
        return self.sizes[i - 1]


def indices(sizes: Sequence[int]) -> Iterator[Index]:
    return product(*(range(1, size + 1) for size in sizes))


def from_zero(array: np.ndarray[Any, Any]) -> Tensor:
    found = {tuple(k + 1 for k in index): element for index, element in np.ndenumerate(array)}
    return Tensor(array.shape, found)


def arrays_of(shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray[Any, Any]]:
    """Return arrays of integers and of texts, in turn; no array repeats an element."""
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    return [array.astype(str) if m % 2 else array for m, array in enumerate(arrays)]


def values_of_f(a: int, b: int, c: int, candidates: range) -> list[int]:
    """Return the candidates that the two equations of the texts admit for f(a,B,C)."""
    return [r for r in candidates if (b != c or r == a) and (b != 1 or r == 1)]


def f(a: int, b: int, c: int) -> int:
    """Return the only value that the texts admit for f(a,B,C)."""
    (value,) = values_of_f(a, b, c, range(1, c + 1))
    return value


def grown(y: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return Zm for Ym: f maps the index of each dimension."""
    found = {index: y.elements[tuple(map(f, index, y.sizes, sizes))] for index in indices(sizes)}
    return Tensor(tuple(sizes), found)


def completed(x: Tensor, rank: int) -> Tensor:
    """Return Ym for Xm: prepend sizes of 1, and ones to the indices of elements."""
    n = len(x.sizes)
    sizes = tuple(1 if i <= rank - n else x.size(i - rank + n) for i in range(1, rank + 1))
    ones = (1,) * (rank - n)
    return Tensor(sizes, {(*ones, *index): x.elements[index] for index in indices(x.sizes)})


def enlarged(ys: Sequence[Tensor]) -> list[Tensor] | None:
    """Return Zm for all Ym, or None if a size is neither the maximum nor 1."""
    axes = range(1, len(ys[0].sizes) + 1)
    maxima = [max(y.size(i) for y in ys) for i in axes]
    if not all(y.size(i) in (maxima[i - 1], 1) for y in ys for i in axes):
        return None
    return [grown(y, maxima) for y in ys]


def broadcast(xs: Sequence[Tensor]) -> list[Tensor] | None:
    """Broadcast as SONNX-1 does; if all tensors have the same rank, also as SONNX-0 does."""
    rank = max(len(x.sizes) for x in xs)
    return enlarged([completed(x, rank) for x in xs])


def binary_form(x1: Tensor, x2: Tensor) -> list[Tensor] | None:
    """Broadcast two tensors by the second description of SONNX-1."""
    n1, rank = len(x1.sizes), len(x2.sizes)
    sizes1 = tuple(1 if i <= rank - n1 else x1.size(i - rank + n1) for i in range(1, rank + 1))
    y1 = Tensor(sizes1, {index: x1.elements[index[rank - n1 :]] for index in indices(sizes1)})
    return enlarged([y1, x2])


def package(arrays: Sequence[np.ndarray[Any, Any]]) -> list[Tensor] | None:
    try:
        return [from_zero(array) for array in whycast.broadcast(*arrays)]
    except whycast.BroadcastError:
        return None


SHAPES = all_shapes(2, 3)
FEW = [shape for shape in SHAPES if 2 not in shape]


def test_f() -> None:
    """[E_SonnxOneBroadcast_any_F_010] [E_SonnxOneBroadcast_any_F_020]
    [E_SonnxOneBroadcast_any_Binary_050] [E_SonnxZeroBroadcast_any_F_010]
    [E_SonnxZeroBroadcast_any_F_020]
    """
    for a, b, c in product(range(1, 6), range(6), range(6)):
        if a <= c and b in (1, c):
            assert values_of_f(a, b, c, range(1, 9)) == [whycast.f(a - 1, b, c) + 1]
        elif b not in (1, c):
            assert values_of_f(a, b, c, range(1, 9)) == list(range(1, 9))


def test_both_texts() -> None:
    """[E_SonnxOneBroadcast_any_Signature_010] [E_SonnxOneBroadcast_any_Types_010]
    [E_SonnxOneBroadcast_any_Constraints_010] [E_SonnxOneBroadcast_any_Constraints_020]
    [E_SonnxOneBroadcast_any_Functionality_010] [E_SonnxOneBroadcast_any_Rank_010]
    [E_SonnxOneBroadcast_any_Rank_020] [E_SonnxOneBroadcast_any_Rank_030]
    [E_SonnxOneBroadcast_any_Rank_040] [E_SonnxOneBroadcast_any_Size_010]
    [E_SonnxOneBroadcast_any_Size_020] [E_SonnxOneBroadcast_any_Purpose_010]
    [E_SonnxOneBroadcast_any_Purpose_020] [E_SonnxOneBroadcast_any_Purpose_030]
    [E_SonnxOneBroadcast_any_Purpose_040] [E_SonnxOneBroadcast_any_Purpose_050]
    [E_SonnxZeroBroadcast_any_Signature_010] [E_SonnxZeroBroadcast_any_Types_010]
    [E_SonnxZeroBroadcast_any_Notations_010] [E_SonnxZeroBroadcast_any_Purpose_010]
    [E_SonnxZeroBroadcast_any_Purpose_020] [E_SonnxZeroBroadcast_any_Purpose_030]
    [E_SonnxZeroBroadcast_any_Purpose_040] [E_SonnxZeroBroadcast_any_Constraints_010]
    [E_SonnxZeroBroadcast_any_Constraints_020] [E_SonnxZeroBroadcast_any_Functionality_010]
    [E_Broadcast_any_Derived_200]
    """
    for shapes in [*product(SHAPES, repeat=2), *product(FEW, repeat=3)]:
        arrays = arrays_of(shapes)
        assert broadcast([*map(from_zero, arrays)]) == package(arrays)


def test_binary_form() -> None:
    """[E_SonnxOneBroadcast_any_Commutativity_020] [E_SonnxOneBroadcast_any_Binary_010]
    [E_SonnxOneBroadcast_any_Binary_020] [E_SonnxOneBroadcast_any_Binary_030]
    [E_SonnxOneBroadcast_any_Binary_040] [E_SonnxOneBroadcast_any_Binary_050]
    [E_SonnxOneBroadcast_any_Binary_060] [E_SonnxOneBroadcast_any_Binary_070]
    [E_SonnxOneBroadcast_any_Binary_080]
    """
    for shapes in product(SHAPES, repeat=2):
        arrays = arrays_of(shapes)
        swapped = len(shapes[0]) > len(shapes[1])
        outputs = binary_form(*(from_zero(array) for array in sorted(arrays, key=np.ndim)))
        expected = package(arrays)
        assert outputs == (expected[::-1] if expected and swapped else expected)
