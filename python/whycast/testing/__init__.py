"""Check an implementation of broadcasting against the verified one.

`check` (``whycast check`` on the command line) asks an implementation in any language the cases
of `cases`. It reports each kind of deviation from the proved programs with a small example.
`stages` makes tests for pytest; `whycast.testing.strategies` draws cases with Hypothesis.
``import whycast`` does not import this module.
"""

from whycast.testing._cases import cases
from whycast.testing._cases._case import Case
from whycast.testing._check import Stage, check, stages
from whycast.testing._report import Deviation, Report
from whycast.testing._run._targets import TargetError

__all__ = ["Case", "Deviation", "Report", "Stage", "TargetError", "cases", "check", "stages"]

# Tracebacks, help and pickles then show the public names.
for _public in (Case, Deviation, Report, Stage, TargetError, cases, check, stages):
    _public.__module__ = "whycast.testing"


def __dir__() -> list[str]:
    return __all__
