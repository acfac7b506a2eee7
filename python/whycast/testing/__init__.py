"""Hold an implementation of broadcasting against the verified one."""

from whycast.testing._case import Case
from whycast.testing._cases import cases
from whycast.testing._check import check
from whycast.testing._report import Deviation, Report
from whycast.testing._targets import TargetError

__all__ = ["Case", "Deviation", "Report", "TargetError", "cases", "check"]

# Tracebacks, help and pickles name them as callers do.
for _public in (Case, Deviation, Report, TargetError, cases, check):
    _public.__module__ = "whycast.testing"


def __dir__() -> list[str]:
    return __all__
