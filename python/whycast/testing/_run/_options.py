"""What `check` is told beside its target: refused before anything is started."""

from __future__ import annotations

from collections.abc import Sequence

from whycast._checks import show
from whycast.testing._cases._values import DTYPES


def check_numbers(*, seconds: float, timeout: float, memory: float, every: int, seed: int) -> None:
    """Demand numbers in their bounds."""
    for name, number in (("seconds", seconds), ("timeout", timeout), ("memory", memory)):
        if not isinstance(number, (int, float)):
            raise TypeError(f"{name}: expected a number, got {show(number)}")
        if not number >= 0:
            raise ValueError(f"{name}: expected at least 0, got {number}")
    if timeout == 0:
        raise ValueError("timeout: expected more than 0, got 0")
    for name, number in (("every", every), ("seed", seed)):
        if not isinstance(number, int):
            raise TypeError(f"{name}: expected an int, got {show(number)}")
    if every < 1:
        raise ValueError(f"every: expected at least 1, got {every}")


def check_dtypes(dtypes: Sequence[str]) -> None:
    """Demand names of dtypes.

    >>> check_dtypes(["float32", "float31"])
    Traceback (most recent call last):
    ValueError: dtypes: expected some of int32, float32, float16, float64, bool, int8, int16, \
int64, uint8, uint16, uint32, uint64, str, object, StringDType, got 'float31'
    """
    if isinstance(dtypes, str) or not isinstance(dtypes, Sequence):
        raise TypeError(f"dtypes: expected a sequence of names, got {show(dtypes)}")
    for each in dtypes:
        if each not in DTYPES:
            raise ValueError(f"dtypes: expected some of {', '.join(DTYPES)}, got {each!r}")
