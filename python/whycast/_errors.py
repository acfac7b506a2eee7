"""The errors that a failed broadcast raises, and how they show the shapes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from whycast import _kernel
from whycast._types import Shape

_AnswerT = TypeVar("_AnswerT")

# The exceptions of the kernel.
REFUSALS: tuple[type[Exception], ...] = tuple(
    each
    for each in vars(_kernel).values()
    if isinstance(each, type) and issubclass(each, Exception)
)

_MAX_ROWS = 8
_MAX_AXES_BESIDE = 5
_MAX_AXES_OF_A_SHAPE = 16


def show_int(value: int | str) -> str:
    """Decimal text of `value`, or its magnitude when the digits would fill the screen; a name."""
    if isinstance(value, str):
        return value
    if value.bit_length() <= 128:
        return str(value)
    # Python cannot print an int of more than some thousand digits.
    return f"{'-' if value < 0 else ''}2**{abs(value).bit_length() - 1}+"


def show_shape(shape: Shape) -> str:
    """Text of a shape as Python writes a tuple; of a long one, both ends."""
    shown = list(map(show_int, shape))
    if len(shown) > _MAX_AXES_OF_A_SHAPE:
        shown[_MAX_AXES_BESIDE:-_MAX_AXES_BESIDE] = ["..."]
    sizes = ", ".join(shown)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


class Names(NamedTuple):
    """What a function calls its parameters: a tensor, a target, and axes where it takes any."""

    tensor: str
    target: str
    axes: str = ""


class _Row(NamedTuple):
    """Line of a table: numbers, and the axes of the common rank on which they stand."""

    label: str
    axes: Sequence[int]
    numbers: Sequence[int]
    marked: bool = True


class BroadcastError(ValueError):
    """Shapes do not broadcast: SONNX's error E1, or a shape that its target does not admit.

    Reports the lowest tensor at fault, then the lowest axis. Subclasses: `whycast.AxisSizeError`
    (given axes), `whycast.numpy_rule.IncompatibleError` (NumPy's rule without a target).

    Parameters
    ----------
    tensor, axis : int
        Tensor and axis at fault, counted from 0: the axis in the target's rank, or without a target
        in the common rank, after ones have been prepended; 0 where the target lacks axes.
    size : int
        Size of that tensor on that axis: neither 1 nor `target`.
    target : int or None
        Size expected: the target's, or the axis's maximum; None where the target lacks axes.
    shapes, target_shape : tuple of shapes, and shape or None
        All shapes to broadcast, and the target, if any.
    names : tuple of str, optional
        The failed function's names of the tensor and the target.

    Notes
    -----
    Each parameter is an attribute. The text aligns the shapes at their last axes; on the axis at
    fault ``[5]`` marks a size that is the maximum, ``>3<`` one that is neither the maximum nor 1.
    """

    # [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010]

    # Tracebacks and pickles name the class as callers do.
    __module__ = "whycast"

    # The text's name for a tensor, and whether a size of 1 may be at fault.
    _noun = "tensor"
    _one_is_wrong = False

    def __init__(
        self,
        tensor: int,
        axis: int,
        size: int,
        target: int | None,
        shapes: tuple[Shape, ...],
        target_shape: Shape | None = None,
        names: Names | None = None,
    ) -> None:
        # pickle and copy rebuild an exception from args.
        super().__init__(tensor, axis, size, target, shapes, target_shape, names)
        self.tensor = tensor
        self.axis = axis
        self.size = size
        self.target = target
        self.shapes = shapes
        self.target_shape = target_shape
        self.names = names

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._table(), *self._hint()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _headline(self) -> str:
        if self.target_shape is None:
            subject, rank = "shapes do not broadcast (E1)", "the common rank"
            tensor = f"tensor {self.tensor}"
        else:
            subject, rank = self._subject(self.target_shape), "the target's rank"
            tensor, target = self.names[:2] if self.names else ("the shape", "the target")
            if self.target is None:
                return (
                    f"{subject}: {target} has no axis for axis {self.axis} of {tensor}, of size "
                    f"{show_int(self.size)}; expected a rank of at least {self._rank}, "
                    f"got {len(self.target_shape)}"
                )
        return (
            f"{subject}: axis {self.axis} of {rank} {self._rank}, "
            f"{tensor} has size {show_int(self.size)}, {self._expected()}"
        )

    def _subject(self, target_shape: Shape) -> str:
        shape, target = show_shape(self.shapes[self.tensor]), show_shape(target_shape)
        if self.names is None:
            return f"shape {shape} does not broadcast to {target}"
        tensor, named, _ = self.names
        return f"{tensor} of shape {shape} does not broadcast to {named} {target}"

    def _expected(self) -> str:
        assert self.target is not None
        return "expected 1" if self.target == 1 else f"expected {show_int(self.target)} or 1"

    def _hint(self) -> list[str]:
        """Return the common shape by NumPy's rule, where a 0 meets a 1."""
        if self.target_shape is None and (self.size, self.target) == (0, 1):
            try:
                common = _kernel.numpy_broadcast_shapes(self.shapes)
            except _kernel.Incompatible:
                return []
            return [
                "  by NumPy's rule, in whycast.numpy_rule, a size of 0 meets a 1: "
                f"{show_shape(common)}"
            ]
        return []

    @property
    def _rank(self) -> int:
        return max(map(len, (*self.shapes, self.target_shape or ())))

    def _rows(self) -> list[_Row | None]:
        """Return the lines of the table; None stands for omitted ones."""
        if self.target_shape is not None:
            names = self.names or Names("shape", "target")
            return [
                self._aligned(names.tensor, self.shapes[self.tensor]),
                self._aligned(names.target, self.target_shape),
            ]
        rows: list[_Row | None] = []
        previous = -1
        for number in self._tensors_to_show():
            if number > previous + 1:
                rows.append(None)
            previous = number
            rows.append(self._aligned(self._label(number), self.shapes[number]))
        return rows

    def _label(self, tensor: int) -> str:
        return f"{self._noun} {tensor}"

    def _aligned(self, label: str, shape: Shape) -> _Row:
        """Line of a shape whose last axis is that of the common rank."""
        axes = range(self._rank - len(shape), self._rank)
        if self.axis < axes.start and self.target == 1:
            # The maximum is the size of a prepended axis.
            return _Row(label, [self.axis, *axes], [1, *shape])
        return _Row(label, axes, shape)

    def _table(self) -> list[str]:
        rows = self._rows()
        first = max(0, self.axis - _MAX_AXES_BESIDE)
        last = min(self._rank, self.axis + _MAX_AXES_BESIDE + 1)
        cells = [
            [""] * (last - first) if row is None else self._cells(row, first, last) for row in rows
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        label_width = max(len(row.label) for row in rows if row is not None) + 1

        lines = []
        for row, own in zip(rows, cells, strict=True):
            if row is None:
                lines.append("  ...")
                continue
            texts = [cell.rjust(width) for cell, width in zip(own, widths, strict=True)]
            if first > 0:
                texts.insert(0, "..." if row.axes and row.axes[0] < first else "   ")
            if row.axes and row.axes[-1] >= last:
                texts.append("...")
            lines.append(f"  {row.label + ':':<{label_width}} {' '.join(texts)}".rstrip())
        if self.target_shape is None and self._tensors_to_show()[-1] < len(self.shapes) - 1:
            lines.append(f"  ... ({len(self.shapes)} {self._noun}s)")
        return lines

    def _cells(self, row: _Row, first: int, last: int) -> list[str]:
        """Texts on the axes shown, as wide as the marks whether they have any or not."""
        cells = [""] * (last - first)
        for k in range(bisect_left(row.axes, first), bisect_left(row.axes, last)):
            left = right = " "
            if row.marked and row.axes[k] == self.axis:
                if row.numbers[k] == self.target:
                    left, right = "[]"
                elif row.numbers[k] != 1 or self._one_is_wrong or self.target is None:
                    left, right = "><"
            cells[row.axes[k] - first] = f"{left}{show_int(row.numbers[k])}{right}"
        return cells

    def _tensors_to_show(self) -> list[int]:
        """Numbers of the tensors to show: the one at fault, one with the maximum, the first few."""
        back = self._rank - self.axis
        sizes: list[int | None]
        sizes = [shape[-back] if back <= len(shape) else 1 for shape in self.shapes]
        first = [self.tensor, sizes.index(self.target), *range(len(sizes))]
        return sorted(list(dict.fromkeys(first))[:_MAX_ROWS])


def ask(
    failure: Callable[[Any], Exception], program: Callable[..., _AnswerT], *arguments: object
) -> _AnswerT:
    """Return a program's result; raise the error that `failure` makes of its exception."""
    try:
        return program(*arguments)
    except REFUSALS as error:
        found = failure(error)
    # Outside the handler: the caller's error keeps no frames of the kernel.
    raise found


def of_all(
    program: Callable[..., _AnswerT], shapes: tuple[Shape, ...], *others: object
) -> _AnswerT:
    """Ask a program about all shapes; raise E1 as a BroadcastError."""

    def failure(error: _kernel.E1) -> BroadcastError:
        v = error.value
        return BroadcastError(v.tensor, v.axis, v.size, v.target, shapes)

    return ask(failure, program, shapes, *others)


def unfit(
    error: Exception, own: Shape, target: Shape, names: Names | None = None
) -> BroadcastError:
    """Error for what the kernel raised of a shape that does not broadcast to a target."""
    if isinstance(error, _kernel.NotBroadcastable):
        v = error.value
        return BroadcastError(v.tensor, v.axis, v.size, v.target, (own,), target, names)
    return BroadcastError(0, 0, own[0], None, (own,), target, names)


class IncompatibleError(BroadcastError):
    """Shapes do not broadcast by NumPy's rule: two sizes of one axis differ, and neither is 1.

    Reports the same pair as NumPy: lowest axis, then lowest `tensor`, then lowest `other`.

    Parameters
    ----------
    other, tensor, axis : int
        Two tensors, `other` first, and the axis of the common rank at fault, counted from 0.
    shapes, names : as for BroadcastError
        The `names` are those of the two tensors, if the function takes no others.

    Notes
    -----
    Has the attributes of `BroadcastError` and `other`, whose size is `target`. In the table ``[3]``
    marks sizes equal to `target`, ``>4<`` those that are neither `target` nor 1.
    """

    # [E_NumpyBroadcast_any_Error_010] [E_NumpyBroadcast_any_Derived_030]

    __module__ = "whycast.numpy_rule"

    target: int
    _noun = "argument"

    def __init__(
        self,
        other: int,
        tensor: int,
        axis: int,
        shapes: tuple[Shape, ...],
        names: Names | None = None,
    ) -> None:
        # Both tensors have that axis: their sizes are not 1.
        from_right = max(map(len, shapes)) - axis
        super().__init__(
            tensor,
            axis,
            shapes[tensor][-from_right],
            shapes[other][-from_right],
            shapes,
            names=names,
        )
        self.args = (other, tensor, axis, shapes, names)
        self.other = other

    def _label(self, tensor: int) -> str:
        return super()._label(tensor) if self.names is None else self.names[tensor]

    def _headline(self) -> str:
        return (
            f"shapes do not broadcast (NumPy's rule): axis {self.axis} of the common rank "
            f"{self._rank}, {self._label(self.other)} has size {show_int(self.target)}, "
            f"{self._label(self.tensor)} has size {show_int(self.size)}, expected equal sizes or 1"
        )


class AxisSizeError(BroadcastError):
    """A tensor whose axes lie on given axes of a target does not broadcast to it: a size differs.

    Reports the lowest axis at fault.

    Parameters
    ----------
    tensor_axis, axes : int, and tuple of int
        Axis of the tensor at fault, and for each of its axes the one of the target where it lies.
    shape, target_shape : shape
        Shape of the tensor and the target.
    names : tuple of str
        The failed function's names of the tensor, the target and the axes.

    Notes
    -----
    Has the attributes of `BroadcastError`, `tensor_axis` and `axes`: `axis` is an axis of the
    target, and `shapes` has `shape` alone. The text shows each size of the tensor above that of its
    axis of the target and, where these axes do not increase, the number of its own axis.
    """

    # [E_OpenvinoBroadcast_any_Derived_010] [E_BroadcastInDim_any_Size_010]

    __module__ = "whycast"

    target: int
    target_shape: Shape
    names: Names

    def __init__(
        self,
        tensor_axis: int,
        axes: tuple[int, ...],
        shape: Shape,
        target_shape: Shape,
        names: Names,
    ) -> None:
        axis = axes[tensor_axis]
        super().__init__(
            0, axis, shape[tensor_axis], target_shape[axis], (shape,), target_shape, names
        )
        self.args = (tensor_axis, axes, shape, target_shape, names)
        self.tensor_axis = tensor_axis
        self.axes = axes

    def _headline(self) -> str:
        tensor, target, _ = self.names
        return (
            f"{self._subject(self.target_shape)}: axis {self.tensor_axis} of {tensor}, which lies "
            f"on axis {self.axis} of {target}, has size {show_int(self.size)}, {self._expected()}"
        )

    def _rows(self) -> list[_Row | None]:
        # The columns are the target's axes; one more row numbers the tensor's, if in another order.
        order = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        axes = [self.axes[j] for j in order]
        rows: list[_Row | None] = [
            _Row(self.names.tensor, axes, [self.shapes[0][j] for j in order]),
            _Row(self.names.target, range(self._rank), self.target_shape),
            self._axes_row(self.names.axes, axes),
        ]
        if order != sorted(order):
            rows.insert(0, _Row(f"axis of {self.names.tensor}", axes, order, marked=False))
        return rows

    def _axes_row(self, label: str, axes: Sequence[int]) -> _Row:
        return _Row(label, axes, axes, marked=False)


class ArgShapeError(AxisSizeError):
    """The shape of arg is not `shape` without the axes in broadcast_axes: a size differs.

    Parameters
    ----------
    tensor_axis, axes, shape, target_shape : as for whycast.AxisSizeError
        Here `axes` are those that are not broadcast axes, increasing.
    broadcast_axes : tuple of int
        The broadcast axes, increasing.

    Notes
    -----
    Has the attributes of `whycast.AxisSizeError` and `broadcast_axes`. Here `size` may be 1.
    """

    # [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Interface_020]

    __module__ = "whycast.ngraph"

    _one_is_wrong = True

    def __init__(
        self,
        tensor_axis: int,
        axes: tuple[int, ...],
        shape: Shape,
        target_shape: Shape,
        broadcast_axes: tuple[int, ...],
    ) -> None:
        names = Names("arg", "shape", "broadcast_axes")
        super().__init__(tensor_axis, axes, shape, target_shape, names)
        self.args = (tensor_axis, axes, shape, target_shape, broadcast_axes)
        self.broadcast_axes = broadcast_axes

    def _expected(self) -> str:
        text = f"expected {show_int(self.target)}"
        if self.size == 1:
            text += (
                "; nGraph grows no size of 1: reshape arg so that it lacks the axis, and add "
                f"{self.axis} to broadcast_axes"
            )
        return text

    def _axes_row(self, label: str, axes: Sequence[int]) -> _Row:
        return _Row(label, self.broadcast_axes, self.broadcast_axes, marked=False)
