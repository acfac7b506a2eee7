"""Programs of the kernel on small arguments, compared with the readings in tests/support.

Some sizes and ranks are above 256: CPython before 3.15 shares the objects of smaller integers, so a
wrong `is` instead of `==` would pass.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import plain_axes
import plain_rule
from plain_rule import Shape

from whycast import _kernel

# The name of an exception and its report, or "" and the result.
Outcome = tuple[str, Any]

SHAPES = (
    plain_rule.all_shapes(2, 3) + plain_rule.all_shapes(3, 1) + [(2, 3, 4), (3, 1, 2), (2, 0, 3)]
)
FEW = [*plain_rule.all_shapes(2, 2), (2, 3), (3,), (1, 2, 1), (2, 1, 3), (4, 1, 0), (0, 1, 1)]
MANY = 300

# For each rule's error: two programs (shape, error), two readings (error, shape).
RULES: dict[str, tuple[Callable[..., Any], ...]] = {
    "E1": (_kernel.broadcast_shapes, _kernel.first_violation, plain_rule.e1, plain_rule.maxima),
    "Incompatible": (
        *(_kernel.numpy_broadcast_shapes, _kernel.first_mismatch),
        *(plain_rule.first_mismatch, plain_rule.agreed),
    ),
}
ALONG_AXES = (_kernel.explicit_strides, _kernel.ngraph_strides, _kernel.in_dim_strides)
BIG = [(MANY,), (MANY, 1), (1, MANY), (MANY, MANY), (MANY + 1,), (1,), (), (0,), (MANY, 2)]
LONG: list[Shape] = [(1,) * MANY, (1,) * (MANY + 1), (2, *(1,) * (MANY - 1)), (2,), ()]


def outcome(function: Callable[..., Any], *arguments: Any) -> Outcome:
    try:
        return ("", function(*arguments))
    except Exception as error:
        report = getattr(error, "value", None)
        if dataclasses.is_dataclass(report) and not isinstance(report, type):
            report = dataclasses.astuple(report)
        return (type(error).__name__, report)


def ask(wanted: Outcome, function: Callable[..., Any], *arguments: Any) -> None:
    """Demand an outcome, with values of the same types."""
    found = outcome(function, *[_copy(argument) for argument in arguments])
    assert found == wanted, (function.__name__, arguments, found, wanted)
    assert _types(found[1]) == _types(wanted[1]), (function.__name__, arguments, found, wanted)


def _copy(argument: Any) -> Any:
    if type(argument) is tuple:
        return tuple([_copy(each) for each in argument])
    if type(argument) is list:
        return [*argument]
    return int(str(argument)) if type(argument) is int else argument


def _types(value: Any) -> Any:
    return [type(value), *map(_types, value)] if isinstance(value, (tuple, list)) else type(value)


def test_numbers() -> None:
    """[E_Broadcast_any_F_010] [E_Broadcast_any_Condition1_020] [E_Broadcast_any_Step1_020]
    [E_Broadcast_any_Derived_120]
    """
    for a, b, c in product((-1, 0, 1, 2, MANY), (0, 1, 2, MANY), (0, 1, 2, MANY)):
        ask(("", a if b == c else 0), _kernel.f, a, b, c)
    for shape in [*SHAPES, *BIG, *LONG]:
        ask(("", math.prod(shape)), _kernel.size, shape)
        strides = tuple([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
        ask(("", strides), _kernel.row_major_strides, shape)
        still = tuple([axis for axis, size in enumerate(shape) if size == 0])
        ask(("", still), _kernel.still_axes, shape)
        ask(("", None), _kernel.check_shape, shape)
        for rank in {0, 1, 2, 3, 4, len(shape), len(shape) + 1}:
            fits = rank >= len(shape)
            padded = plain_rule.prepend(shape, rank) if fits else None
            ask(("", padded) if fits else ("RankMismatch", None), _kernel.pad, shape, rank)
            for i, size in enumerate((padded or ())[:6]):
                ask(("", size), _kernel.padded_size, shape, rank, i)
        for index in ((), (2,), (3, 5), (1, -2, 7), (1,) * MANY):
            total = sum([a * b for a, b in zip(index, shape, strict=False)])
            same = len(index) == len(shape)
            ask(("", total) if same else ("RankMismatch", None), _kernel.offset, index, shape)
    ask(("", (1,)), _kernel.still_axes, (-1, 0, -MANY, 2))
    for shape in ((-1,), (2, -1), (-MANY, 1), (0, 1, -2)):
        ask(("NegativeSize", None), _kernel.check_shape, shape)
        for shapes in ((shape, (1,)), ((3,), shape)):
            ask(("NegativeSize", None), _kernel.check_shapes, shapes)
    ask(("", None), _kernel.check_shapes, ((), (3, 0), (1,)))


_PAIRS = [*product(FEW, SHAPES), *product(BIG, repeat=2), *product(LONG, repeat=2)]
_LISTS: list[tuple[Shape, ...]] = [
    *((), *product(SHAPES, repeat=1), *product(SHAPES, FEW)),
    *(*product(plain_rule.all_shapes(1, 3), repeat=3), *product(BIG, repeat=2)),
    *(*product(LONG, repeat=2), *product([(0, 1), (1, 0), (1,), (2, 1), ()], repeat=3)),
    *(((2, 3), (2, 1), (1, 4)), ((1, 2), (3, 1), (3, 2), (1, 1, 5)), ((1, 5), (2, 4), (3, 1))),
]
_NEGATIVE = [
    *(((-1,),), ((2, -1),), ((1,), (-1,)), ((-1, 2), (3,)), ((3,), (2, -2)), ((0, -3), (0, 1)))
]


def test_shapes() -> None:
    """[E_Broadcast_any_Signature_020] [E_Broadcast_any_Restrictions_010]
    [E_Broadcast_any_Step2_010] [E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_010]
    [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_010]
    [E_NumpyBroadcast_any_Rule_020] [E_NumpyBroadcast_any_Rule_030] [E_NumpyBroadcast_any_Rule_040]
    [E_NumpyBroadcast_any_Error_010] [E_Broadcast_any_Derived_140]
    """
    ask(("NoTensor", None), _kernel.broadcast_shapes, ())
    for given, (error, (program, first, fault_of, common)) in product(_LISTS, RULES.items()):
        if not given and error == "E1":
            continue
        if (fault := fault_of(given)) is None:
            ask(("", common(given)), program, given)
        else:
            ask((error, tuple(fault)), program, given)
            assert dataclasses.astuple(outcome(first, given)[1]) == tuple(fault)
    for given, (program, first, _, _) in product(_NEGATIVE, RULES.values()):
        for each in (program, first):
            ask(("NegativeSize", None), each, given)


def _strides(shape: Shape) -> Shape:
    return tuple([(-1) ** axis * (axis + 5) for axis in range(len(shape))])


def _placed(shape: Shape, target: Shape, axes: Shape) -> Outcome:
    """Return the strides of a view of the target's shape, for axes on `axes`, or the misfit."""
    strides = [0] * len(target)
    for j, (size, step) in enumerate(zip(shape, _strides(shape), strict=True)):
        if size == target[axes[j]]:
            strides[axes[j]] = step
        elif size != 1:
            return ("AxisMisfit", j)
    return ("", tuple(strides))


