"""The errors of a failed broadcast, with a table of the shapes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from whycast import _kernel
from whycast._types import Axes, Shape

_AnswerT = TypeVar("_AnswerT")

REFUSALS: tuple[type[Exception], ...] = tuple(
    each
    for each in vars(_kernel).values()
    if isinstance(each, type) and issubclass(each, Exception)
)

_MAX_ROWS, _MAX_AXES_BESIDE, _MAX_AXES_OF_A_SHAPE = 8, 5, 16


def show_int(value: int | str) -> str:
    """Return a name, an integer's decimal text, or a large integer's magnitude."""
    if isinstance(value, str) or value.bit_length() <= 128:
        return str(value)
    # By default, Python prints at most 4300 digits.
    return f"{'-' if value < 0 else ''}2**{abs(value).bit_length() - 1}+"


def show_shape(shape: Shape) -> str:
    """Return a shape as Python prints it, or both ends of a long shape."""
    shown = list(map(show_int, shape))
    if len(shown) > _MAX_AXES_OF_A_SHAPE:
        shown[_MAX_AXES_BESIDE:-_MAX_AXES_BESIDE] = ["..."]
    sizes = ", ".join(shown)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


class Names(NamedTuple):
    """A function's names for the tensor, the target, and the axes, if any."""

    tensor: str
    target: str
    axes: str = ""


class _Row(NamedTuple):
    label: str
    axes: Sequence[int]
    numbers: Sequence[int]
    marked: bool = True


class BroadcastError(ValueError):
    """Shapes do not broadcast: SONNX's error E1, or a shape does not fit its target.

    Reports the first tensor at fault, and its first axis at fault. Subclasses:
    `whycast.AxisSizeError` (given axes), `whycast.numpy_rule.IncompatibleError` (NumPy's common
    shape), `whycast.symbolic.NeverError` (sizes with names).

    Parameters
    ----------
    tensor, axis : int
        Tensor and axis at fault, from 0. `axis` is an axis of the target or, without a target, of
        the common shape; if the target lacks axes, it is axis 0 of the tensor.
    size : int
        Size of the tensor on this axis: neither 1 nor `target`, unless the target lacks axes.
    target : int or None
        Expected size: the target's, or the axis's maximum; None if the target lacks axes.
    shapes, target_shape : tuple of shapes, and shape or None
        All shapes to broadcast, and the target, if any.
    names : tuple of str, optional
        The failed function's names for the tensor and the target.

    Notes
    -----
    Each parameter is an attribute. The text aligns the last axes. On the axis at fault, ``[5]``
    marks the expected size, and ``>3<`` a wrong size.
    """

    # [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010]

    # Tracebacks and pickles name the public module.
    __module__ = "whycast"

    _noun, _one_is_wrong = "tensor", False

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
        self.tensor, self.axis = tensor, axis
        self.size, self.target = size, target
        self.shapes, self.target_shape, self.names = shapes, target_shape, names

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
        """Return a hint if NumPy's rule accepts the shapes."""
        if self.target_shape is not None or (self.size, self.target) != (0, 1):
            return []
        try:
            common = show_shape(_kernel.numpy_broadcast_shapes(self.shapes))
        except _kernel.Incompatible:
            return []
        return [f"  by NumPy's rule, in whycast.numpy_rule, a size of 0 meets a 1: {common}"]

    @property
    def _rank(self) -> int:
        return max(map(len, (*self.shapes, self.target_shape or ())))

    def _rows(self) -> list[_Row | None]:
        if self.target_shape is not None:
            names = self.names or Names("shape", "target")
            both = (self.shapes[self.tensor], self.target_shape)
            return [*map(self._aligned, names, both)]
        rows: list[_Row | None] = []
        shown = self._tensors_to_show()
        for previous, number in zip([-1, *shown], shown, strict=False):
            rows += [None] if number > previous + 1 else []
            rows.append(self._aligned(self._label(number), self.shapes[number]))
        return rows

    def _label(self, tensor: int) -> str:
        return f"{self._noun} {tensor}"

    def _aligned(self, label: str, shape: Shape) -> _Row:
        axes = range(self._rank - len(shape), self._rank)
        if self.axis < axes.start and self.target == 1:
            # The expected size is 1: show this tensor's prepended 1, too.
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
        cells = [""] * (last - first)
        for k in range(bisect_left(row.axes, first), bisect_left(row.axes, last)):
            marks, number = "  ", row.numbers[k]
            if row.marked and row.axes[k] == self.axis:
                is_wrong = number != 1 or self._one_is_wrong or self.target is None
                marks = "[]" if number == self.target else "><" if is_wrong else "  "
            cells[row.axes[k] - first] = f"{marks[0]}{show_int(number)}{marks[1]}"
        return cells

    def _tensors_to_show(self) -> list[int]:
        """Return the tensors to show: the one at fault, one of size `target`, and the first few."""
        back = self._rank - self.axis
        sizes: list[int | None]
        sizes = [shape[-back] if back <= len(shape) else 1 for shape in self.shapes]
        first = [self.tensor, sizes.index(self.target), *range(len(sizes))]
        return sorted(list(dict.fromkeys(first))[:_MAX_ROWS])


