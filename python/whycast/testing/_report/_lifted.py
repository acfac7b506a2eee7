"""Judge operators and gradients.

The result of an operator must equal its result for the broadcast tensors. An element-wise
operator may compute any function of the elements, so the judge asks the operator again, about
tensors of rank 1 with the elements that meet, in parts if there are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from whycast._errors import show_shape
from whycast._types import AnyArray, Shape
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
    """An answer, judged by further answers about `parts` of the broadcast tensors.

    For gradients, `finding` sums the further answers to the shapes `sums`.
    """

    def __init__(
        self, value: object, broadcast: Sequence[AnyArray], sums: Sequence[Shape] | None = None
    ) -> None:
        self._value = value
        self._sums = sums
        self._shape = broadcast[0].shape
        self._broadcast = broadcast
        self._kept = [_copied(each) for each in outputs_of(value)]

    def parts(self) -> Iterator[list[AnyArray]]:
        # Reverse the elements: a second call with the same tensors would prove nothing.
        flat = [np.array(z).ravel()[::-1] for z in self._broadcast]
        for start in range(0, max(1, flat[0].size), MOST_ELEMENTS):
            yield [z[start : start + MOST_ELEMENTS].copy() for z in flat]

    def finding(self, answers: Sequence[object]) -> Finding | None:
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
        if self._sums is not None:
            return self._gradients_differ(right)
        if isinstance(own, (list, tuple)):
            return difference("operator", own, right, self._shape, [])
        if self._shape == () and isinstance(own, (bool, int, float, complex, str, bytes)):
            # At rank 0 some operators return scalars of Python.
            own = np.array(own, right[0].dtype)
        return difference("operator", own, right[0], self._shape, [])

    def _gradients_differ(self, right: Sequence[AnyArray]) -> Finding | None:
        sums, own = self._sums or (), outputs_of(self._value)
        if not len(own) == len(right) == len(sums):
            return Finding("count", "", f"a gradient for each of {len(sums)}", show(self._value))
        for m, (one, terms, shape) in enumerate(zip(own, right, sums, strict=True)):
            if found := gradient_differs(one, terms, shape):
                where = f"gradient {m}: "
                return found._replace(expected=where + found.expected, got=where + found.got)
        return None


def _copied(output: object) -> AnyArray | None:
    try:
        found = as_array(output)
        return None if found is None else np.array(found)
    except Exception:
        # The answer may be an object that raises any exception.
        return None


def gradient_differs(value: object, delta: AnyArray, shape: Shape) -> Finding | None:
    """Compare a gradient with the exact sums of `delta`; None if it is right.

    Sums of n-bit integers must be exact modulo 2 ** n. Floating-point sums may have any order:
    each addition errs by less than the dtype's epsilon times the sum of all magnitudes.
    """
    found = as_array(value)
    if found is None:
        return Finding("no array", "", "an array", show(value))
    if found.shape != shape:
        return Finding("shape", "", show_shape(shape), show_shape(found.shape))
    if found.dtype.kind != delta.dtype.kind or found.dtype.itemsize < delta.dtype.itemsize:
        return Finding("dtype", "", str(delta.dtype), str(found.dtype))
    # For each element of delta, the number of the sum to which it belongs.
    own = np.arange(math.prod(shape)).reshape(shape)
    places = np.broadcast_to(own, delta.shape).ravel()
    if delta.dtype.kind in "iu":
        sums = np.zeros(own.size, f"{delta.dtype.kind}8")
        np.add.at(sums, places, delta.ravel().astype(sums.dtype))
        wrong = np.flatnonzero(sums.astype(found.dtype) != found.ravel())
        return _first_sum(found, wrong[0], f"{int(sums[wrong[0]])}") if len(wrong) else None
    parts = [(delta.real, found.real), (delta.imag, found.imag)][: 1 + (delta.dtype.kind == "c")]
    for terms, got in parts:
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], np.arange(1, own.size))
        groups = np.split(terms.ravel()[order].astype(float), ends) if own.size else []
        limits = np.finfo(terms.dtype)
        for number, (group, one) in enumerate(zip(groups, got.ravel().tolist(), strict=True)):
            exact = float(group.sum()) if not np.isfinite(group).all() else math.fsum(group)
            most = math.fsum(np.abs(group)) if math.isfinite(exact) else 0.0
            bound = len(group) * float(limits.eps) * most
            near = one == exact or (math.isnan(exact) and math.isnan(one))
            near = near or (math.isfinite(exact) and abs(one - exact) <= bound)
            # A sum that overflows on the way may have any value.
            if most <= float(limits.max) and not near:
                return _first_sum(found, number, f"{exact!r}, give or take {bound:.2g}")
    return None


def _first_sum(found: AnyArray, number: int, wanted: str) -> Finding:
    at = show_shape(tuple(map(int, np.unravel_index(number, found.shape))))
    return Finding("elements", "", f"at {at} {wanted}", f"at {at} {found.ravel()[number].item()!r}")
