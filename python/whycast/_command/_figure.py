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
    said, described = [], ""
    if aligned is not None:
        name = "output" if error is None else rule.steps.held
        described = _draw_alignment(canvas, rule, aligned, name)
    if error is not None:
        said.append(str(error).partition("\n")[0])
    elif result is not None and aligned is not None:
        said += _draw_elements(canvas, rule, asked, result, aligned)
    for sentence in said:
        canvas.paragraph(sentence, "soft")
    width, height = f"{canvas.width + _EDGE:g}", f"{canvas.y + _EDGE:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(" ".join([described, *said]).strip())}</desc>',
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="paper" width="{width}" height="{height}" style="stroke: none"/>',
            *canvas.parts,
            "</svg>\n",
        ]
    )


def _draw_alignment(canvas: _Canvas, rule: Rule, aligned: Alignment, last: str) -> str:
    """Draw the tensors one below the other, an axis of the output in each column.

    What is returned says the same in words.
    """
    sizes = ["?" if size is None else show_int(size) for size in aligned.sizes]
    output = "size output" if last == "output" else "size"
    # Of each row the name; and of its cells the text, and how it is drawn.
    rows: list[tuple[str, dict[int, tuple[str, str]]]] = [
        (row.name, {k: _cell(place, sizes[k], rule) for k, place in row.places.items()})
        for row in aligned.rows
    ]
    kinds = ["size misfit" if size is None else output for size in aligned.sizes]
    rows.append((last, dict(enumerate(zip(sizes, kinds, strict=True)))))
    left = _EDGE + _LETTER * max(len(name) for name, _ in rows) + 12
    texts = [text for _, cells in rows for text, _ in cells.values()]
    width = max([64.0, *[_LETTER * len(text) + 16 for text in texts]])
    for axis in range(len(sizes)):
        canvas.text(left + (width + 6) * (axis + 0.5), canvas.y + 12, f"axis {axis}", "soft middle")
    canvas.y += 20
    said = []
    for name, cells in rows:
        canvas.text(_EDGE, canvas.y + 20, name)
        described = []
        for axis, (text, kind) in sorted(cells.items()):
            x = left + (width + 6) * axis
            canvas.box(x, canvas.y, width, 30, kind)
            wrong = " wrong" if "misfit" in kind else ""
            canvas.text(x + width / 2, canvas.y + 20, text, f"middle{wrong}")
            described.append(f"axis {axis} {text}{_SAID.get(kind, '')}")
        said.append(f"{name}: {', '.join(described) or 'no axis'}.")
        canvas.y += _ROW
    canvas.y += 14
    return " ".join(said[:-1])


# What is said of a size beside how it is drawn.
_SAID = {"prepended": " (prepended)", "size misfit": " (does not fit)"}


def _cell(place: Place, output: str, rule: Rule) -> tuple[str, str]:
    """Text of a size and of what it grows to; and how it is drawn."""
    size = show_int(place.size)
    if rule.takes == "axes":
        size = f"axis {place.axis}: {size}"
    if place.leads == "first" and output != "?":
        size = f"{size} → {output}"
    if place.leads is None:
        return size, "size misfit"
    return size, "prepended" if place.axis is None else "size"


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
        "a dotted cell repeats an element, and takes no memory."
    )
    if len(rows) > _MOST_TENSORS:
        yield f"Of {len(rows)} tensors the first {_MOST_TENSORS} are drawn."


def _draw_tensor(canvas: _Canvas, rule: Rule, one: Operands, result: Shape, row: Row) -> None:
    (own,) = one.shapes
    strides = row_major_strides(own)
    canvas.text(_EDGE, canvas.y + 14, row.name)
    canvas.y += _LINE
    top, x = canvas.y, float(_EDGE)

    def draw_cell(place: Shape, source: Shape, whole: str, kind: str) -> None:
        """Draw an element, `source` in its tensor, at a place of a grid."""
        line, column = (0, 0, *place)[-2:]
        left, y, number = x + _STEP * column, top + _STEP * line, offset(source, strides)
        title = escape(f"{whole}{row.name}[{show_integers(source)}]")
        canvas.parts.append(f"<g><title>{title}</title>")
        canvas.box(left, y, _STEP - 4, _STEP - 4, f"c{number % 4}{kind}")
        canvas.text(left + _STEP / 2 - 2, y + 20, str(number), "middle")
        canvas.text(left + _STEP / 2 - 2, y + 35, show_integers(source), "middle note")
        canvas.parts.append("</g>")

    for place in product(*map(range, own)):
        draw_cell(place, place, "", "")
    (height, width), (to_height, _) = ((1, 1, *shape)[-2:] for shape in (own, result))
    x += _STEP * width + _ARROW
    middle = top + _STEP / 2
    canvas.parts.append(
        f'<path class="arrow" d="M{x - _ARROW + 10:g} {middle:g}h28m-6-6 6 6-6 6"/>'
    )
    seen = set()
    for place in product(*map(range, result)):
        source = rule.source(one, place)
        kind = " copy" if source in seen else ""
        seen.add(source)
        draw_cell(place, source, f"output[{show_integers(place)}] = ", kind)
    canvas.y = top + _STEP * max(height, to_height) + 12
