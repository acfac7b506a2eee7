"""Broadcast by the rule of NumPy and ONNX: NumPy's functions, from proved programs.

On each axis, all sizes other than 1 must be equal: the result has this size, or 1 if all are 1.
For one or more tensors, SONNX's rule differs only by its E1 for a 0 beside a 1 or a missing axis.

The functions behave like ``numpy``'s, except: `broadcast_shapes` takes any ranks, and sizes of any
magnitude; errors name argument, axis and sizes; no ``__array_function__`` replaces the proved rule;
arguments that would lose a mask or a unit raise TypeError, as in `whycast`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast, overload

import numpy as np

from whycast import _accelerator, _kernel
from whycast._arrays import view_as
from whycast._checks import as_array, as_size, entries_of, is_exact, meaning_of, plain, show
from whycast._errors import IncompatibleError, Names, ask
from whycast._types import Shape
from whycast._views import target_view

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["IncompatibleError", "broadcast_arrays", "broadcast_shapes", "broadcast_to"]

_ScalarT = TypeVar("_ScalarT", bound=np.generic)

_NAMES = Names("array", "shape")
_EXPECTED = "expected an integer or a sequence of integers"


def broadcast_shapes(*args: SupportsIndex | Sequence[SupportsIndex]) -> Shape:
    """Return the common shape of arrays by NumPy's rule.

    Parameters
    ----------
    *args : int or sequence of int
        Any number of shapes, with sizes of at least 0; an integer ``n`` stands for ``(n,)``.

    Returns
    -------
    tuple of int
        The common shape, after ones are prepended to shorter shapes; ``()`` for no shapes.

    Raises
    ------
    IncompatibleError
        Two sizes of one axis differ, and neither is 1.
    TypeError
        An argument is not a shape, or a size is not an integer.
    ValueError
        A size is negative.

    Notes
    -----
    Rests on ``numpy_compatible`` and ``numpy_shape`` of ``why3/numpy/rule.mlw``. Program:
    ``numpy_broadcast_shapes`` of ``why3/kernel/numpy.mlw``. Lemmas ``sonnx_numpy_shape`` and
    ``e1_numpy`` of ``why3/numpy/comparison.mlw`` compare this rule with SONNX's.

    Examples
    --------
    >>> broadcast_shapes((0, 2), 2)
    (0, 2)
    """
    # [E_NumpyBroadcast_any_Rule_010] [E_NumpyBroadcast_any_Rule_020]
    # [E_NumpyBroadcast_any_Rule_030] [E_NumpyBroadcast_any_Rule_040]
    # [E_NumpyBroadcast_any_Error_010] [E_NumpyBroadcast_any_Functions_010]
    # SONNX's common shape, if any, is also NumPy's: lemma sonnx_numpy_shape.
    found: Shape | None = _accelerator.broadcast_shapes(args)
    if found is not None:
        return found
    shapes = args
    if not all(map(is_exact, args)):
        for m, value in enumerate(args):
            if isinstance(value, (Iterator, Mapping, Set)):
                raise TypeError(f"argument {m}: {_EXPECTED}, got {show(value)}")
        shapes = tuple([_as_shape(value, f"argument {m}") for m, value in enumerate(args)])
    return _common_shape(cast("tuple[Shape, ...]", shapes))


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[NDArray[Any], ...]:
    """Broadcast arrays against each other by NumPy's rule.

    Parameters
    ----------
    *args : array_like
        Any number of arrays, or values that `numpy.array` takes, of any dtypes and layouts.
    subok : bool, optional
        Whether to keep subclasses of ndarray, with the attributes that ``__array_finalize__`` sets.

    Returns
    -------
    tuple of numpy.ndarray
        For each array or converted argument: the array if it has the common shape, else a view of
        it in this shape, writeable if the array is. Elements of a view may share memory: NumPy
        warns of a write, unless you set ``writeable``.

    Raises
    ------
    IncompatibleError
        Two sizes of one axis differ, and neither is 1.
    TypeError
        An argument may mean more than its elements, such as a mask.
    ValueError
        NumPy has no array of the common shape, or cannot convert an argument to an array.
    MemoryError
        The array of a converted argument does not fit into memory.

    Notes
    -----
    Rests on ``numpy_outputs`` and lemma ``numpy_index_source_index`` of
    ``why3/numpy/comparison.mlw``. Programs: `broadcast_shapes`, `whycast.broadcast_strides`.

    Examples
    --------
    >>> x, y = broadcast_arrays([[1], [2]], [0.5, 1.5, 2.5])
    >>> x + y
    array([[1.5, 2.5, 3.5],
           [2.5, 3.5, 4.5]])
    """
    # [E_NumpyBroadcast_any_Functions_030] [E_Broadcast_any_Derived_160]
    arrays = [
        argument if type(argument) is np.ndarray else _array_of(argument, f"argument {m}", subok)
        for m, argument in enumerate(args)
    ]
    shapes = tuple([plain(array).shape for array in arrays])
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return tuple(arrays)
    common = _common_shape(shapes)
    pairs = zip(arrays, shapes, strict=True)
    return tuple([x if shape == common else _marked_view(x, common) for x, shape in pairs])


@overload
def broadcast_to(
    array: NDArray[_ScalarT], shape: SupportsIndex | Iterable[SupportsIndex], subok: bool = False
) -> NDArray[_ScalarT]: ...
@overload
def broadcast_to(
    array: ArrayLike, shape: SupportsIndex | Iterable[SupportsIndex], subok: bool = False
) -> NDArray[Any]: ...
def broadcast_to(
    array: ArrayLike, shape: SupportsIndex | Iterable[SupportsIndex], subok: bool = False
) -> NDArray[Any]:
    """Broadcast an array to a given shape.

    Parameters
    ----------
    array : array_like
        Array, or value that `numpy.array` takes, of any shape, dtype and layout.
    shape : int or iterable of int
        Shape of at least the rank of `array`; an integer ``n`` stands for ``(n,)``.
    subok : bool, optional
        As for `broadcast_arrays`.

    Returns
    -------
    numpy.ndarray
        Read-only view of the array, or converted value, with that shape and the same dtype.

    Raises
    ------
    whycast.BroadcastError
        A size of the array is neither 1 nor that of `shape`, or `shape` lacks the axis.
    TypeError
        `shape` is not a shape of integers, or `array` may mean more than its elements.
    ValueError
        A size is negative; NumPy has no array of that shape, or cannot convert `array`.
    MemoryError
        The converted `array` does not fit into memory.

    Notes
    -----
    Rests on ``broadcasts_to`` of ``why3/core/common_shape.mlw``, on which SONNX's and NumPy's
    rules agree: a 1 also grows to 0. Program: ``broadcast_strides``.

    Examples
    --------
    >>> broadcast_to([1, 2, 3], (2, 3))
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> broadcast_to([[1], [2]], (3, 4))
    Traceback (most recent call last):
    whycast.BroadcastError: array of shape (2, 1) does not broadcast to shape (3, 4): axis 0 of \
