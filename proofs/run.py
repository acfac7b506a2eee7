"""Run a command of the tools: `python3 -I -S -B -X pycache_prefix=/dev/null FILE COMMAND`.

These options, and the lines below, decide what is loaded: Python's own library first; then the
tools, in whose folders nothing is that is not one; then the wheels in build/wheels, each with the
pinned SHA-256. Nothing is loaded from .venv, python/ or tests/ but by the commands that are to try
the package, and these judge no proof.
"""

import importlib
import os
import signal
import sys
from pathlib import Path

sys.pycache_prefix = os.devnull

COMMANDS = {
    "install": "install:main",
    "extract": "gate.extraction:main",
    "gate": "verdict:gate",
    "check": "verdict:check",
    "update": "verdict:update",
    "seal": "verdict:seal",
    "pin": "gate.binaries:pin",
    "mutants": "evidence.mutants:main",
    "validate": "validate.command:main",
    "doc": "evidence.doc:main",
}
OF_THE_PACKAGE = {"validate", "doc"}

PROOFS = Path(__file__).resolve().parent

# The folders of the tools, and how the names of their files end. Nothing in a __pycache__ is read.
FOLDERS = {
    "": ("/run.py", "/install.py", "/verdict.py", ".md", "/claims.lock", "/mutants.toml"),
    "gate": (".py", ".toml", ".txt", ".in", ".drv", ".mlw"),
    "gate/extraction": (".ml", ".drv"),
    "gate/why3": (".ml",),
    "search": (".ml",),
    "validate": (".py", ".toml", ".ml"),
    "evidence": (".py",),
    "evidence/templates": (".html", ".css", ".js"),
    "evidence/templates/doc": (".html", ".css"),
}


def strange() -> list[str]:
    """List what is in the folders of the tools and is none of them; a module could hide another."""
    found = []
    for base, folders, files in os.walk(PROOFS):
        inside = Path(base).relative_to(PROOFS)
        folders[:] = sorted({*folders} - {"__pycache__", "sessions"})
        found += [inside / name for name in folders if (inside / name).as_posix() not in FOLDERS]
        endings = FOLDERS.get(inside.as_posix().removeprefix("."), ())
        found += [inside / name for name in sorted(files) if not f"/{name}".endswith(endings)]
        found += [inside / name for name in (*folders, *files) if Path(base, name).is_symlink()]
    return [f"proofs/{name.as_posix()}" for name in found]


def main() -> int:
    """Hand the arguments to the command that comes first among them."""
    if sys.version_info[:2] != (3, 11):
        sys.exit(
            "toolchain: Python 3.11 is missing (this is Python {}.{})".format(*sys.version_info)
        )
    if not (sys.flags.isolated and sys.flags.no_site):
        sys.exit(f"{sys.argv[0]}: other modules may come first: start it with `python3 -I -S -B`")
    if sys.argv[1:2] == [] or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: {sys.argv[0]} {{{','.join(COMMANDS)}}} ...")
    if found := strange():
        sys.exit(f"toolchain: no file of the tools: {', '.join(found)}")
    # Whoever is asked to end ends what was started first, as for Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.path.append(str(PROOFS))
    toolchain = importlib.import_module("gate.toolchain")
    name = sys.argv[1]
    module, _, function = COMMANDS[name].partition(":")
    try:
        # The packages that the others import are there once `install` has run.
        if name in OF_THE_PACKAGE:
            sys.path += toolchain.PACKAGE
        elif name != "install":
            sys.path += toolchain.wheels()
        command = getattr(importlib.import_module(module), function)
        return int(command(sys.argv[2:]))
    except toolchain.ToolError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
