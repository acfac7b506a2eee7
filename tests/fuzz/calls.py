"""A call of each public function, with arguments read off bytes, and what has to come of it.

What is right is told by the rules as tests/support reads them, and by NumPy: nothing that the
package computes with.
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
    importlib.import_module(f"whycast{name}")
    for name in ("", ".lax", ".ngraph", ".numpy_rule", ".onnx", ".openvino", ".reference")
)

# It is given the result, and asserts that this is right.
Check = Callable[[Any], None]


class RefusedError(Exception):
    """The rules refuse the arguments."""


class Call(NamedTuple):
    """Arguments of a call, and what has to come of it.

    `wanted` reads the arguments as they are, and raises a `RefusedError` or gives the check of the
    result. Where it does not see all that may be refused, the call is not `judged` by it.
    """

    args: tuple[Any, ...]
    wanted: Callable[[], Check]
    kwargs: dict[str, Any] = {}  # noqa: RUF012
    judged: bool = True


def demand(condition: object) -> None:
    """Refuse the arguments unless a condition holds."""
    if not condition:
        raise RefusedError


def integers(value: Any) -> Shape:
    """Integers as a tuple of Python's, whatever they were given in."""
    if isinstance(value, (wild.Fickle, wild.Liar)):
        raise MineError
    entries = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple([operator.index(entry) for entry in entries])


def one_or_more(value: Any) -> Shape:
    """Integers, or one, which NumPy takes for a shape too."""
    return integers(value) if np.iterable(value) else (operator.index(value),)


def exactly(wanted: Any) -> Check:
    """Demand a value of exactly a type: a bool, an int of Python, or a tuple of those."""

    def check(result: Any) -> None:
        assert type(result) is type(wanted)
        assert result == wanted
        if isinstance(result, tuple):
            assert all(type(each) is int for each in result)

    return check


# --- shapes -------------------------------------------------------------------------------------


def _shapes(c: Choices) -> list[Any]:
    common = wild.target(c)
    return [wild.disguised(c, wild.own(c, common)) for _ in range(c.pick((2, 1, 3, 0, 2, 5)))]


def broadcast_shapes(c: Choices) -> Call:
    shapes = _shapes(c)

    def wanted() -> Check:
        given = [integers(shape) for shape in shapes]
        demand(given and plain_rule.e1(given) is None)
        return exactly(plain_rule.maxima(given))

    return Call(tuple(shapes), wanted)


def compatible(c: Choices) -> Call:
    shapes = _shapes(c)

    def wanted() -> Check:
        given = [integers(shape) for shape in shapes]
        demand(given)
        return exactly(plain_rule.e1(given) is None)

    return Call(tuple(shapes), wanted)


def numpy_broadcast_shapes(c: Choices) -> Call:
    shapes = [each if c.below(8) else wild.spoiled(c, c.below(4)) for each in _shapes(c)]

    def wanted() -> Check:
        given = [one_or_more(each) for each in shapes]
        demand(plain_rule.first_mismatch(given) is None)
        return exactly(plain_rule.agreed(given))

    return Call(tuple(shapes), wanted)


def f(c: Choices) -> Call:
    args = [wild.spoiled(c, wild.integer(c)), *(wild.spoiled(c, wild.size(c)) for _ in range(2))]

    def wanted() -> Check:
        i, size, other = integers(args)
        return exactly(i if size == other else 0)

    return Call(tuple(args), wanted)


def source_index(c: Choices) -> Call:
    target = wild.target(c)
    shape = wild.own(c, target)
    index = [c.below(2 + max(size, 1)) - c.below(2) for size in target]
    if c.once_in(12):
        index.append(0)
    args = [wild.disguised(c, each) for each in (shape, target, index)]

    def wanted() -> Check:
        own, to, at = map(integers, args)
        demand(_fits(own, to) and len(to) == len(at))
        demand(all(0 <= i < size for i, size in zip(at, to, strict=True)))
        return exactly(plain_rule.source(own, to, at))

    return Call(tuple(args), wanted)


def broadcast_strides(c: Choices) -> Call:
    target = wild.target(c)
    shape = wild.own(c, target)
    strides = [wild.integer(c) for _ in range(len(shape) + c.once_in(12))]
    args = [wild.disguised(c, each) for each in (shape, strides, target)]

    def wanted() -> Check:
        own, steps, to = map(integers, args)
        demand(_fits(own, to) and len(own) == len(steps))
        missing = len(to) - len(own)
        kept = [step if a == b else 0 for a, b, step in zip(own, to[missing:], steps, strict=True)]
        return exactly((0,) * missing + tuple(kept))

    return Call(tuple(args), wanted)


