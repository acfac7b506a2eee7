"""Loop plans: how to visit the elements of tensors that are broadcast, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from whycast import _kernel
from whycast._checks import as_integers, as_shapes, entries_of, show
from whycast._errors import of_all
from whycast._types import Integers, Shape, Strides


class LoopPlan(NamedTuple):
    """Nested loops that visit all elements of tensors that are broadcast, as `plan` makes them.

    Parameters
    ----------
    sizes : tuple of int
        How often each loop goes round, the outermost one first.
    steps : tuple of tuple of int
        Tensor m steps by ``steps[j][m]`` in loop j.

    Notes
    -----
    At the counters i, j, ... tensor m is at ``i * steps[0][m] + j * steps[1][m] + ...``.
    """

    # [E_Broadcast_any_Derived_560]

    sizes: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


def plan(*shapes: Integers, strides: Sequence[Integers] | None = None) -> LoopPlan:
    """Loops by which you compute with broadcast tensors without copying them.

    Parameters
    ----------
    *shapes : sequence of int or one-dimensional array of an integer dtype
        Shapes as `broadcast_shapes` takes them.
    strides : sequence of sequences of int, optional
        Any integers, in any unit, one for each axis; by default row-major (C), in elements.

    Returns
    -------
    LoopPlan
        The loops and steps, in the unit of the strides. An axis of size 1 has no loop, and
        neighbours are one loop where each tensor walks over them as over one axis. There is at
        least one loop; if the common shape has a size of 0, exactly one, of 0 rounds.

    Raises
    ------
    BroadcastError
        Where `broadcast_shapes` raises it: SONNX's error E1.
    TypeError
        An argument is not a shape, `strides` not a sequence of strides, or a number not an integer.
    ValueError
        No shape is given, too many are, or a size is negative; or strides do not fit the shapes.

    Notes
    -----
    Rests on ``loops_of`` of ``why3/memory/plan_of_shapes.mlw``. By lemma ``plan_offsets`` the loops
    visit every element of the output exactly once, in row-major order, with each tensor at the
    element that ``source_index`` names. Program: ``loop_plan`` of ``why3/kernel/plan.mlw``.

    Examples
    --------
    The bias of an image has one loop fewer than the image has axes:

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
        raise ValueError(
            f"strides: expected {len(shapes)}, one sequence for each shape, got {len(given)}"
        )
    own = tuple([as_integers(each, f"strides {m}", "axis") for m, each in enumerate(given)])
    for m, (shape, each) in enumerate(zip(shapes, own, strict=True)):
        if len(each) != len(shape):
            raise ValueError(
                f"strides {m}: expected {len(shape)}, one for each axis of shape {m}, "
                f"got {len(each)}"
            )
    return own
