"""Look for a smaller case in which an implementation deviates in the same way, step by step."""

from __future__ import annotations

import time
from typing import cast

from whycast.testing._cases._case import Case
from whycast.testing._cases._smaller import smaller
from whycast.testing._report._tally import Example, Key
from whycast.testing._run._child import Child, DeathError
from whycast.testing._run._worker import Asked, Try

# At most so many steps, begun within so many seconds.
_STEPS = 40
_SECONDS = 10.0


def shrunk(child: Child, asked: Asked, key: Key, example: Example) -> Example:
    """Return the smallest example that was found, which may be the one that is given."""
    end = time.monotonic() + _SECONDS
    for _ in range(_STEPS):
        if time.monotonic() > end:
            break
        fitting = [each.within(asked.dtypes) for each in smaller(example.case)]
        candidates = [each for each in fitting if each.weight < example.case.weight]
        found = _step(child, Try(asked, candidates, key, example.stage), example)
        if found is None:
            break
        example = found
    return example


def _step(child: Child, job: Try, example: Example) -> Example | None:
    """Return the first of the cases that deviates in the same way as an example of it."""
    candidates: list[Case] = job.cases
    while candidates:
        try:
            child.send(job._replace(cases=candidates))
            return cast("Example | None", child.receive())
        except DeathError as death:
            number = child.position
            child.start()
            if death.kind == job.key.kind:
                return example._replace(case=candidates[number], got=death.text)
            candidates = candidates[number + 1 :]
            continue
    return None
