"""Check an implementation of broadcasting against the verified one.

`check` asks an implementation, in Python or in any language, the cases of `cases`, and reports each
kind of deviation from the proved programs with a smallest example; on the command line it is
``whycast check``. `stages` makes tests for pytest of it, `whycast.testing.strategies` draws cases
for tests with Hypothesis. ``import whycast`` alone does not import this.
"""

from whycast.testing._cases import cases
from whycast.testing._cases._case import Case
from whycast.testing._check import check
from whycast.testing._report import Deviation, Report
from whycast.testing._run._targets import TargetError
from whycast.testing._stages import Stage, stages

__all__ = ["Case", "Deviation", "Report", "Stage", "TargetError", "cases", "check", "stages"]

# Tracebacks, help and pickles name them as callers do.
for _public in (Case, Deviation, Report, Stage, TargetError, cases, check, stages):
    _public.__module__ = "whycast.testing"


def __dir__() -> list[str]:
    return __all__
