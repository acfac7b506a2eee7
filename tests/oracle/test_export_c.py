"""`whycast cases --format c`: it compiles, right functions pass, wrong ones fail."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest

from whycast._rules import rule_named
from whycast.testing._cases import cases
from whycast.testing._cases._case import Case, Level
from whycast.testing._export import _export_c

RIGHT = Path(__file__).with_name("right.c")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiled(folder: Path, program: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Compile a program with the user's functions by the system's compiler, and run it."""
    binary = folder / "tests"
    assert shutil.which("cc"), "no C compiler: Debian's gcc and libc6-dev have one"
    built = done("cc", *STRICT, *flags, program, RIGHT, "-o", binary)
    assert (built.returncode, built.stderr) == (0, "")
    return done(binary)


def done(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def written(name: str, path: Path, step: int) -> Path:
    def source(level: Level) -> Iterable[Case]:
        return list(cases(name, level))[::step]

    with path.open("w", encoding="ascii") as file:
        _export_c.write(rule_named(name), source, file)
    return path


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("c")
    return {name: written(name, folder / f"{name}.c", 1) for name in FLAGS}


# The macros of a rule's functions.
FLAGS = {"sonnx": (), "numpy": ("-DRULE_OF_NUMPY",), "in-dim": ("-DALONG_AXES",)}


@pytest.mark.parametrize("name", FLAGS)
def test_right_functions(name: str, programs: dict[str, Path], tmp_path: Path) -> None:
    ran = compiled(tmp_path, programs[name], *SANITIZED, *FLAGS[name])
    assert (ran.returncode, ran.stderr) == (0, "")
    found = [line.split() for line in ran.stdout.splitlines()]
    for words, level in zip(found, ("shape", "strides", "data"), strict=True):
        assert (words[0], words[2:]) == (f"broadcast_{level}:", ["cases,", "0", "wrong"])
    assert int(found[0][1]) > 7350
    assert min(int(words[1]) for words in found[1:]) > 85**2


SWAPPED = """\
broadcast_strides (1, 2) to (2, 2) strides (12, -4): expected (0, -4), got (-4, 0)
broadcast_data (1, 2) to (2, 2) of 8 bytes each: expected (0, 1, 0, 1), got (0, 0, 1, 1)
broadcast_shape () (0,): expected refused, got (0,)"""
ALONG_AXES = """\
broadcast_strides (2,) to (2, 2) axes (0,) strides (4,): expected (4, 0), got (0, 4)"""
ZERO = "broadcast_shape () (0,): expected (0,), got refused"
PAST_THE_END = """\
broadcast_shape () (): expected (), got one past the end of the result
broadcast_data (2,) to (2,) of 8 bytes each: expected (0, 1), got (1, 1)"""


@pytest.mark.parametrize(
    ("name", "macros", "lines"),
    [
        ("sonnx", "SWAPPED_STRIDES RULE_OF_NUMPY", SWAPPED),
        ("in-dim", "ALONG_AXES SWAPPED_STRIDES WHYCAST_NO_DATA WHYCAST_NO_SHAPE", ALONG_AXES),
        ("numpy", "", ZERO),
        ("sonnx", "PAST_THE_END LAST_ELEMENT", PAST_THE_END),
    ],
)
def test_wrong_functions(
    name: str, macros: str, lines: str, programs: dict[str, Path], tmp_path: Path
) -> None:
    flags = [f"-D{macro}" for macro in macros.split()]
    ran = compiled(tmp_path, programs[name], *flags)
    assert (ran.returncode, ran.stderr) == (1, "")
    for line in lines.splitlines():
        assert f"\n{line}\n" in f"\n{ran.stdout}"
    *found, last = ran.stdout.splitlines()
    counts = [int(line.split()[3]) for line in [*found, last] if line.endswith(" wrong")]
    assert sum(counts) + len(counts) == len(found) + 1


@pytest.mark.parametrize("name", [*FLAGS, "expand", "ngraph"])
def test_every_rule_and_choice_compiles(name: str, tmp_path: Path) -> None:
    """Without some of the functions nothing is unused."""
    program = written(name, tmp_path / "tests.c", 400)
    left_out = ("-DWHYCAST_NO_SHAPE", "-DWHYCAST_NO_STRIDES", "-DWHYCAST_NO_DATA")
    for count in range(4):
        for flags in combinations(left_out, count):
            built = done("cc", *STRICT, "-fsyntax-only", *flags, program)
            assert (built.returncode == 0) == (count < 3), built.stderr
    assert "there is no function left to test" in built.stderr