def _fits(shape: Shape, target: Shape) -> bool:
    return len(shape) <= len(target) and plain_rule.fits(shape, target) is None


# --- views --------------------------------------------------------------------------------------


def plain(tensor: Any) -> Any:
    """Return a tensor as a plain ndarray, on its memory where it is an array."""
    if isinstance(tensor, np.ndarray):
        return np.ndarray.view(tensor, np.ndarray)
    return np.asarray(tensor)


def view(tensor: Any, wanted: Any) -> Check:
    """Demand a read-only view of a tensor with the shape and the elements that are wanted."""

    def check(result: Any) -> None:
        assert type(result) is np.ndarray
        assert not result.flags.writeable
        same_elements(result, wanted)
        if isinstance(tensor, np.ndarray) and result.size > 0 and result.itemsize:
            assert np.may_share_memory(result, plain(tensor))

    return check


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


def spread(tensor: Any, shape: Shape, axes: Sequence[int]) -> Check:
    """Demand a view of a shape on which the tensor's axes lie on these: by NumPy alone."""
    source = plain(tensor)
    demand(source.ndim == len(axes))
    demand(plain_axes.explicit_misfit(source.shape, shape, axes) is None)
    order = sorted(range(source.ndim), key=lambda j: axes[j])
    places: list[Any] = [None] * len(shape)
    for axis in axes:
        places[axis] = slice(None)
    return view(tensor, np.broadcast_to(source.transpose(order)[(*places, ...)], shape))


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

    def right(result: Any, tensor: Any, out: Any, wanted: Any) -> None:
        if out is not None:
            assert result is out
            same_elements(plain(result), wanted)
        elif kwargs.get("copy"):
            assert type(result) is np.ndarray
            assert result.flags.c_contiguous
            assert result.flags.writeable
            assert not np.may_share_memory(result, plain(tensor))
            same_elements(result, wanted)
        else:
            view(tensor, wanted)(result)

    def wanted() -> Check:
        arrays = [plain(tensor) for tensor in tensors]
        demand(all(each.dtype.kind in "fiubUTO" for each in arrays))
        demand(not any(each.dtype.kind == "f" and each.dtype.itemsize > 8 for each in arrays))
        sizes = [each.shape for each in arrays]
        demand(sizes and plain_rule.e1(sizes) is None)
        shape = plain_rule.maxima(sizes)

        def check(results: Any) -> None:
            assert type(results) is tuple
            assert len(results) == len(tensors)
            outs = kwargs.get("out") or [None] * len(tensors)
            for result, tensor, out, array in zip(results, tensors, outs, arrays, strict=True):
                right(result, tensor, out, np.broadcast_to(array, shape))

        return check

    # Of an object array each element counts: whether all are str is not told here.
    objects = any(isinstance(t, np.ndarray) and plain(t).dtype.hasobject for t in tensors)
    return Call(tuple(tensors), wanted, kwargs, judged=not objects)


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

    def check(results: Any) -> None:
        assert type(results) is tuple
        assert len(results) == len(args)
        try:
            theirs = np.broadcast_arrays(*args, **kwargs)
        except Exception:
            # Of more than 32 arrays at once, for one, NumPy makes nothing.
            return
        for arg, ours, other in zip(args, results, theirs, strict=True):
            assert type(ours) is type(other)
            same_elements(plain(ours), plain(other))
            lays = zip(plain(ours).shape, plain(ours).strides, plain(other).strides, strict=True)
            assert 0 in plain(ours).shape or all(a == b for size, a, b in lays if size > 1)
            if plain(arg).shape == plain(ours).shape and type(arg) is np.ndarray:
                assert ours is arg

    def wanted() -> Check:
        demand(plain_rule.first_mismatch([plain(each).shape for each in args]) is None)
        return check

    return Call(tuple(args), wanted, kwargs)


