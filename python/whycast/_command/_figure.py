"""A figure of a broadcast in SVG: how the axes are aligned, and which element stands where."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import product
from xml.sax.saxutils import escape

from whycast._command._alignment import Alignment, Place, Row, alignment
from whycast._command._arguments import headline, show_integers
from whycast._errors import show_int
from whycast._kernel import offset, row_major_strides
from whycast._rules import Operands, Rule
from whycast._types import Shape

# What is drawn element by element: so many axes, elements along one, and tensors.
_MOST_AXES = 2
_MOST_ALONG = 12
_MOST_TENSORS = 8

# Lengths, in pixels where there is room.
_EDGE = 16
_STEP = 46
_LINE = 22
_ROW = 38
_ARROW = 56
_LETTER = 8.5
_LETTERS_OF_A_LINE = 84

_STYLE = """\
.paper { fill: #fff } .arrow { fill: none; stroke: #57606a; stroke-width: 1.5 }
text { font: 14px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1b1f24 }
.soft { fill: #57606a } .middle { text-anchor: middle } .note { font-size: 9.5px }
rect { stroke: #57606a } .size { fill: #eef1f4 } .prepended { fill: none; stroke-dasharray: 4 3 }
.output { stroke: #1a7f37; stroke-width: 2 } .copy { stroke-dasharray: 1.5 3 }
.misfit { stroke: #c4320a; stroke-width: 2 } .wrong { fill: #c4320a; font-weight: 600 }
.c0 { fill: #cfe3f7 } .c1 { fill: #fce3b4 } .c2 { fill: #cdeed6 } .c3 { fill: #f3d5ea }
@media (prefers-color-scheme: dark) {
.paper { fill: #14181d } text { fill: #e6e9ec } .soft { fill: #9aa4ae }
rect, .arrow { stroke: #9aa4ae } .size { fill: #262d35 } .prepended { fill: none }
.output { stroke: #4ac26b } .misfit { stroke: #ff8a65 } .wrong { fill: #ff8a65 }
.c0 { fill: #1f4668 } .c1 { fill: #644711 } .c2 { fill: #1f5534 } .c3 { fill: #632f58 }
}"""


class _Canvas:
    """Elements of a drawing from the top down, and how far they reach."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.width = 0.0
        self.y = float(_EDGE)

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Write a text that begins, or has its middle, at x, on a line at y."""
        marked = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text{marked} x="{x:g}" y="{y:g}">{escape(text)}</text>')
        if "middle" not in kind:
            self.width = max(self.width, x + _LETTER * len(text))

    def box(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Draw a box."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            'rx="4"/>'
        )
        self.width = max(self.width, x + width)

    def paragraph(self, text: str, kind: str = "") -> None:
        """Write a text over as many lines as it needs."""
        for line in textwrap.wrap(text, _LETTERS_OF_A_LINE, break_on_hyphens=False):
            self.text(_EDGE, self.y + 14, line, kind)
            self.y += _LINE
        self.y += 8


def figure(rule: Rule, asked: Operands) -> str:
    """Draw what a rule makes of shapes: a self-contained file of SVG, the same every time."""
    result, error = rule.shape(asked), rule.refusal(asked)
    canvas = _Canvas()
    title = headline(rule, asked, result)
    canvas.paragraph(title)
    aligned = alignment(rule, asked)
    if aligned is not None:
        _draw_alignment(canvas, rule, aligned, "output" if error is None else rule.steps.held)
    said = []
    if error is not None:
        said.append(str(error).partition("\n")[0])
    elif result is not None and aligned is not None:
        said += _draw_elements(canvas, rule, asked, result, aligned)
    for sentence in said:
        canvas.paragraph(sentence, "soft")
    return _file(canvas, title, " ".join([_described(rule, aligned), *said]).strip())


def _file(canvas: _Canvas, title: str, description: str) -> str:
    width, height = f"{canvas.width + _EDGE:g}", f"{canvas.y + _EDGE:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(description)}</desc>',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="paper" width="{width}" height="{height}" style="stroke: none"/>',
            *canvas.parts,
            "</svg>\n",
        ]
    )


def _draw_alignment(canvas: _Canvas, rule: Rule, aligned: Alignment, last: str) -> None:
    """Draw the tensors one below the other, an axis of the output in each column."""
    names = [row.name for row in aligned.rows]
    left = _EDGE + _LETTER * max(map(len, [*names, last])) + 12
    sizes = list(map(_shown, aligned.sizes))
    cells = [
        [_grown(row.places.get(k), size, rule) for k, size in enumerate(sizes)]
        for row in aligned.rows
    ]
    texts = [text for row in [*cells, sizes] for text in row]
    width = max([64.0, *[_LETTER * len(text) + 16 for text in texts]])
    for axis in range(len(sizes)):
        canvas.text(left + (width + 6) * (axis + 0.5), canvas.y + 12, f"axis {axis}", "soft middle")
    canvas.y += 20
    for row, own in zip(aligned.rows, cells, strict=True):
        canvas.text(_EDGE, canvas.y + 20, row.name)
        for axis, text in enumerate(own):
            if axis in row.places:
                kind = _kind(row.places[axis])
                _draw_size(canvas, left + (width + 6) * axis, width, text, kind)
        canvas.y += _ROW
    canvas.text(_EDGE, canvas.y + 20, last)
    for axis, text in enumerate(sizes):
        kind = "size output" if last == "output" else "size"
        if aligned.sizes[axis] is None:
            kind = "size misfit"
        _draw_size(canvas, left + (width + 6) * axis, width, text, kind)
    canvas.y += _ROW + 14


def _draw_size(canvas: _Canvas, x: float, width: float, text: str, kind: str) -> None:
    canvas.box(x, canvas.y, width, 30, kind)
    wrong = " wrong" if "misfit" in kind else ""
    canvas.text(x + width / 2, canvas.y + 20, text, f"middle{wrong}")


def _shown(size: int | None) -> str:
    return "?" if size is None else show_int(size)


def _kind(place: Place) -> str:
    if place.leads is None:
        return "size misfit"
    return "prepended" if place.axis is None else "size"


def _grown(place: Place | None, output: str, rule: Rule) -> str:
    """Text of a size, and of what it grows to."""
    if place is None:
        return ""
    size = show_int(place.size)
    if rule.takes == "axes":
        size = f"axis {place.axis}: {size}"
    return f"{size} → {output}" if place.leads == "first" and output != "?" else size


def _described(rule: Rule, aligned: Alignment | None) -> str:
    """Say the alignment in words."""
    if aligned is None:
        return ""
    said = []
    for row in aligned.rows:
        sizes = [
            f"axis {k} {_grown(place, _shown(aligned.sizes[k]), rule)}"
            + (" (prepended)" if place.axis is None else "")
            + (" (does not fit)" if place.leads is None else "")
            for k, place in sorted(row.places.items())
        ]
        said.append(f"{row.name}: {', '.join(sizes) or 'no axis'}.")
    return " ".join(said)


def _draw_elements(
    canvas: _Canvas, rule: Rule, asked: Operands, result: Shape, aligned: Alignment
) -> Iterator[str]:
    """Draw each tensor beside what it becomes, if there is room, and say what is drawn."""
    if 0 in result:
        yield "The output has no element."
        return
    if len(result) > _MOST_AXES or any(size > _MOST_ALONG for size in result):
        yield (
            f"The elements are not drawn: they are for up to {_MOST_AXES} axes of up to "
            f"{_MOST_ALONG} elements."
        )
        return
    rows = [row for row in aligned.rows if row.is_tensor]
    for m, row in enumerate(rows[:_MOST_TENSORS]):
        one = asked if asked.target is not None else Operands((asked.shapes[m],), result)
        _draw_tensor(canvas, rule, one, result, row)
    yield (
        "Each cell has the number of an element of the tensor, in row-major order, and its index; "
        "a dotted cell is a copy."
    )
    if len(rows) > _MOST_TENSORS:
        yield f"Of {len(rows)} tensors the first {_MOST_TENSORS} are drawn."


def _draw_tensor(canvas: _Canvas, rule: Rule, one: Operands, result: Shape, row: Row) -> None:
    (own,) = one.shapes
    strides = row_major_strides(own)
    canvas.text(_EDGE, canvas.y + 14, row.name)
    canvas.y += _LINE
    top, x = canvas.y, float(_EDGE)
    for place in product(*map(range, own)):
        _draw_cell(canvas, x, top, place, place, offset(place, strides), row.name, "")
    x += _STEP * _extent(own)[1] + _ARROW
    middle = top + _STEP / 2
    canvas.parts.append(
        f'<path class="arrow" d="M{x - _ARROW + 10:g} {middle:g}h28m-6-6 6 6-6 6"/>'
    )
    seen = set()
    for place in product(*map(range, result)):
        source = rule.source(one, place)
        assert source is not None
        kind = " copy" if source in seen else ""
        seen.add(source)
        whole = f"output{_bracketed(place)} = {row.name}"
        _draw_cell(canvas, x, top, place, source, offset(source, strides), whole, kind)
    canvas.y = top + _STEP * max(_extent(own)[0], _extent(result)[0]) + 12


def _draw_cell(
    canvas: _Canvas,
    left: float,
    top: float,
    place: Shape,
    source: Shape,
    number: int,
    whole: str,
    kind: str,
) -> None:
    """Draw an element, `source` in its tensor, at a place of a grid."""
    row, column = (0, 0, *place)[-2:]
    x, y = left + _STEP * column, top + _STEP * row
    canvas.parts.append(f"<g><title>{escape(whole + _bracketed(source))}</title>")
    canvas.box(x, y, _STEP - 4, _STEP - 4, f"c{number % 4}{kind}")
    canvas.text(x + _STEP / 2 - 2, y + 20, str(number), "middle")
    canvas.text(x + _STEP / 2 - 2, y + 35, show_integers(source), "middle note")
    canvas.parts.append("</g>")


def _bracketed(index: Shape) -> str:
    return f"[{show_integers(index)}]"


def _extent(shape: Shape) -> tuple[int, int]:
    """Rows and columns of a grid for a shape of rank 2 at most."""
    height, width = (1, 1, *shape)[-2:]
    return height, width
