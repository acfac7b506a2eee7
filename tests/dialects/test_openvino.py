"""OpenVINO Broadcast: its modes numpy and bidirectional, and the examples of its text.

Mode explicit has its own tests, together with broadcast_in_dim.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from array_strategies import Array, plain
from axes_cases import SHAPE_PAIRS, arrays_along_axes, assert_elements, numbered, outcome
from hypothesis import given
from plain_axes import expand, expand_shape, explicit, explicit_misfit, numpy_mode
from plain_rule import Shape, all_shapes
from view_checks import assert_view

import whycast
from whycast import numpy_rule, onnx
from whycast.openvino import broadcast


def test_every_small_case_of_mode_numpy() -> None:
    """[E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Modes_020]
    """
    accepted = misfits = 0
    for shape, target in SHAPE_PAIRS:
        x = numbered(shape)
        sources = numpy_mode(shape, target)
        z = outcome(broadcast, x, target)
        if sources is not None:
            assert not isinstance(z, ValueError)
            assert_elements(z, shape, target, sources)
            assert z.tobytes() == np.broadcast_to(x, target).tobytes()
            accepted += 1
            continue
        with pytest.raises(ValueError, match=r"remap|broadcast"):
            np.broadcast_to(x, target)
        if len(shape) > len(target):
            assert type(z) is ValueError
            assert str(z) == (
                f"target_shape: expected a rank of at least {len(shape)}, that of data, "
                f"got {len(target)}"
            )
            continue
        assert type(z) is whycast.BroadcastError
        own = z.axis - len(target) + len(shape)
        assert numpy_mode(shape[:own], target[: z.axis]) is not None
        assert (z.size, z.target) == (shape[own], target[z.axis])
        assert z.size not in (1, z.target)
        misfits += 1
    # On an axis that both have 7 of 16 pairs of sizes fit, on one of the target alone all 4 sizes.
    pairs = [(rank, more) for rank in range(4) for more in range(4 - rank)]
    assert accepted == sum(7**rank * 4**more for rank, more in pairs)
    assert accepted + misfits == sum(16**rank * 4**more for rank, more in pairs)


def test_every_small_case_of_mode_bidirectional() -> None:
    """It is ONNX Expand; the shape of the output need not be the target.

    [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    accepted = 0
    for shape, target in SHAPE_PAIRS:
        x = numbered(shape)
        sources = expand(shape, target)
        common = expand_shape(shape, target)
        if sources is None or common is None:
            with pytest.raises(numpy_rule.IncompatibleError) as caught:
                broadcast(x, target, mode="bidirectional")
            with pytest.raises(numpy_rule.IncompatibleError) as of_expand:
                onnx.expand(x, target)
            assert caught.value.axis == of_expand.value.axis
            continue
        z = broadcast(x, target, mode="bidirectional")
        assert_elements(z, shape, common, sources)
        assert onnx.expand(x, target).tobytes() == z.tobytes()
        accepted += 1
    # Of 16 pairs of sizes 10 are equal or have a 1.
    assert accepted == sum(
        10 ** min(ranks) * 4 ** (max(ranks) - min(ranks))
        for ranks in [(a, b) for a in range(4) for b in range(4)]
    )


@given(arrays_along_axes())
def test_any_array_in_mode_numpy(case: tuple[Array, Shape, tuple[int, ...]]) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_010]"""
    array, target, axes = case
    x = plain(array)
    # The axes that the array lies on, and before them the others.
    others = [size for axis, size in enumerate(target) if axis not in axes]
    target = (*others, *[target[axis] for axis in axes])
    sources = numpy_mode(x.shape, target)
    if sources is None:
        with pytest.raises(whycast.BroadcastError):
            broadcast(array, target)
    else:
        assert_view(broadcast(array, target), x, target, sources.__getitem__)


def test_examples_of_the_text() -> None:
    """[E_OpenvinoBroadcast_any_Examples_040] [E_OpenvinoBroadcast_any_Examples_050]
    [E_OpenvinoBroadcast_any_Examples_060]
    """
    x, target = numbered((16, 1, 1)), np.array([1, 16, 50, 50])
    z = broadcast(x, target, mode="numpy")
    assert z.shape == (1, 16, 50, 50)
    assert all((z[0, c] == x[c, 0, 0]).all() for c in range(16))

    x = numbered((16,))
    z = broadcast(x, target, np.array([1]), mode="explicit")
    assert z.shape == (1, 16, 50, 50)
    assert all((z[0, c] == x[c]).all() for c in range(16))

    x, target = numbered((50, 50)), np.array([1, 50, 50, 16])
    z = broadcast(x, target, np.array([1, 2]), mode="explicit")
    assert z.shape == (1, 50, 50, 16)
    assert all((z[0, :, :, k] == x).all() for k in range(16))


@pytest.mark.parametrize("target", [(2, 3, 4, 5), (2, 3, 3, 3)])
def test_prose_examples_of_the_text(target: Shape) -> None:
    """[C] to [N,C,H,W] by (1), and [H,W] to [N,H,W,C] by (1,2).

    [E_OpenvinoBroadcast_any_Examples_010] [E_OpenvinoBroadcast_any_Examples_020]
    """
    n, c, h, w = target
    x = numbered((c,))
    z = broadcast(x, target, [1], "explicit")
    assert all(z[i, j, k, m] == x[j] for i, j, k, m in np.ndindex(n, c, h, w))
    x = numbered((c, h))
    z = broadcast(x, target, [1, 2], "explicit")
    assert all(z[i, j, k, m] == x[j, k] for i, j, k, m in np.ndindex(n, c, h, w))


def test_when_mode_numpy_expresses_the_prose_examples() -> None:
    """channel_accepted, channel_same, image_accepted, image_same: axes/examples_expressed.mlw.

    [E_OpenvinoBroadcast_any_Examples_030]
    """
    for target in product(range(4), repeat=4):
        _, c, h, w = target
        empty = 0 in target
        cases = [
            ((c,), [1], c in (w, 1), c == 1),
            # The target is (N,H,W,C): here c is H, h is W and w is C.
            ((c, h), [1, 2], c in (h, 1) and h in (w, 1), c == h == 1),
        ]
        for shape, axes, accepted, ones in cases:
            x = numbered(shape)
            z = outcome(broadcast, x, target)
            assert accepted == (not isinstance(z, ValueError))
            if not isinstance(z, ValueError):
                same = z.tobytes() == broadcast(x, target, axes, "explicit").tobytes()
                assert same == (ones or empty)


def test_modes_agree_at_equal_rank() -> None:
    """All axes are the only axes then, and errors agree too: openvino_equal_rank and
    openvino_trailing, axes/operator_laws.mlw.

    [E_OpenvinoBroadcast_any_Purpose_020]
    """
    for shape, target in SHAPE_PAIRS:
        missing = len(target) - len(shape)
        if missing < 0:
            continue
        x, axes = numbered(shape), range(missing, len(target))
        z, w = outcome(broadcast, x, target), outcome(broadcast, x, target, axes, "explicit")
        if isinstance(z, ValueError):
            assert type(z) is whycast.BroadcastError
            assert type(w) is whycast.AxisSizeError
            assert z.axis == w.axis == missing + w.tensor_axis
        else:
            assert not isinstance(w, ValueError)
            assert (z.shape, z.tobytes()) == (w.shape, w.tobytes())


AXES = [None, *[axes for count in range(3) for axes in product(range(-1, 3), repeat=count)]]
SMALL = all_shapes(2, 2)
NO_SHAPES = ((-1,), (2, -1))


def fault(
    shape: Shape, target: Shape, axes: tuple[int, ...] | None, mode: str | None
) -> str | None:
    """The error of the operator: openvino_outcome, axes/openvino_verdict.mlw; None if none."""
    if target in NO_SHAPES:
        return "expected a size of at least 0, got -1"
    if mode == "explicit":
        if axes is None:
            return "axes_mapping: mode 'explicit' expects it, got none"
        if len(axes) != len(shape):
            return f"axes_mapping: expected {len(shape)} ax"
        for j, axis in enumerate(axes):
            if not 0 <= axis < len(target):
                return f"axes_mapping, position {j}: expected an axis of target_shape"
            if j > 0 and axis <= axes[j - 1]:
                return f"axes_mapping, position {j}: expected strictly increasing axes"
        misfit = explicit_misfit(shape, target, axes)
        return None if misfit is None else f"axis {misfit} of data, which lies on"
    if axes is not None:
        return f"axes_mapping: mode '{mode or 'numpy'}' expects none, got "
    if mode == "bidirectional":
        fits = expand_shape(shape, target) is not None
        return None if fits else "shapes do not broadcast (NumPy's rule)"
    if len(shape) > len(target):
        return "target_shape: expected a rank of at least"
    return None if numpy_mode(shape, target) is not None else "of the target's rank"


@pytest.mark.parametrize("mode", [None, "numpy", "explicit", "bidirectional"])
def test_every_small_call_has_an_output_or_its_error(mode: str | None) -> None:
    """The operator is total: openvino_output_exactly, openvino_error_exactly, openvino_default_mode
    and openvino_axes_mapping, axes/operator_laws.mlw.

    [E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_010]
    [E_OpenvinoBroadcast_any_Derived_050]
    """
    for shape, target in product(SMALL, (*SMALL, *NO_SHAPES)):
        x = numbered(shape)
        for axes in AXES:
            expected = fault(shape, target, axes, mode)
            z = outcome(broadcast, x, target, axes, mode)
            if expected is not None:
                assert isinstance(z, ValueError)
                assert expected in str(z)
                continue
            assert not isinstance(z, ValueError)
            dims = expand_shape(shape, target) if mode == "bidirectional" else target
            sources = expand(shape, target) if axes is None else explicit(shape, target, axes)
            assert dims is not None
            assert sources is not None
            assert_elements(z, shape, dims, sources)


def test_default_mode_is_numpy() -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    x = numbered((2, 1))
    expected = broadcast(x, (3, 2, 2), None, "numpy")
    assert broadcast(x, (3, 2, 2)).tobytes() == expected.tobytes()
    assert broadcast(data=x, target_shape=(3, 2, 2)).tobytes() == expected.tobytes()
    # In mode bidirectional the target would give way.
    with pytest.raises(whycast.BroadcastError):
        broadcast(x, (1, 1))


def test_bidirectional_keeps_what_the_target_lacks() -> None:
    """[E_OpenvinoThreeBroadcast_any_Modes_010]"""
    x = numbered((4, 3, 1))
    assert broadcast(x, (), mode="bidirectional").tobytes() == x.tobytes()
    assert broadcast(x, (3, 5), mode="bidirectional").shape == (4, 3, 5)
    assert broadcast(x, (2, 1, 1, 0), mode="bidirectional").shape == (2, 4, 3, 0)
