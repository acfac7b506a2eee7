"""Which cases a target is asked: the options of `check` and `cases`."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

from whycast._checks import show
from whycast.testing._cases._case import OF_ARRAYS, OPERATORS, Case, Level

# The least and the greatest number of tensors.
Tensors: TypeAlias = tuple[int, float]


class Asked(NamedTuple):
    """What to ask at a level: parameters of `check`."""

    level: Level
    seed: int = 0
    every: int = 1
    dtypes: tuple[str, ...] = ()
    max_size: float = math.inf
    max_rank: float = math.inf
    refuses: tuple[str, ...] = ()
    # At levels of several tensors: how many, and the dtype of the first if it has its own.
    tensors: Tensors = (0, math.inf)
    first: str = ""

    def fitted(self, case: Case, *, cut: bool = False) -> Case:
        """Give a case as many tensors as are asked for, but `cut` none if not told; and dtypes."""
        if case.target is None:
            least, most = self.tensors
            count = max(least, min(most, len(case.shapes)) if cut else len(case.shapes))
            case = case if count == len(case.shapes) else case.of_tensors(int(count))
        if self.level in OPERATORS:
            # It need not have one for every two.
            case = case._replace(dtypes=case.dtypes[-1:] * len(case.dtypes))
        return case.within(self.dtypes, self.first) if self.level in OF_ARRAYS else case

    def left_out(self, case: Case) -> str | None:
        if case.target is None and len(case.shapes) > self.tensors[1]:
            return f"more tensors than {self.tensors[1]}"
        # The first one's own is that of a condition.
        own = set(case.dtypes[bool(self.first) :])
        if self.level in OF_ARRAYS and self.dtypes and not own <= {*self.dtypes}:
            return "a dtype that is not to be asked"
        if max(map(len, case.every_shape)) > self.max_rank:
            return f"a rank above {self.max_rank}"
        numbers = (*case.every_shape, case.multi_index or (), case.strides or ())
        if any(
            abs(number) > self.max_size
            for each in numbers
            for number in each
            # Sizes may have names.
            if isinstance(number, int)
        ):
            return f"a number above {self.max_size}"
        return None


def tensors_of(given: int | tuple[int, int] | None) -> Tensors | None:
    """Check a number of tensors, or the least and the greatest."""
    if given is None:
        return None
    low, high = given if isinstance(given, tuple) else (given, given)
    if type(low) is not int or type(high) is not int or not 0 < low <= high:
        raise ValueError(f"tensors: expected a number or two, such as (1, 3), got {show(given)}")
    return low, high
