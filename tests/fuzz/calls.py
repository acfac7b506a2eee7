"""A call of each public function, with arguments read off bytes, and what its result has to be.

What is right is told by the rules as tests/support reads them, and by NumPy: nothing that the
package computes with. Where all arguments are what a function takes, it is known too whether it has
to refuse them.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plain_axes
import plain_rule
import wild
from wild import Choices, MineError, Shape

MODULES = tuple(
    importlib.import_module(name)
    for name in (
        "whycast",
        *(f"whycast.{name}" for name in ("lax", "ngraph", "numpy_rule", "onnx", "openvino")),
        "whycast.reference",
    )
)


class Call(NamedTuple):
    """Arguments of a call, and what has to be true of its result.

    `right` is given the result. `accepted` is None where that is not to be told from here.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    right: Callable[[Any], None]
    accepted: Callable[[], bool] | None = None


def integers(value: Any) -> Shape:
    """Integers as a tuple of Python's, whatever they were given in."""
    if isinstance(value, (wild.Fickle, wild.Liar)):
        raise MineError
    entries = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple([operator.index(entry) for entry in entries])


def is_plain(value: object, kind: type) -> None:
    """Demand a tuple of Python ints."""
    assert type(value) is kind, value
    if isinstance(value, tuple):
        assert all(type(each) is int for each in value), value


# --- shapes -------------------------------------------------------------------------------------


def _shapes(c: Choices) -> list[Any]:
    common = wild.target(c)
    return [wild.disguised(c, wild.own(c, common)) for _ in range(c.pick((2, 1, 3, 0, 2, 5)))]


def broadcast_shapes(c: Choices) -> Call:
    shapes = _shapes(c)

    def right(result: Any) -> None:
        is_plain(result, tuple)
        given = [integers(shape) for shape in shapes]
        assert plain_rule.e1(given) is None
        assert result == plain_rule.maxima(given)

    def accepted() -> bool:
        return bool(shapes) and plain_rule.e1([*map(integers, shapes)]) is None

    return Call(tuple(shapes), {}, right, accepted)


def compatible(c: Choices) -> Call:
    shapes = _shapes(c)

    def right(result: Any) -> None:
        is_plain(result, bool)
        assert result == (plain_rule.e1([*map(integers, shapes)]) is None)

    return Call(tuple(shapes), {}, right, lambda: bool(shapes))


def numpy_broadcast_shapes(c: Choices) -> Call:
    shapes = [each if c.below(8) else wild.spoiled(c, c.below(4)) for each in _shapes(c)]

    def given() -> list[Shape]:
        return [integers(each) if np.iterable(each) else (operator.index(each),) for each in shapes]

    def right(result: Any) -> None:
        is_plain(result, tuple)
        assert plain_rule.first_mismatch(given()) is None
        assert result == plain_rule.agreed(given())

    return Call(tuple(shapes), {}, right, lambda: plain_rule.first_mismatch(given()) is None)


def f(c: Choices) -> Call:
    args = [wild.spoiled(c, wild.integer(c)), *(wild.spoiled(c, wild.size(c)) for _ in range(2))]

    def right(result: Any) -> None:
        is_plain(result, int)
        a, b, c = integers(args)
        assert result == (a if b == c else 0)

    return Call(tuple(args), {}, right, lambda: True)


def source_index(c: Choices) -> Call:
    target = wild.target(c)
    shape = wild.own(c, target)
    index = [c.below(2 + max(size, 1)) - c.below(2) for size in target]
    if c.once_in(12):
        index.append(0)
    args = [wild.disguised(c, each) for each in (shape, target, index)]

    def right(result: Any) -> None:
        is_plain(result, tuple)
        own, to, at = map(integers, args)
        assert plain_rule.fits(own, to) is None
        assert result == plain_rule.source(own, to, at)

    def accepted() -> bool:
        return (
            len(shape) <= len(target) == len(index)
            and plain_rule.fits(shape, target) is None
            and all(0 <= i < size for i, size in zip(index, target, strict=True))
        )

    return Call(tuple(args), {}, right, accepted)


def broadcast_strides(c: Choices) -> Call:
    target = wild.target(c)
    shape = wild.own(c, target)
    strides = [wild.integer(c) for _ in range(len(shape) + c.once_in(12))]
    args = [wild.disguised(c, each) for each in (shape, strides, target)]

    def right(result: Any) -> None:
        is_plain(result, tuple)
        own, steps, to = map(integers, args)
        assert plain_rule.fits(own, to) is None
        missing = len(to) - len(own)
        kept = [step if a == b else 0 for a, b, step in zip(own, to[missing:], steps, strict=True)]
        assert result == (0,) * missing + tuple(kept)

    def accepted() -> bool:
        return len(shape) == len(strides) and _fits(shape, target)

    return Call(tuple(args), {}, right, accepted)


