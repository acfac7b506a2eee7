"""How tensors lie on the axes of the output, axis by axis: what the explanation and figure show.

Each axis is settled by the proved programs, asked for tensors of that axis alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from whycast import _kernel
from whycast._errors import BroadcastError
from whycast._rules import Operands, Rule
from whycast._types import Shape


class Place(NamedTuple):
    """What a tensor has on an axis of the output.

    `axis` is its own axis, None where a 1 is prepended. An index of the output on that axis leads
    to the same index (kept), to the first element, or to none where the size does not fit.
    """

    size: int
    axis: int | None
    leads: Literal["kept", "first"] | None


class Row(NamedTuple):
    """A tensor, or a target that grows like one, and what it has on which axes of the output."""

    name: str
    places: dict[int, Place]
    is_tensor: bool = True


class Alignment(NamedTuple):
    """Tensors on the axes of the output; its size is None on an axis where sizes exclude others."""

    sizes: tuple[int | None, ...]
    rows: tuple[Row, ...]


def alignment(rule: Rule, operands: Operands) -> Alignment | None:
    """Align what a rule is asked about; None where axes, or too low a rank, leave no place."""
    error = rule.refusal(operands)
    if not (error is None or isinstance(error, BroadcastError)):
        return None
    target = operands.target
    if target is None:
        names = [f"{rule.parameters[0]} {m}" for m in range(len(operands.shapes))]
        return _common(rule, names, operands.shapes)
    if rule.bidirectional:
        found = _common(rule, list(rule.parameters), (operands.shapes[0], target))
        tensor, shape = found.rows
        return Alignment(found.sizes, (tensor, shape._replace(is_tensor=False)))
    (own,) = operands.shapes
    places = {
        axis: Place(own[j], j, _index(own[j], target[axis], grows=rule.grows))
        for j, axis in enumerate(rule.places(len(own), target, operands.axes))
    }
    if rule.alignment == "trailing":
        prepended = len(target) - len(own)
        places |= {k: Place(1, None, _index(1, target[k])) for k in range(prepended)}
    return Alignment(target, (Row(rule.parameters[0], places),))


def _common(rule: Rule, names: list[str], shapes: tuple[Shape, ...]) -> Alignment:
    """Align shapes at their last axes."""
    rank = max(map(len, shapes))
    padded = [_kernel.pad(shape, rank) for shape in shapes]
    sizes = tuple(_size(rule, column) for column in zip(*padded, strict=True))
    rows = []
    for name, shape, own in zip(names, padded, shapes, strict=True):
        missing = rank - len(own)
        places = {
            k: Place(size, k - missing if k >= missing else None, _index(size, sizes[k]))
            for k, size in enumerate(shape)
        }
        rows.append(Row(name, places))
    return Alignment(sizes, tuple(rows))


def _size(rule: Rule, column: tuple[int, ...]) -> int | None:
    """Size of the output on an axis: SONNX has one, the maximum, also where another violates it."""
    assert rule.common is not None
    try:
        return rule.common(tuple((size,) for size in column))[0]
    except _kernel.E1 as error:
        return error.value.target
    except _kernel.Incompatible:
        return None


def _index(size: int, target: int | None, *, grows: bool = True) -> Literal["kept", "first"] | None:
    """Say what becomes of an index: a view's stride is the tensor's own, or 0."""
    if target is None:
        return "first" if size == 1 else None
    try:
        (stride,) = _kernel.broadcast_strides((size,), (1,), (target,))
    except _kernel.NotBroadcastable:
        return None
    if stride:
        return "kept"
    return "first" if grows else None
