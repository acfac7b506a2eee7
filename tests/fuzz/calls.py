"""A call of each public function, and what has to come of it.

What is right is told by the rules as tests/support reads them, and by NumPy: nothing that the
package computes with.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import plain_axes
import plain_rule
import wild
from array_strategies import elements, plain
from axes_cases import any_array, shapes_along_axes
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from plain_axes import Placed
from plain_rule import Shape
from wild import MineError, Wild

import whycast

# It is given the result, and asserts that this is right.
Check = Callable[[Any], None]


class RefusedError(Exception):
    """The rules refuse the arguments."""


class Call(NamedTuple):
    """Arguments of a call, and whether functions say that they take all of these."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tame: bool

    def __repr__(self) -> str:
        try:
            return f"{self.args!r:.1500} {self.kwargs!r:.500}"
        except Exception:
            return ", ".join(type(each).__name__ for each in self.args)


def demand(condition: object) -> None:
    """Refuse the arguments unless a condition holds."""
    if not condition:
        raise RefusedError


# --- what has to come of a call: functions of its arguments, in plain form ------------------------


def exactly(wanted: Any) -> Check:
    """Demand a value of exactly a type: a bool, an int of Python, or a tuple of those."""

    def check(result: Any) -> None:
        assert type(result) is type(wanted)
        assert result == wanted
        if isinstance(result, tuple):
            assert all(type(each) is int for each in result)

    return check


