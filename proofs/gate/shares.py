"""Share the theories out to processes that replay side by side, and put their facts together."""

from __future__ import annotations

import re
from pathlib import Path

from facts import Facts

PROOF = re.compile(r'<result [^>]*\btime="(?P<seconds>[0-9.]+)"')

# Seconds of a theory and of a replayed proof that takes no time, beside the recorded ones: what
# Why3 does for them, and what it takes to start a prover. Measured on all theories.
PER_THEORY = 0.5
PER_PROOF = 0.05


def costs(root: Path, theories: list[str], share: str | None) -> dict[str, float]:
    """Estimate what the replay of each theory takes, from its session alone."""
    return {theory: cost(root / "proofs" / Path(theory).stem, share) for theory in theories}


def cost(session: Path, share: str | None) -> float:
    """Estimate what the replay of a session takes, of `share` or all; it need not be there."""
    file = session / "why3session.xml"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    # The proofs of a goal stand before those of its parts.
    nodes = [
        [PER_PROOF + float(match["seconds"]) for match in PROOF.finditer(node)]
        for node in text.split("<goal ")
    ]
    return PER_THEORY + sum(of_share(sorted(node), share) for node in nodes)


def of_share(ascending: list[float], share: str | None) -> float:
    """Add up what the `share` has of the proofs at one node, or all of them."""
    if share is None or len(ascending) < 2:
        return sum(ascending)
    return ascending[0] if share == "quickest" else sum(ascending[1:])


def shared_out(theories: list[str], cost: dict[str, float], count: int) -> list[list[str]]:
    """Make at most `count` shares that cost about the same, each in the order of the theories."""
    parts: list[list[str]] = [[] for _ in range(min(count, len(theories)))]
    spent = [0.0 for _ in parts]
    for theory in sorted(theories, key=lambda theory: (-cost[theory], theory)):
        least = spent.index(min(spent))
        parts[least].append(theory)
        spent[least] += cost[theory]
    return [sorted(part, key=theories.index) for part in parts]


def merged(theories: list[str], found: list[Facts]) -> Facts:
    """Put facts together: the first speaks about everything, and each about its own theories."""
    by_file = {theory["file"]: theory for facts in found for theory in facts["theories"]}
    return {**found[0], "theories": [by_file[theory] for theory in theories]}