def _fits(shape: Shape, target: Shape) -> bool:
    return len(shape) <= len(target) and plain_rule.fits(shape, target) is None


# --- views --------------------------------------------------------------------------------------


def plain(tensor: Any) -> Any:
    """Return a tensor as a plain ndarray, on its memory where it is an array."""
    if isinstance(tensor, np.ndarray):
        return np.ndarray.view(tensor, np.ndarray)
    return np.asarray(tensor)


def is_view(view: Any, tensor: Any, wanted: Any) -> None:
    """Demand a read-only view of a tensor with the shape and the elements that are wanted."""
    source = plain(tensor)
    assert type(view) is np.ndarray
    assert not view.flags.writeable
    same_elements(view, wanted)
    if isinstance(tensor, np.ndarray) and view.size > 0 and view.itemsize:
        assert np.may_share_memory(view, source)


def same_elements(found: Any, wanted: Any) -> None:
    """Demand an array of the same shape and dtype, with the same bits."""
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if found.size > 4096:
        return
    # Of these the bytes do not tell: strings are elsewhere, structures and long numbers have gaps.
    if found.dtype.hasobject or found.dtype.kind in "TV" or found.dtype.char in "gG":
        assert repr(found.tolist()) == repr(wanted.tolist())
    else:
        assert found.tobytes() == wanted.tobytes()


def placed(tensor: Any, shape: Shape, axes: Sequence[int]) -> Any:
    """Array of a shape with a tensor's elements, its axes on these: by NumPy alone."""
    source = plain(tensor)
    order = sorted(range(source.ndim), key=lambda j: axes[j])
    spread: list[Any] = [None] * len(shape)
    for axis in axes:
        spread[axis] = slice(None)
    return np.broadcast_to(source.transpose(order)[(*spread, ...)], shape)


def broadcast(c: Choices) -> Call:
    common = wild.target(c)
    tensors = [wild.tensor(c, wild.own(c, common)) for _ in range(c.pick((2, 1, 3, 0, 2, 4)))]
    kwargs: dict[str, Any] = {}
    if c.once_in(4):
        kwargs["copy"] = c.pick((True, False, 1, None, "no"))
    if c.once_in(4):
        made = [np.zeros(common, plain(t).dtype) for t in tensors if isinstance(t, np.ndarray)]
        outs: tuple[object, ...] = (made, tuple(made), made[:1] * 2, tensors, None, 3, [None], "ab")
        kwargs["out"] = c.pick(outs)
    if kwargs:
        c.tame = False

    def right(results: Any) -> None:
        assert type(results) is tuple
        assert len(results) == len(tensors)
        sizes = [plain(tensor).shape for tensor in tensors]
        assert plain_rule.e1(sizes) is None
        shape = plain_rule.maxima(sizes)
        for m, (result, tensor) in enumerate(zip(results, tensors, strict=True)):
            wanted = np.broadcast_to(plain(tensor), shape)
            if kwargs.get("out") is not None:
                assert result is kwargs["out"][m]
                same_elements(plain(result), wanted)
            elif kwargs.get("copy"):
                assert type(result) is np.ndarray
                assert result.flags.c_contiguous
                assert result.flags.writeable
                assert not np.may_share_memory(result, plain(tensor))
                same_elements(result, wanted)
            else:
                is_view(result, tensor, wanted)

    def accepted() -> bool:
        sizes = [plain(tensor).shape for tensor in tensors]
        kinds = [plain(tensor).dtype.kind for tensor in tensors]
        if not tensors or not all(kind in "fiubUT" for kind in kinds):
            return False
        if any(
            plain(tensor).dtype.itemsize > 8 and kind == "f" for tensor, kind in _kinds(tensors)
        ):
            return False
        return plain_rule.e1(sizes) is None

    # Of an object array each element counts: whether all are str is not told here.
    objects = any(isinstance(t, np.ndarray) and plain(t).dtype.hasobject for t in tensors)
    return Call(tuple(tensors), kwargs, right, None if objects else accepted)


def _kinds(tensors: Sequence[Any]) -> list[tuple[Any, str]]:
    return [(tensor, plain(tensor).dtype.kind) for tensor in tensors]


def _subok(c: Choices) -> dict[str, Any]:
    if not c.once_in(4):
        return {}
    # A subclass may have no array of the shape.
    c.tame = False
    return {"subok": c.pick((True, False, 1))}


