"""The extracted programs for explicit axes, nGraph, Expand and lists, with all their exceptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import permutations, product
from math import perm, prod

import numpy as np
import plain_axes
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rule import Shape, all_shapes, fits, indices, prepend
from shape_strategies import SIZES

from whycast import _kernel

Outcome = tuple[object, ...]
STRIDES = st.integers(-(2**70), 2**70)

# All sequences of at most three numbers that are axes of a rank up to 3, or just beyond.
SEQUENCES = [axes for count in range(4) for axes in product(range(-1, 4), repeat=count)]


def outcome(program: Callable[..., Sequence[int] | None], *arguments: object) -> Outcome:
    """What a program returns; of an exception its type and what it carries."""
    try:
        result = program(*arguments)
    except (_kernel.RankMismatch, _kernel.AxesCount) as error:
        return (type(error), *error.args)
    except (
        _kernel.AxisOutOfRange,
        _kernel.AxesNotIncreasing,
        _kernel.AxesNotDistinct,
        _kernel.AxisMisfit,
        _kernel.NotExpandable,
    ) as error:
        return type(error), error.value
    assert result is None or type(result) is tuple
    return () if result is None else tuple(result)


def axes_fault(axes: Sequence[int], rank: int) -> Outcome | None:
    """The first axis that is out of range, or not above the one before it."""
    for j, axis in enumerate(axes):
        if axis not in range(rank):
            return _kernel.AxisOutOfRange, j
        if j and axis <= axes[j - 1]:
            return _kernel.AxesNotIncreasing, j
    return None


def distinct_fault(axes: Sequence[int], rank: int) -> Outcome | None:
    """The first axis that is out of range, or named before: then with where that was."""
    for j, axis in enumerate(axes):
        if axis not in range(rank):
            return _kernel.AxisOutOfRange, j
        if axis in axes[:j]:
            return _kernel.AxesNotDistinct, (axes.index(axis), j)
    return None


def explicit(shape: Shape, strides: Shape, target: Shape, axes: Sequence[int]) -> Outcome:
    """What explicit_strides is to do: ranks, number of axes, axes, sizes, in this order."""
    return along(axes_fault, shape, strides, target, axes)


def in_dim(shape: Shape, strides: Shape, target: Shape, axes: Sequence[int]) -> Outcome:
    """What in_dim_strides is to do: the same, along other axes."""
    return along(distinct_fault, shape, strides, target, axes)


def along(
    fault_of: Callable[[Sequence[int], int], Outcome | None],
    shape: Shape,
    strides: Shape,
    target: Shape,
    axes: Sequence[int],
) -> Outcome:
    """What both are to do, apart from which axes they take."""
    if len(strides) != len(shape):
        return (_kernel.RankMismatch,)
    if len(axes) != len(shape):
        return (_kernel.AxesCount,)
    fault = fault_of(axes, len(target))
    if fault:
        return fault
    misfit = plain_axes.explicit_misfit(shape, target, axes)
    if misfit is not None:
        return _kernel.AxisMisfit, misfit
    result = [0] * len(target)
    for size, stride, axis in zip(shape, strides, axes, strict=True):
        if size == target[axis]:
            result[axis] = stride
    return tuple(result)


def ngraph(shape: Shape, strides: Shape, target: Shape, axes: Sequence[int]) -> Outcome:
    """What ngraph_strides is to do: ranks, broadcast axes, the rank that is left, sizes."""
    if len(strides) != len(shape):
        return (_kernel.RankMismatch,)
    fault = axes_fault(axes, len(target))
    if fault:
        return fault
    wanted = plain_axes.p(target, axes)
    if len(wanted) != len(shape):
        return (_kernel.AxesCount,)
    for j in range(len(shape)):
        if shape[j] != wanted[j]:
            return _kernel.AxisMisfit, j
    own = iter(strides)
    return tuple(0 if axis in axes else next(own) for axis in range(len(target)))


def kinds(outcomes: set[Outcome]) -> set[object]:
    """The exceptions among outcomes, and "result" for what is none."""
    return {found[0] if found and isinstance(found[0], type) else "result" for found in outcomes}


def test_check_axes() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_040] [E_Broadcast_any_Derived_140]"""
    found = set()
    for rank, axes in product(range(5), SEQUENCES):
        result = outcome(_kernel.check_axes, axes, rank)
        assert result == (axes_fault(axes, rank) or ())
        assert plain_axes.are_axes(axes, rank) == (result == ())
        found.add(result)
    positions = {(_kernel.AxisOutOfRange, j) for j in range(3)}
    assert found == {(), *positions, *((_kernel.AxesNotIncreasing, j) for j in (1, 2))}


