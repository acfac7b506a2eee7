"""Mutants of the extracted kernel: `make mutants-python`.

The operators of Cosmic Ray change python/whycast/_kernel.py in one place at a time: a number, a
comparison, an operation, a condition, a decorator, an exception, a loop. Each mutant has to fail
small_cases.py, in a process of its own, and each of the driver's expressions, changed likewise, its
contract in tests/extraction; or to be listed in equivalent.toml with the reason why no
test can tell it from the kernel; one that is listed and fails, or is no mutant, fails the run too.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import resource
import signal
import sys
import time
import tomllib
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "python" / "whycast" / "_kernel.py"
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
REPORT = ROOT / "build" / "mutation.json"

# A mutant that runs longer, in seconds, or takes more memory, is noticed.
PATIENCE = 30
ROOM = 2**30

# These want the names of variables; there is nothing to say which.
WITHOUT = ("core/VariableReplacer", "core/VariableInserter")


# The definition or the symbol of the driver, what stood there, and what it became.
Key = tuple[str, str, str]


class Mutant(NamedTuple):
    """A change: the definition that it is in, the line before and after, and the whole text."""

    where: str
    old: str
    new: str
    operator: str
    text: str

    @property
    def key(self) -> Key:
        """What a listed mutant is found by."""
        return self.where, self.old, self.new


def parts(text: str) -> Iterator[tuple[str, int, int]]:
    """Give the definitions of a file, and the lines that they stand on: from, and up to."""
    for node in ast.parse(text).body:
        name = getattr(node, "name", None) or ast.unparse(node).partition("\n")[0]
        decorators = getattr(node, "decorator_list", [])
        assert node.end_lineno
        yield name, min([node.lineno, *(each.lineno for each in decorators)]) - 1, node.end_lineno


def operators() -> list[tuple[str, Any]]:
    """Give the operators of Cosmic Ray with their names."""
    plugins: Any = importlib.import_module("cosmic_ray.plugins")
    names = sorted({*plugins.operator_names()} - {*WITHOUT})
    return [(name, plugins.get_operator(name)()) for name in names]


def mutants(text: str) -> Iterator[Mutant]:
    """Give all mutants of a file, definition by definition."""
    lines = text.splitlines(keepends=True)
    mutating: Any = importlib.import_module("cosmic_ray.mutating")
    changes = operators()
    for where, start, end in parts(text):
        own = "".join(lines[start:end])
        for name, operator in changes:
            occurrence = 0
            while (changed := mutating.mutate_code(own, operator, occurrence)) is not None:
                occurrence += 1
                before, after = own.splitlines(), changed.splitlines()
                if before == after:
                    continue
                old, new = difference(before, after)
                whole = "".join(lines[:start]) + changed + "".join(lines[end:])
                yield Mutant(where, old, new, name.removeprefix("core/"), whole)


def difference(before: list[str], after: list[str]) -> tuple[str, str]:
    """Give what lines were, and what they became."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return tuple(  # type: ignore[return-value]
        " ".join(each.strip() for each in side[start : len(side) - end]) for side in (before, after)
    )


def survives(text: str, parts: Collection[str] | None = None) -> bool:
    """Whether a kernel of that text passes; what it says and does is for a process of its own."""
    name = "whycast._mutant"
    small_cases: Any = importlib.import_module("small_cases")
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        with warnings.catch_warnings():
            # `is 0` for `== 0`: Python itself says that it is wrong.
            warnings.simplefilter("error")
            exec(compile(text, name, "exec"), module.__dict__)
            small_cases.check(module, parts)
    except Exception:
        return False
    return True


def start(mutant: Mutant, called: Mapping[str, Collection[str]]) -> int:
    """Start the process of a mutant; it ends with 0 if nothing is noticed.

    A part that never calls a function does not see what has become of it.
    """
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(PATIENCE)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    room = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    code = 1
    try:
        code = 0 if survives(mutant.text, called.get(mutant.where)) else 1
    finally:
        os._exit(code)


