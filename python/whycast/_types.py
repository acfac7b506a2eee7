"""The types of signatures."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np

NUMPY_NEEDED = "2.0"
# With an earlier NumPy, `_checks` would raise AttributeError.
if int(np.__version__.partition(".")[0]) < int(NUMPY_NEEDED.partition(".")[0]):
    raise ImportError(f"whycast needs NumPy {NUMPY_NEEDED} or later, found {np.__version__}")

Shape: TypeAlias = tuple[int, ...]
Strides: TypeAlias = tuple[int, ...]
Axes: TypeAlias = tuple[int, ...]

# A shape, an index, axes or strides.
Integers: TypeAlias = "Sequence[SupportsIndex] | np.ndarray[Any, np.dtype[np.integer[Any]]]"
AxisSet: TypeAlias = "Set[SupportsIndex] | Integers"

DTypeT = TypeVar("DTypeT", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")
DTypeT_co = TypeVar(
    "DTypeT_co", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]", covariant=True
)

# numpy.typing.NDArray takes a scalar type, which StringDType lacks.
Array: TypeAlias = np.ndarray[tuple[Any, ...], DTypeT]
AnyArray: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]


class Tensor(Protocol[DTypeT_co]):
    """NumPy's arrays and scalars (tensors of rank 0)."""

    @property
    def dtype(self) -> DTypeT_co: ...

    @property
    def strides(self) -> Strides: ...

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Other libraries' arrays lack this attribute, or NumPy's dtype."""
