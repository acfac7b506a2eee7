"""Hold an implementation of broadcasting against the verified one."""

from whycast.testing._case import Case
from whycast.testing._cases import cases

__all__ = ["Case", "cases"]