def survivors(
    found: Iterable[Mutant], called: Mapping[str, Collection[str]], processes: int
) -> Iterator[tuple[Mutant, bool]]:
    """Try mutants, some at once; say of each whether it survives."""
    running: dict[int, Mutant] = {}
    for mutant in found:
        running[start(mutant, called)] = mutant
        if len(running) >= processes:
            yield ended(running)
    while running:
        yield ended(running)


def ended(running: dict[int, Mutant]) -> tuple[Mutant, bool]:
    """Wait for a process."""
    child, status = os.wait()
    return running.pop(child), status == 0


def listed() -> dict[Key, str]:
    """Read the mutants that are known to be equivalent, with the reasons."""
    text = EQUIVALENT.read_text(encoding="utf-8")
    return {
        (where, change["old"], new): change["why"]
        for where, changes in tomllib.loads(text).items()
        for change in changes
        for new in change["new"]
    }


class Verdict(NamedTuple):
    """What came of the mutants of a file, by their keys."""

    file: str
    tried: list[Key]
    alive: list[Key]
    unlisted: list[Key]
    stale: list[Key]

    def __str__(self) -> str:
        lines = [f"survives, and is not listed: {_shown(key)}" for key in self.unlisted]
        lines += [f"listed, and noticed or no mutant: {_shown(key)}" for key in self.stale]
        noticed = len(self.tried) - len(self.alive)
        lines.append(
            f"{len(self.tried)} mutants of {self.file}: {noticed} noticed, "
            f"{len(self.alive) - len(self.unlisted)} equivalent, {len(self.unlisted)} that "
            f"survive, {len(self.stale)} wrongly listed"
        )
        return "\n".join(lines)


def _shown(key: Key) -> str:
    where, old, new = key
    return f"{where}\n  - {old}\n  + {new}"


def judge(
    file: str, tried: list[Key], alive: list[Key], known: Iterable[Key], *, whole: bool = True
) -> Verdict:
    """Compare what survives with what is listed; of a part, what was not tried may be listed."""
    noticed = {*tried} - {*alive}
    listed = list(known)
    unlisted = [key for key in alive if key not in listed]
    stale = [key for key in listed if key in noticed or (whole and key not in tried)]
    return Verdict(file, tried, alive, unlisted, stale)


def of_the_kernel(options: argparse.Namespace, known: Iterable[Key], *, whole: bool) -> Verdict:
    """Try the mutants of the kernel."""
    text = KERNEL.read_text(encoding="utf-8")
    small_cases: Any = importlib.import_module("small_cases")
    kernel = importlib.import_module("whycast._kernel")
    small_cases.check(kernel)
    called = small_cases.calls_of(kernel)
    every = [each for each in mutants(text) if options.only in (None, each.where)]
    tried = every[:: options.every]
    alive = [each.key for each, alive in survivors(tried, called, options.processes) if alive]
    return judge(KERNEL.name, [each.key for each in tried], alive, known, whole=whole)


def of_the_driver(known: Iterable[Key]) -> Verdict:
    """Try the mutants of the driver."""
    sys.path.append(str(ROOT / "proofs" / "tools"))
    driver_mutants: Any = importlib.import_module("driver_mutants")
    tried = [*driver_mutants.tried([operator for _, operator in operators()])]
    alive = [each[:3] for each in tried if not each.refused]
    return judge("python.drv", [each[:3] for each in tried], alive, known)


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="mutate", description="Try mutants of the kernel.")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="the N-th ones only")
    parser.add_argument("--only", metavar="NAME", help="those of one definition")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    begin = time.monotonic()
    sys.path += [str(ROOT / "tests" / "support")]
    whole = options.every == 1 and options.only is None
    # A symbol of the driver has the name of its module before it.
    known = listed()
    verdicts = [of_the_kernel(options, [key for key in known if "." not in key[0]], whole=whole)]
    if whole:
        verdicts.append(of_the_driver([key for key in known if "." in key[0]]))
    print("\n".join(map(str, verdicts)))
    took = time.monotonic() - begin
    print(f"{took:.0f} s")
    if whole:
        about = {"seconds": round(took, 1), "files": [each._asdict() for each in verdicts]}
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 1 if any(each.unlisted or each.stale for each in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
