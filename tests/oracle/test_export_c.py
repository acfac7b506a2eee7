"""`whycast cases --format c`: a compiler takes it; right functions pass, wrong ones fail."""

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
SECONDS = 120


def compiled(folder: Path, program: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Compile a program with the user's functions by the system's compiler, and run it."""
    binary = folder / "tests"
    compiler = shutil.which("cc")
    assert compiler, "no C compiler: Debian's gcc and libc6-dev have one"
    built = subprocess.run(
        (compiler, *STRICT, *flags, program, RIGHT, "-o", binary),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return subprocess.run(binary, capture_output=True, text=True, timeout=SECONDS, check=False)


def written(name: str, path: Path, step: int) -> Path:
    """Write the program of a rule for some of its cases."""

    def source(level: Level) -> Iterable[Case]:
        return list(cases(name, level))[::step]

    with path.open("w", encoding="ascii") as file:
        _export_c.write(rule_named(name), source, file)
    return path


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the program of each of three rules."""
    folder = tmp_path_factory.mktemp("c")
    return {name: written(name, folder / f"{name}.c", 1) for name in FLAGS}


# By what macros the functions follow a rule.
FLAGS = {"sonnx": (), "numpy": ("-DRULE_OF_NUMPY",), "in-dim": ("-DALONG_AXES",)}


@pytest.mark.parametrize("name", FLAGS)
def test_right_functions(name: str, programs: dict[str, Path], tmp_path: Path) -> None:
    done = compiled(tmp_path, programs[name], *SANITIZED, *FLAGS[name])
    assert (done.returncode, done.stderr) == (0, "")
    found = [line.split() for line in done.stdout.splitlines()]
    assert [words[0] for words in found] == [
        *("broadcast_shape:", "broadcast_strides:", "broadcast_data:")
    ]
    for words in found:
        assert words[2:] == ["cases,", "0", "wrong"]
    # The pairs and triples that come first, and more.
    assert int(found[0][1]) > 7350
    assert min(int(words[1]) for words in found[1:]) > 85**2


@pytest.mark.parametrize(
    ("name", "flags", "lines"),
    [
        (
            "sonnx",
            ["-DSWAPPED_STRIDES", "-DRULE_OF_NUMPY"],
            [
                "broadcast_strides (1, 2) to (2, 2) strides (12, -4): expected (0, -4), "
                "got (-4, 0)\n",
                "broadcast_data (1, 2) to (2, 2) of 8 bytes each: expected (0, 1, 0, 1), "
                "got (0, 0, 1, 1)\n",
                "broadcast_shape () (0,): expected refused, got (0,)\n",
            ],
        ),
        (
            "in-dim",
            ["-DALONG_AXES", "-DSWAPPED_STRIDES", "-DWHYCAST_NO_DATA", "-DWHYCAST_NO_SHAPE"],
            [
                "broadcast_strides (2,) to (2, 2) axes (0,) strides (4,): expected (4, 0), "
                "got (0, 4)\n"
            ],
        ),
        ("numpy", [], ["broadcast_shape () (0,): expected (0,), got refused\n"]),
        (
            "sonnx",
            ["-DPAST_THE_END", "-DLAST_ELEMENT"],
            [
                "broadcast_shape () (): expected (), got one past the end of the result\n",
                "broadcast_data (2,) to (2,) of 8 bytes each: expected (0, 1), got (1, 1)\n",
            ],
        ),
    ],
)
def test_wrong_functions(
    name: str, flags: list[str], lines: list[str], programs: dict[str, Path], tmp_path: Path
) -> None:
    done = compiled(tmp_path, programs[name], *flags)
    assert (done.returncode, done.stderr) == (1, "")
    for line in lines:
        assert f"\n{line}" in f"\n{done.stdout}"
    # Each wrong case has a line, and none else has.
    *found, last = done.stdout.splitlines()
    counts = [int(line.split()[3]) for line in [*found, last] if line.endswith(" wrong")]
    assert sum(counts) + len(counts) == len(found) + 1


@pytest.mark.parametrize("name", [*FLAGS, "expand", "ngraph"])
def test_every_rule_and_choice_compiles(name: str, tmp_path: Path) -> None:
    """Whichever functions the user leaves out: nothing else is then unused."""
    program = written(name, tmp_path / "tests.c", 400)
    left_out = ("-DWHYCAST_NO_SHAPE", "-DWHYCAST_NO_STRIDES", "-DWHYCAST_NO_DATA")
    for count in range(4):
        for flags in combinations(left_out, count):
            command = ["cc", *STRICT, "-fsyntax-only", *flags, str(program)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert (done.returncode == 0) == (count < 3), done.stderr
    assert "there is no function left to test" in done.stderr
