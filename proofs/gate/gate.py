"""Find proofs of the theories' goals and keep them in the sessions.

    gate.py --update [theory ...]        find proofs, refresh the sessions
        --only PART                      only goals whose Module.name contains PART
        --quick | --thorough             short limits, no transformations but the split | all limits
        --fresh                          forget the stored proofs
        --retry                          forget which provers failed before (build/gate/failures)
"""

from __future__ import annotations

import argparse
import sys

import prooftool


def chosen(names: list[str]) -> list[str]:
    """Give the theory files of `names` (`shape`, `shape.mlw`, `why3/shape.mlw`), all for none."""
    files = prooftool.theory_files()
    if not names:
        return files
    by_stem = {file.removeprefix("why3/").removesuffix(".mlw"): file for file in files}
    stems = [name.removeprefix("why3/").removesuffix(".mlw") for name in names]
    unknown = [stem for stem in stems if stem not in by_stem]
    if unknown:
        sys.exit(f"no such theory: {', '.join(unknown)}; there are {', '.join(by_stem)}")
    return [by_stem[stem] for stem in stems]


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("theories", nargs="*", metavar="THEORY")
    parser.add_argument("--update", action="store_true", required=True, help="find proofs, refresh the sessions")
    parser.add_argument("--only", metavar="PART", help="only goals whose Module.name contains PART")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="short limits, no transformations")
    effort.add_argument("--thorough", action="store_true", help="all limits for a second family")
    parser.add_argument("--fresh", action="store_true", help="forget the stored proofs")
    parser.add_argument("--retry", action="store_true", help="forget which provers failed before")
    return parser.parse_args(argv)


def update_options(arguments: argparse.Namespace) -> list[str]:
    """Turn our options into those of the program."""
    options = ["--only", arguments.only] if arguments.only else []
    flags = ("quick", "thorough", "fresh", "retry")
    return options + [f"--{flag}" for flag in flags if getattr(arguments, flag)]


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 if all is well."""
    arguments = parse(argv)
    return prooftool.update(chosen(arguments.theories), update_options(arguments))


if __name__ == "__main__":
    sys.exit(main())
