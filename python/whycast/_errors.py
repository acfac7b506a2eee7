"""The errors a failed broadcast raises, and how they show the shapes."""

from __future__ import annotations

Shape = tuple[int, ...]

# A report stays readable: so many tensors, and so many axes on either side of the one at fault.
_MAX_ROWS = 8
_MAX_AXES_BESIDE = 5
_MAX_AXES_OF_A_SHAPE = 16


def show_int(value: int) -> str:
    """Decimal text of `value`, or its magnitude when the digits would fill the screen."""
    if value.bit_length() <= 128:
        return str(value)
    # Python itself refuses to print an int of more than some thousand digits.
    return f"{'-' if value < 0 else ''}2**{abs(value).bit_length() - 1}+"


def show_shape(shape: Shape) -> str:
    """Text of a shape as Python writes a tuple; of a long one, both ends."""
    shown = list(map(show_int, shape))
    if len(shown) > _MAX_AXES_OF_A_SHAPE:
        shown[_MAX_AXES_BESIDE:-_MAX_AXES_BESIDE] = ["..."]
    sizes = ", ".join(shown)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


class BroadcastError(ValueError):
    """Shapes do not broadcast: SONNX's error E1, or a shape that its target does not admit.

    Of several violations the first one is reported: lowest tensor, then lowest axis. By NumPy's
    rule, shapes without a target fail with the subclass `whycast.numpy_rule.IncompatibleError`.

    Parameters
    ----------
    tensor : int
        Number of the tensor at fault, counted from 0.
    axis : int
        Axis at fault, counted from 0 in the common rank (in the target's rank where a target was
        given), so after ones have been prepended.
    size : int
        Size of that tensor on that axis: neither 1 nor `target`.
    target : int
        Size it should have had: the maximum over all tensors on that axis (the target's size where
        a target was given).
    shapes : tuple of shapes
        All the shapes that were to be broadcast.
    target_shape : shape, optional
        The target, where one was given.

    Notes
    -----
    Each parameter is an attribute of the same name. The text shows the shapes one below the other,
    their last axes aligned; on the axis at fault ``[5]`` marks a size that is the maximum and
    ``>3<`` a size that is neither the maximum nor 1.
    """

    # Tracebacks and pickles name the class as callers do.
    __module__ = "whycast"

    # What the text calls the tensors.
    _noun = "tensor"

    def __init__(
        self,
        tensor: int,
        axis: int,
        size: int,
        target: int,
        shapes: tuple[Shape, ...],
        target_shape: Shape | None = None,
    ) -> None:
        # All of it goes into args: that is what pickle and copy rebuild an exception from.
        super().__init__(tensor, axis, size, target, shapes, target_shape)
        self.tensor = tensor
        self.axis = axis
        self.size = size
        self.target = target
        self.shapes = shapes
        self.target_shape = target_shape

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._table()])

    def _headline(self) -> str:
        size = show_int(self.size)
        expected = "1" if self.target == 1 else f"{show_int(self.target)} or 1"
        if self.target_shape is None:
            return (
                f"shapes do not broadcast (E1): axis {self.axis} of the common rank {self._rank}, "
                f"tensor {self.tensor} has size {size}, expected {expected}"
            )
        return (
            f"shape {show_shape(self.shapes[self.tensor])} does not broadcast to "
            f"{show_shape(self.target_shape)}: axis {self.axis} of the target's rank {self._rank}, "
            f"the shape has size {size}, expected {expected}"
        )

    @property
    def _rank(self) -> int:
        if self.target_shape is not None:
            return len(self.target_shape)
        return max(map(len, self.shapes))

    def _table(self) -> list[str]:
        if self.target_shape is None:
            numbers = self._rows_to_show()
            labels = [f"{self._noun} {m}" for m in numbers]
            shapes = [self.shapes[m] for m in numbers]
        else:
            numbers = [0, 1]
            labels = ["shape", "target"]
            shapes = [self.shapes[self.tensor], self.target_shape]

        rank = self._rank
        first = max(0, self.axis - _MAX_AXES_BESIDE)
        last = min(rank, self.axis + _MAX_AXES_BESIDE + 1)
        rows = [[self._cell(shape, axis) for axis in range(first, last)] for shape in shapes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        label_width = max(map(len, labels)) + 1

        lines = []
        previous = -1
        for number, label, shape, row in zip(numbers, labels, shapes, rows, strict=True):
            if number > previous + 1:
                lines.append("  ...")
            previous = number
            cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            if first > 0:
                cells.insert(0, "..." if len(shape) > rank - first else "   ")
            if last < rank:
                cells.append("...")
            lines.append(f"  {label + ':':<{label_width}} {' '.join(cells)}".rstrip())
        if self.target_shape is None and previous < len(self.shapes) - 1:
            lines.append(f"  ... ({len(self.shapes)} {self._noun}s)")
        return lines

    def _rows_to_show(self) -> list[int]:
        """Numbers of the tensors to show: the one at fault, one with the maximum, the first few."""
        rank = self._rank
        reaching = next(
            m
            for m, shape in enumerate(self.shapes)
            if self._size_on_axis(shape, rank) == self.target
        )
        chosen = {self.tensor, reaching}
        for m in range(len(self.shapes)):
            if len(chosen) == _MAX_ROWS:
                break
            chosen.add(m)
        return sorted(chosen)

    def _size_on_axis(self, shape: Shape, rank: int) -> int:
        own = self.axis - rank + len(shape)
        return shape[own] if own >= 0 else 1

    def _cell(self, shape: Shape, axis: int) -> str:
        """Text of one size, as wide as its marks whether it has them or not."""
        own = axis - self._rank + len(shape)
        if axis == self.axis:
            size = self._size_on_axis(shape, self._rank)
            if size == self.target:
                return f"[{show_int(size)}]"
            if size != 1:
                return f">{show_int(size)}<"
        return f" {show_int(shape[own])} " if own >= 0 else ""


class IncompatibleError(BroadcastError):
    """Shapes do not broadcast by NumPy's rule: two sizes of one axis differ, and neither is 1.

    Of several such pairs the one that NumPy names is reported: lowest axis, on it the lowest
    `tensor`, with it the lowest `other`.

    Parameters
    ----------
    other, tensor : int
        Numbers of the two tensors, counted from 0; `other` is the lower one.
    axis : int
        Axis on which their sizes differ, counted from 0 in the common rank, so after ones have been
        prepended.
    shapes : tuple of shapes
        All the shapes that were to be broadcast.

    Notes
    -----
    Each parameter is an attribute of the same name. As in `BroadcastError`, of which this is a
    subclass, `size` is the size of `tensor` on the axis and `target` the size it should have had,
    here that of `other`; in the table ``[3]`` marks the sizes that are `target`, ``>4<`` those that
    are neither `target` nor 1.
    """

    __module__ = "whycast.numpy_rule"

    _noun = "argument"

    def __init__(self, other: int, tensor: int, axis: int, shapes: tuple[Shape, ...]) -> None:
        # Both tensors have that axis: their sizes there are not 1.
        from_right = max(map(len, shapes)) - axis
        super().__init__(
            tensor, axis, shapes[tensor][-from_right], shapes[other][-from_right], shapes
        )
        self.args = (other, tensor, axis, shapes)
        self.other = other

    def _headline(self) -> str:
        return (
            f"shapes do not broadcast (NumPy's rule): axis {self.axis} of the common rank "
            f"{self._rank}, argument {self.other} has size {show_int(self.target)}, "
            f"argument {self.tensor} has size {show_int(self.size)}, expected equal sizes or 1"
        )
