"""Expand of PyTorch: NumPy's broadcast_to, but for -1, which stands for the tensor's own size.

[E_NumpyBroadcast_any_Functions_020]
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from plain_rule import Shape, all_shapes

import whycast
from whycast.torch import expand

SMALL = all_shapes(2, 2)


def meant(shape: Shape, size: Shape) -> Shape | None:
    """Say -1 in sizes, as PyTorch's text does; None where it stands on a new axis."""
    new = len(size) - len(shape)
    if new < 0 or -1 in size[:new]:
        return None
    return (*size[:new], *[b if a == -1 else a for a, b in zip(size[new:], shape, strict=True)])


@pytest.mark.parametrize("rank", range(4))
def test_all_small_sizes_with_and_without_minus_one(rank: int) -> None:
    for shape, size in product(SMALL, product((-1, 0, 1, 2), repeat=rank)):
        x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        target = meant(shape, size)
        try:
            wanted = None if target is None else np.broadcast_to(x, target)
        except ValueError:
            wanted = None
        if wanted is None:
            with pytest.raises(ValueError, match="size"):
                expand(x, size)
        else:
            found = expand(x, size)
            assert np.array_equal(found, wanted)
            assert np.shares_memory(found, x) or found.size == 0
            assert not found.flags.writeable


def test_examples_of_the_text() -> None:
    """Those of torch.Tensor.expand."""
    x = np.array([[1], [2], [3]])
    assert expand(x, (3, 4)).tolist() == expand(x, (-1, 4)).tolist() == [[k] * 4 for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ((-1, 3, 1), "size, axis 0: expected a size of at least 0, got -1; input has no such axis"),
        ((3, -2), "size, axis 1: expected a size of at least 0, got -2"),
        ((3,), "size: expected a rank of at least 2, that of input, got 1"),
        (("3", 1), "size, axis 0: expected an integer, got '3' (str)"),
    ],
)
def test_what_is_refused(size: Shape, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        expand(np.zeros((3, 1)), size)
    assert str(raised.value) == text


def test_a_misfit_names_the_parameters() -> None:
    with pytest.raises(whycast.BroadcastError, match=r"^input of shape "):
        expand(np.zeros((3, 2)), (-1, 4))
