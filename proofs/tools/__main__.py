"""Run a command of the tools: `python3 -I -B -X pycache_prefix=/dev/null proofs/tools COMMAND`.

These options, and the line below for whoever leaves the last one out, keep what a variable, a
user's own packages or a __pycache__ would put in the place of the modules here.
"""

import importlib
import os
import signal
import sys

sys.pycache_prefix = os.devnull

COMMANDS = {
    "install": "install:main",
    "extract": "extract:main",
    "gate": "gate:main",
    "update": "gate:update",
    "seal": "gate:seal",
    "mutants": "mutants:main",
    "validate": "validate:main",
    "doc": "doc:main",
    "contracts": "contracts:main",
    "interpret": "interpreter:main",
}


def main() -> int:
    """Hand the arguments to the command that comes first among them."""
    if sys.version_info[:2] != (3, 11):
        sys.exit(
            "toolchain: Python 3.11 is missing (this is Python {}.{})".format(*sys.version_info)
        )
    if sys.argv[1:2] == [] or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: {sys.argv[0]} {{{','.join(COMMANDS)}}} ...")
    # Whoever is asked to end ends what was started first, as for Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    module, _, function = COMMANDS[sys.argv[1]].partition(":")
    # The packages that the others import are there once `install` has run.
    tool_error = importlib.import_module("assurance.closed").ToolError
    command = getattr(importlib.import_module(f"assurance.{module}"), function)
    try:
        return int(command(sys.argv[2:]))
    except tool_error as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
