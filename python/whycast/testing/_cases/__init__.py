"""The cases that check implementations: fixed ones, the smallest first, then random ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from whycast._rules import rule_named
from whycast.testing._cases._case import Asked, Case, Level, check_numbers, level_named, tensors_of
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._fixed import fixed


def cases(
    rule: str = "sonnx",
    level: Level = "data",
    *,
    seed: int = 0,
    random: int = 0,
    tensors: int | tuple[int, int] | None = None,
    dtypes: Sequence[str] = (),
    max_size: float = math.inf,
    max_rank: float = math.inf,
) -> Iterator[Case]:
    """Return the cases that check implementations, the smallest first.

    Parameters
    ----------
    rule : str, optional
        Name of the rule: see ``whycast cases --help``.
    level : str, optional
        ``verdict``, ``shape``, ``index``, ``strides``, ``data`` or ``report``; for rules without
        axes ``symbolic``; for rules on tensors ``operator``, ``inplace``, ``vjp`` or ``adjoint``.
    seed : int, optional
        Seed of the random cases.
    random : int, optional
        Number of random cases after the fixed ones.
    tensors, dtypes, max_size, max_rank : optional
        Bounds of the cases, as for `check`.

    Returns
    -------
    iterator of Case
        Cases that the rule accepts or refuses.

    Raises
    ------
    TypeError
        `rule` or `level` is not a str, or a bound (except `tensors`) has another type.
    ValueError
        `rule`, `level` or a dtype is unknown, `tensors` is wrong, or a number is too small.

    Notes
    -----
    The first cases are all pairs of shapes up to rank 3 with sizes 0, 1, 2 and 4 (most pairs for
    rules with axes). Rules on tensors also have all triples up to rank 1 with sizes 0 to 3. Then
    follow cases with up to 40 tensors, high ranks, large sizes and, at levels of arrays, all dtypes
    and layouts. Level ``symbolic`` has only pairs up to rank 2 and triples up to rank 1, with
    names. `check` reorders the cases.

    Examples
    --------
    >>> import itertools
    >>> list(itertools.islice(cases("numpy", "shape"), 3))
    [Case(((), ())), Case(((), (), ())), Case(((), (0,)))]
    >>> sum(1 for case in cases("numpy", "verdict"))
    9794
    """
    found = rule_named(rule)
    level_named(level, found)
    check_numbers(int, random=random)
    wanted = Asked(level, seed, 1, dtypes, max_size, max_rank).checked(found)
    wanted = wanted._replace(tensors=tensors_of(tensors) or wanted.tensors)
    drawn = (random_case(found, level, seed, number) for number in range(random))
    for case in chain((each for _, each in fixed(found, level)), drawn):
        if wanted.left_out(fitted := wanted.fitted(case)) is None:
            yield fitted
