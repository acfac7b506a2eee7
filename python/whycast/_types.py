"""The types that signatures are made of."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np

NUMPY_NEEDED = "2.0"
# Each one before lacks something that is used here, and would fail by an AttributeError.
if int(np.__version__.partition(".")[0]) < int(NUMPY_NEEDED.partition(".")[0]):
    raise ImportError(f"whycast needs NumPy {NUMPY_NEEDED} or later, found {np.__version__}")

Shape: TypeAlias = tuple[int, ...]
Strides: TypeAlias = tuple[int, ...]

# What specifications call a one-dimensional tensor of integers: a shape, axes, strides.
Integers: TypeAlias = "Sequence[SupportsIndex] | np.ndarray[Any, np.dtype[np.integer[Any]]]"
AxisSet: TypeAlias = "Set[SupportsIndex] | Integers"

DTypeT = TypeVar("DTypeT", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")
DTypeT_co = TypeVar(
    "DTypeT_co", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]", covariant=True
)

# numpy.typing.NDArray, by the dtype: there it is by the scalar type, and StringDType has none.
Array: TypeAlias = np.ndarray[tuple[Any, ...], DTypeT]
AnyArray: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]


class Tensor(Protocol[DTypeT_co]):
    """What NumPy's arrays and scalars, tensors of rank 0, have in common."""

    @property
    def dtype(self) -> DTypeT_co:
        """The type of the elements."""

    @property
    def strides(self) -> Strides:
        """The strides in bytes, one for each axis."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What no array of another library has with a dtype of NumPy."""
