"""Conditions on cases, by which the register of known deviations says what it is about."""

from __future__ import annotations

from collections.abc import Callable

from whycast._rules import Rule
from whycast.testing._case import Case

CONDITIONS: dict[str, Callable[[Rule, Case], bool]] = {}
