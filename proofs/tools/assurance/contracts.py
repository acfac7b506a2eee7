"""The contracts of the extracted programs, run: each clause is a Python predicate.

The predicates come from the typed WhyML, by whygate: nobody writes them down a
second time. What `requires`, `ensures` and `raises` say of a call is then asked of its arguments
and of its outcome, with the definitions of the theories, ghost functions included.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from assurance import clauses, closed, extraction
from assurance.whygate import Whygate

ROOT = extraction.ROOT
CONFIGURATION = ROOT / "build" / "why3.conf"

# The programs that all others of the kernel use stand first among them.
MODULES = ("kernel.violation.COPViolation", *extraction.MODULES)

# In the docstring of an extracted function.
WHYML_NAME = re.compile(r"^WhyML: (\S+)$", re.MULTILINE)


class BrokenContractError(AssertionError):
    """A call of a program that its contract does not allow."""


class Outcome(NamedTuple):
    """How a call ends: with a value, or with an exception."""

    value: object = None
    error: Exception | None = None


@dataclass(frozen=True)
class Clause:
    """One conjunct of a contract; without `holds` it is not executable, for a reason."""

    kind: str
    exception: str | None
    text: str
    reason: str | None
    holds: Callable[..., bool] | None

    def false_of(self, *values: object) -> str | None:
        """Say what is wrong with the clause for these values; nothing if it holds."""
        if self.holds is None:
            return None
        name = " ".join(filter(None, (self.kind, self.exception)))
        try:
            value = self.holds(*values)
        except Exception as error:
            return f"{name} {{ {self.text} }} has no value: {type(error).__name__} {error}"
        return None if value is True else f"{name} {{ {self.text} }} is not true"


@dataclass(frozen=True)
class Contract:
    """The contract of a program, and what tells whether values are of its types."""

    name: str
    arguments: tuple[str, ...]
    argument_types: tuple[clauses.Check, ...]
    result_type: clauses.Check
    exceptions: dict[str, clauses.Check]
    exception_names: dict[str, str]
    clauses: tuple[Clause, ...]

    def of_kind(self, kind: str, exception: str | None = None) -> list[Clause]:
        """Give the clauses of one kind."""
        return [
            clause
            for clause in self.clauses
            if clause.kind == kind and clause.exception == exception
        ]

    def refuses(self, arguments: Sequence[object]) -> str | None:
        """Say why a call is not allowed; nothing if it is."""
        if len(arguments) != len(self.arguments):
            return "it takes another number of arguments"
        for name, check, value in zip(self.arguments, self.argument_types, arguments, strict=True):
            if not check(value):
                return f"{name} is of another type"
        return self.first_false("requires", None, arguments)

    def first_false(self, kind: str, exception: str | None, values: Sequence[object]) -> str | None:
        """Ask the clauses of a kind in their order, up to the first that is not true."""
        found = (clause.false_of(*values) for clause in self.of_kind(kind, exception))
        return next(filter(None, found), None)

    def excludes(self, arguments: Sequence[object], outcome: Outcome) -> str | None:
        """Say why an allowed call may not end as it did; nothing if it may."""
        if outcome.error is None:
            if not self.result_type(outcome.value):
                return "the result is of another type"
            return self.first_false("ensures", None, [*arguments, outcome.value])
        name = type(outcome.error).__name__
        value = getattr(outcome.error, "value", None)
        if type(outcome.error) is not getattr(self.kernel(), name, None):
            return f"{name} is no exception of the kernel"
        if name not in self.exceptions:
            return f"it does not raise {name}"
        if not self.exceptions[name](value):
            return f"the value of {name} is of another type"
        return self.first_false("raises", name, [*arguments, value])

    @staticmethod
    def kernel() -> ModuleType:
        """Give the module that the types and exceptions come from."""
        return load_kernel()


def load_kernel() -> ModuleType:
    """Import the extracted programs of this tree."""
    if (package := str(ROOT / "python")) not in sys.path:
        sys.path.insert(0, package)
    return importlib.import_module("whycast._kernel")


def ask(*modules: str, root: Path = ROOT) -> dict[str, Any]:
    """Give what whygate says of the programs of some modules of a tree."""
    return cast(dict[str, Any], Whygate(ROOT).ask("contracts", "programs", *modules, cwd=root))


def compiled(facts: dict[str, Any], kernel: ModuleType) -> dict[str, Contract]:
    """Make the predicates of what whygate says, by the name of their program in WhyML."""
    names: dict[str, Any] = {**vars(clauses), "kernel": kernel, "Any": Any, "dataclass": dataclass}
    exec(compile(facts["definitions"], "<definitions of the theories>", "exec"), names)

    def clause(found: dict[str, Any]) -> Clause:
        holds = None if found["python"] is None else eval(found["python"], names)
        return Clause(found["kind"], found["exception"], found["text"], found["reason"], holds)

    def contract(found: dict[str, Any]) -> Contract:
        if found["writes"]:
            raise closed.ToolError(f"{found['name']} changes its arguments: not supported")
        return Contract(
            found["name"],
            tuple(found["arguments"]),
            tuple(eval(text, names) for text in found["argument_types"]),
            eval(found["result_type"], names),
            {name: eval(text, names) for name, text in found["exceptions"].items()},
            found["exception_names"],
            tuple(map(clause, found["clauses"])),
        )

    return {found["name"]: contract(found) for found in facts["programs"]}


def programs(kernel: ModuleType) -> dict[str, Callable[..., Any]]:
    """Give the functions of the extracted kernel by their names in WhyML."""
    found: dict[str, Callable[..., Any]] = {}
    for _, function in inspect.getmembers(kernel, inspect.isfunction):
        if name := WHYML_NAME.search(inspect.getdoc(function) or ""):
            found[name[1]] = function
    return found


@functools.cache
def contracts() -> dict[str, Contract]:
    """Give the contracts of all programs of the kernel."""
    found = compiled(ask(*MODULES), load_kernel())
    if there := found.keys() ^ programs(load_kernel()).keys():
        raise closed.ToolError(f"these have no contract, or no Python: {', '.join(sorted(there))}")
    return found


# Calls


def outcome_of(function: Callable[..., object], arguments: Sequence[object]) -> Outcome:
    """Call a program and give how that ends; a broken contract within is no outcome."""
    try:
        return Outcome(value=function(*arguments))
    except BrokenContractError:
        raise
    except Exception as error:
        return Outcome(error=error)


def checked(contract: Contract, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give the program with its contract asked at each call."""

    @functools.wraps(function)
    def program(*arguments: Any) -> Any:
        def broken(reason: str | None) -> None:
            if reason:
                raise BrokenContractError(f"{contract.name}{arguments!r}: {reason}")

        broken(contract.refuses(arguments))
        before = [list(value) for value in arguments if type(value) is list]
        outcome = outcome_of(function, arguments)
        after = [value for value in arguments if type(value) is list]
        broken(None if clauses.identical(before, after) else "its arguments have changed")
        broken(contract.excludes(arguments, outcome))
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    return program


