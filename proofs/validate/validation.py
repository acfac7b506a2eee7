"""One program on arguments of one form: follow each path to its end, and judge it.

The contract is computed on the same unknown integers and decides their comparisons, too: on a path
of the program and its contract, each condition is true, false, or without a value.
"""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any

import z3

from gate.terms import Condition, UndecidedError, UndefinedError, fits
from validate.paths import Explorer, Number, Path, Unknown, left_out
from validate.programs import ANY, Program, mapped

# Processor time for one path, which takes milliseconds.
SECONDS = 5


@dataclass
class Result:
    """The result of a program on arguments of one form; a fault has a path and an input."""

    program: str
    form: str
    fault: str = ""
    path: list[str] = field(default_factory=list)
    input: str = ""
    got: str = ""
    paths: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The end of a call: a value, or an exception with its contents."""

    value: Any
    error: str = ""

    def __str__(self) -> str:
        return f"raises {self.error}: {self.value}" if self.error else f"{self.value}"


class Validation:
    """A program, on arguments of one form."""

    def __init__(self, program: Program, form: Sequence[Any], kernel: ModuleType) -> None:
        self.program, self.form, self.kernel = program, tuple(form), kernel
        self.explorer = Explorer()
        self.end: Outcome | None = None

    def arguments(self) -> tuple[Any, ...]:
        """Make the arguments: each integer is a variable of Z3, named by its place."""

        def leaf(value: Any, name: str) -> Any:
            return Number(self.explorer, z3.Int(name)) if value is ANY else value

        pairs = zip(self.form, self.program.parameters, strict=True)
        return tuple(mapped(value, leaf, name, self.kernel) for value, name in pairs)

    def run(self) -> Result:
        """Follow all paths up to the first fault."""
        result = Result(self.program.name, str(self.form))
        started, paths = time.process_time(), list[Path]()
        try:
            for path, result.fault in self.explorer.paths(self.judged):
                paths.append(path)
                if result.fault:
                    break
            else:
                result.fault = "the paths are not all there is" if left_out(paths) else ""
        except Unknown as reason:
            result.fault = str(reason)
        except (UndefinedError, UndecidedError) as reason:
            result.fault = f"a condition has no value: {reason}"
        if result.fault:
            result.path = list(map(str, self.explorer.path()))
            if (model := self.explorer.model()) is not None:
                result.input = f"{result.program}{fill(self.arguments(), model)}"
                result.got = str(fill(self.end, model)) if self.end else result.fault
        result.paths, result.seconds = len(paths), time.process_time() - started
        return result

    def judged(self) -> str:
        """Run the program on one path; return the fault of its end, if any."""
        program, given, self.end = self.program, self.arguments(), None
        if not self.hold(program.of_kind("requires"), given):
            return ""
        self.end = self.call()
        kind = program.ends.get(self.end.error)
        if kind is None or not fits(kind, self.end.value, (int, Number)):
            return "the contract has no such end"
        named = "raises" if self.end.error else "ensures"
        conditions = program.of_kind(named, self.end.error or None)
        if not conditions:
            return "the contract says nothing of such an end"
        if self.hold(conditions, [*given, self.end.value]):
            return ""
        return "not " + " and ".join(f"{each.kind} {{ {each.text} }}" for each in conditions)

    def hold(self, conditions: Sequence[Condition], given: Sequence[Any]) -> bool:
        """Decide conditions in turn: one may need those before it."""
        return all(condition.holds(*given) for condition in conditions)

    def call(self) -> Outcome:
        """Call the program; return its end, or raise on a path without one."""
        signal.signal(signal.SIGVTALRM, overdue)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, 0.1)
        try:
            return Outcome(getattr(self.kernel, self.program.name)(*self.arguments()))
        except Exception as error:
            kind = type(error)
            if getattr(self.kernel, kind.__name__, None) is not kind:
                return Outcome(str(error), f"builtins.{kind.__name__}")
            # An exception without a value carries nothing, whatever its arguments.
            return Outcome(getattr(error, "value", error.args or None), kind.__name__)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def fill(value: Any, model: z3.ModelRef) -> Any:
    """Replace unknown integers by the numbers of a model."""

    def leaf(value: Any, _: str) -> Any:
        known = type(value) is not Number
        return value if known else model.eval(value.z3, model_completion=True).as_long()

    return mapped(value, leaf)


def overdue(_: int, frame: FrameType | None) -> None:
    """End a path; Z3's destructors lose exceptions, so there wait for the next alarm."""
    while frame is not None:
        if frame.f_globals["__name__"].startswith("z3."):
            return
        frame = frame.f_back
    raise Unknown(f"a path takes more than {SECONDS} s")
