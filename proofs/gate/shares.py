"""Share the theories out to processes that replay side by side, and put their facts together."""

from __future__ import annotations

import re
from pathlib import Path

from facts import Facts

PROOF = re.compile(r'<result [^>]*\btime="(?P<seconds>[0-9.]+)"')

# Seconds for a theory and for a proof that takes no time, beside the recorded seconds: what Why3
# does for them, and what it takes to start a prover.
PER_THEORY = 0.2
PER_PROOF = 0.05


def costs(root: Path, theories: list[str]) -> dict[str, float]:
    """Estimate what the replay of each theory takes, from its session alone."""
    return {theory: cost(root / "proofs" / Path(theory).stem) for theory in theories}


def cost(session: Path) -> float:
    """Estimate what the replay of a session takes; it need not be there."""
    file = session / "why3session.xml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    seconds = [float(match["seconds"]) for match in PROOF.finditer(text)]
    return PER_THEORY + sum(PER_PROOF + taken for taken in seconds)


def shared_out(theories: list[str], cost: dict[str, float], count: int) -> list[list[str]]:
    """Make at most `count` shares that cost about the same, each in the order of the theories."""
    parts: list[list[str]] = [[] for _ in range(min(count, len(theories)))]
    for theory in sorted(theories, key=lambda theory: (-cost[theory], theory)):
        min(parts, key=lambda part: sum(cost[one] for one in part)).append(theory)
    return [sorted(part, key=theories.index) for part in parts]


def merged(theories: list[str], found: list[Facts]) -> Facts:
    """Put facts together: the first speaks about everything, and each about its own theories."""
    by_file = {theory["file"]: theory for facts in found for theory in facts["theories"]}
    return {**found[0], "theories": [by_file[theory] for theory in theories]}