def broadcast_arrays(c: Choices) -> Call:
    common = wild.target(c)
    args = [wild.tensor(c, wild.own(c, common)) for _ in range(c.pick((2, 1, 3, 0, 2, 4)))]
    kwargs = _subok(c)

    def right(results: Any) -> None:
        assert type(results) is tuple
        assert len(results) == len(args)
        try:
            theirs = np.broadcast_arrays(*args, **kwargs)
        except Exception:
            # Of more than 32 arrays at once, for one, NumPy makes nothing.
            return
        for m, (ours, other) in enumerate(zip(results, theirs, strict=True)):
            assert type(ours) is type(other)
            same_elements(plain(ours), plain(other))
            lays = zip(plain(ours).shape, plain(ours).strides, plain(other).strides, strict=True)
            assert 0 in plain(ours).shape or all(a == b for size, a, b in lays if size > 1)
            if plain(args[m]).shape == plain(ours).shape and type(args[m]) is np.ndarray:
                assert ours is args[m]

    def accepted() -> bool:
        sizes = [plain(each).shape for each in args]
        return plain_rule.first_mismatch(sizes) is None

    return Call(tuple(args), kwargs, right, accepted)


def broadcast_to(c: Choices) -> Call:
    target = wild.target(c)
    own = wild.own(c, target)
    array = wild.tensor(c, own)
    shape = wild.disguised(c, target)
    kwargs = _subok(c)

    def right(result: Any) -> None:
        assert isinstance(result, np.ndarray)
        assert not result.flags.writeable
        if not kwargs.get("subok"):
            assert type(result) is np.ndarray
        if isinstance(shape, Iterator):
            return
        try:
            other = np.broadcast_to(array, shape, **kwargs)
        except Exception:
            return
        assert type(result) is type(other)
        same_elements(plain(result), plain(other))

    return Call((array, shape), kwargs, right, lambda: _fits(plain(array).shape, target))


def expand(c: Choices) -> Call:
    target = wild.target(c)
    tensor = wild.tensor(c, wild.own(c, target))
    to = tuple([1 if c.once_in(4) else size for size in target])[c.below(3) :]
    shape = wild.disguised(c, to)

    def right(result: Any) -> None:
        common = plain_axes.expand_shape(plain(tensor).shape, integers(shape))
        assert common is not None
        is_view(result, tensor, np.broadcast_to(plain(tensor), common))

    def accepted() -> bool:
        return plain_axes.expand_shape(plain(tensor).shape, to) is not None

    return Call((tensor, shape), {}, right, accepted)


def broadcast_in_dim(c: Choices) -> Call:
    target = wild.target(c)
    on = wild.axes_of(c, len(target), any_order=True)
    tensor = wild.tensor(c, wild.own(c, target, [a for a in on if a >= 0]))
    args = (tensor, wild.disguised(c, target), wild.disguised(c, on))

    def right(result: Any) -> None:
        shape, axes = integers(args[1]), integers(args[2])
        assert plain_axes.are_distinct(axes, len(shape))
        assert plain_axes.explicit_misfit(plain(tensor).shape, shape, axes) is None
        is_view(result, tensor, placed(tensor, shape, axes))

    def accepted() -> bool:
        shape = plain(tensor).shape
        return (
            len(shape) == len(on)
            and plain_axes.are_distinct(on, len(target))
            and plain_axes.explicit_misfit(shape, target, on) is None
        )

    return Call(args, {}, right, accepted)


def _axis_set(c: Choices, axes: Sequence[int]) -> Any:
    if c.once_in(3):
        try:
            return c.pick((set, frozenset))([wild.spoiled(c, axis) for axis in axes if axis >= 0])
        except (TypeError, MineError):
            return set(axes)
    return wild.disguised(c, axes)


def _axes(value: Any) -> Shape:
    return tuple(sorted(integers(list(value)))) if isinstance(value, (set, frozenset)) else value


def ngraph_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    lacking = wild.axes_of(c, len(target))
    kept = [axis for axis in range(len(target)) if axis not in lacking]
    shape = tuple([target[axis] for axis in kept])
    tensor = wild.tensor(c, wild.own(c, target, kept) if c.once_in(6) else shape)
    args = (tensor, wild.disguised(c, target), _axis_set(c, lacking))

    def right(result: Any) -> None:
        to, axes = integers(args[1]), integers(_axes(args[2]))
        assert plain_axes.are_axes(axes, len(to))
        assert plain(tensor).shape == plain_axes.p(to, axes)
        on = [axis for axis in range(len(to)) if axis not in axes]
        is_view(result, tensor, placed(tensor, to, on))

    def accepted() -> bool:
        axes = integers(_axes(args[2]))
        return plain_axes.are_axes(axes, len(target)) and (
            plain(tensor).shape == plain_axes.p(target, axes)
        )

    return Call(args, {}, right, accepted)