def test_check_distinct() -> None:
    """[E_BroadcastInDim_any_Axes_020] [E_Broadcast_any_Derived_140]"""
    found = set()
    for rank, axes in product(range(5), SEQUENCES):
        result = outcome(_kernel.check_distinct, axes, rank)
        assert result == (distinct_fault(axes, rank) or ())
        assert plain_axes.are_distinct(axes, rank) == (result == ())
        found.add(result)
    positions = {(_kernel.AxisOutOfRange, j) for j in range(3)}
    pairs = {(_kernel.AxesNotDistinct, pair) for pair in ((0, 1), (0, 2), (1, 2))}
    assert found == {(), *positions, *pairs}


each_program_for_strides = pytest.mark.parametrize(
    ("program", "reading"),
    [
        (_kernel.explicit_strides, explicit),
        (_kernel.in_dim_strides, in_dim),
        (_kernel.ngraph_strides, ngraph),
    ],
    ids=["explicit", "in_dim", "ngraph"],
)


@each_program_for_strides
def test_strides(
    program: Callable[..., Sequence[int]],
    reading: Callable[[Shape, Shape, Shape, Sequence[int]], Outcome],
) -> None:
    """[E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoBroadcast_any_Derived_040]
    [E_Broadcast_any_Derived_140]
    """
    found = set()
    for shape, target, axes in product(all_shapes(2, 2), all_shapes(3, 2), SEQUENCES):
        strides = (7, 5)[: len(shape)]
        result = outcome(program, shape, strides, target, axes)
        assert result == reading(shape, strides, target, axes)
        found.add(result)
    assert kinds(found) == {
        "result",
        _kernel.AxesCount,
        _kernel.AxisOutOfRange,
        _kernel.AxesNotDistinct if reading is in_dim else _kernel.AxesNotIncreasing,
        _kernel.AxisMisfit,
    }


OPENVINO_MODES = (_kernel.Numpy(), _kernel.Explicit(), _kernel.Bidirectional())


def openvino(
    shape: Shape, strides: Shape, target: Shape, axes: Sequence[int] | None, mode: _kernel.Mode
) -> Outcome:
    """What the programs for OpenVINO are to do: whether there are axes, then the mode's own."""
    explicit_mode = isinstance(mode, _kernel.Explicit)
    if axes is not None:
        if not explicit_mode:
            return (_kernel.MappingNotAllowed,)
        found = explicit(shape, strides, target, axes)
        return found if found and isinstance(found[0], type) else (target, found)
    if explicit_mode:
        return (_kernel.MappingMissing,)
    dims: Shape | None = target
    if isinstance(mode, _kernel.Bidirectional):
        dims = plain_axes.expand_shape(shape, target)
        if dims is None:
            rank = max(len(shape), len(target))
            pairs = zip(prepend(shape, rank), prepend(target, rank), strict=True)
            fitting = [a == b or 1 in (a, b) for a, b in pairs]
            return _kernel.NotExpandable, fitting.index(False)
    assert dims is not None
    if len(shape) > len(dims):
        return (_kernel.RankMismatch,)
    missing = len(dims) - len(shape)
    for axis in range(missing, len(dims)):
        size = shape[axis - missing]
        if size not in (1, dims[axis]):
            return _kernel.NotBroadcastable, _kernel.Violation(0, axis, size, dims[axis])
    own = [strides[k] if shape[k] == dims[missing + k] else 0 for k in range(len(shape))]
    return dims, (*[0] * missing, *own)