def same_elements(found: Any, wanted: Any) -> None:
    """Demand an array of the same shape and dtype, with the same bits."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if found.size > 4096:
        return
    # Of these the bytes do not tell: strings are elsewhere, structures and long numbers have gaps.
    if found.dtype.hasobject or found.dtype.kind in "TV" or found.dtype.char in "gG":
        assert repr(found.tolist()) == repr(wanted.tolist())
    else:
        assert found.ravel().tobytes() == wanted.ravel().tobytes()


def view(x: Any, placed: Placed | None) -> Check:
    """Demand a read-only view in which a tensor lies as a rule places it."""
    if placed is None:
        raise RefusedError
    order = sorted(range(x.ndim), key=lambda j: placed.axes[j])
    places = (*[slice(None) if k in placed.axes else None for k in range(len(placed.shape))], ...)
    wanted = np.broadcast_to(x.transpose(order)[places], placed.shape)

    def check(result: Any) -> None:
        assert type(result) is np.ndarray
        assert not result.flags.writeable
        same_elements(result, wanted)
        if x.base is not None and result.size and result.itemsize:
            assert np.may_share_memory(result, x)

    return check


def view_by(rule: Callable[..., Placed | None]) -> Callable[..., Check]:
    """Give the model of a function of a tensor and what a rule takes."""
    return lambda x, *others: view(x, rule(x.shape, *others))


def total(delta: Any, shape: Shape, placed: Placed | None) -> Check:
    """Demand a new array: the sums of all elements that lie on the same one of a tensor."""
    demand(placed is not None and placed.shape == delta.shape and delta.dtype.kind in "iufc")
    own = dict(zip(placed.axes, shape, strict=True)) if placed else {}
    gone = tuple(k for k, size in enumerate(delta.shape) if own.get(k) != size)
    # NumPy has no sum in an order of bytes that is not the machine's.
    sums = np.sum(delta, axis=gone, dtype=delta.dtype.type)

    def check(result: Any) -> None:
        assert type(result) is np.ndarray
        same_elements(result, np.asarray(sums).astype(delta.dtype).reshape(shape))
        assert result.flags.writeable
        assert result.flags.c_contiguous
        assert not np.may_share_memory(result, delta)

    return check


def moved(data: Any, shape: Shape, target: Shape) -> Check:
    """Demand a list of the very elements that stand at each index of the target."""
    demand(plain_axes.numpy_mode(shape, target) and len(data) == prod(shape))
    at = np.broadcast_to(np.arange(len(data)).reshape(shape), target).ravel().tolist()

    def check(result: Any) -> None:
        assert type(result) is list
        assert result is not data
        assert all(a is data[k] for a, k in zip(result, at, strict=True))

    return check


def each(checks: Sequence[Check]) -> Check:
    """Demand a tuple of results."""

    def check(results: Any) -> None:
        assert type(results) is tuple
        for result, one in zip(results, checks, strict=True):
            one(result)

    return check


def common(shapes: Sequence[Shape]) -> Shape:
    """Give the shape of SONNX."""
    demand(shapes and plain_rule.e1(shapes) is None)
    return plain_rule.maxima(shapes)


def broadcast(*xs: Any, copy: Any = False, out: Any = None) -> Check:
    # In SONNX's texts, float is at most of 64 bits.
    demand(all(x.dtype.kind in "iubUTO" or x.dtype.char in "efd" for x in xs))
    shape = common([x.shape for x in xs])
    placed = [plain_axes.numpy_mode(x.shape, shape) for x in xs]
    if out is None and not copy:
        return each([view(x, at) for x, at in zip(xs, placed, strict=True)])

    def check(results: Any) -> None:
        for result, x in zip(results, xs, strict=True):
            same_elements(plain(result), np.broadcast_to(x, shape))
            assert result.flags.writeable
            assert out or result.flags.c_contiguous
            assert out or not np.may_share_memory(result, x)
        assert out is None or all(a is b for a, b in zip(results, out, strict=True))

    return check


def compatible(*shapes: Shape) -> Check:
    demand(shapes)
    return exactly(plain_rule.e1(shapes) is None)


def source_index(shape: Shape, target: Shape, index: Shape) -> Check:
    demand(plain_axes.numpy_mode(shape, target) and len(target) == len(index))
    demand(all(0 <= i < size for i, size in zip(index, target, strict=True)))
    return exactly(plain_rule.source(shape, target, index))


def broadcast_strides(shape: Shape, strides: Shape, target: Shape) -> Check:
    demand(plain_axes.numpy_mode(shape, target) and len(shape) == len(strides))
    new = len(target) - len(shape)
    kept = [s if a == b else 0 for a, b, s in zip(shape, target[new:], strides, strict=True)]
    return exactly((0,) * new + tuple(kept))


def plan(*shapes: Shape, strides: Any = None) -> Check:
    target = common(shapes)
    own = [plain_rule.row_major(shape) for shape in shapes]
    if strides is not None:
        own = [plainly("strides", each) for each in strides]
        demand(list(map(len, own)) == list(map(len, shapes)))

    def check(result: Any) -> None:
        assert type(result) is whycast.LoopPlan
        for numbers in (result.sizes, *result.steps):
            exactly(tuple(numbers))(numbers)
        assert prod(result.sizes) == prod(target)
        if prod(target) < 4096:
            assert plain_rule.walk(*result) == plain_rule.offsets(shapes, own)

    return check


def numpy_shapes(*shapes: Shape) -> Check:
    demand(plain_rule.first_mismatch(shapes) is None)
    return exactly(plain_rule.agreed(shapes))


def numpy_arrays(*xs: Any, subok: Any = False) -> Check:
    shapes = [x.shape for x in xs]
    demand(plain_rule.first_mismatch(shapes) is None)
    return each([like_numpy(x, plain_rule.agreed(shapes), subok) for x in xs])


def numpy_to(x: Any, shape: Shape, subok: Any = False) -> Check:
    demand(plain_axes.numpy_mode(x.shape, shape))
    return like_numpy(x, shape, subok)


def like_numpy(x: Any, shape: Shape, subok: Any) -> Check:
    """Demand the elements; how the array lies in memory is the subject of tests/dialects."""

    def check(result: Any) -> None:
        assert subok or type(result) is np.ndarray
        same_elements(plain(result), np.broadcast_to(x, shape))

    return check


def openvino_place(
    shape: Shape, target: Shape, axes: Shape | None = None, mode: Any = None
) -> Placed | None:
    demand((axes is None) != (mode == "explicit"))
    if axes is not None:
        return plain_axes.explicit(shape, target, axes, increasing=True)
    rule = plain_axes.expand if mode == "bidirectional" else plain_axes.numpy_mode
    return rule(shape, target)


def openvino_adjoint(delta: Any, shape: Shape, *others: Any) -> Check:
    mode = "numpy" if others[1:] == ("bidirectional",) else others[-1]
    return total(delta, shape, openvino_place(shape, delta.shape, others[0], mode))


def sum_to_shape(delta: Any, shape: Shape) -> Check:
    return total(delta, shape, plain_axes.numpy_mode(shape, delta.shape))


def ngraph_adjoint(delta: Any, axes: Shape) -> Check:
    demand(plain_axes.are_axes(axes, delta.ndim))
    shape = plain_axes.p(delta.shape, axes)
    return total(delta, shape, plain_axes.ngraph(shape, delta.shape, axes))


def broadcast_all(*pairs: Any) -> Check:
    shape = common([own for _, own in pairs])
    checks = [moved(data, own, shape) for data, own in pairs]

    def check(result: Any) -> None:
        exactly(shape)(result[0])
        each(checks)(result[1])

    return check


# --- all of them: what each is given, and its model ----------------------------------------------

MODELS: dict[str, tuple[str, Callable[..., Check]]] = {
    "whycast.broadcast": ("tensors", broadcast),
    "whycast.broadcast_shapes": ("shapes", lambda *shapes: exactly(common(shapes))),
    "whycast.broadcast_strides": ("own strides target", broadcast_strides),
    "whycast.broadcast_to": ("tensor target", view_by(plain_axes.numpy_mode)),
    "whycast.compatible": ("shapes", compatible),
    "whycast.f": ("integer size size", lambda a, b, c: exactly(a if b == c else 0)),
    "whycast.plan": ("planned", plan),
    "whycast.source_index": ("own target index", source_index),
    "whycast.sum_to_shape": ("delta own", sum_to_shape),
    "whycast.lax.broadcast_in_dim": ("tensor target turned", view_by(plain_axes.explicit)),
    "whycast.ngraph.broadcast": ("tensor target lacking", view_by(plain_axes.ngraph)),
    "whycast.ngraph.broadcast_adjoint": ("delta lacking", ngraph_adjoint),
    "whycast.numpy_rule.broadcast_arrays": ("likes", numpy_arrays),
    "whycast.numpy_rule.broadcast_shapes": ("loose", numpy_shapes),
    "whycast.numpy_rule.broadcast_to": ("like either", numpy_to),
    "whycast.onnx.expand": ("tensor both", view_by(plain_axes.expand)),
    "whycast.openvino.broadcast": ("tensor target axes mode", view_by(openvino_place)),
    "whycast.openvino.broadcast_adjoint": ("delta own axes mode", openvino_adjoint),
    "whycast.reference.broadcast": ("list own target", moved),
    "whycast.reference.broadcast_all": ("pairs", broadcast_all),
    "whycast.torch.expand": ("tensor minus", view_by(plain_axes.torch_expand)),
}
# Each makes several arguments, of as many tensors.
SEVERAL = {"tensors": "tensor", "likes": "like", "shapes": "own", "loose": "either"}
SEVERAL |= {"pairs": "pairs", "planned": "own"}


@st.composite
def calls(draw: st.DrawFn, roles: str) -> Call:
    """Arguments of some roles: mostly such as go together."""
    w, names = Wild(draw), roles.split()
    mode = w.pick("explicit", None, "numpy", "bidirectional") if "mode" in names else None
    turn, grow = "turned" in names, "lacking" not in names
    own, target, axes = draw(shapes_along_axes(5, grow=grow, turn=turn))
    if not {"turned", "lacking"} & {*names} and mode != "explicit":
        lacking = [size for axis, size in enumerate(target) if axis not in axes]
        target = (*lacking, *[target[axis] for axis in axes])
        axes = tuple(range(len(lacking), len(target)))
    several = names[0] in SEVERAL
    args: list[Any] = [
        argument(w, SEVERAL.get(role, role), own, target, axes, mode)
        for role in names * (w.pick(2, 1, 3, 0, 5) if several else 1)
    ]
    if roles == "pairs":
        args = [w.odd(args, wild.NOT_SHAPES | st.just([([1], (1,), 2)]))]
    kwargs: dict[str, Any] = {}
    if roles == "tensors" and w.once_in(3):
        kwargs = {"copy": w.pick(True, False, 1, None, "no")}
        made = [np.zeros(target, plain(x).dtype) for x in args if isinstance(x, np.ndarray)]
        if w.once_in(2):
            kwargs["out"] = w.pick(made, tuple(made), made[:1] * 2, args, None, 3, [None], "ab")
    if roles == "planned" and w.once_in(2):
        made = [argument(w, "strides", own, target, axes, mode) for _ in args]
        kwargs = {"strides": w.odd(made, st.sampled_from([None, 3, "ab", (), {}]))}
    if "like" in roles and w.once_in(4):
        kwargs = {"subok": w.pick(True, False, 1)}
    return Call(tuple(args), kwargs, w.tame and not kwargs)


def plain_of(value: Any) -> Any:
    return plain(value) if isinstance(value, np.ndarray) else value


def argument(w: Wild, role: str, own: Shape, target: Shape, axes: Shape, mode: Any) -> Any:
    """Give one argument."""
    if role in ("tensor", "like"):
        array = w.draw(any_array(own))
        if own and w.once_in(16):
            # Each place in memory is several elements.
            memory = elements(sum(own) + 1, np.dtype(w.pick("O", "f8", ">i2", "<U4")))
            array = as_strided(memory, own, [memory.itemsize] * len(own))
        # With subok NumPy's functions ask a subclass.
        return w.odd(plain(array) if role == "like" else array, wild.NOT_TENSORS | wild.VAST, 12)
    if role == "delta":
        code = w.pick("f8", ">f4", "i8", ">i2", "u1", "c8", "?", "O", "f2")
        made = elements(prod(target), np.dtype(code)).reshape(target)
        return w.odd(made, wild.NOT_TENSORS, 12)
    if role in ("list", "pairs"):
        data = wild.lists(w, prod(own))
        return data if role == "list" else (data, w.integers(own))
    if role == "mode":
        odd: list[Any] = [0, b"numpy", "", "NUMPY", ["numpy"], np.str_("numpy")]
        return w.odd(mode, st.sampled_from(odd) | st.builds(wild.Raises))
    if role == "axes" and (mode == "explicit") == w.once_in(12):
        return None
    if role == "integer":
        return w.odd(w.draw(st.integers(-2, 8) | st.sampled_from(wild.LIMITS)), wild.NOT_SIZES)
    if role == "size" or (role == "either" and w.once_in(8)):
        return w.odd(w.draw(wild.SMALL), wild.NOT_SIZES)
    values: dict[str, Callable[[], Sequence[int]]] = {
        # One of several has fewer axes.
        "own": lambda: own[w.pick(0, 0, 0, 1) :],
        "lacking": lambda: [axis for axis in range(len(target)) if axis not in axes],
        "index": lambda: [w.draw(st.integers(-(not size), max(size - 1, 0))) for size in target],
        "strides": lambda: [w.pick(0, 1, 8, -3, *wild.LIMITS) for _ in own],
        "both": lambda: [1 if w.once_in(4) else size for size in target][w.pick(0, 0, 1) :],
        "minus": lambda: [-1 if w.once_in(4) else size for size in target],
    }
    others = target if role in ("target", "either") else axes
    found = list(values.get(role, lambda: others)())
    if found and w.once_in(12):
        least = -1 if role in ("axes", "turned", "lacking", "index", "minus") else 0
        found[w.draw(st.integers(0, len(found) - 1))] = w.draw(st.integers(least, 4))
    if role == "lacking" and w.once_in(3):
        return w.pick(set, frozenset)(found)
    return w.integers(found)


def plainly(role: str, value: Any) -> Any:
    """Give an argument in plain form: an array of NumPy, a tuple of ints of Python."""
    role = SEVERAL.get(role, role)
    if role in ("tensor", "like", "delta"):
        return np.asarray(plain_of(value))
    if isinstance(value, (wild.Fickle, wild.Liar, Iterator)):
        raise MineError
    if role in ("integer", "size") or (role == "either" and not np.iterable(value)):
        return (operator.index(value),) if role == "either" else operator.index(value)
    if role == "pairs":
        data, own = value
        return plainly("list", data), plainly("own", own)
    if role in ("mode", "list") or value is None:
        return value
    entries = value.tolist() if isinstance(value, np.ndarray) else value
    found = tuple([operator.index(entry) for entry in entries])
    return tuple(sorted(found)) if isinstance(value, (set, frozenset)) else found


def wanted(roles: str, model: Callable[..., Check], call: Call) -> Check:
    """Give the check of the result of a call; a `RefusedError` where there is to be none."""
    names = roles.split()
    args: Sequence[Any] = call.args[0] if roles == "pairs" else call.args
    if len(names) == 1:
        names *= len(args)
    found = [plainly(role, value) for role, value in zip(names, args, strict=True)]
    return model(*found, **call.kwargs)