the target's rank 2, array has size 2, expected 3 or 1
      array: >2<  1
      shape: [3]  4
    """
    # [E_NumpyBroadcast_any_Functions_020] [E_Broadcast_any_Derived_160]
    made: NDArray[Any] | None = _accelerator.broadcast_to(array, shape)
    if made is not None:
        return made
    target = _as_shape(shape, "shape")
    source = array if type(array) is np.ndarray else _array_of(array, "array", subok)
    return _of_the_type_of(source, target_view(plain(source), target, _NAMES))


def _array_of(value: ArrayLike, name: str, subok: bool) -> NDArray[Any]:
    """Convert a value to an array; reject a value that may mean more than its elements."""
    if not isinstance(value, np.ndarray) and (hint := meaning_of(value)):
        raise TypeError(f"{name}: expected what numpy.array takes, got {show(value)}{hint}")
    array: NDArray[Any] = np.array(value, copy=None, subok=True)
    if type(array) is np.ndarray:
        return array
    # A masked array's view in another shape loses the mask.
    return array if subok and not isinstance(array, np.ma.MaskedArray) else as_array(array, name)


def _as_shape(value: object, name: str) -> Shape:
    """Return a shape in any of NumPy's forms as a tuple of Python ints.

    >>> _as_shape(2.0, "shape")
    Traceback (most recent call last):
    TypeError: shape: expected an integer or a sequence of integers, got 2.0 (float)
    """
    if is_exact(value):
        return value
    if hint := meaning_of(value):
        raise TypeError(f"{name}: {_EXPECTED}, got {show(value)}{hint}")
    if np.iterable(value):
        sizes = entries_of(cast("Iterable[object]", value), name)
        return tuple([as_size(size, f"{name}, axis {axis}") for axis, size in enumerate(sizes)])
    try:
        return (as_size(value, name),)
    except TypeError:
        raise TypeError(f"{name}: {_EXPECTED}, got {show(value)}") from None


def _common_shape(shapes: tuple[Shape, ...]) -> Shape:
    def failure(error: _kernel.Incompatible) -> IncompatibleError:
        return IncompatibleError(error.value.first, error.value.second, error.value.axis, shapes)

    return ask(failure, _kernel.numpy_broadcast_shapes, shapes)


def _marked_view(array: NDArray[_ScalarT], common: Shape) -> NDArray[_ScalarT]:
    """Return a view; if `array` is writeable, so is the view, marked for NumPy's warning."""
    # Reading `writeable` of a marked array warns. A later NumPy will return read-only views.
    writeable = getattr(array.flags, "_writeable_no_warn", False)
    plain_view = _accelerator.broadcast_to(plain(array), common)
    if plain_view is None:
        plain_view = view_as(plain(array), common)
    if writeable:
        plain_view.setflags(write=True)
    view = _of_the_type_of(array, plain_view)
    if writeable:
        view.flags._warn_on_write = True  # type: ignore[attr-defined]
    return view


def _of_the_type_of(array: NDArray[_ScalarT], plain_view: NDArray[_ScalarT]) -> NDArray[_ScalarT]:
    if type(array) is np.ndarray:
        return plain_view
    view = plain_view.view(type(array))
    # Like NumPy, call __array_finalize__ again, to copy the array's attributes.
    view.__array_finalize__(array)
    return view
