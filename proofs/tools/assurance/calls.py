"""Calls of the kernel's programs, drawn at random: some that end with a value, some that raise.

Arguments go by their names, which mean the same in all programs. What a contract requires is asked
of its own clauses, and the rest is drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from random import Random
from typing import Any

from assurance.contracts import Contract, load_kernel

Shape = tuple[int, ...]

# The names of the constructors.
MODES = ("Numpy", "Explicit", "Bidirectional")

# How often it is drawn again for a program that requires much.
ATTEMPTS = 1000


class Draw:
    """Arguments of one call, each drawn when it is asked for and kept for the others."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.kept: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.kept:
            self.kept[name] = getattr(self, name)()
        return self.kept[name]

    def likely(self, chance: float = 0.85) -> bool:
        """Draw whether something is as it mostly is."""
        return self.random.random() < chance

    def size(self) -> int:
        """Draw a size, seldom a negative one."""
        return self.random.choice((0, 1, 1, 2, 3, 4) if self.likely(0.97) else (-1,))

    def integers(self, length: int, low: int, high: int) -> Shape:
        """Draw so many integers between bounds, both included."""
        return tuple(self.random.randint(low, high) for _ in range(length))

    def sizes(self) -> Shape:
        """Draw a shape."""
        return tuple(self.size() for _ in range(self.random.randint(0, 4)))

    def near(self, target: Shape) -> Shape:
        """Give a shape that is likely to broadcast to a target."""
        shape = [1 if self.likely(0.4) else size for size in target]
        shape = shape[self.random.randint(0, len(shape)) if self.likely(0.7) else 0 :]
        if not self.likely() and shape:
            shape[self.random.randrange(len(shape))] = self.size()
        if not self.likely(0.95):
            shape = [self.size(), *shape]
        return tuple(shape)

    def wrong(self, length: int) -> int:
        """Give a length, seldom another one."""
        return length if self.likely(0.93) else self.random.randint(0, 4)

    def elements(self, shape: Shape) -> Shape:
        """Give distinct elements of a tensor, seldom too many or too few."""
        number = max(0, prod(shape)) + (0 if self.likely(0.95) else self.random.choice((-1, 1)))
        return tuple(range(10, 10 + max(0, number)))

    # Numbers

    def a(self) -> int:
        """Draw a small number."""
        return self.random.randint(-1, 4)

    b = c = a

    def rank(self) -> int:
        """Draw a rank, mostly one that the shape fits."""
        return len(self["shape"]) + self.random.randint(-1, 3) if self.likely() else self.a()

    def i(self) -> int:
        """Draw an axis, seldom one that is not there."""
        return self.random.randint(-1, max(0, self["rank"]))

    # Shapes

    def target(self) -> Shape:
        """Draw a target."""
        return self.sizes()

    def shape(self) -> Shape:
        """Draw a shape for the target."""
        return self.near(self["target"])

    def shapes(self) -> tuple[Shape, ...]:
        """Draw up to four shapes, mostly some that broadcast."""
        number = self.random.choice((0, 1, 2, 2, 3, 3, 4))
        target = self["target"]
        return tuple(self.near(target) for _ in range(number))

    def index(self) -> Shape:
        """Draw a multi-index, mostly one of the target."""
        inside = tuple(self.random.randint(0, max(0, size - 1)) for size in self["target"])
        if self.likely():
            return inside
        return self.integers(self.wrong(len(inside)), -1, 4)

    def strides(self) -> Shape:
        """Draw strides, seldom large ones or too few."""
        large = 1 if self.likely(0.9) else 10**20
        return self.integers(self.wrong(len(self["shape"])), -3 * large, 9 * large)

    # Axes

    def axes(self) -> Shape:
        """Draw an axis of the target for each of the shape."""
        rank = len(self["target"])
        wanted = self.wrong(len(self["shape"]))
        if self.likely() and wanted <= rank:
            axes = self.random.sample(range(rank), wanted)
            return tuple(sorted(axes) if self.likely(0.7) else axes)
        return self.integers(wanted, -1, rank)

    def broadcast_axes(self) -> Shape:
        """Draw axes of the target."""
        rank = len(self["target"])
        axes = self.random.sample(range(rank), self.random.randint(0, rank))
        return tuple(sorted(axes)) if self.likely() else self.integers(len(axes), -1, rank)

    def coordinate(self) -> Shape:
        """Draw a coordinate in the target."""
        return self.integers(len(self["target"]), -1, 4)

    # The rest

    def mode(self) -> Any:
        """Draw a mode of OpenVINO."""
        return getattr(load_kernel(), self.random.choice(MODES))()

    def attribute(self) -> Any:
        """Draw a mode that may not be given."""
        kernel = load_kernel()
        return kernel.Given(self["mode"]) if self.likely(0.7) else kernel.NotGiven()


def arranged(draw: Draw, contract: Contract) -> None:
    """Draw first what other arguments of a program depend on."""
    names = contract.arguments
    program = contract.name.rpartition(".")[2]
    if names[:1] == ("index",):  # offset
        draw.kept["target"] = draw.kept["shape"] = draw.sizes()
    if names == ("strides",):  # still_axes
        draw.kept["strides"] = draw.integers(draw.random.randint(0, 4), -1, 1)
    if "axes" in names and "shape" in names and draw.likely(0.8):
        axes = draw.kept["axes"] = along(draw)
        target = draw["target"]
        draw.kept["shape"] = tuple(
            draw.size() if not draw.likely(0.9) else 1 if draw.likely(0.3) else target[axis]
            for axis in axes
        )
    if program == "ngraph_strides" and draw.likely(0.8):
        removed = draw["broadcast_axes"]
        target = draw["target"]
        draw.kept["shape"] = tuple(
            size if draw.likely(0.95) else draw.size()
            for axis, size in enumerate(target)
            if axis not in removed
        )
    if program in ("kept_axes", "check_axes", "check_distinct"):
        draw.kept["rank"] = len(draw["target"])
    if "data" in names:
        if "shapes" in names:
            draw.kept["data"] = tuple(draw.elements(shape) for shape in draw["shapes"])
        else:
            draw.kept["data"] = draw.elements(draw["shape"])
    if "strides" in names and "shapes" in names:
        draw.kept["strides"] = tuple(draw.integers(len(shape), -3, 9) for shape in draw["shapes"])


def along(draw: Draw) -> Shape:
    """Give distinct axes of the target, as many as there may be."""
    rank = len(draw["target"])
    axes = draw.random.sample(range(rank), draw.random.randint(0, rank))
    return tuple(sorted(axes) if draw.likely(0.7) else axes)


def drawn(contract: Contract, random: Random) -> tuple[Any, ...]:
    """Give the arguments of a call that the contract allows."""
    for _ in range(ATTEMPTS):
        draw = Draw(random)
        arranged(draw, contract)
        arguments = tuple(draw[name] for name in contract.arguments)
        if contract.name.endswith(".broadcast_flat"):
            arguments = (list(arguments[0]), *arguments[1:])
        if contract.refuses(arguments) is None:
            return arguments
    raise AssertionError(f"no call of {contract.name} was found")


def calls(contract: Contract, count: int, seed: int = 0) -> Iterator[Sequence[Any]]:
    """Give so many calls of a program, the same ones each time."""
    random = Random(f"{contract.name} {seed}")
    for _ in range(count):
        yield drawn(contract, random)
