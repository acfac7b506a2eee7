"""The programs of the kernel, and the validation of one program on arguments of one form.

The types in WhyML determine the arguments: sequences of unknown integers, of each length up to a
bound. The validation skips programs that move elements: small cases of integers suffice for them.
It follows each path of the others to its end. Computing the contract on the same integers extends a
path by comparisons, until each condition is true, false, or without a value.
"""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import product
from types import FrameType, ModuleType
from typing import Any, cast

import z3

from gate import extraction
from gate.closed import ROOT, ToolError
from gate.program import Program as Tool
from gate.terms import Condition, Contract, Kind, Theories, UndecidedError, UndefinedError, fits
from validate.paths import Explorer, Number, Path, Unknown, left_out

# An unknown integer in a form of arguments.
ANY: Any = type("AnyInteger", (), {"__repr__": lambda _: "?"})()

# For several shapes: the largest rank, and the most shapes. Rank 3 shows a wrong index -1, which
# may pass as axis 1 at rank 2.
SEVERAL = ((2, 3), (3, 2))

# The `rank` or `axis` of these programs is unknown. In others a loop counts up to the rank.
OF_ANY_RANK = ("check_axes", "check_distinct")

# symbolic_zeros has a path for each partition into equal symbols; loop_plan needs three axes.
OTHERS = {"symbolic_zeros": ((1, 2),), "loop_plan": ((3, 3), (4, 2))}


def values(kind: Kind, rank: int, number: int, kernel: ModuleType) -> list[Any]:
    """List the values of a type; a sequence of integers has all lengths up to a rank."""
    inside = [values(each, rank, number, kernel) for each in kind.inside]
    match kind.name:
        case "integer":
            return [ANY]
        case "nothing":
            return [None]
        case "sequence" | "list" as name:
            largest = rank if kind.inside[0].name == "integer" else number
            made = tuple if name == "sequence" else list
            return [made(each) for n in range(largest + 1) for each in product(*inside, repeat=n)]
        case "tuple":
            return list(product(*inside))
        case "one of":
            return [value for case in inside for value in case]
    return [getattr(kernel, kind.name)(*given) for given in product(*inside)]


class OfUnknown(Theories):
    """The theories, also on unknown integers."""

    def is_plain(self, value: Any) -> bool:
        """Recognize a number or truth value."""
        return type(value) is Number or super().is_plain(value)

    def quantified(self, all_of: bool, holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
        """Check all, or some, integers between bounds; decide the values of the bounds."""
        bounds = (each.__index__() if type(each) is Number else each for each in (low, high))
        return super().quantified(all_of, holds, *bounds)


class Program(Contract):
    """A program of a kernel, with its contract."""

    def __init__(self, facts: Mapping[str, Any], theories: Theories, kernel: ModuleType) -> None:
        super().__init__(facts, theories)
        self.kernel = kernel
        if self.untried or facts["writes"]:
            what = "; ".join(self.untried) or "it changes its arguments: not supported"
            raise ToolError(f"{self.name}: {what}")
        within = [each for kind in self.types for each in kind.within()]
        self.moves = any(each.name == "anything" for each in within)
        self.several = any(k.name == "sequence" == k.inside[0].name for k in within if k.inside)

    def forms(self, bound: int) -> Iterator[tuple[Any, ...]]:
        """Yield the forms of arguments up to a rank, each once."""
        most = OTHERS.get(self.name, SEVERAL) if self.several else ((bound, bound),)
        of_rank = () if self.name in OF_ANY_RANK else ("rank", "axis")
        forms: dict[str, tuple[Any, ...]] = {}
        for rank, number in most:
            given = [
                range(-1, bound + 3)
                if name in of_rank
                else values(kind, min(rank, bound), number, self.kernel)
                for name, kind in zip(self.parameters, self.types, strict=True)
            ]
            forms |= {str(each): each for each in product(*given)}
        return iter(forms.values())


def mapped(
    value: Any, leaf: Callable[[Any, str], Any], name: str = "", module: ModuleType | None = None
) -> Any:
    """Replace leaves by `leaf(value, place)`; classes become those of `module`, if given."""
    kind = type(value)
    if kind in (tuple, list):
        return kind(mapped(part, leaf, f"{name}[{k}]", module) for k, part in enumerate(value))
    if is_dataclass(kind):
        made = getattr(module, kind.__name__) if module else kind
        names = [field.name for field in fields(kind)]
        return made(*(mapped(getattr(value, n), leaf, f"{name}.{n}", module) for n in names))
    return leaf(value, name)


def contracts() -> dict[str, Any]:
    """Ask whycontract for the contracts of the kernel, and their definitions."""
    # Programs that other programs of the kernel use come first.
    modules = ("kernel.violation.COPViolation", *extraction.MODULES)
    return cast(dict[str, Any], Tool(ROOT, "whycontract").ask("programs", *modules))


def programs(facts: Mapping[str, Any], kernel: ModuleType) -> list[Program]:
    """Make the programs from whycontract's facts."""
    theories = OfUnknown(facts["definitions"], lambda name: getattr(kernel, name))
    return [Program(found, theories, kernel) for found in facts["programs"]]


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
                result.fault = "some input takes none of the paths" if left_out(paths) else ""
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
            return "the contract allows no such end"
        if self.hold(conditions, [*given, self.end.value]):
            return ""
        return "not " + " and ".join(f"{each.kind} {{ {each.text} }}" for each in conditions)

    def hold(self, conditions: Sequence[Condition], given: Sequence[Any]) -> bool:
        """Decide conditions in turn: a condition may need those before it."""
        return all(condition.holds(*given) for condition in conditions)

    def call(self) -> Outcome:
        """Call the program; return its end, or raise Unknown after SECONDS."""
        signal.signal(signal.SIGVTALRM, overdue)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, 0.1)
        try:
            return Outcome(getattr(self.kernel, self.program.name)(*self.arguments()))
        except Exception as error:
            kind = type(error)
            if getattr(self.kernel, kind.__name__, None) is not kind:
                return Outcome(str(error), f"builtins.{kind.__name__}")
            # An exception without a value must have no arguments.
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
    """End a path; in Z3's code, whose destructors lose exceptions, wait for the next alarm."""
    while frame is not None:
        if frame.f_globals["__name__"].startswith("z3."):
            return
        frame = frame.f_back
    raise Unknown(f"a path takes more than {SECONDS} s")
