"""Judge gradients: each element is the sum of the elements that it was broadcast to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whycast._errors import show_shape
from whycast._types import AnyArray, Shape
from whycast.testing._report._compare import Finding, as_array, show


def gradient_differs(value: object, delta: AnyArray, shape: Shape) -> Finding | None:
    """Compare a gradient with the exact sums of `delta`; None if it is right.

    Integers are exact, up to the wrapping of their dtype. Floating-point sums may round in any
    order: each addition errs by less than the dtype's epsilon times the sum of all magnitudes.
    """
    found = as_array(value)
    if found is None:
        return Finding("no array", "", "an array", show(value))
    if found.shape != shape:
        return Finding("shape", "", show_shape(shape), show_shape(found.shape))
    if found.dtype.kind != delta.dtype.kind or found.dtype.itemsize < delta.dtype.itemsize:
        return Finding("dtype", "", str(delta.dtype), str(found.dtype))
    # For each element of delta, the number of the sum that it is part of.
    own = np.arange(math.prod(shape)).reshape(shape)
    places = np.broadcast_to(own, delta.shape).ravel()
    if delta.dtype.kind in "iu":
        sums = np.zeros(own.size, f"{delta.dtype.kind}8")
        np.add.at(sums, places, delta.ravel().astype(sums.dtype))
        wrong = np.flatnonzero(sums.astype(found.dtype) != found.ravel())
        return _first(found, wrong[0], f"{int(sums[wrong[0]])}") if len(wrong) else None
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
            # What overflows on the way may be anything.
            if most <= float(limits.max) and not _is_near(one, exact, bound):
                return _first(found, number, f"{exact!r}, give or take {bound:.2g}")
    return None


def _is_near(got: Any, exact: float, bound: float) -> bool:
    if not math.isfinite(exact):
        return bool(got == exact) or (math.isnan(exact) and math.isnan(got))
    return bool(abs(got - exact) <= bound)


def _first(found: AnyArray, number: int, wanted: str) -> Finding:
    at = show_shape(tuple(map(int, np.unravel_index(number, found.shape))))
    return Finding("elements", "", f"at {at} {wanted}", f"at {at} {found.ravel()[number].item()!r}")