def _mapping(c: Choices, on: Sequence[int]) -> tuple[Any, Any, list[int] | None]:
    """Mode, axes_mapping, and the axes on which the data lies where these are not the last."""
    mode = c.pick(("explicit", "numpy", "bidirectional", None, "explicit", "explicit"))
    mapping = wild.disguised(c, on) if (mode == "explicit") != c.once_in(12) else None
    axes = [axis for axis in on if axis >= 0] if mode == "explicit" else None
    if c.once_in(16):
        c.tame = False
        odd: tuple[Any, ...] = (
            0,
            b"numpy",
            "",
            "NUMPY",
            ["numpy"],
            np.str_("numpy"),
            wild.Raises(),
        )
        mode = c.pick(odd)
    return mode, mapping, axes


def openvino_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    on = wild.axes_of(c, len(target))
    mode, mapping, axes = _mapping(c, on)
    tensor = wild.tensor(c, wild.own(c, target, axes))
    args = (tensor, wild.disguised(c, target), mapping, mode)

    def right(result: Any) -> None:
        own, shape = plain(tensor).shape, integers(args[1])
        if mapping is not None:
            assert mode == "explicit"
            at = integers(mapping)
            assert plain_axes.are_axes(at, len(shape))
            assert plain_axes.explicit_misfit(own, shape, at) is None
            is_view(result, tensor, placed(tensor, shape, at))
            return
        if mode == "bidirectional":
            shape = plain_axes.expand_shape(own, shape) or ()
        else:
            assert _fits(own, shape)
        is_view(result, tensor, np.broadcast_to(plain(tensor), shape))

    def accepted() -> bool:
        own = plain(tensor).shape
        if (mapping is None) == (mode == "explicit"):
            return False
        if mode == "bidirectional":
            return plain_axes.expand_shape(own, target) is not None
        if mode != "explicit":
            return _fits(own, target)
        return (
            len(own) == len(on)
            and plain_axes.are_axes(on, len(target))
            and plain_axes.explicit_misfit(own, target, on) is None
        )

    return Call(args, {}, right, accepted)


# --- sums ---------------------------------------------------------------------------------------


def is_sum(result: Any, delta: Any, shape: Shape) -> None:
    """Demand a new array of a shape with the total of a tensor."""
    source = plain(delta)
    assert type(result) is np.ndarray
    assert result.shape == shape
    assert result.dtype == source.dtype
    assert result.flags.writeable
    assert result.flags.c_contiguous
    assert not np.may_share_memory(result, source)
    if source.dtype.kind in "iu" and source.size <= 4096 and result.size <= 4096:
        kind = source.dtype.newbyteorder("=")
        assert result.sum(dtype=kind) == source.sum(dtype=kind)


def _summable(tensor: Any) -> bool:
    return plain(tensor).dtype.kind in "iufc"


def sum_to_shape(c: Choices) -> Call:
    target = wild.target(c)
    delta = wild.tensor(c, target, summed=True)
    own = wild.own(c, target)
    shape = wild.disguised(c, own)
    return Call(
        (delta, shape),
        {},
        lambda result: is_sum(result, delta, integers(shape)),
        lambda: _summable(delta) and _fits(own, plain(delta).shape),
    )


def ngraph_broadcast_adjoint(c: Choices) -> Call:
    target = wild.target(c)
    delta = wild.tensor(c, target, summed=True)
    axes = _axis_set(c, wild.axes_of(c, len(target)))
    return Call(
        (delta, axes),
        {},
        lambda result: is_sum(
            result, delta, plain_axes.p(plain(delta).shape, integers(_axes(axes)))
        ),
        lambda: _summable(delta) and plain_axes.are_axes(integers(_axes(axes)), plain(delta).ndim),
    )


def openvino_broadcast_adjoint(c: Choices) -> Call:
    target = wild.target(c)
    on = wild.axes_of(c, len(target))
    mode, mapping, axes = _mapping(c, on)
    delta = wild.tensor(c, target, summed=True)
    own = wild.own(c, target, axes)
    shape = wild.disguised(c, own)

    def accepted() -> bool:
        to = plain(delta).shape
        if not _summable(delta) or (mapping is None) == (mode == "explicit"):
            return False
        if mode != "explicit":
            return _fits(own, to)
        return (
            len(own) == len(on)
            and plain_axes.are_axes(on, len(to))
            and plain_axes.explicit_misfit(own, to, on) is None
        )

    return Call(
        (delta, shape, mapping, mode),
        {},
        lambda result: is_sum(result, delta, integers(shape)),
        accepted,
    )


