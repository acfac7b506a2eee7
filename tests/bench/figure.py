"""Show the ratios on a scale of logarithms with 1 in the middle: as SVG, and in text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from cells import JAX, MEMCPY, NUMPY, ONNXRUNTIME, OPENVINO, READ_ONLY, TORCH
from report import groups, peers_in, show_cell, show_ratio
from timing import Result

TITLE = "Peer's time / whycast's: to the right of 1, whycast is faster"

# In text: columns for a doubling, and the doublings on either side of 1.
STEP, SIDE = 4, 4


def text_figure(results: Sequence[Result], facts: Sequence[str]) -> str:
    """One bar for each peer in each cell."""
    widest = max(len(result.cell.name) for result in results)
    # Each label in the middle of two doublings: that of 1 above the line.
    scale = "".join(power(exponent).center(2 * STEP) for exponent in range(-SIDE, SIDE + 1, 2))
    lines = [*facts, TITLE]
    for peer in peers_in(results):
        lines += ["", (peer.ljust(widest + 6) + scale).rstrip()]
        for group, members in groups(results):
            here = [result for result in members if peer in result.seconds]
            lines += [group] * bool(here)
            for result in here:
                ratio = result.ratio(peer).median
                number = show_ratio(ratio).rjust(6)
                lines.append(f"  {result.cell.name.ljust(widest)}{number} {bar(ratio)}")
    return "\n".join(lines) + "\n"


def power(exponent: int) -> str:
    """Text of a power of 2.

    >>> power(-3), power(0), power(4)
    ('1/8', '1', '16')
    """
    return f"1/{2**-exponent}" if exponent < 0 else f"{2**exponent}"


def bar(ratio: float) -> str:
    """Bar from 1 to a ratio; one that goes on beyond the scale ends in an arrow.

    >>> bar(4.0), bar(0.5), bar(1000.0)
    ('                 |########', '             ####|', '                 |################>')
    """
    half = STEP * SIDE
    length = round(STEP * abs(math.log2(ratio)))
    filled = "#" * min(length, half)
    if ratio >= 1:
        return " " * (half + 1) + "|" + filled + ">" * (length > half)
    return ("<" * (length > half) + filled).rjust(half + 1) + "|"


# In SVG: each peer has a shape, too, for those who see no colours.
MARKS: Mapping[str, str] = {
    NUMPY: '<circle cx="{x}" cy="{y}" r="4" fill="#0072b2"/>',
    READ_ONLY: '<circle cx="{x}" cy="{y}" r="3.5" fill="#fff" stroke="#0072b2"/>',
    TORCH: '<path d="M{x} {y}m-4-4h8v8h-8z" fill="#d55e00"/>',
    JAX: '<path d="M{x} {y}m0-5l5 5-5 5-5-5z" fill="#009e73"/>',
    MEMCPY: '<path d="M{x} {y}m0-6v12" stroke="#000" stroke-width="2"/>',
    ONNXRUNTIME: '<path d="M{x} {y}m-5 4l5-9 5 9z" fill="#cc79a7"/>',
    OPENVINO: '<path d="M{x} {y}m-5-4l5 9 5-9z" fill="#e69f00"/>',
}
LINE, SMALL = 18, 14
WIDTH, LEFT, RIGHT = 900, 270, 870


def svg_figure(results: Sequence[Result], facts: Sequence[str]) -> str:
    """One line for each cell, with a mark for each peer and a stroke from quartile to quartile."""
    ratios = [result.ratio(peer) for result in results for peer in result.peers]
    lowest = math.floor(math.log2(min([0.5, *(ratio.low for ratio in ratios)])))
    highest = math.ceil(math.log2(max([2.0, *(ratio.high for ratio in ratios)])))

    def place(ratio: float) -> str:
        return f"{LEFT + (RIGHT - LEFT) * (math.log2(ratio) - lowest) / (highest - lowest):.1f}"

    y = 24
    parts = [text(12, y, TITLE, 'font-size="16"')]
    for fact in facts:
        y += SMALL
        parts.append(text(12, y, fact, 'font-size="10"'))
    y += LINE + 4
    for k, peer in enumerate(peers_in(results)):
        left = LEFT + 130 * k
        parts += [MARKS[peer].format(x=left, y=y), text(left + 10, y + 4, peer)]
    y += LINE
    top = y + 4
    rows = []
    for group, members in groups(results):
        y += LINE + 6
        rows.append(text(12, y + 4, group, 'font-weight="bold"'))
        for result in members:
            y += LINE
            rows.append(text(LEFT - 12, y + 4, result.cell.name, 'text-anchor="end"'))
            # The first peer on top of the others.
            for peer in reversed(result.peers):
                ratio = result.ratio(peer)
                said = escape(f"{result.cell.title}, {peer}: {show_cell(result, peer)}")
                rows.append(
                    f"<g><title>{said}</title>"
                    f'<path d="M{place(ratio.low)} {y}H{place(ratio.high)}" stroke="#888"/>'
                    f"{MARKS[peer].format(x=place(ratio.median), y=y)}</g>"
                )
    bottom = y + LINE
    for exponent in range(lowest, highest + 1):
        x = place(2.0**exponent)
        stroke = "#000" if exponent == 0 else "#ddd"
        parts.append(f'<path d="M{x} {top}V{bottom}" stroke="{stroke}"/>')
        for level in (top - 4, bottom + SMALL):
            parts.append(text(x, level, power(exponent), 'font-size="10" text-anchor="middle"'))
    height = bottom + 2 * SMALL
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            *parts,
            *rows,
            "</svg>\n",
        ]
    )


def text(x: float | str, y: float, words: str, how: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x}" y="{y}" {how}>{escape(words)}</text>'
