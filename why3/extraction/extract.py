"""Extract the verified kernel to Python, or check that the extracted file is up to date.

    extract.py                  write python/whycast/_kernel.py anew
    extract.py --check          compare instead; 1 if it differs by a byte
    extract.py --output FILE    the same with another file

The file is made by Why3 with the printer in this folder, then brought into the format of the
project by ruff. Its first lines give the SHA-256 of the sources that determine it: the programs,
every theory of the project that they use, the driver, the printer and this script, each with its
name. A change of a source therefore shows even where the Python stays the same.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs" / "provers"))
import ocaml

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
THEORIES = ROOT / "why3"
BUILD = ROOT / "build" / "extraction"
RUFF = ROOT / ".venv" / "bin" / "ruff"
DRIVER = SOURCES / "python.drv"

# The programs of the kernel, in the order in which they stand in the extracted file.
MODULES = (
    "kernel.COPBroadcast",
    "kernel_numpy.COPNumpyBroadcast",
    "kernel_axes.COPAxes",
    "kernel_axes.COPAxesStrides",
    "kernel_expand.COPExpand",
    "kernel_flat.COPFlatBroadcast",
)
TARGET = ROOT / "python" / "whycast" / "_kernel.py"

# Why3 loads a plugin by its path without the extension.
PLUGIN = BUILD / "python_extraction"

# The format of Why3's configuration file that Why3 1.5 reads.
CONFIGURATION_FORMAT = 14

# `use import shape.Padding` uses shape.mlw.
USED_FILE = re.compile(r"\b(?:use|clone)\s+(?:import\s+|export\s+)?([a-z][\w.]*)\.[A-Z]")

DIFFERENCE_LINES = 40

# Of the comment in the header, without its `# `.
LINE_LENGTH = 98


class ExtractionError(Exception):
    """A tool refused; the message is what it said."""


def run(command: Sequence[str | Path], text: str | None = None) -> str:
    """Run a tool in the root of the tree and give its output."""
    words = [str(word) for word in command]
    result = subprocess.run(
        words, cwd=ROOT, input=text, capture_output=True, encoding="utf-8", check=False
    )
    if result.returncode:
        raise ExtractionError(f"{words[0]}: {(result.stderr or result.stdout).strip()}")
    return result.stdout


def digest(files: Iterable[Path]) -> str:
    """Hash files with their names, from the root of the tree."""
    total = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        name = file.relative_to(ROOT).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def printer_sources() -> list[Path]:
    """List the OCaml files of the printer."""
    return sorted([*SOURCES.glob("*.ml"), *SOURCES.glob("*.mli")])


def build_plugin() -> None:
    """Compile the printer, unless it was compiled from these very sources."""
    library = PLUGIN.with_suffix(".cmxs")
    ocaml.build(printer_sources(), library, packages="why3", options=["-shared"])


def why3_extract(
    *modules: str, drivers: Sequence[Path] = (DRIVER,), libraries: Sequence[Path] = (THEORIES,)
) -> str:
    """Give the Python that Why3 makes of modules, or files, and of all that they need."""
    build_plugin()
    with tempfile.TemporaryDirectory() as folder:
        # A configuration of its own: that of a user must not have an influence.
        configuration = Path(folder) / "why3.conf"
        configuration.write_text(
            f'[main]\nmagic = {CONFIGURATION_FORMAT}\nplugin = "{PLUGIN}"\n', encoding="utf-8"
        )
        output = Path(folder) / "output.py"
        options: list[str | Path] = ["-C", configuration, "--flat", "--recursive"]
        for library in libraries:
            options += ["-L", library]
        for driver in drivers:
            options += ["-D", driver]
        run(["why3", "extract", *options, "-o", output, *modules])
        return output.read_text(encoding="utf-8")


def normalise(text: str, path: Path = TARGET) -> str:
    """Remove unused imports, sort the others, and format as the project does at this path."""
    name: list[str | Path] = ["--stdin-filename", path, "-"]
    tidy = run([RUFF, "check", "--quiet", "--fix-only", "--select", "F401,I", *name], text)
    return run([RUFF, "format", "--quiet", *name], tidy)


def program_files() -> list[Path]:
    """List the files with the programs of the kernel, in their order."""
    names = dict.fromkeys(module.split(".")[0] for module in MODULES)
    return [THEORIES / f"{name}.mlw" for name in names]


def used_theories(files: Iterable[Path]) -> set[Path]:
    """Find the project's own files that WhyML files use, themselves included."""
    found: set[Path] = set()
    waiting = [*files]
    while waiting:
        theory = waiting.pop()
        if theory not in found and theory.exists():
            found.add(theory)
            text = theory.read_text(encoding="utf-8")
            waiting += [
                THEORIES.joinpath(*name.split(".")).with_suffix(".mlw")
                for name in USED_FILE.findall(text)
            ]
    return found


def kernel_sources() -> set[Path]:
    """List the files that determine the extracted kernel."""
    return {*used_theories(program_files()), *printer_sources(), DRIVER, Path(__file__).resolve()}


def version(tool: str | Path) -> str:
    """Give the last word of what a tool says about its version."""
    return run([tool, "--version"]).split()[-1]


def header() -> str:
    """Give the first lines of the extracted kernel."""
    *names, last = (file.relative_to(ROOT).as_posix() for file in program_files())
    origin = f"Extracted by Why3 from {', '.join(names)} and {last}."
    script = Path(__file__).resolve().relative_to(ROOT).as_posix()
    return (
        f"{textwrap.indent(textwrap.fill(origin, LINE_LENGTH), '# ')}\n"
        "# Do not edit: change the sources, then `make extract`.\n"
        "# SPDX-License-Identifier: Apache-2.0\n"
        f"# SHA-256 of the sources that {script} lists:\n"
        f"# {digest(kernel_sources())}\n"
        f"# Tools: Why3 {version('why3')}, ruff {version(RUFF)}.\n\n"
    )


def extract_kernel() -> str:
    """Give the text of the extracted kernel."""
    return normalise(header() + why3_extract(*MODULES))


def difference(path: Path, wanted: str) -> str:
    """Say how a file differs from what is wanted; nothing if it does not."""
    found = path.read_bytes() if path.exists() else b""
    if found == wanted.encode():
        return ""
    lines = difflib.unified_diff(
        found.decode("utf-8", "replace").splitlines(),
        wanted.splitlines(),
        "the file",
        "extracted now",
        n=1,
        lineterm="",
    )
    shown = list(lines)
    omitted = len(shown) - DIFFERENCE_LINES
    more = [f"... and {omitted} more lines"] if omitted > 0 else []
    return "\n".join(shown[:DIFFERENCE_LINES] + more) or "only the ends of lines differ"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Extract the verified kernel to Python.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--output", type=Path, default=TARGET, metavar="FILE")
    options = parser.parse_args()
    target: Path = options.output
    try:
        wanted = extract_kernel()
    except ExtractionError as error:
        print(error, file=sys.stderr)
        return 1
    if not options.check:
        target.write_bytes(wanted.encode())
        return 0
    differs = difference(target, wanted)
    if differs:
        print(differs, file=sys.stderr)
        print(
            f"\n{target.name} is not what Why3 extracts from the sources. Run `make extract`; "
            "the file is never edited by hand.",
            file=sys.stderr,
        )
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
