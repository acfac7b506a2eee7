"""Build and run `whygate`, the OCaml program that sees theories and sessions as Why3 does."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

from facts import Facts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "provers"))
import ocaml

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "gate"
TOOL = BUILD / "whygate"
WHY3_CONF = ROOT / "build" / "why3.conf"

# Programs for testing the extraction stand elsewhere below why3/; the audit refuses any theory that
# uses one of them.
THEORIES = ("why3/*.mlw", "why3/trusted/*.mlw")

# A proof took at most 15 s when it was found, usually 0.1 s. Thirty seconds forgive a machine that
# is busy or slow; ten times what a long proof took forgives it as well.
FLOOR_SECONDS = 30
FACTOR = 10

# Which proofs of each part to replay: the one that took least, or all but that one. A part with a
# single proof has it replayed in either case.
SHARES = ("quickest", "others")

# An obsolete proof fails the gate in any case: this only tells whether it would still do.
OBSOLETE_SECONDS = 3


class ToolError(Exception):
    """The program itself is missing or failed, which says nothing about the theories."""


def build() -> None:
    """Compile the program, unless it was compiled from these very sources."""
    if not WHY3_CONF.exists():
        raise ToolError(f"{WHY3_CONF} is missing: `make tools` installs the toolchain")
    sources = sorted(SOURCES.glob("*.ml"))
    ocaml.build(sources, TOOL, packages="why3,unix", options=["-linkpkg"])


def theory_files() -> list[str]:
    """Give the theories' paths, from the root of the tree."""
    found = [path for pattern in THEORIES for path in sorted(ROOT.glob(pattern))]
    return [path.relative_to(ROOT).as_posix() for path in found]


def command(name: str, *arguments: str) -> list[str]:
    """Put a command line for the program together; it runs in `ROOT`."""
    return [str(TOOL), str(WHY3_CONF), name, *arguments]


def facts(theories: list[str], share: str | None, progress: Callable[[int, int], None]) -> Facts:
    """Replay the proofs of the theories, all or one of the `SHARES`, and audit the theories."""
    limits = ["--floor", str(FLOOR_SECONDS), "--factor", str(FACTOR)]
    limits += ["--obsolete", str(OBSOLETE_SECONDS)]
    limits += [f"--{share}"] if share else []
    return gather(command("facts", *limits, *theories), progress)


def goals(theories: list[str]) -> Facts:
    """Gather the facts without replaying anything."""
    return gather(command("goals", *theories), lambda done, total: None)


def gather(words: list[str], progress: Callable[[int, int], None]) -> Facts:
    """Run the program for the facts that it prints."""
    messages = []
    # Of each call its own: tests run at the same time.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        with subprocess.Popen(
            words, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stderr is not None
            for line in process.stderr:
                done, slash, total = line.strip().partition("/")
                if slash and done.isdigit() and total.isdigit():
                    progress(int(done), int(total))
                else:
                    messages.append(line)
        if process.returncode:
            raise ToolError(f"whygate ended with {process.returncode}:\n{''.join(messages)}")
        output.seek(0)
        return cast(Facts, json.load(output))


def update(theories: list[str], options: list[str]) -> int:
    """Bring the sessions up to date; 0 if all is proved."""
    return subprocess.run(command("update", *options, *theories), cwd=ROOT, check=False).returncode
