"""The figure of explain: what stands in its cells is what the package makes of arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import Run, Shape, runner, small_operands, word

from whycast._command._figure import figure
from whycast._rules import RULES, Operands

SVG = "{http://www.w3.org/2000/svg}"

Draw = Callable[[str], ElementTree.Element]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""
    return runner(capsys)


@pytest.fixture
def draw(run: Run, tmp_path: Path) -> Draw:
    """Return a function that draws a figure and reads it."""

    def drawn(words: str) -> ElementTree.Element:
        path = tmp_path / "figure.svg"
        run(f"explain {words} --svg {path}")
        return ElementTree.fromstring(path.read_text("utf-8"))

    return drawn


def texts(root: ElementTree.Element) -> str:
    return " ".join(text.text or "" for text in root.iter(f"{SVG}text"))


def cells(root: ElementTree.Element) -> list[tuple[str, str, str, bool]]:
    """Title, number, index of every element that is drawn, and whether it is a copy."""
    found = []
    for group in root.iter(f"{SVG}g"):
        title, box, number, index = list(group)
        kinds = (box.get("class") or "").split()
        assert kinds[0] == f"c{int(number.text or '') % 4}"
        found.append((title.text or "", number.text or "", index.text or "", "copy" in kinds))
    return found


CASES: list[tuple[str, tuple[Shape, ...], Shape | None, tuple[int, ...] | None]] = [
    ("sonnx", ((3, 1), (4,)), None, None),
    ("sonnx", ((2, 3), (), (1, 3)), None, None),
    ("sonnx", ((12, 12),), None, None),
    ("sonnx", ((), ()), None, None),
    ("numpy", ((3,), (2, 1)), None, None),
    ("expand", ((3, 1),), (4,), None),
    ("openvino-numpy", ((1,),), (2, 3), None),
    ("openvino-explicit", ((3,),), (3, 2), (0,)),
    ("openvino-bidirectional", ((2, 1),), (3,), None),
    ("ngraph", ((2,),), (2, 3), (1,)),
    ("in-dim", ((3, 2),), (2, 3), (1, 0)),
]


@pytest.mark.parametrize(("name", "shapes", "target", "axes"), CASES)
def test_cells_are_the_elements(
    draw: Draw,
    name: str,
    shapes: tuple[Shape, ...],
    target: Shape | None,
    axes: tuple[int, ...] | None,
) -> None:
    rule, asked = RULES[name], Operands(shapes, target, axes)
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    outputs = rule.broadcast(arrays, asked)
    words = f"--rule {name} " + " ".join(map(word, shapes))
    if target is not None:
        words += f" {word(target)}"
    if axes is not None:
        words += f" --axes {','.join(map(str, axes))}"
    drawn = iter(cells(draw(words)))
    for m, (array, output) in enumerate(zip(arrays, outputs, strict=True)):
        tensor = rule.parameters[0] + (f" {m}" if target is None else "")
        for place in np.ndindex(array.shape):
            at = ",".join(map(str, place)) or "()"
            assert next(drawn) == (f"{tensor}[{at}]", str(array[place]), at, False)
        seen = set()
        for place in np.ndindex(output.shape):
            at = ",".join(map(str, place)) or "()"
            number = int(output[place])
            source = ",".join(map(str, np.unravel_index(number, array.shape))) or "()"
            whole = f"output[{at}] = {tensor}[{source}]"
            assert next(drawn) == (whole, str(number), source, number in seen)
            seen.add(number)
    assert next(drawn, None) is None


def test_cells_stand_on_their_rows_and_columns(draw: Draw) -> None:
    boxes = [list(group)[1] for group in draw("3x1 4").iter(f"{SVG}g")]
    places = [(float(box.get("x") or 0), float(box.get("y") or 0)) for box in boxes]
    column, output = places[:3], places[3:15]
    assert [(x - 16, y - column[0][1]) for x, y in column] == [(0, 46 * k) for k in range(3)]
    assert [(x - output[0][0], y - column[0][1]) for x, y in output] == [
        (46 * k, 46 * j) for j in range(3) for k in range(4)
    ]


def test_what_is_not_drawn_is_said(draw: Draw) -> None:
    for words, text in (
        ("2x3x4", "The elements are not drawn: they are for up to 2 axes of up to 12 elements."),
        ("13", "The elements are not drawn: they are for up to 2 axes of up to 12 elements."),
        ("1x0 0", "The output has no element."),
        ("2x5 3", "shapes do not broadcast (E1): axis 1 of the common rank 2, tensor 1 has size 3"),
        ("--rule openvino-numpy 1x1 1", "data of shape (1, 1) does not broadcast to "),
    ):
        root = draw(words)
        assert text in texts(root)
        assert text in (root.findtext(f"{SVG}desc") or "")
        assert cells(root) == []
    root = draw("2 " * 10)
    assert "Of 10 tensors the first 8 are drawn." in texts(root)
    assert len(cells(root)) == 8 * 4


def test_alignment_is_drawn_and_described(draw: Draw) -> None:
    root = draw("2x5 3")
    assert root.findtext(f"{SVG}title") == "SONNX: 2x5, 3 -> refused"
    description = root.findtext(f"{SVG}desc") or ""
    assert description.startswith(
        "tensor 0: axis 0 2, axis 1 5. tensor 1: axis 0 1 → 2 (prepended), axis 1 3 (does not fit)."
    )
    kinds = [box.get("class") for box in root.iter(f"{SVG}rect")]
    assert kinds == ["paper", "size", "size", "prepended", "size misfit", "size", "size"]
    kinds = [box.get("class") for box in draw("3x3x3 3").iter(f"{SVG}rect")]
    assert kinds == ["paper", *["size"] * 3, "prepended", "prepended", "size", *["size output"] * 3]


def test_every_figure_is_a_file_of_its_own_and_always_the_same() -> None:
    asked = list(small_operands())[::7]
    shape = (2**200, 1) * 20
    for rule in RULES.values():
        axes = rule.axes_for(range(40), 40) if rule.takes == "axes" else None
        large = Operands((shape,), shape, axes)
        asked.append((rule, Operands((shape, shape)) if rule.takes == "tensors" else large, "2**"))
    for rule, operands, words in asked:
        text = figure(rule, operands)
        assert text == figure(rule, operands)
        assert ("2**200+" in text) == (words == "2**")
        check_file(text, words)


def check_file(text: str, words: str) -> None:
    root = ElementTree.fromstring(text)
    assert root.findtext(f"{SVG}title"), words
    assert root.findtext(f"{SVG}desc"), words
    assert root.get("aria-labelledby") == "title desc"
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"href|url\(|@import", text)
    width, height = float(root.get("width") or 0), float(root.get("height") or 0)
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("x") or 0) + float(box.get("width") or 0) <= width, words
        assert float(box.get("y") or 0) + float(box.get("height") or 0) <= height, words
    for line in root.iter(f"{SVG}text"):
        assert float(line.get("y") or 0) < height, words
