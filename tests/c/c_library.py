"""Compile c/whycast.c, and run programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "c"
HERE = Path(__file__).parent
SOURCE = FOLDER / "whycast.c"
EXHAUSTIVE = HERE / "exhaustive.c"  # It includes plain.c.

# A careful user enables these warnings.
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SECONDS = 300


def compiled(
    binary: Path, *words: str | Path, compiler: str = "gcc", strict: Sequence[str] = STRICT
) -> Path:
    """Compile; fail on any message of the compiler."""
    program = shutil.which(compiler)
    assert program, f"{compiler} is missing"
    command = [program, *strict, f"-I{FOLDER}", *map(str, words), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, ""), " ".join(command)
    return binary


def run(*command: str | Path, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=seconds, check=False
    )


def sections(binary: Path, program: str = "size") -> tuple[int, int]:
    """Return the bytes of an object's code, and of the memory that it keeps between two calls."""
    _, code, data, bss, *_ = run(program, binary).stdout.split()[5:]
    return int(code), int(data) + int(bss)