def _trailing(shape: Shape, target: Shape) -> Outcome:
    """Return the strides of a view of the target's shape, for its last axes, or the misfit."""
    if len(shape) > len(target):
        return ("RankMismatch", None)
    axis = plain_rule.fits(shape, target)
    if axis is not None:
        size = plain_rule.prepend(shape, len(target))[axis]
        return ("NotBroadcastable", (0, axis, size, target[axis]))
    return _placed(shape, target, plain_axes.trailing(len(shape), len(target)))


def _then(wanted: Outcome, of: Callable[[Any], Any]) -> Outcome:
    return wanted if wanted[0] else ("", of(wanted[1]))


def _viewed(shape: Shape, target: Shape) -> Outcome:
    return _then(_trailing(shape, target), lambda strides: (target, strides))


def _repeated(strides: Shape) -> Shape:
    return tuple([axis for axis, step in enumerate(strides) if step == 0])


def test_targets() -> None:
    """[E_Broadcast_any_Step1_030] [E_Broadcast_any_Step2_050] [E_Broadcast_any_F_020]
    [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_140]
    """
    for shape, target in _PAIRS:
        wanted, strides = _trailing(shape, target), _strides(shape)
        ask(wanted, _kernel.broadcast_strides, shape, strides, target)
        ask(_then(wanted, _repeated), _kernel.repeated_trailing, shape, target)
        for more in (_strides((1, *shape)), strides[1:]):
            if len(more) != len(shape):
                ask(("RankMismatch", None), _kernel.broadcast_strides, shape, more, target)
        if not wanted[0]:
            ask(wanted, _kernel.view_strides, shape, strides, target)
        last = tuple([max(size - 1, 0) for size in target])
        beyond, below = tuple([size + 1 for size in target]), (-1,) * len(target)
        for index in (last, (0,) * len(target), target, beyond, below, (*last, 0)):
            is_asked = not wanted[0] or len(index) != len(target)
            found = _found(shape, target, index) if is_asked else wanted
            ask(found, _kernel.source_index, shape, target, index)


