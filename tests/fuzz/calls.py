"""A call of each public function, with wild arguments, and the same arguments in plain form."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import wild
from array_strategies import elements, plain
from axes_cases import any_array, shapes_along_axes
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from plain_rule import Shape
from wild import MineError, Wild


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


# What each public function is given.
ROLES = {
    "whycast.broadcast": "tensors",
    "whycast.broadcast_shapes": "shapes",
    "whycast.broadcast_strides": "own strides target",
    "whycast.broadcast_to": "tensor target",
    "whycast.compatible": "shapes",
    "whycast.f": "integer size size",
    "whycast.plan": "planned",
    "whycast.source_index": "own target index",
    "whycast.sum_to_shape": "delta own",
    "whycast.lax.broadcast_in_dim": "tensor target turned",
    "whycast.ngraph.broadcast": "tensor target lacking",
    "whycast.ngraph.broadcast_adjoint": "delta lacking",
    "whycast.numpy_rule.broadcast_arrays": "likes",
    "whycast.numpy_rule.broadcast_shapes": "loose",
    "whycast.numpy_rule.broadcast_to": "like either",
    "whycast.onnx.expand": "tensor both",
    "whycast.openvino.broadcast": "tensor target axes mode",
    "whycast.openvino.broadcast_adjoint": "delta own axes mode",
    "whycast.reference.broadcast": "list own target",
    "whycast.reference.broadcast_all": "pairs",
    "whycast.torch.expand": "tensor minus",
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


def plain_call(roles: str, call: Call) -> Call:
    """Give the arguments in plain form."""
    names, kwargs = roles.split(), dict(call.kwargs)
    args: Sequence[Any] = call.args[0] if roles == "pairs" else call.args
    if len(names) == 1:
        names *= len(args)
    found = [plainly(role, value) for role, value in zip(names, args, strict=True)]
    if kwargs.get("strides") is not None:
        kwargs["strides"] = [plainly("strides", each) for each in kwargs["strides"]]
    return Call((found,) if roles == "pairs" else tuple(found), kwargs, call.tame)
