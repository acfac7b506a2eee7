"""A model's sizes: numbers, and names for which users may give numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import onnx
from onnx import GraphProto, ModelProto, helper

from whycast._model._read import given_by_callers, graphs_of
from whycast._types import Shape
from whycast._usage import UsageError, show_sizes


@dataclass
class Names:
    """Integers below 0 for names of sizes: verified programs take only integers."""

    numbered: dict[str, int] = field(default_factory=dict)
    spelled: list[str] = field(default_factory=list)
    joins: dict[frozenset[str], str] = field(default_factory=dict)

    def symbol(self, name: str) -> int:
        return self._number(name, name)

    def unknown(self, made_up: str = "") -> int:
        """Return an unknown size's integer; sizes with one `made_up` name share it."""
        number = len(self.spelled)
        return self._number(f"\0{made_up or number}", f"?{number}")

    def _number(self, key: str, text: str) -> int:
        if key not in self.numbered:
            self.spelled.append(text)
            self.numbered[key] = -len(self.spelled)
        return self.numbered[key]

    def text(self, symbol: int) -> str:
        return str(symbol) if symbol >= 0 else self.spelled[-1 - symbol]

    def size(self, symbol: int) -> int | str:
        return symbol if symbol >= 0 else self.text(symbol)

    def joined(self, symbols: Iterable[int]) -> str:
        """Spell the size, among several, that is not 1.

        >>> names = Names()
        >>> n, m = names.symbol("N"), names.symbol("M")
        >>> names.joined((n, m)), names.joined((m, n)), names.joined((names.symbol("N|M"), m))
        ('N|M', 'N|M', 'N|M')
        """
        parts = list(dict.fromkeys("|".join(map(self.text, symbols)).split("|")))
        return self.joins.setdefault(frozenset(parts), "|".join(parts))

    def sizes(self, shape: Shape) -> list[int | str]:
        return [*map(self.size, shape)]


@dataclass(frozen=True)
class Sizes:
    """A reader of an inferred model's sizes: numbers, or integers of names.

    `given` contains the user's numbers and shapes. `own` contains the integers of the names in the
    graph inputs' shapes, and of joined names in results, such as N|M. `stated` contains the names
    in the model's annotations. Inference makes up more names; `by` marks those of one inference.
    """

    names: Names
    given: dict[str, Shape | int]
    own: set[int]
    stated: frozenset[str] = frozenset()
    by: str = ""

    def symbol(self, dim: onnx.TensorShapeProto.Dimension) -> int:
        """Read a size; a negative number or a name of question marks is open."""
        name = dim.dim_param
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return dim.dim_value
        size = self.given.get(name)
        if isinstance(size, int):
            return size
        if name in self.stated or self.names.numbered.get(name) in self.own:
            return self.names.symbol(name)
        return self.names.unknown(name and self.by + name)

    def shape(self, tensor: onnx.TypeProto.Tensor) -> Shape:
        return tuple(map(self.symbol, tensor.shape.dim))

    def is_sure(self, size: int) -> bool:
        return size >= 0 or size in self.own

    def better(self, known: Shape | None, stated: Shape) -> Shape:
        """Return a known shape, with its open sizes replaced by stated sizes."""
        if known is None or len(known) != len(stated):
            return stated if known is None else known
        return tuple(
            a if self.is_sure(a) or self.names.text(b).startswith("?") else b
            for a, b in zip(known, stated, strict=True)
        )


def tensors_of(about: onnx.TypeProto) -> Iterator[onnx.TypeProto.Tensor]:
    """Return the type of a tensor, or of a sequence's or an optional's elements."""
    if about.HasField("tensor_type"):
        yield about.tensor_type
    for kind in ("sequence_type", "optional_type"):
        if about.HasField(kind):
            yield from tensors_of(getattr(about, kind).elem_type)


