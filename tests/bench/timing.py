"""Measure cells: every contender once in each round, so that what disturbs one disturbs all."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from cells import OURS, Cell, answer, statement

# Seconds that a contender runs at a stretch: many times what the clock takes, and a small part of
# the milliseconds that a busy machine gives to other programs in between. These so fall into few of
# the rounds, and the median does not see them; stretches of 2 ms had ratios of 5 where there was 1.
STRETCH = 0.0003

# How often the calibration times the same.
TRIES = 5


class Quartiles(NamedTuple):
    """The quartiles of the rounds' ratios: the median is what we call the ratio."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Result:
    """A cell with its times: for each contender one a round, in seconds for each part."""

    cell: Cell
    seconds: Mapping[str, Sequence[float]]

    @property
    def peers(self) -> list[str]:
        """All contenders but whycast."""
        return [contender for contender in self.seconds if contender != OURS]

    def median(self, contender: str) -> float:
        """A contender's time."""
        return statistics.median(self.seconds[contender])

    def ratio(self, peer: str) -> Quartiles:
        """How much longer a peer takes than whycast."""
        pairs = zip(self.seconds[peer], self.seconds[OURS], strict=True)
        ratios = [theirs / ours for theirs, ours in pairs]
        return Quartiles(*statistics.quantiles(ratios, n=4, method="inclusive"))


def measure(cell: Cell, seconds: float) -> Result:
    """Time a cell for about so many seconds, in two rounds for each contender at least."""
    names = cell.names()
    check(cell, names)
    timers: dict[str, Callable[[int], float]] = {
        contender: eval(f"lambda loops: {code}", names)
        if "loops" in code
        else timeit.Timer(statement(code, names), globals=names).timeit
        for contender, code in cell.code.items()
    }
    stretch = min(STRETCH, seconds / (2 * len(timers) ** 2))
    loops = {contender: calibrated(timer, stretch) for contender, timer in timers.items()}
    order, parts = list(timers), len(names.get("draws", "1"))
    taken: dict[str, list[float]] = {contender: [] for contender in order}
    end = perf_counter() + seconds
    # Everyone has each place equally often.
    while perf_counter() < end or len(taken[OURS]) < 2 * len(order):
        for _ in timers:
            for contender in order:
                time = timers[contender](loops[contender])
                taken[contender].append(time / loops[contender] / parts)
            order.append(order.pop(0))
    return Result(cell, taken)


def calibrated(timer: Callable[[int], float], stretch: float) -> int:
    """Find the number of loops that takes about that long."""
    loops = 1
    # The shortest of some: too few loops because of one disturbance would be too few to the end.
    while (time := min([timer(loops) for _ in range(TRIES)])) < stretch:
        # The first loops are slower than those that follow: go there by steps.
        loops = max(loops + 1, int(loops * min(10, stretch / max(time, 1e-9))))
    return loops


class DisagreementError(Exception):
    """A contender gives something else than whycast."""


def check(cell: Cell, names: dict[str, Any]) -> None:
    """Demand that all contenders give the same shapes and values."""
    ours = answer(cell.code[OURS], names)
    for contender, code in cell.code.items():
        if contender != OURS and not same(ours, answer(code, names)):
            raise DisagreementError(f"{cell.title}: {contender} gives something else than {OURS}")


def same(one: object, other: object) -> bool:
    """Whether two answers have the same shapes and values, of one kind of array or of several."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if isinstance(one, (tuple, list, int)) or isinstance(other, (tuple, list, int)):
        return False
    x, y = np.asarray(one), np.asarray(other)
    return x.dtype == y.dtype and np.array_equal(x, y)