@pytest.mark.parametrize("mode", OPENVINO_MODES, ids=["numpy", "explicit", "bidirectional"])
def test_openvino_views(mode: _kernel.Mode) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoBroadcast_any_Derived_050]
    [E_Broadcast_any_Derived_140]
    """
    exceptions = (_kernel.MappingMissing, _kernel.MappingNotAllowed, _kernel.RankMismatch)
    with_value = (
        *(_kernel.NotBroadcastable, _kernel.NotExpandable, _kernel.AxisOutOfRange),
        *(_kernel.AxesNotIncreasing, _kernel.AxisMisfit),
    )
    found: set[Outcome] = set()
    for shape, target in product(all_shapes(2, 2), all_shapes(3, 2)):
        strides = (7, 5)[: len(shape)]
        for axes in (None, *SEQUENCES):
            result: Outcome
            try:
                if axes is None:
                    result = _kernel.view_without_axes(shape, strides, target, mode)
                else:
                    result = _kernel.view_along_axes(shape, strides, target, axes, mode)
            except (*exceptions, _kernel.AxesCount) as error:
                result = (type(error),)
            except with_value as error:
                result = type(error), error.value
            assert result == openvino(shape, strides, target, axes, mode)
            found.add(result)
    expected: dict[type, set[object]] = {
        _kernel.Numpy: {_kernel.RankMismatch, _kernel.NotBroadcastable},
        _kernel.Bidirectional: {_kernel.NotExpandable},
        _kernel.Explicit: {_kernel.AxesCount, *with_value[2:]},
    }
    other = (
        _kernel.MappingMissing if isinstance(mode, _kernel.Explicit) else _kernel.MappingNotAllowed
    )
    assert kinds(found) == {"result", other, *expected[type(mode)]}


def test_mode_of() -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    assert _kernel.mode_of(_kernel.NotGiven()) == _kernel.Numpy()
    for mode in OPENVINO_MODES:
        assert _kernel.mode_of(_kernel.Given(mode)) == mode


def test_explicit_strides_lead_to_the_elements() -> None:
    """[E_OpenvinoBroadcast_any_Derived_040]"""
    accepted = 0
    for target in all_shapes(3, 3):
        for axes in plain_axes.axis_sets(len(target)):
            for shape in product(*({1, target[axis]} for axis in axes)):
                strides = (100, 10, 1)[: len(shape)]
                view = _kernel.explicit_strides(shape, strides, target, axes)
                sources = plain_axes.explicit(shape, target, axes)
                for index, source in sources.items():
                    assert _kernel.offset(index, view) == _kernel.offset(source, strides)
                accepted += 1
    # On each axis of the target, the data has none, one of size 1, or one of the target's size.
    assert accepted == sum((2 + 3 * 3) ** rank for rank in range(4))


def test_in_dim_strides_lead_to_the_elements() -> None:
    """[E_BroadcastInDim_any_Data_010] [E_OpenvinoBroadcast_any_Derived_040]"""
    accepted = 0
    for target in all_shapes(3, 3):
        for axes in all_distinct(len(target)):
            for shape in product(*({1, target[axis]} for axis in axes)):
                strides = (100, 10, 1)[: len(shape)]
                view = _kernel.in_dim_strides(shape, strides, target, axes)
                sources = plain_axes.explicit(shape, target, axes)
                for index, source in sources.items():
                    assert _kernel.offset(index, view) == _kernel.offset(source, strides)
                accepted += 1
    # On each axis of the target that the data has, it has size 1 or the target's: 7 in 4 cases.
    assert accepted == sum(
        perm(rank, own) * 7**own * 4 ** (rank - own) for rank in range(4) for own in range(rank + 1)
    )


def test_place_strides_of_axes_that_are_known_to_be_axes() -> None:
    for target in all_shapes(3, 2):
        for axes in all_distinct(len(target)):
            for shape in product(range(3), repeat=len(axes)):
                strides = (7, 5, 3)[: len(shape)]
                result = outcome(_kernel.place_strides, shape, strides, target, axes)
                assert result == in_dim(shape, strides, target, axes)


def all_distinct(rank: int) -> list[tuple[int, ...]]:
    """All sequences of distinct axes of a rank."""
    return [axes for count in range(rank + 1) for axes in permutations(range(rank), count)]


@each_program_for_strides
def test_strides_of_another_rank_come_first(
    program: Callable[..., tuple[int, ...]], reading: Callable[..., Outcome]
) -> None:
    found = set()
    for rank, strides, target in product(range(4), repeat=3):
        for axes in SEQUENCES:
            arguments = ((1,) * rank, (8,) * strides, (1,) * target, axes)
            result = outcome(program, *arguments)
            assert result == reading(*arguments)
            assert (result == (_kernel.RankMismatch,)) == (rank != strides)
            found.add(result)
    assert _kernel.AxesCount in kinds(found)
    assert "result" in kinds(found)


def test_kept_axes_and_p() -> None:
    """[E_NgraphBroadcast_any_Definition_010] [E_Broadcast_any_Derived_140]"""
    letters = (-7, 2**70, 5, 5)
    for rank, axes in product(range(5), SEQUENCES):
        coordinate = letters[:rank]
        fault = axes_fault(axes, rank)
        if fault:
            assert outcome(_kernel.kept_axes, rank, axes) == fault
            assert outcome(_kernel.p, coordinate, axes) == fault
        else:
            kept = plain_axes.p(range(rank), axes)
            assert outcome(_kernel.kept_axes, rank, axes) == kept
            assert outcome(_kernel.p, coordinate, axes) == tuple(letters[axis] for axis in kept)


@given(st.lists(st.tuples(STRIDES, st.booleans()), max_size=40))
def test_p_and_kept_axes_of_any_rank(components: list[tuple[int, bool]]) -> None:
    coordinate = tuple(component for component, _ in components)
    axes = tuple(axis for axis, (_, removed) in enumerate(components) if removed)
    kept = tuple(axis for axis, (_, removed) in enumerate(components) if not removed)
    assert _kernel.kept_axes(len(coordinate), axes) == kept
    assert _kernel.p(coordinate, axes) == plain_axes.p(coordinate, axes)


def test_ngraph_strides_lead_to_the_elements() -> None:
    """[E_OpenvinoBroadcast_any_Derived_040]"""
    for target in all_shapes(3, 3):
        for axes in plain_axes.axis_sets(len(target)):
            shape = plain_axes.p(target, axes)
            strides = (100, 10, 1)[: len(shape)]
            view = _kernel.ngraph_strides(shape, strides, target, axes)
            for index in indices(target):
                source = plain_axes.p(index, axes)
                assert _kernel.offset(index, view) == _kernel.offset(source, strides)


@given(st.lists(st.tuples(SIZES, STRIDES, st.integers(0, 3)), max_size=40), st.data())
def test_strides_of_any_rank(described: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """An axis of the target has no axis of the data (0), one of size 1 (1), or of its own size."""
    target = tuple(size for size, _, _ in described)
    axes = tuple(axis for axis, (_, _, kind) in enumerate(described) if kind)
    shape = tuple(1 if kind == 1 else size for size, _, kind in described if kind)
    strides = tuple(stride for _, stride, kind in described if kind)
    assert _kernel.explicit_strides(shape, strides, target, axes) == tuple(
        stride if kind > 1 or (kind == 1 and size == 1) else 0 for size, stride, kind in described
    )
    removed = tuple(axis for axis in range(len(target)) if axis not in axes)
    found = outcome(_kernel.ngraph_strides, shape, strides, target, removed)
    assert found == ngraph(shape, strides, target, removed)
    if shape:
        j = data.draw(st.integers(0, len(shape) - 1))
        wrong = (*shape[:j], target[axes[j]] + 2, *shape[j + 1 :])
        assert outcome(_kernel.explicit_strides, wrong, strides, target, axes) == (
            _kernel.AxisMisfit,
            j,
        )


def repeated(shape: Shape, target: Shape, axes: Sequence[int]) -> tuple[int, ...]:
    """The axes of the target on which no axis of the data lies with the same size."""
    own = dict(zip(axes, shape, strict=True))
    return tuple(axis for axis, size in enumerate(target) if own.get(axis, -1) != size)


def test_still_axes() -> None:
    """[E_Broadcast_any_Derived_140]"""
    for strides in product((-3, 0, 1), repeat=4):
        still = [axis for axis in range(4) if strides[axis] == 0]
        assert outcome(_kernel.still_axes, strides) == tuple(still)
    assert outcome(_kernel.still_axes, ()) == ()


def test_repeated_axes() -> None:
    """[E_OpenvinoBroadcast_ring_Derived_010] [E_Broadcast_any_Derived_140]"""
    found = set()
    for shape, target, axes in product(all_shapes(2, 2), all_shapes(3, 2), SEQUENCES):
        result = outcome(_kernel.repeated_axes, shape, target, axes)
        expected = explicit(shape, (1,) * len(shape), target, axes)
        if kinds({expected}) == {"result"}:
            expected = repeated(shape, target, axes)
        assert result == expected
        found.add(result)
    # Every set of axes is found for some data.
    assert {axes for axes in found if kinds({axes}) == {"result"}} == {
        axes for rank in range(4) for axes in plain_axes.axis_sets(rank)
    }
    assert kinds(found) == {
        "result",
        _kernel.AxesCount,
        _kernel.AxisOutOfRange,
        _kernel.AxesNotIncreasing,
        _kernel.AxisMisfit,
    }


def test_repeated_trailing() -> None:
    """[E_OpenvinoBroadcast_ring_Derived_010] [E_Broadcast_any_Derived_140]"""
    found: set[Outcome] = set()
    for shape, target in product(all_shapes(3, 3), repeat=2):
        missing = len(target) - len(shape)
        result: Outcome
        expected: Outcome
        try:
            result = _kernel.repeated_trailing(shape, target)
        except _kernel.RankMismatch as error:
            result = (type(error),)
        except _kernel.NotBroadcastable as error:
            result = type(error), dataclasses.astuple(error.value)
        if missing < 0:
            expected = (_kernel.RankMismatch,)
        elif (axis := fits(shape, target)) is not None:
            size = prepend(shape, len(target))[axis]
            expected = _kernel.NotBroadcastable, (0, axis, size, target[axis])
        else:
            expected = repeated(shape, target, range(missing, len(target)))
        assert result == expected
        found.add(result)
    assert kinds(found) == {"result", _kernel.RankMismatch, _kernel.NotBroadcastable}


def test_elements_repeat_along_the_repeated_axes_alone() -> None:
    """A step along such an axis leads to the same element, along any other one to another.

    [E_OpenvinoBroadcast_ring_Derived_010]
    """
    for target in product((1, 2, 3), repeat=3):
        for axes in plain_axes.axis_sets(3):
            for shape in product(*({1, target[axis]} for axis in axes)):
                sources = plain_axes.explicit(shape, target, axes)
                found = _kernel.repeated_axes(shape, target, axes)
                for axis, size in enumerate(target):
                    if size > 1:
                        step = tuple(int(k == axis) for k in range(3))
                        assert (sources[step] == sources[0, 0, 0]) == (axis in found)


def test_expand_shape() -> None:
    """[E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Broadcast_any_Derived_140]"""
    rejected = 0
    for shape, target in product(all_shapes(3, 3), repeat=2):
        result = outcome(_kernel.expand_shape, shape, target)
        expected = plain_axes.expand_shape(shape, target)
        if expected is None:
            rank = max(len(shape), len(target))
            pairs = zip(prepend(shape, rank), prepend(target, rank), strict=True)
            at_fault = [i for i, (a, b) in enumerate(pairs) if a != b and 1 not in (a, b)]
            assert result == (_kernel.NotExpandable, at_fault[0])
            rejected += 1
        else:
            assert result == expected == np.broadcast_shapes(shape, target)
    assert 0 < rejected < 85 * 85


@given(st.lists(st.tuples(SIZES, st.integers(0, 2)), max_size=40), st.integers(0, 40))
def test_expand_shape_of_any_rank(described: list[tuple[int, int]], dropped: int) -> None:
    result = tuple(size for size, _ in described)
    one = tuple(1 if who == 1 else size for size, who in described)
    other = tuple(1 if who == 2 else size for size, who in described)
    # A shape may as well end early, where it would have ones alone.
    start = min(dropped, next((i for i, size in enumerate(one) if size != 1), len(one)))
    assert _kernel.expand_shape(one[start:], other) == result
    assert _kernel.expand_shape(other, one[start:]) == result


def test_size_is_the_number_of_multi_indices() -> None:
    """[E_Broadcast_any_Derived_120]"""
    for shape in all_shapes(4, 3):
        assert _kernel.size(shape) == len(list(indices(shape)))
    assert _kernel.size((2**40, 2**40)) == 2**80


def test_broadcast_flat() -> None:
    """[E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140]"""
    rejected = 0
    for shape, target in product(all_shapes(3, 2), repeat=2):
        elements = {index: object() for index in indices(shape)}
        data = list(elements.values())
        before = list(data)
        sources = plain_axes.numpy_mode(shape, target)
        if sources is not None:
            result = _kernel.broadcast_flat(data, shape, target)
            assert type(result) is list
            assert result is not data
            assert result == [elements[source] for source in sources.values()]
        elif len(shape) > len(target):
            with pytest.raises(_kernel.RankMismatch):
                _kernel.broadcast_flat(data, shape, target)
        else:
            with pytest.raises(_kernel.NotBroadcastable) as caught:
                _kernel.broadcast_flat(data, shape, target)
            axis = fits(shape, target)
            assert axis is not None
            size = prepend(shape, len(target))[axis]
            assert dataclasses.astuple(caught.value.value) == (0, axis, size, target[axis])
            rejected += 1
        assert data == before
    assert rejected > 0


def test_broadcast_flat_counts_the_data_first() -> None:
    """One element more or less, whether or not the shape fits the target."""
    for shape, target in product(all_shapes(2, 2), repeat=2):
        count = prod(shape)
        for length in {count - 1, count + 1} - {-1}:
            with pytest.raises(_kernel.DataLength):
                _kernel.broadcast_flat([0] * length, shape, target)
