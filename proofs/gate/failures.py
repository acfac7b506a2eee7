"""What the gate says when it does not pass."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong: where (`why3/shape.mlw:42`), with which goal if any, and what."""

    place: str
    subject: str
    what: str

    def __str__(self) -> str:
        """Print it on one line."""
        return " ".join(part for part in (f"{self.place}:", self.subject, self.what) if part)
