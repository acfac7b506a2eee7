"""Build and run `whygate`, the OCaml program that sees theories and sessions as Why3 does."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "gate"
TOOL = BUILD / "whygate"
WHY3_CONF = ROOT / "build" / "why3.conf"

# All warnings are errors but five about style: fragile matching, fields left out of a record
# pattern, names found by their type, module interfaces that are not written.
WARNINGS = "+a-4-9-40-41-42-44-45-70"


def sources_hash() -> str:
    """Hash what the program is made of; dates say nothing after a checkout."""
    total = hashlib.sha256(WARNINGS.encode())
    for source in sorted(SOURCES.glob("*.ml")):
        total.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return total.hexdigest()


def build() -> None:
    """Compile the program, unless it was compiled from these very sources."""
    stamp = BUILD / "whygate.sha256"
    wanted = sources_hash()
    if TOOL.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    objects = BUILD / "objects"
    objects.mkdir(exist_ok=True)
    for stale in objects.iterdir():
        stale.unlink()
    for source in SOURCES.glob("*.ml"):
        (objects / source.name).write_bytes(source.read_bytes())
    names = [source.name for source in sorted(SOURCES.glob("*.ml"))]
    order = subprocess.run(
        ["ocamlfind", "ocamldep", "-package", "why3", "-sort", *names],
        cwd=objects,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split()
    subprocess.run(
        ["ocamlfind", "ocamlopt", "-w", WARNINGS, "-warn-error", "+a"]
        + ["-package", "why3,unix", "-linkpkg", *order, "-o", str(TOOL)],
        cwd=objects,
        check=True,
    )
    stamp.write_text(wanted)


def theory_files() -> list[str]:
    """Give the theories' paths, from the root of the tree."""
    return [f"why3/{path.name}" for path in sorted((ROOT / "why3").glob("*.mlw"))]


def command(name: str, *arguments: str) -> list[str]:
    """Put a command line for the program together; it runs in `ROOT`."""
    return [str(TOOL), str(WHY3_CONF), name, *arguments]


def update(theories: list[str], options: list[str]) -> int:
    """Bring the sessions up to date; 0 if all is proved."""
    build()
    return subprocess.run(command("update", *options, *theories), cwd=ROOT, check=False).returncode
