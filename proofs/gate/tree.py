"""What belongs in the folders of a tree that is judged; what else is there, nobody looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gate.closed import run
from gate.facts import Failure

GIT = ("/usr/bin/git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false")

# What is made beside the sources, where the package is installed for the tests.
MADE = {"python/whycast.egg-info", "python/whycast/_native.abi3.so"}

# All that the folders beside the theories have, but for what is below whycast/.
TOP = {"c": "example.c whycast.c whycast.h", "python": "BENCHMARKS.md _whycast_pytest.py whycast"}

# What is below it: modules and folders of these, and what no import finds.
MODULE = ".py"
DATA = (".c", ".json", ".pyi", ".typed")


def faults(root: Path) -> list[Failure]:
    """Find files that have no business where they are."""
    return [*theory_faults(root), *list_faults(root), *tracked_faults(root)]


def below(folder: Path) -> list[Path]:
    """Give what is in a folder; links are refused by the judge wherever they are."""
    return [path for path in sorted(folder.rglob("*")) if not path.is_symlink()]


def theory_faults(root: Path) -> Iterator[Failure]:
    """Find what is no theory, in the folder of those."""
    for path in below(root / "why3"):
        name = path.relative_to(root).as_posix()
        if not path.is_dir() and path.suffix != ".mlw" and name != "why3/trace.toml":
            what = "is no theory: why3/ has theories, trace.toml and nothing else"
            yield Failure(name, "", what)


def list_faults(root: Path) -> Iterator[Failure]:
    """Find what may hide a file of the package or of the C.

    Of two modules of one name, Python takes the folder or the library; of two headers, a
    compiler takes the one that is nearer.
    """
    for folder, names in TOP.items():
        for path in sorted((root / folder).glob("*")):
            inside = path.relative_to(root).as_posix()
            if path.name not in (*names.split(), "__pycache__") and inside not in MADE:
                yield Failure(inside, "", f"is a strange file: expected {names} in {folder}/")
    for path in below(root / "python"):
        inside = path.relative_to(root).as_posix()
        if not inside.startswith("python/whycast/") or "__pycache__" in path.parts:
            continue
        if inside in MADE or path.suffix in DATA:
            continue
        if not path.is_dir() and path.suffix != MODULE:
            yield Failure(inside, "", "is no module: it may hide another")
        elif path.is_dir() and path.with_suffix(MODULE).exists():
            yield Failure(inside, "", f"hides {path.name}{MODULE}")


def tracked_faults(root: Path) -> Iterator[Failure]:
    """Find what a clone brings along of what is only ever made in it."""
    if not has_git(root):
        return
    for name in run(*GIT, "ls-files", "-z", "--", "build", ".venv", cwd=root).split("\0"):
        if name:
            yield Failure(name, "", "is tracked by git: what is below it is made here, or not run")


def has_git(root: Path) -> bool:
    """Tell whether git knows the tree; an archive of it has no files that somebody tracks."""
    return (root / ".git").exists()
