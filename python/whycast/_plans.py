"""Loop plans, which visit the elements of broadcast tensors without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from whycast import _kernel
from whycast._checks import as_integers, as_shapes, entries_of, show
from whycast._errors import of_all
from whycast._types import Integers, Shape, Strides


class LoopPlan(NamedTuple):
    """Nested loops, from `plan`, that visit all elements of broadcast tensors.

    Parameters
    ----------
    sizes : tuple of int
        The number of rounds of each loop, the outermost first.
    steps : tuple of tuple of int
        Each round of loop j moves tensor m by ``steps[j][m]``.

    Notes
    -----
    In rounds i, j, ... of the loops, tensor m is at ``i * steps[0][m] + j * steps[1][m] + ...``.
    """

    # [E_Broadcast_any_Derived_560]

    sizes: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


def plan(*shapes: Integers, strides: Sequence[Integers] | None = None) -> LoopPlan:
    """Return loops that visit the elements of broadcast tensors without a copy.

    Parameters
    ----------
    *shapes : sequence of int or 1-D integer array
        As for `broadcast_shapes`.
    strides : sequence of sequences of int, optional
        For each shape, a stride for each axis, in any unit; by default row-major, in elements.

    Returns
    -------
    LoopPlan
        The loops and steps, in the unit of the strides. Axes of size 1 have no loop; neighbours
        share a loop if all strides allow this. There is at least one loop. If the common shape has
        a size of 0, there is exactly one loop, of 0 rounds.

    Raises
    ------
    BroadcastError
        SONNX's error E1, as for `broadcast_shapes`.
    TypeError
        An argument is no shape, `strides` is no sequence of strides, or a number is no integer.
    ValueError
        There are no shapes, or too many; a size is negative; strides do not fit the shapes.

    Notes
    -----
    Rests on ``loops_of`` of ``why3/memory/plan_of_shapes.mlw``. By lemma ``plan_offsets`` the loops
    visit every element of the output once, in row-major order, with each tensor at the element of
    ``source_index``. Program: ``loop_plan`` of ``why3/kernel/plan.mlw``.

    Examples
    --------
    >>> plan((2, 3, 4, 5), (3, 1, 1))
    LoopPlan(sizes=(2, 3, 20), steps=((60, 0), (20, 1), (1, 0)))

    To add a row to a column:

    >>> column, row = [10, 20], [1, 2, 3]
    >>> (m, n), ((a, b), (c, d)) = plan((2, 1), (3,))
    >>> [column[i * a + j * c] + row[i * b + j * d] for i in range(m) for j in range(n)]
    [11, 12, 13, 21, 22, 23]
    """
    # [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_560]
    own = as_shapes(shapes, "plan")
    if strides is None:
        steps = tuple(map(_kernel.row_major_strides, own))
    else:
        steps = _own_strides(strides, own)
    return LoopPlan(*_kernel.loop_plan(*of_all(_kernel.broadcast_views, own, steps)))


def _own_strides(value: object, shapes: tuple[Shape, ...]) -> tuple[Strides, ...]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"strides: expected a sequence of sequences of integers, got {show(value)}")
    given = entries_of(value, "strides", "sequences")
    if len(given) != len(shapes):
        expected = f"expected {len(shapes)}, one sequence for each shape"
        raise ValueError(f"strides: {expected}, got {len(given)}")
    own = tuple([as_integers(each, f"strides {m}", "axis") for m, each in enumerate(given)])
    for m, (shape, each) in enumerate(zip(shapes, own, strict=True)):
        if len(each) != len(shape):
            expected = f"expected {len(shape)}, one for each axis of shape {m}"
            raise ValueError(f"strides {m}: {expected}, got {len(each)}")
    return own
