"""The subcommand plan: its tables, its code, its JSON, what it refuses."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path
from textwrap import indent

import pytest
from command_line import SMALL, Run, runner, word
from plain_rule import Shape, e1, maxima, offsets, row_major, walk

import whycast

TEXT = """\
SONNX: 2x3x1x4x5, 3x1x1x1 -> 2x3x1x4x5

axis  size  stride x0  stride x1  loop
   0     2         60          0     0
   1     3         20          1     1
   2     1         20          1     -
   3     4          5          0     2
   4     5          1          0     2

loop  size  step x0  step x1
   0     2       60        0
   1     3       20        1
   2    20        1        0

for (int64_t i0 = 0; i0 < 2; i0++)
  for (int64_t i1 = 0; i1 < 3; i1++)
    for (int64_t v = 0; v < 20; v++)
      *z++ = f(x0[60 * i0 + 20 * i1 + v],
               x1[i1]);
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""
    return runner(capsys)


def words_of(shapes: tuple[Shape, ...], strides: tuple[Shape, ...] | None = None) -> str:
    options = [f"--strides {','.join(map(str, own)) or '()'}" for own in strides or ()]
    return " ".join(["plan", *map(word, shapes), *options])


def test_text(run: Run) -> None:
    """[E_Broadcast_any_Derived_560]"""
    assert run("plan 2x3x1x4x5 3x1x1x1") == (0, TEXT, "")


def test_json(run: Run) -> None:
    """[E_Broadcast_any_Derived_560]"""
    assert run("plan 2x1 3 --json") == (
        0,
        '{"shapes": [[2, 1], [3]], "result": [2, 3], "sizes": [2, 3], "steps": [[1, 0], [0, 1]]}\n',
        "",
    )
    done = run("plan 2x3 2x3 --strides -3,-1 --strides 1,2 --json")
    assert list(json.loads(done.out).items()) == [
        *(("shapes", [[2, 3], [2, 3]]), ("strides", [[-3, -1], [1, 2]]), ("result", [2, 3])),
        *(("sizes", [2, 3]), ("steps", [[-3, 1], [-1, 2]])),
    ]


def test_refused(run: Run) -> None:
    """[E_Broadcast_any_E1_020]"""
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.plan((2, 3), (4,))
    assert run("plan 2x3 4") == (1, "", f"{caught.value}\n")
    assert run("plan 2x3 4 --strides 3,1 --strides 1").code == 1
    done = run("plan 2x3 4 --json")
    assert (done.code, json.loads(done.out), done.err) == (
        1,
        {
            "shapes": [[2, 3], [4]],
            "refused": str(caught.value).partition("\n")[0],
            **{"axis": 1, "tensor": 0, "size": 3, "expected": 4},
        },
        "",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("2 3x2 --strides 1", "--strides: expected 2, one sequence for each shape, got 1"),
        ("2 2 --strides 1 --strides 2,1", "--strides 1: expected 1, one for each axis of shape 1"),
        ("2 --rule numpy", "unrecognized arguments: --rule"),
        ("", "required: SHAPE"),
    ],
)
def test_bad_usage(run: Run, words: str, said: str) -> None:
    done = run(f"plan {words}")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_size_that_cannot_be_written(run: Run) -> None:
    shapes = tuple((10**1990, *(1,) * k) for k in range(3))
    words = words_of(shapes, tuple((0,) * len(shape) for shape in shapes))
    assert run(words).out.count(" 2**19831+") == 2
    said = "whycast plan: error: --json: a size has more digits than Python writes\n"
    assert run(f"{words} --json") == (2, "", said)


@pytest.mark.parametrize("shapes", [((3, 1) * 20, (1, 2) * 20), ((2, 3),) * 40, ((2,) * 40, ())])
def test_a_long_plan_is_short(run: Run, shapes: tuple[Shape, ...]) -> None:
    done = run(words_of(shapes))
    assert done.code == 0
    _, *lines = done.out.splitlines()
    assert len(lines) < 45
    assert max(map(len, lines)) < 120
    assert re.search(r"^ +\.\.\. |  \.\.\.  ", done.out, re.MULTILINE)


def cases() -> Iterator[tuple[tuple[Shape, ...], tuple[Shape, ...]]]:
    """Pairs of shapes that broadcast, with strides in row-major order and in another."""
    larger: list[Shape] = [(2, 3, 1, 2, 2), (3, 1, 2, 2), (2,), (3, 1, 1, 1), (2, 1, 1, 2, 1)]
    for shapes in (*product(SMALL, repeat=2), *product(larger, repeat=2)):
        if e1(shapes) is None:
            own = tuple(map(row_major, shapes))
            yield shapes, own
            yield shapes, (own[0], tuple(-2 * stride for stride in own[1][::-1]))


def test_tables(run: Run) -> None:
    """[E_Broadcast_any_Derived_560]"""
    for shapes, strides in cases():
        head, axes, loops, _ = run(words_of(shapes, strides)).out.split("\n\n")
        common = maxima(shapes)
        sizes, steps = whycast.plan(*shapes, strides=strides)
        assert head.endswith(f" -> {word(common)}")
        rows = [tuple(map(int, line.split())) for line in loops.splitlines()[1:]]
        assert rows == [
            (j, size, *own) for j, (size, own) in enumerate(zip(sizes, steps, strict=True))
        ]
        of_axes = [line.split() for line in axes.splitlines()[1:]]
        assert [row[:2] for row in of_axes] == [[str(k), str(n)] for k, n in enumerate(common)]
        own = [tuple(map(int, row[2:-1])) for row in of_axes]
        assert not common or walk(common, own) == offsets(shapes, strides)
        assert all((row[-1] == "-") == (row[1] == "1") for row in of_axes)
        assert {row[-1] for row in of_axes} <= {"-", *map(str, range(len(sizes)))}
        for j, size in enumerate(sizes if prod(common) > 1 else ()):
            # A loop steps as its last axis does.
            into = [k for k, row in enumerate(of_axes) if row[-1] == str(j)]
            assert (prod(common[k] for k in into), own[into[-1]]) == (size, steps[j])


PROGRAM = """\
#include <inttypes.h>
#include <stdio.h>
static int64_t f(int64_t a, int64_t b) {{ return 1000 * a + b; }}
int main(void) {{
    static int64_t room[201], zs[100];
    const int64_t *const x0 = room + 100, *const x1 = room + 100;
    for (int k = 0; k < 201; k++) {{ room[k] = k - 100; }}
{blocks}
    return 0;
}}
"""
BLOCK = """\
    {{
        int64_t *z = zs;
{code}
        for (const int64_t *k = zs; k < z; k++) {{ printf("%" PRId64 " ", *k); }}
        puts("");
    }}"""


def test_the_code_is_c(run: Run, tmp_path: Path) -> None:
    """[E_Broadcast_any_Derived_560]"""
    due, blocks = [], []
    for shapes, strides in cases():
        due.append(" ".join(str(1000 * a + b) for a, b in offsets(shapes, strides)))
        code = run(words_of(shapes, strides)).out.rpartition("\n\n")[2]
        blocks.append(BLOCK.format(code=indent(code, " " * 8)))
    (tmp_path / "it.c").write_text(PROGRAM.format(blocks="\n".join(blocks)), encoding="utf-8")
    words = ("cc", "-std=c99", "-Wall", "-Werror", "-o", tmp_path / "it", tmp_path / "it.c")
    subprocess.run(words, check=True)
    done = subprocess.run([tmp_path / "it"], capture_output=True, text=True, check=True)
    assert [line.strip() for line in done.stdout.splitlines()] == due