# --- lists --------------------------------------------------------------------------------------


def _count(shape: Shape) -> int:
    return int(np.prod(shape, dtype=object))


def _list(c: Choices, shape: Shape) -> Any:
    count = min(_count(shape), 4096) + c.once_in(10)
    elements: list[Any] = [f"{k}" for k in range(count)]
    if not c.once_in(14):
        return elements
    c.tame = False
    odd: tuple[Any, ...] = (
        *(tuple(elements), None, 3, "text", np.zeros(count), range(count)),
        *(wild.recursive(), wild.Liar([0] * count), wild.Raises(), [wild.Raises()] * count),
    )
    return c.pick(odd)


def reference_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    own = wild.own(c, target)
    data = _list(c, own)
    args = (data, wild.disguised(c, own), wild.disguised(c, target))

    def right(result: Any) -> None:
        shape, to = integers(args[1]), integers(args[2])
        assert type(result) is list
        assert result is not data
        assert _fits(shape, to)
        assert len(data) == _count(shape)
        at = np.broadcast_to(np.arange(len(data)).reshape(shape), to).ravel().tolist()
        assert all(a is data[k] for a, k in zip(result, at, strict=True))

    def accepted() -> bool:
        return len(data) == _count(own) and _fits(own, target)

    return Call(args, {}, right, accepted)


def reference_broadcast_all(c: Choices) -> Call:
    common = wild.target(c)
    shapes = [wild.own(c, common) for _ in range(c.pick((2, 1, 3, 0, 2, 4)))]
    pairs: list[Any] = [(_list(c, shape), wild.disguised(c, shape)) for shape in shapes]
    tensors: Any = pairs
    if c.once_in(14):
        c.tame = False
        odd: tuple[Any, ...] = (
            *(tuple(pairs), None, 3, "ab", iter(pairs), [[1]], [None], ["ab"], [([1], (1,), 2)]),
            *(wild.recursive(), wild.Raises(), np.zeros((2, 2)), wild.Long(2**70), {1: 2}),
            wild.Fickle(pairs, [(None, (1,))]),
        )
        tensors = c.pick(odd)

    def right(result: Any) -> None:
        if isinstance(tensors, wild.Fickle):
            return
        shape, outputs = result
        is_plain(shape, tuple)
        sizes = [integers(each) for _, each in tensors]
        assert plain_rule.e1(sizes) is None
        assert shape == plain_rule.maxima(sizes)
        assert type(outputs) is tuple
        for found, (data, _), own in zip(outputs, tensors, sizes, strict=True):
            assert type(found) is list
            at = np.broadcast_to(np.arange(len(data)).reshape(own), shape).ravel().tolist()
            assert all(a is data[k] for a, k in zip(found, at, strict=True))

    def accepted() -> bool:
        return (
            bool(shapes)
            and all(len(data) == _count(own) for (data, _), own in zip(pairs, shapes, strict=True))
            and plain_rule.e1(shapes) is None
        )

    return Call((tensors,), {}, right, accepted)


# --- all of them --------------------------------------------------------------------------------

MAKERS: dict[str, Callable[[Choices], Call]] = {
    "whycast.broadcast": broadcast,
    "whycast.broadcast_shapes": broadcast_shapes,
    "whycast.broadcast_strides": broadcast_strides,
    "whycast.compatible": compatible,
    "whycast.f": f,
    "whycast.source_index": source_index,
    "whycast.sum_to_shape": sum_to_shape,
    "whycast.lax.broadcast_in_dim": broadcast_in_dim,
    "whycast.ngraph.broadcast": ngraph_broadcast,
    "whycast.ngraph.broadcast_adjoint": ngraph_broadcast_adjoint,
    "whycast.numpy_rule.broadcast_arrays": broadcast_arrays,
    "whycast.numpy_rule.broadcast_shapes": numpy_broadcast_shapes,
    "whycast.numpy_rule.broadcast_to": broadcast_to,
    "whycast.onnx.expand": expand,
    "whycast.openvino.broadcast": openvino_broadcast,
    "whycast.openvino.broadcast_adjoint": openvino_broadcast_adjoint,
    "whycast.reference.broadcast": reference_broadcast,
    "whycast.reference.broadcast_all": reference_broadcast_all,
}
