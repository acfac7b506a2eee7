"""Run a command of the tools: `python3 -I -S -B -X pycache_prefix=/dev/null FILE COMMAND`.

With these options Python loads its own library first, then the tools, whose folders contain no
other file, then the pinned wheels in build/wheels. A command that judges proofs loads nothing from
.venv, python/ or tests/.
"""

import importlib
import os
import re
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
    "seal": "evidence.review:main",
    "pack": "evidence.pack:main",
    "tested": "gate.trace:tested",
    "pin": "gate.binaries:pin",
    "mutants": "evidence.mutants:main",
    "certify": "certificates.command:main",
    "record": "evidence.records:main",
    "archive": "evidence.archive:main",
    "validate": "validate.command:main",
    "doc": "evidence.doc:main",
    "sonnx": "evidence.kit:main",
}
OF_THE_PACKAGE = {"validate", "doc", "sonnx"}

ROOT = Path(__file__).resolve().parents[1]

# FILES: what these folders may contain; other files could hide a module, a C header or a theory.
# Python reads no __pycache__.
FILES = re.compile(
    r"""tests/(\w+/)*\w+\.(py|c)|tests/requirements(-[a-z-]+)?\.txt
    |tests/(c/(equivalent_c|misra)\.toml|peers/(deviations\.json|symbolic\.json|\w+\.txt))
    |why3/(([a-z][a-z0-9_]*/)*[a-z][a-z0-9_]*\.mlw|trace\.toml)
    |c/(CMakeLists\.txt|INTEGRATION\.md|examples?\.c|whycast\.[ch])
    |python/(BENCHMARKS\.md|whycast\.egg-info/.*|whycast/_native\.abi3\.so)
    |python/whycast/(\w+/)*\w+\.(py|pyi|c|typed)
    |python/doc/(\w+/)*\w+\.(py|md|rst|svg|css|js|jsonl|onnxtxt)
    |proofs/((run|install|verdict)\.py|[\w-]+\.md|sessions/.*)
    |proofs/(claims\.lock|signatures\.toml|lanes\.json)
    |proofs/gate/([\w-]+\.(py|toml|txt|drv|mlw)|why3\.conf\.in|why3/(\w+|api/[\d.]+)\.ml)
    |proofs/gate/(extraction/\w+\.(ml|drv)|contract/\w+\.ml)
    |proofs/(certify|certificates)/\w+\.py
    |proofs/(search/\w+\.ml|validate/\w+\.py|evidence/(\w+\.py|replay))""",
    re.ASCII | re.VERBOSE,
)

# MADE: generated files. TOP: the only files at the top; others could be settings of git or a tool.
MADE = re.compile(r"python/(whycast\.egg-info/.*|whycast/_native\.abi3\.so)")
TOP = re.compile(
    r"""\.ci/\w+|\.gitignore|\.pre-commit-config\.yaml|(CHANGELOG|CONTRIBUTING|README)\.md
    |LICENSE|MANIFEST\.in|Makefile|pyproject\.toml|setup\.py""",
    re.VERBOSE,
)


def strange(*tops: str) -> list[str]:
    """List unexpected files and links in some folders."""
    link = "is a symbolic link: expected the file itself"
    found = [f"{top}: {link}" for top in tops if (ROOT / top).is_symlink()]
    for base, folders, files in (each for top in tops for each in os.walk(ROOT / top)):
        inside = Path(base).relative_to(ROOT).as_posix()
        folders[:] = sorted({*folders} - {"__pycache__"})
        for name in (*folders, *sorted(files)):
            path = f"{inside}/{name}"
            if Path(base, name).is_symlink():
                found.append(f"{path}: {link}")
            elif name in files and not FILES.fullmatch(path):
                found.append(f"{path}: does not belong here: expected what run.py lists")
            elif f"{name}.py" in files and Path(base, name, "__init__.py").exists():
                found.append(f"{path}: hides {name}.py")
    return found


def main() -> int:
    """Run the command that the first argument names."""
    if sys.version_info[:2] < (3, 10):  # noqa: UP036 (an older Python may run this)
        sys.exit("toolchain: Python 3.10 is the oldest (this is {}.{})".format(*sys.version_info))
    if not (sys.flags.isolated and sys.flags.no_site):
        sys.exit(f"{sys.argv[0]}: other modules may come first: start it with `python3 -I -S -B`")
    if sys.argv[1:2] == [] or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: {sys.argv[0]} {{{','.join(COMMANDS)}}} ...")
    if found := strange("proofs"):
        sys.exit("\n".join(["toolchain: proofs/ has unexpected files", *found]))
    # SIGTERM raises KeyboardInterrupt, like Ctrl-C, so that started processes end first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.path.append(str(ROOT / "proofs"))
    toolchain = importlib.import_module("gate.toolchain")
    name = sys.argv[1]
    module, _, function = COMMANDS[name].partition(":")
    try:
        # `install` provides the packages that other commands import.
        if name in OF_THE_PACKAGE:
            sys.path += toolchain.PACKAGE
        elif name != "install":
            sys.path += toolchain.wheels()
        command = getattr(importlib.import_module(module), function)
        return int(command(sys.argv[2:]))
    except (toolchain.ToolError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
