"""The programs of the kernel, with their arguments and contracts.

The types in WhyML give the arguments: sequences of each length up to a bound, of unknown integers.
The validation skips programs that move elements: small cases of integers suffice for them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import product
from types import ModuleType
from typing import Any, cast

from gate import extraction
from gate.closed import ROOT, ToolError
from gate.program import Program as Tool
from gate.terms import Contract, Kind, Theories
from validate.paths import Number


class AnyInteger:
    """Stands for an unknown integer."""

    def __repr__(self) -> str:
        return "?"


ANY = AnyInteger()

# Several shapes: the largest rank, and their number. At rank 2, Python's axis before the first is
# the last one; so there are shapes of rank 3, too.
SEVERAL = ((2, 3), (3, 2))

# These take arguments of unknown rank. In other programs a loop counts up to the rank.
OF_ANY_RANK = ("check_axes", "check_distinct")

# The first has a path for each partition into equal symbols; two axes are too few for the second.
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
    # The programs that all others of the kernel use come first.
    modules = ("kernel.violation.COPViolation", *extraction.MODULES)
    return cast(dict[str, Any], Tool(ROOT, "whycontract").ask("programs", *modules))


def programs(facts: Mapping[str, Any], kernel: ModuleType) -> list[Program]:
    """Make the programs from whycontract's facts."""
    theories = OfUnknown(facts["definitions"], lambda name: getattr(kernel, name))
    return [Program(found, theories, kernel) for found in facts["programs"]]