@contextmanager
def watched() -> Iterator[list[str]]:
    """Ask the contract at each call of a program by a name of some module; give the calls.

    The programs call each other through the names of their module, which are replaced as well.
    """
    kernel = load_kernel()
    calls: list[str] = []
    replaced: list[tuple[ModuleType, str, Callable[..., Any]]] = []

    def counted(contract: Contract, function: Callable[..., Any]) -> Callable[..., Any]:
        asked = checked(contract, function)

        @functools.wraps(function)
        def program(*arguments: Any) -> Any:
            calls.append(contract.name)
            return asked(*arguments)

        return program

    there = {
        function: counted(contracts()[name], function)
        for name, function in programs(kernel).items()
    }
    try:
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if inspect.isfunction(value) and value in there:
                    replaced.append((module, name, value))
                    setattr(module, name, there[value])
        yield calls
    finally:
        for module, name, value in replaced:
            setattr(module, name, value)


# The table


class Row(NamedTuple):
    """How many clauses a program has, and how many of them run."""

    program: str
    requires: int
    ensures: int
    raises: int
    run: int
    all: int


def table() -> list[Row]:
    """Count the clauses of each program."""

    def row(name: str, contract: Contract) -> Row:
        kinds = [clause.kind for clause in contract.clauses]
        run = sum(clause.holds is not None for clause in contract.clauses)
        requires, ensures, raises = (
            kinds.count(kind) for kind in ("requires", "ensures", "raises")
        )
        return Row(name, requires, ensures, raises, run, len(kinds))

    return [row(name, contract) for name, contract in contracts().items()]


def not_executable() -> list[tuple[str, Clause]]:
    """Give the clauses that do not run, with their programs."""
    return [
        (name, clause)
        for name, contract in contracts().items()
        for clause in contract.clauses
        if clause.holds is None
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the table, or the Python that the clauses are."""
    parser = argparse.ArgumentParser(prog="contracts", description="Show what of a contract runs.")
    parser.add_argument("--python", action="store_true", help="print the predicates instead")
    options = parser.parse_args(arguments)
    if options.python:
        facts = ask(*MODULES)
        print(facts["definitions"])
        for program in facts["programs"]:
            print(f"\n# {program['name']}")
            for clause in program["clauses"]:
                of = " ".join(filter(None, (clause["kind"], clause["exception"])))
                print(f"# {of}\n{clause['python'] or '# not executable: ' + clause['reason']}")
        return 0
    rows = table()
    width = max(len(row.program) for row in rows)
    print(f"{'program':{width}}  requires  ensures  raises  executable")
    for row in rows:
        counts = f"{row.requires:8}  {row.ensures:7}  {row.raises:6}  {row.run:4} of {row.all}"
        print(f"{row.program:{width}}  {counts}")
    print(f"\n{sum(row.run for row in rows)} of {sum(row.all for row in rows)} clauses run.")
    for name, clause in not_executable():
        print(f"\n{name}: {clause.kind} {{ {clause.text} }}\n  does not run: {clause.reason}")
    return 0