def names_in(values: Iterable[onnx.ValueInfoProto]) -> frozenset[str]:
    dims = (d for value in values for t in tensors_of(value.type) for d in t.shape.dim)
    return frozenset(d.dim_param for d in dims if d.dim_param.strip("?"))


def names_of(graph: GraphProto) -> frozenset[str]:
    every = ((*each.value_info, *each.input, *each.output) for each in graphs_of(graph))
    return names_in(chain.from_iterable(every))


def is_open(dim: onnx.TensorShapeProto.Dimension) -> bool:
    return not (dim.dim_param.strip("?") or (dim.HasField("dim_value") and dim.dim_value >= 0))


def name_open_sizes(graph: GraphProto) -> dict[str, str]:
    """Name the inputs' open sizes; return the names with their places."""
    taken, found = names_of(graph), {}
    for value in graph.input:
        dims = enumerate(value.type.tensor_type.shape.dim)
        for axis, dim in ((axis, dim) for axis, dim in dims if is_open(dim)):
            name = f"{value.name}.{axis}"
            while name in taken:
                name += "'"
            dim.dim_param = name
            found[name] = f"size {axis} of input {value.name!r}, which the model leaves open"
    return found


def bind(
    model: ModelProto,
    graph: GraphProto,
    given: Sequence[tuple[str, Shape | int]],
    notes: list[str],
) -> dict[str, Shape | int]:
    """Replace sizes of inputs by numbers, also where their names recur; return all given sizes."""
    own = given_by_callers(model)
    inputs = {value.name: [*tensors_of(value.type)] for value in graph.input if value.name in own}
    known = names_of(graph)
    found: dict[str, Shape | int] = {}
    places: dict[str, str] = {}

    def put(name: str, value: Shape | int, said: str) -> None:
        if found.setdefault(name, value) != value:
            both = f"{places[name]} and {said} contradict each other on {name!r}"
            if places[name] == said:
                both = f"{said} has two numbers for {name!r}"
            raise UsageError(f"--sizes: {both}")
        places.setdefault(name, said)

    for name, value in given:
        shape = value if isinstance(value, tuple) else (value,)
        said = f"{name}={show_sizes(shape)}"
        if isinstance(value, int) and name in known:
            put(name, value, said)
            dims = [[d.dim_param for d in t.shape.dim] for t in inputs.get(name, ())]
            if any(len(each) == 1 != each.count(name) for each in dims):
                own_shape = f"the input of this name has its own: {name}=({value},)"
                notes.append(f"{said} is a size; {own_shape}")
            continue
        if not inputs.get(name):
            if name in known:
                raise UsageError(f"--sizes: expected a number for the size {name!r}, got {said}")
            words = [*sorted(names_in(graph.input)), *(each for each in inputs if inputs[each])]
            expected = f"expected one of {', '.join(words)}"
            raise UsageError(f"--sizes: the model has no size and no input {name!r}, {expected}")
        if name not in known:
            put(name, shape, said)
        for tensor in inputs[name]:
            dims = tensor.shape.dim
            if not tensor.HasField("shape"):
                tensor.shape.CopyFrom(helper.make_tensor_type_proto(1, shape).tensor_type.shape)
            elif len(dims) != len(shape):
                got = f"got {said} of rank {len(shape)}"
                raise UsageError(f"--sizes: input {name!r} has rank {len(dims)}, {got}")
            for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
                if dim.HasField("dim_value") and 0 <= dim.dim_value != size:
                    place = f"axis {axis} of input {name!r}"
                    both = f"has size {dim.dim_value} in the model, got {size} in {said}"
                    raise UsageError(f"--sizes: {place} {both}")
                if dim.dim_param.strip("?"):
                    put(dim.dim_param, size, said)
                dim.dim_value = size
    for dim in (dim for each in inputs.values() for tensor in each for dim in tensor.shape.dim):
        number = found.get(dim.dim_param)
        if dim.dim_param and isinstance(number, int):
            dim.dim_value = number
    return found