def broadcast_to(c: Choices) -> Call:
    target = wild.target(c)
    array = wild.tensor(c, wild.own(c, target))
    shape = wild.disguised(c, target)
    kwargs = _subok(c)

    def check(result: Any) -> None:
        assert isinstance(result, np.ndarray)
        assert not result.flags.writeable
        if not kwargs.get("subok"):
            assert type(result) is np.ndarray
        try:
            other = np.broadcast_to(array, shape, **kwargs)
        except Exception:
            return
        assert type(result) is type(other)
        same_elements(plain(result), plain(other))

    def wanted() -> Check:
        # It has been used up.
        if isinstance(shape, Iterator):
            raise MineError
        demand(_fits(plain(array).shape, one_or_more(shape)))
        return check

    return Call((array, shape), wanted, kwargs)


def expand(c: Choices) -> Call:
    target = wild.target(c)
    tensor = wild.tensor(c, wild.own(c, target))
    to = tuple([1 if c.once_in(4) else size for size in target])[c.below(3) :]
    shape = wild.disguised(c, to)
    return Call((tensor, shape), lambda: _expanded(tensor, integers(shape)))


def _expanded(tensor: Any, shape: Shape) -> Check:
    common = plain_axes.expand_shape(plain(tensor).shape, shape)
    if common is None:
        raise RefusedError
    return view(tensor, np.broadcast_to(plain(tensor), common))


def broadcast_in_dim(c: Choices) -> Call:
    target = wild.target(c)
    on = wild.axes_of(c, len(target), any_order=True)
    tensor = wild.tensor(c, wild.own(c, target, [a for a in on if a >= 0]))
    args = (tensor, wild.disguised(c, target), wild.disguised(c, on))

    def wanted() -> Check:
        shape, axes = integers(args[1]), integers(args[2])
        demand(plain_axes.are_distinct(axes, len(shape)))
        return spread(tensor, shape, axes)

    return Call(args, wanted)


def _axis_set(c: Choices, axes: Sequence[int]) -> Any:
    if c.once_in(3):
        try:
            return c.pick((set, frozenset))([wild.spoiled(c, axis) for axis in axes if axis >= 0])
        except (TypeError, MineError):
            return set(axes)
    return wild.disguised(c, axes)


def _axes(value: Any, rank: int) -> Shape:
    axes = integers(value)
    axes = tuple(sorted(axes)) if isinstance(value, (set, frozenset)) else axes
    demand(plain_axes.are_axes(axes, rank))
    return axes


def ngraph_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    lacking = wild.axes_of(c, len(target))
    kept = [axis for axis in range(len(target)) if axis not in lacking]
    shape = tuple([target[axis] for axis in kept])
    tensor = wild.tensor(c, wild.own(c, target, kept) if c.once_in(6) else shape)
    args = (tensor, wild.disguised(c, target), _axis_set(c, lacking))

    def wanted() -> Check:
        to = integers(args[1])
        axes = _axes(args[2], len(to))
        demand(plain(tensor).shape == plain_axes.p(to, axes))
        return spread(tensor, to, [axis for axis in range(len(to)) if axis not in axes])

    return Call(args, wanted)


def _mapping(c: Choices, on: Sequence[int]) -> tuple[Any, Any, list[int] | None]:
    """Mode, axes_mapping, and the axes on which the data lies where these are not the last."""
    mode = c.pick(("explicit", "numpy", "bidirectional", None, "explicit", "explicit"))
    mapping = wild.disguised(c, on) if (mode == "explicit") != c.once_in(12) else None
    axes = [axis for axis in on if axis >= 0] if mode == "explicit" else None
    if c.once_in(16):
        c.tame = False
        odd: list[Any] = [0, b"numpy", "", "NUMPY", ["numpy"], np.str_("numpy"), wild.Raises()]
        return c.pick(odd), mapping, axes
    return mode, mapping, axes


def openvino_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    mode, mapping, axes = _mapping(c, wild.axes_of(c, len(target)))
    tensor = wild.tensor(c, wild.own(c, target, axes))
    args = (tensor, wild.disguised(c, target), mapping, mode)

    def wanted() -> Check:
        shape = integers(args[1])
        demand((mapping is None) != (mode == "explicit"))
        if mapping is not None:
            return spread(tensor, shape, _axes(mapping, len(shape)))
        if mode == "bidirectional":
            return _expanded(tensor, shape)
        demand(_fits(plain(tensor).shape, shape))
        return view(tensor, np.broadcast_to(plain(tensor), shape))

    return Call(args, wanted)


