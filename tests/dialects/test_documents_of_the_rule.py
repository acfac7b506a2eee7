"""The documents of ONNX and NumPy, read literally and compared with the functions.

Each test checks on small shapes the theorems that it names, from why3/numpy/onnx.mlw and
why3/numpy/printed.mlw.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from axes_cases import outcome
from plain_rule import Shape, all_shapes, e1, fits, maxima, mixes_zero_and_one, prepend

from whycast.numpy_rule import broadcast_shapes, broadcast_to

CASES = [
    *product(all_shapes(3, 2), all_shapes(2, 3)),
    *product(all_shapes(2, 2), repeat=3),
    *((shape,) for shape in all_shapes(2, 2)),
]


def numpy_shape(shapes: Sequence[Shape]) -> Shape | None:
    both = outcome(np.broadcast_shapes, *shapes), outcome(broadcast_shapes, *shapes)
    theirs, ours = [None if isinstance(each, ValueError) else each for each in both]
    assert ours == theirs
    return ours


def same_shape(shapes: Sequence[Shape]) -> bool:
    """ONNX, property 1 of tensors that broadcast with each other: equal shapes."""
    return all(a == b for a, b in pairwise(shapes))


def same_rank_lengths(shapes: Sequence[Shape]) -> bool:
    """ONNX, property 2: equal ranks; on each dimension lengths are a common length or 1."""
    if len({len(shape) for shape in shapes}) != 1:
        return False
    # If there is a common length, it is one of the lengths.
    return all(
        any({*lengths} <= {common, 1} for common in lengths)
        for lengths in zip(*shapes, strict=True)
    )


def prepended_lengths(shapes: Sequence[Shape]) -> bool:
    """ONNX, property 3: shapes have property 2 after ones are prepended to some."""
    most = max(map(len, shapes)) + 1
    choices = [[prepend(s, rank) for rank in range(len(s), most + 1)] for s in shapes]
    return any(same_rank_lengths(chosen) for chosen in product(*choices))


def own_length_or_one(b: Shape, a: Shape) -> bool:
    """ONNX, property 2 of a tensor B that broadcasts to A."""
    return len(a) == len(b) and all(y in (x, 1) for x, y in zip(a, b, strict=True))


def unidirectional(b: Shape, a: Shape) -> bool:
    """ONNX, B broadcasts to A: one of the three properties."""
    third = len(b) < len(a) and any(
        own_length_or_one(prepend(b, rank), a) for rank in range(len(b), len(a) + 2)
    )
    return b == a or own_length_or_one(b, a) or third


def printed_shape(shapes: Sequence[Shape]) -> Shape | None:
    """NumPy's text: two sizes are equal or one is 1; the result has the largest sizes."""
    rank = max(map(len, shapes))
    columns = [*zip(*[prepend(shape, rank) for shape in shapes], strict=True)]
    pairs = (pair for sizes in columns for pair in product(sizes, repeat=2))
    return tuple(map(max, columns)) if all(a == b or 1 in (a, b) for a, b in pairs) else None


def test_multidirectional() -> None:
    """multidirectional_numpy, multidirectional_prepended, e1_multidirectional.

    [E_OnnxBroadcasting_any_Multidirectional_010] [E_OnnxBroadcasting_any_Multidirectional_020]
    [E_Broadcast_any_Origin_010] [E_SonnxOneBroadcast_any_Origin_010]
    [E_SonnxZeroBroadcast_any_Origin_010]
    """
    holds = [0, 0, 0, 0]
    for shapes in CASES:
        properties = [f(shapes) for f in (same_shape, same_rank_lengths, prepended_lengths)]
        assert any(properties) == (numpy_shape(shapes) is not None) == properties[2]
        # SONNX also refuses a 0 and a 1 on one axis.
        assert (e1(shapes) is None) == (any(properties) and not mixes_zero_and_one(shapes))
        holds[sum(properties)] += 1
    assert all(holds)


def test_unidirectional() -> None:
    """onnx_unidirectional_broadcasts_to, onnx_unidirectional_output.

    [E_OnnxBroadcasting_any_Unidirectional_010] [E_OnnxBroadcasting_any_Unidirectional_020]
    """
    held = 0
    for b, a in product(all_shapes(3, 3), repeat=2):
        expected = len(b) <= len(a) and fits(b, a) is None
        assert unidirectional(b, a) == expected
        if expected:
            held += 1
            assert numpy_shape((b, a)) == a
            assert broadcast_to(np.zeros(b), a).shape == a
        else:
            with pytest.raises(ValueError, match=r"broadcast|more dimensions"):
                np.broadcast_to(np.zeros(b), a)
    assert 0 < held < 85**2


def test_sizes_that_numpy_prints() -> None:
    """printed_common_shape, printed_verdict, printed_shape_differs, printed_e1.

    [E_NumpyBroadcast_any_Rule_050] [E_Broadcast_any_E1_030]
    """
    differs = 0
    for shapes in CASES:
        printed, computed = printed_shape(shapes), numpy_shape(shapes)
        assert (printed is None) == (computed is None)
        assert (e1(shapes) is None) == (
            printed is not None and all(fits(shape, printed) is None for shape in shapes)
        )
        if printed is None or computed is None:
            continue
        assert printed == maxima(shapes)
        assert (printed == computed) == (not mixes_zero_and_one(shapes))
        differs += printed != computed
    assert differs > 500
