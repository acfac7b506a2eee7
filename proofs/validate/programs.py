"""The programs of the kernel: the arguments that each is run on, and what its contract says of it.

The arguments come from the types in WhyML. The length of a sequence is known, up to a bound, and
its integers are unknown. A program that moves elements is run on known sizes and unknown elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from types import ModuleType
from typing import Any, cast

from gate import extraction
from gate.closed import ROOT, ToolError
from gate.program import Program as Tool
from gate.terms import Contract, Kind, Theories
from validate.formulas import Formulas
from validate.kernel import Element
from validate.values import mapped

Arguments = tuple[Any, ...]


class AnyInteger:
    """Stands for an integer that is not known."""

    def __repr__(self) -> str:
        return "?"


ANY = AnyInteger()

# Shapes in a list; the largest rank with the largest size, where elements are moved, and where they
# are of several tensors, of which there are two.
NUMBER, MOVED, OF_SEVERAL = 3, ((3, 2), (2, 3)), ((2, 2),)

# Their rank is unknown. The rank of another program decides how often its loop turns: it is known.
OF_ANY_RANK = ("check_axes", "check_distinct")

# On an axis these take a path for each way in which symbols can be alike: axes are few, or tensors.
OF_FEW_SYMBOLS = {
    "shape_of_numbers": (2, NUMBER),
    "symbolic_sizes": (2, NUMBER),
    "symbolic_conditions": (2, NUMBER),
    "symbolic_zeros": (1, 2),
}

# What these call is answered by its contract, which is proved in the same run: so paths are few.
BY_CONTRACT = {
    "broadcast_shapes": "first_violation",
    "broadcast_views": "first_violation",
    "numpy_broadcast_shapes": "first_mismatch",
}


@dataclass(frozen=True)
class Scope:
    """How large arguments are: a sequence, a list of them, data; and the integers in them."""

    rank: int
    number: int
    length: int
    integers: tuple[Any, ...] = (ANY,)


def values(kind: Kind, scope: Scope, kernel: ModuleType) -> list[Any]:
    """Give the values of a type: an integer is any, or each that is small."""
    inside = [values(each, scope, kernel) for each in kind.inside]
    match kind.name:
        case "integer":
            return list(scope.integers)
        case "anything":
            return [Element]
        case "nothing":
            return [None]
        case "sequence" | "list" as name:
            lengths = {"integer": scope.rank, "anything": scope.length}
            largest = lengths.get(kind.inside[0].name, scope.number)
            made = tuple if name == "sequence" else list
            return [made(each) for n in range(largest + 1) for each in product(*inside, repeat=n)]
        case "tuple":
            return list(product(*inside))
        case "one of":
            return [value for case in inside for value in case]
    return [getattr(kernel, kind.name)(*given) for given in product(*inside)]


class Program(Contract):
    """A program of a kernel, with its contract."""

    def __init__(self, facts: Mapping[str, Any], theories: Theories, kernel: ModuleType) -> None:
        super().__init__(facts, theories)
        self.kernel = kernel
        if self.untried or facts["writes"]:
            what = "; ".join(self.untried) or "it changes its arguments: not supported"
            raise ToolError(f"{self.name}: {what}")

    @property
    def moves(self) -> bool:
        """Whether it moves elements."""
        return any(each.name == "anything" for kind in self.types for each in kind.within())

    @property
    def several(self) -> bool:
        """Whether it is given several shapes."""
        inside = (each for kind in self.types for each in kind.within())
        return any(k.name == "sequence" == k.inside[0].name for k in inside if k.inside)

    def scopes(self, bound: int) -> list[Scope]:
        """Say how large arguments are, for ranks up to a bound."""
        if not self.moves:
            most_axes, number = OF_FEW_SYMBOLS.get(self.name, (bound, NUMBER))
            return [Scope(min(bound, most_axes), number, 0)]
        most = {(min(bound, r), min(bound, s)) for r, s in (OF_SEVERAL if self.several else MOVED)}
        # Only where there are several are negative sizes not excluded.
        least = -1 if self.several else 0
        return [Scope(r, 2, s**r + 1, tuple(range(least, s + 1))) for r, s in sorted(most)]

    def forms(self, bound: int) -> Iterator[Arguments]:
        """Give the forms of arguments up to a rank."""
        for scope in self.scopes(bound):
            of_rank = () if self.name in OF_ANY_RANK else ("rank", "axis")
            given = [
                range(-1, bound + 3) if name in of_rank else values(kind, scope, self.kernel)
                for name, kind in zip(self.parameters, self.types, strict=True)
            ]
            for arguments in product(*given):
                numbers = count()

                def apart(value: Any, _: str, numbers: Iterator[int] = numbers) -> Any:
                    return Element(f"x{next(numbers)}") if value is Element else value

                yield mapped(arguments, apart)

    def about(self, bound: int) -> str:
        """Say in words how large arguments are."""

        def words(scope: Scope) -> str:
            sizes = f", sizes {scope.integers[0]} to {scope.integers[-1]}" if self.moves else ""
            return f"rank up to {scope.rank}{sizes}"

        return "; ".join(map(words, self.scopes(bound)))


def contracts() -> dict[str, Any]:
    """Ask whycontract for the contracts of the kernel and the definitions that they need."""
    # The programs that all others of the kernel use stand first among them.
    modules = ("kernel.violation.COPViolation", *extraction.MODULES)
    return cast(dict[str, Any], Tool(ROOT, "whycontract").ask("programs", *modules))


def programs(facts: Mapping[str, Any], kernel: ModuleType) -> list[Program]:
    """Make the programs of what whycontract says of their contracts."""
    formulas = Formulas(facts["definitions"], lambda name: getattr(kernel, name))
    return [Program(found, formulas, kernel) for found in facts["programs"]]