# --- sums ---------------------------------------------------------------------------------------


def total(delta: Any, shape: Shape) -> Check:
    """Demand a new array of a shape with the total of a tensor."""
    source = plain(delta)
    demand(source.dtype.kind in "iufc")

    def check(result: Any) -> None:
        assert type(result) is np.ndarray
        assert result.shape == shape
        assert result.dtype == source.dtype
        assert result.flags.writeable
        assert result.flags.c_contiguous
        assert not np.may_share_memory(result, source)
        if source.dtype.kind in "iu" and source.size <= 4096 and result.size <= 4096:
            kind = source.dtype.newbyteorder("=")
            assert result.sum(dtype=kind) == source.sum(dtype=kind)

    return check


def sum_to_shape(c: Choices) -> Call:
    target = wild.target(c)
    delta = wild.tensor(c, target, summed=True)
    shape = wild.disguised(c, wild.own(c, target))

    def wanted() -> Check:
        own = integers(shape)
        demand(_fits(own, plain(delta).shape))
        return total(delta, own)

    return Call((delta, shape), wanted)


def ngraph_broadcast_adjoint(c: Choices) -> Call:
    target = wild.target(c)
    delta = wild.tensor(c, target, summed=True)
    axes = _axis_set(c, wild.axes_of(c, len(target)))

    def wanted() -> Check:
        shape = plain(delta).shape
        return total(delta, plain_axes.p(shape, _axes(axes, len(shape))))

    return Call((delta, axes), wanted)


def openvino_broadcast_adjoint(c: Choices) -> Call:
    target = wild.target(c)
    mode, mapping, axes = _mapping(c, wild.axes_of(c, len(target)))
    delta = wild.tensor(c, target, summed=True)
    shape = wild.disguised(c, wild.own(c, target, axes))

    def wanted() -> Check:
        own, to = integers(shape), plain(delta).shape
        demand((mapping is None) != (mode == "explicit"))
        if mapping is None:
            demand(_fits(own, to))
        else:
            at = _axes(mapping, len(to))
            demand(len(own) == len(at) and plain_axes.explicit_misfit(own, to, at) is None)
        return total(delta, own)

    return Call((delta, shape, mapping, mode), wanted)


# --- lists --------------------------------------------------------------------------------------


def _list(c: Choices, shape: Shape) -> Any:
    count = min(int(np.prod(shape, dtype=object)), 4096) + c.once_in(10)
    elements: list[Any] = [f"{k}" for k in range(count)]
    if not c.once_in(14):
        return elements
    c.tame = False
    odd: tuple[Any, ...] = (
        *(tuple(elements), None, 3, "text", np.zeros(count), range(count)),
        *(wild.recursive(), wild.Liar([0] * count), wild.Raises(), [wild.Raises()] * count),
    )
    return c.pick(odd)


def moved(data: Any, shape: Shape, target: Shape) -> Check:
    """Demand a list of the very elements that stand at each index of the target."""
    if isinstance(data, wild.Liar):
        raise MineError
    demand(len(data) == int(np.prod(shape, dtype=object)))
    at = np.broadcast_to(np.arange(len(data)).reshape(shape), target).ravel().tolist()

    def check(result: Any) -> None:
        assert type(result) is list
        assert result is not data
        assert all(a is data[k] for a, k in zip(result, at, strict=True))

    return check


def reference_broadcast(c: Choices) -> Call:
    target = wild.target(c)
    own = wild.own(c, target)
    data = _list(c, own)
    args = (data, wild.disguised(c, own), wild.disguised(c, target))

    def wanted() -> Check:
        shape, to = integers(args[1]), integers(args[2])
        demand(_fits(shape, to))
        return moved(data, shape, to)

    return Call(args, wanted)


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

    def wanted() -> Check:
        if isinstance(tensors, wild.Fickle):
            raise MineError
        sizes = [integers(each) for _, each in tensors]
        demand(sizes and plain_rule.e1(sizes) is None)
        common = plain_rule.maxima(sizes)
        checks = [moved(data, own, common) for (data, _), own in zip(tensors, sizes, strict=True)]

        def check(result: Any) -> None:
            shape, outputs = result
            exactly(common)(shape)
            assert type(outputs) is tuple
            for found, right in zip(outputs, checks, strict=True):
                right(found)

        return check

    return Call((tensors,), wanted)


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