def _found(shape: Shape, target: Shape, index: Shape) -> Outcome:
    if len(index) != len(target):
        return ("RankMismatch", None)
    for axis, (i, size) in enumerate(zip(index, target, strict=True)):
        if not 0 <= i < size:
            return ("IndexOutOfRange", axis)
    return ("", plain_rule.source(shape, target, index))


def _axes_wrong(axes: Shape, rank: int, *, increasing: bool) -> Outcome | None:
    for j, axis in enumerate(axes):
        if not 0 <= axis < rank:
            return ("AxisOutOfRange", j)
        if increasing and j and axis <= axes[j - 1]:
            return ("AxesNotIncreasing", j)
        if not increasing and axis in axes[:j]:
            return ("AxesNotDistinct", (axes.index(axis), j))
    return None


_AXES = [
    *(axes for count in range(4) for axes in product(range(-1, 4), repeat=count)),
    *((1, 2, 3, 0), (0, 1, 2, 1), (3, 0, 3, 0)),
]
_SOME_AXES = [
    *(axes for count in range(3) for axes in product(range(-1, 3), repeat=count)),
    *((0, 1, 2), (0, 2, 1), (2, 0, 1), (0, 1, 3), (1, 2, 2), (0, 0, 1), (0, 1, 2, 3), (3,), (1, 3)),
]
_OWN: list[Shape] = [
    *((), (2,), (1,), (3,), (0,), (2, 1), (1, 3), (2, 2), (2, 1, 3), (1, 0, 2), (MANY,))
]
_TARGETS: list[Shape] = [(), (2,), (2, 3), (2, 1, 3), (2, 2, 2), (0, 2, 3), (MANY, 1)]


