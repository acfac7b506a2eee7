"""Hold an implementation of broadcasting against the verified one."""

from whycast.testing._case import Case
from whycast.testing._cases import cases
from whycast.testing._check import check
from whycast.testing._report import Deviation, Report
from whycast.testing._targets import TargetError

__all__ = ["Case", "Deviation", "Report", "TargetError", "cases", "check"]
