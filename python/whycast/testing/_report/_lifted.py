"""Judge operators: what one gives is what it gives for the tensors broadcast first.

An element-wise operator may be any function of the elements. So it is asked again, about tensors of
rank 1 with the elements that meet; of many, about some at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from whycast._types import AnyArray
from whycast.testing._cases._fixed import MOST_ELEMENTS
from whycast.testing._report._compare import (
    Finding,
    array_differs,
    as_array,
    difference,
    outputs_of,
    show,
)


class Lifted:
    """An answer, to be judged by others about `parts` of the tensors broadcast first."""

    def __init__(self, value: object, broadcast: Sequence[AnyArray]) -> None:
        self._value = value
        self._shape = broadcast[0].shape
        self._broadcast = broadcast
        # Another call may write into the same memory.
        self._kept = [_copied(each) for each in outputs_of(value)]

    def parts(self) -> Iterator[list[AnyArray]]:
        # In reverse: where nothing grows, the same call would prove nothing.
        flat = [np.array(z).ravel()[::-1] for z in self._broadcast]
        for start in range(0, max(1, flat[0].size), MOST_ELEMENTS):
            yield [z[start : start + MOST_ELEMENTS].copy() for z in flat]

    def finding(self, answers: Sequence[object]) -> Finding | None:
        """Compare with the answers for the parts."""
        found: list[list[AnyArray]] = []
        for part, answer in zip(self.parts(), answers, strict=True):
            outputs = [_copied(each) for each in outputs_of(answer)]
            right = [each for each in outputs if each is not None and each.shape == part[0].shape]
            if not right or len(right) < len(outputs):
                wanted = f"for tensors of shape {part[0].shape}, arrays of that shape"
                return Finding("shape", "", wanted, show(answer))
            found.append(right)
        whole = [np.concatenate(each) for each in zip(*found, strict=True)]
        right = [each[::-1].reshape(self._shape) for each in whole]
        own: Any = self._value
        for output, kept in zip(outputs_of(own), self._kept, strict=True):
            if kept is not None and (now := _copied(output)) is not None:
                changed = array_differs(now, kept, "")
                if changed is not None:
                    return Finding("overwritten", "", changed.expected, changed.got)
        if isinstance(own, (list, tuple)):
            return difference("operator", own, right, self._shape, [])
        if self._shape == () and isinstance(own, (bool, int, float, complex, str, bytes)):
            # At rank 0 some give scalars of Python.
            own = np.array(own, right[0].dtype)
        return difference("operator", own, right[0], self._shape, [])


def _copied(output: object) -> AnyArray | None:
    try:
        found = as_array(output)
        return None if found is None else np.array(found)
    except Exception:
        # Any object may be there, and raise anything.
        return None