def test_axes() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_040] [E_BroadcastInDim_any_Axes_020]
    [E_BroadcastInDim_any_Data_010] [E_OpenvinoBroadcast_any_Derived_040]
    [E_NgraphBroadcast_any_Definition_010] [E_OpenvinoBroadcast_ring_Derived_010]
    [E_Broadcast_any_Derived_140]
    """
    for rank, at in product(range(5), _AXES):
        wrong = _axes_wrong(at, rank, increasing=True)
        ask(wrong or ("", None), _kernel.check_axes, at, rank)
        kept = tuple([axis for axis in range(rank) if axis not in at])
        ask(wrong or ("", kept), _kernel.kept_axes, rank, at)
        coordinate = tuple(range(50, 50 + rank))
        ask(wrong or ("", plain_axes.p(coordinate, at)), _kernel.p, coordinate, at)
        wrong = _axes_wrong(at, rank, increasing=False)
        ask(wrong or ("", None), _kernel.check_distinct, at, rank)
    for shape, target, at in product(_OWN, _TARGETS, _SOME_AXES):
        _along(shape, target, at)
    for shape in ((2, *(1,) * (MANY - 1)), (1,) * MANY):
        _along(shape, shape, tuple(range(MANY)))
        _along(shape, (1, *shape), tuple(range(1, MANY + 1)))
        _along(shape, (1, *shape), (0,))
    axes = tuple(range(MANY))
    ask(("AxesNotIncreasing", MANY), _kernel.check_axes, (*axes, MANY - 1), MANY)
    ask(("AxesNotDistinct", (MANY - 1, MANY)), _kernel.check_distinct, (*axes, MANY - 1), MANY)
    ask(("AxisOutOfRange", MANY - 1), _kernel.check_axes, axes, MANY - 1)
    ask(("AxisOutOfRange", MANY - 1), _kernel.check_distinct, axes, MANY - 1)
    ask(("", ()), _kernel.kept_axes, MANY, axes)
    ask(("", (MANY,)), _kernel.kept_axes, MANY + 1, axes)


def _along(shape: Shape, target: Shape, at: Shape) -> None:
    strides = _strides(shape)
    count: Outcome | None = ("AxesCount", None) if len(at) != len(shape) else None
    increasing = _axes_wrong(at, len(target), increasing=True)
    wanted = count or increasing or _placed(shape, target, at)
    ask(wanted, _kernel.explicit_strides, shape, strides, target, at)
    viewed = _then(wanted, lambda strides: (target, strides))
    ask(viewed, _kernel.view_along_axes, shape, strides, target, at, _kernel.Explicit())
    if count is None and increasing is None:
        ask(wanted, _kernel.place_strides, shape, strides, target, at)
    ask(_then(wanted, _repeated), _kernel.repeated_axes, shape, target, at)
    distinct = _axes_wrong(at, len(target), increasing=False)
    wanted = count or distinct or _placed(shape, target, at)
    ask(wanted, _kernel.in_dim_strides, shape, strides, target, at)
    kept = tuple([axis for axis in range(len(target)) if axis not in at])
    wanted = increasing or (("AxesCount", None) if len(kept) != len(shape) else ("", None))
    if not wanted[0]:
        wrong = [j for j, size in enumerate(shape) if size != target[kept[j]]]
        wanted = ("AxisMisfit", wrong[0]) if wrong else _placed(shape, target, kept)
    ask(wanted, _kernel.ngraph_strides, shape, strides, target, at)
    for more, program in product((_strides((1, *shape)), strides[1:]), ALONG_AXES):
        if len(more) != len(shape):
            ask(("RankMismatch", None), program, shape, more, target, at)


def test_expanded() -> None:
    """[E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Broadcast_any_Derived_140]"""
    for shape, target in _PAIRS:
        ask(_common(shape, target), _kernel.expand_shape, shape, target)


def _common(shape: Shape, target: Shape) -> Outcome:
    common = plain_axes.expand_shape(shape, target)
    if common is not None:
        return ("", common)
    rank = max(len(shape), len(target))
    sizes = zip(plain_rule.prepend(shape, rank), plain_rule.prepend(target, rank), strict=True)
    return ("NotExpandable", [a != b and 1 not in (a, b) for a, b in sizes].index(True))


def test_modes() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_010]
    [E_OpenvinoBroadcast_any_Modes_020] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Derived_050] [E_Broadcast_any_Derived_140]
    """
    assert _kernel.mode_of(_kernel.NotGiven()) == _kernel.Numpy()
    for mode in (_kernel.Numpy(), _kernel.Explicit(), _kernel.Bidirectional()):
        assert _kernel.mode_of(_kernel.Given(mode)) is mode
    modes: tuple[Any, ...] = (_kernel.Numpy(), _kernel.Bidirectional())
    for shape, target in _PAIRS:
        strides, without = _strides(shape), _kernel.view_without_axes
        given = (shape, strides, target)
        wanted = _viewed(shape, target)
        ask(wanted, without, *given, _kernel.Numpy())
        common = _common(shape, target)
        wanted = common if common[0] else _viewed(shape, common[1])
        ask(wanted, without, *given, _kernel.Bidirectional())
        ask(("MappingMissing", None), without, *given, _kernel.Explicit())
        for mode in modes:
            ask(("MappingNotAllowed", None), _kernel.view_along_axes, *given, (), mode)
            # If the shape does not change, callers must receive the same strides object.
            assert without(shape, strides, (*shape,), mode)[1] is strides


