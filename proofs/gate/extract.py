"""Write the extracted files, or check that they are what is extracted: Python and C."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gate import c_extraction, closed, extraction
from gate.closed import ROOT
from gate.extraction import in_tree

DIFFERENCE_LINES = 40


def difference(path: Path, wanted: str) -> str:
    """Say how a file differs from what is wanted; nothing if it does not."""
    found = path.read_bytes() if path.exists() else b""
    if found == wanted.encode():
        return ""
    now = wanted.splitlines()
    there = found.decode("utf-8", "replace").splitlines()
    lines = list(difflib.unified_diff(there, now, "the file", "extracted now", n=1, lineterm=""))
    omitted = len(lines) - DIFFERENCE_LINES
    more = [f"... and {omitted} more lines"] if omitted > 0 else []
    return "\n".join(lines[:DIFFERENCE_LINES] + more) or "only the ends of lines differ"


# Each extracted file, and what extracts it, alone or with others.
MAKERS: dict[Path, Callable[[], dict[Path, str]]] = {
    extraction.TARGET: lambda: {extraction.TARGET: extraction.extract_kernel()},
    c_extraction.HEADER: c_extraction.extract,
    c_extraction.SOURCE: c_extraction.extract,
}


def main(arguments: Sequence[str]) -> int:
    """Run the command; 1 if a file differs from what is extracted by a byte."""
    parser = argparse.ArgumentParser(prog="extract", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument(
        "--root", type=Path, default=ROOT, metavar="DIRECTORY", help="where the files are"
    )
    known = {in_tree(path): path for path in MAKERS}
    parser.add_argument("files", nargs="*", metavar="FILE", help="all of them unless given")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.files} - known.keys()):
        parser.error(f"{', '.join(unknown)}: expected one of {', '.join(known)}")
    chosen = [known[name] for name in options.files or known]
    try:
        texts = [make() for make in dict.fromkeys(MAKERS[path] for path in chosen)]
    except (closed.ToolError, OSError) as error:
        print(f"extraction: {error}", file=sys.stderr)
        return 1
    wanted = {path: text for made in texts for path, text in made.items() if path in chosen}
    differs = [
        name
        for name, path in known.items()
        if path in wanted and written(options, name, wanted[path])
    ]
    return 1 if differs else 0


def written(options: argparse.Namespace, name: str, text: str) -> bool:
    """Write a file, or tell whether it differs, and how."""
    target: Path = options.root / name
    if not options.check:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        return False
    said = difference(target, text)
    if said:
        print(
            f"{said}\n\n{target.name} is not what Why3 extracts from the sources. "
            "Run `make extract`; the file is never edited by hand.",
            file=sys.stderr,
        )
    return bool(said)