def ask(
    failure: Callable[[Any], Exception], program: Callable[..., _AnswerT], *arguments: object
) -> _AnswerT:
    """Return a program's result, or raise the error that `failure` returns for its exception."""
    try:
        return program(*arguments)
    except REFUSALS as error:
        found = failure(error)
    # Raised outside the handler, so that the error has no frames of the kernel.
    raise found


def of_all(
    program: Callable[..., _AnswerT], shapes: tuple[Shape, ...], *others: object
) -> _AnswerT:
    def failure(error: _kernel.E1) -> BroadcastError:
        v = error.value
        return BroadcastError(v.tensor, v.axis, v.size, v.target, shapes)

    return ask(failure, program, shapes, *others)


def unfit(
    error: Exception, own: Shape, target: Shape, names: Names | None = None
) -> BroadcastError:
    """Translate the kernel's error for a shape that does not broadcast to a target."""
    if isinstance(error, _kernel.NotBroadcastable):
        v = error.value
        return BroadcastError(v.tensor, v.axis, v.size, v.target, (own,), target, names)
    return BroadcastError(0, 0, own[0], None, (own,), target, names)


class IncompatibleError(BroadcastError):
    """Shapes do not broadcast by NumPy's rule: two sizes of one axis differ, and neither is 1.

    Reports the lowest `axis`, then `tensor`, then `other`, as NumPy does for up to 64 arguments.

    Parameters
    ----------
    other, tensor, axis : int
        Two tensors, `other` before `tensor`, that differ on `axis` of the common rank; from 0.
    shapes, names : as for BroadcastError
        `names` contains the two tensors' names, for a function that takes exactly two.

    Notes
    -----
    Has the attributes of `BroadcastError`, and `other`; `target` is the size of tensor `other`.
    ``[3]`` marks sizes equal to `target`, and ``>4<`` sizes that are neither `target` nor 1.
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
        # Neither size is 1: both tensors have this axis.
        back = max(map(len, shapes)) - axis
        sizes = shapes[tensor][-back], shapes[other][-back]
        super().__init__(tensor, axis, *sizes, shapes, names=names)
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
    """A tensor does not broadcast to a target along given axes: a size differs.

    Reports the tensor's lowest axis at fault.

    Parameters
    ----------
    tensor_axis, axes : int, and tuple of int
        The tensor's axis at fault; for each axis of the tensor, its axis of the target.
    shape, target_shape : shape
        Shape of the tensor and the target.
    names : tuple of str
        The failed function's names for the tensor, the target and the axes.

    Notes
    -----
    Has the attributes of `BroadcastError`, `tensor_axis` and `axes`. Here `axis` is an axis of the
    target, and `shapes` has only `shape`. The columns of the text are axes of the target. If `axes`
    do not increase, the first row numbers the tensor's axes.
    """

    # [E_OpenvinoBroadcast_any_Derived_010] [E_BroadcastInDim_any_Size_010]

    __module__ = "whycast"

    target: int
    target_shape: Shape
    names: Names

    def __init__(
        self, tensor_axis: int, axes: Axes, shape: Shape, target_shape: Shape, names: Names
    ) -> None:
        axis = axes[tensor_axis]
        sizes = shape[tensor_axis], target_shape[axis]
        super().__init__(0, axis, *sizes, (shape,), target_shape, names)
        self.args = (tensor_axis, axes, shape, target_shape, names)
        self.tensor_axis, self.axes = tensor_axis, axes

    def _headline(self) -> str:
        tensor, target, _ = self.names
        return (
            f"{self._subject(self.target_shape)}: axis {self.tensor_axis} of {tensor}, which lies "
            f"on axis {self.axis} of {target}, has size {show_int(self.size)}, {self._expected()}"
        )

    def _rows(self) -> list[_Row | None]:
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
        Here `axes` are the target's axes without the broadcast axes, increasing.
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
        self, tensor_axis: int, axes: Axes, shape: Shape, target_shape: Shape, broadcast_axes: Axes
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