def _flat(data: Sequence[Any], shape: Shape, target: Shape) -> list[Any]:
    places = dict(zip(plain_rule.indices(shape), data, strict=True))
    return [places[plain_rule.source(shape, target, index)] for index in plain_rule.indices(target)]


def test_elements() -> None:
    """[E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140]"""
    pairs = [*product(FEW, SHAPES), ((MANY,), (2, MANY)), ((MANY, 1), (MANY, 2))]
    pairs += [((1, MANY), (3, MANY))]
    pairs += [((2, 1, 3, 1), (2, 2, 3, 3)), ((1, 2, 1), (3, 2, 4)), ((1, 1), (MANY, 1))]
    pairs += [((2, 1, 2), (2, 3, 2)), ((2, 1, 1), (2, 2, 3)), ((3, 1, 2, 2), (3, 2, 2, 2))]
    for shape, target in pairs:
        data = [object() for _ in range(math.prod(shape))]
        programs: list[Callable[..., Any]] = [_kernel.broadcast_flat]
        wanted = _trailing(shape, target)
        if not wanted[0]:
            wanted = ("", _flat(data, shape, target))
            ask(("", tuple(wanted[1])), _kernel.broadcast_elements, tuple(data), shape, target)
            programs.append(_kernel.broadcast_elements)
        ask(wanted, _kernel.broadcast_flat, data, shape, target)
        assert outcome(_kernel.broadcast_flat, data, shape, target)[1] is not data
        for other, program in product(([*data, None], data[1:]), programs):
            if len(other) != len(data):
                ask(("DataLength", None), program, other, shape, target)


def test_views() -> None:
    """[E_Broadcast_any_Derived_110] [E_Broadcast_any_E1_020]"""
    for given in _LISTS:
        strides = tuple(map(_strides, given))
        wanted = outcome(_kernel.broadcast_shapes, given)
        if not wanted[0]:
            target = plain_rule.maxima(given)
            wanted = ("", (target, tuple([_trailing(shape, target)[1] for shape in given])))
        ask(wanted, _kernel.broadcast_views, given, strides)
        for m, shape in enumerate(given):
            if not wanted[0] and shape == wanted[1][0]:
                assert _kernel.broadcast_views(given, strides)[1][m] is strides[m]


def test_several() -> None:
    """[E_Broadcast_any_Derived_140]"""
    for given in product(FEW, repeat=2):
        data = tuple([tuple([object() for _ in range(math.prod(shape))]) for shape in given])
        wanted = outcome(_kernel.broadcast_shapes, given)
        short = wanted
        if not wanted[0]:
            target = plain_rule.maxima(given)
            flat = [
                tuple(_flat(own, shape, target)) for own, shape in zip(data, given, strict=True)
            ]
            wanted, short = ("", (target, tuple(flat))), ("WrongLength", 1)
        ask(wanted, _kernel.broadcast_all, given, data)
        ask(short, _kernel.broadcast_all, given, (data[0], (*data[1], None)))
        if not wanted[0]:
            ask(("WrongLength", 0), _kernel.broadcast_all, given, ((*data[0], 1), (*data[1], None)))
    ask(("NoTensor", None), _kernel.broadcast_all, (), ())
    ask(("NegativeSize", None), _kernel.broadcast_all, ((-1,),), ((),))
