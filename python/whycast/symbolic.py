"""Broadcast on shapes whose sizes have names: the common shape, and the condition on the names.

A size is a number, a name (any string), or None or -1 if unknown; unknown sizes are independent.
Turn sizes of sympy or ``torch.SymInt`` into names by ``str``:
``[d if isinstance(d, int) else str(d) for d in shape]``.

>>> from whycast import symbolic
>>> print(symbolic.broadcast_shapes(("N", 4), (1, "M"), rule="numpy"))
(N, 4) if M = 1 or M = 4
>>> print(symbolic.broadcast_shapes(("N",), ("M",), rule="numpy", known={"N": ">= 2"}))
(N,) if M = 1 or N = M
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, TypeAlias

from whycast import _kernel
from whycast._checks import as_int, entries_of, show
from whycast._errors import BroadcastError, ask, show_int
from whycast._types import Shape

__all__ = [
    "Answer",
    "Clause",
    "Condition",
    "NeverError",
    "OneOf",
    "Zeros",
    "broadcast_shapes",
    "broadcast_to",
    "expand",
]

Rule: TypeAlias = Literal["sonnx", "numpy"]


@dataclass(frozen=True)
class OneOf:
    """The size, among several, that is not 1; 1 if all are 1. Its text is ``N|M``.

    Parameters
    ----------
    sizes : tuple of str
        Names, at least two.

    Notes
    -----
    Rests on ``joined_values`` of ``why3/model/answer.mlw``.
    """

    # [E_Broadcast_any_Derived_590]

    sizes: tuple[str, ...]

    def __str__(self) -> str:
        return "|".join(self.sizes)


Size: TypeAlias = "int | str | OneOf"


@dataclass(frozen=True)
class Clause:
    """A disjunction of equations: ``N = 1 or M = 1 or N = M``.

    Parameters
    ----------
    equations : tuple of pairs of int or str
        Numbers and names. Clauses with equal equations are equal.
    axis : int
        First axis of the result that demands the clause.

    Notes
    -----
    Rests on ``holds`` of ``why3/model/conditions.mlw``.
    """

    # [E_Broadcast_any_Derived_580]

    equations: tuple[tuple[int | str, int | str], ...]
    axis: int = field(compare=False, default=0)

    def __str__(self) -> str:
        return " or ".join(f"{a} = {b}" for a, b in self.equations)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the equations."""
        return _named(size for equation in self.equations for size in equation)

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Return whether at least one equation holds for sizes of the names."""
        return any(_number(a, sizes) == _number(b, sizes) for a, b in self.equations)


@dataclass(frozen=True)
class Zeros:
    """A demand that no 0 meets a 1: ``N is not 0``, ``N and M are not 0 and 1``.

    Parameters
    ----------
    zero, one : int or str
        Sizes on the axis that must not be 0 and 1, in this order.
    both : bool
        Whether the other order is excluded, too.
    axis : int
        As for `Clause`.

    Notes
    -----
    Rests on ``meets_zero_one`` of ``why3/model/zeros.mlw``.
    """

    # [E_Broadcast_any_Derived_590]

    zero: int | str
    one: int | str
    both: bool = False
    axis: int = field(compare=False, default=0)

    def __str__(self) -> str:
        if self.both:
            return f"{self.zero} and {self.one} are not 0 and 1"
        if isinstance(self.zero, int):
            return "0 meets 1" if isinstance(self.one, int) else f"{self.one} is not 1"
        if isinstance(self.one, int):
            return f"{self.zero} is not 0"
        return f"{self.zero} is not 0 where {self.one} is 1"

    @property
    def names(self) -> tuple[str, ...]:
        """The names among the two sizes."""
        return _named((self.zero, self.one))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Return whether no 0 meets a 1 for sizes of the names."""
        pair = (_number(self.zero, sizes), _number(self.one, sizes))
        return pair != (0, 1) and not (self.both and pair == (1, 0))


class Condition(tuple["Clause | Zeros", ...]):
    """A conjunction, as a tuple; an empty one always holds.

    Parameters
    ----------
    iterable : iterable of Clause or Zeros
        The parts.

    Notes
    -----
    Rests on ``all_hold`` of ``why3/model/verdict.mlw``.

    Examples
    --------
    >>> condition = broadcast_shapes(("N",), ("M",), rule="numpy").condition
    >>> print(condition, condition.holds({"N": 1, "M": 3}), len(condition))
    N = 1 or M = 1 or N = M True 1
    """

    # [E_Broadcast_any_Derived_580]

    __slots__ = ()

    def __str__(self) -> str:
        parts = [*map(str, self)]
        if len(parts) > 1:
            parts = [f"({each})" if " or " in each else each for each in parts]
        return " and ".join(parts) or "always"

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Return whether all parts hold for sizes of the names."""
        return all(each.holds(sizes) for each in self)


_ALWAYS = Condition()


class NeverError(BroadcastError):
    """Shapes never broadcast, for any sizes of their names.

    Parameters
    ----------
    other, tensor, axis : int
        Two tensors that disagree (for `broadcast_to`, both 0), and the axis of the common rank.
    size, target : int or str
        Sizes of `tensor` and `other` (for `broadcast_to`, of the target) on this axis; `target` is
        None if a target lacks the axis.
    shapes, target_shape : shapes, and shape or None
        The shapes with the sizes that `equations` demand.
    equations : Condition
        Demands that were found before the fault, mostly of other axes.
    least : dict
        Known least sizes of names among `size` and `target`.

    Notes
    -----
    Each parameter is an attribute. Rests on ``never_agree`` of ``why3/model/symbolic.mlw``.
    """

    # [E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_670]

    __module__ = "whycast.symbolic"

    def __init__(
        self,
        other: int,
        tensor: int,
        axis: int,
        size: Any,
        target: Any,
        shapes: tuple[Any, ...],
        target_shape: Any = None,
        equations: Condition = _ALWAYS,
        least: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(tensor, axis, size, target, shapes, target_shape)
        self.args = (other, tensor, axis, size, target, shapes, target_shape, equations, least)
        self.other = other
        self.equations = equations
        self.least = least or {}

    def _headline(self) -> str:
        said = super()._headline()
        if self.target_shape is None:
            said = (
                f"shapes never broadcast: axis {self.axis} of the common rank {self._rank}, tensor "
                f"{self.other} has size {self.target}, tensor {self.tensor} has size {self.size}"
            )
        least = "".join(f", {name} >= {size}" for name, size in self.least.items())
        others = f"; other sizes demand {self.equations}" if self.equations else ""
        return said + least + others

    def _hint(self) -> list[str]:
        return []


# A name, = or >=, and a number or name.
_Fact: TypeAlias = "tuple[str, str, int | str]"


@dataclass(frozen=True)
class Answer:
    """The common shape of shapes, and the condition under which they broadcast.

    Parameters
    ----------
    shape : tuple of int, str and OneOf
        The size on each axis, if the shapes broadcast.
    condition : Condition
        The condition of NumPy's rule, or of the target. With ``"sonnx"``, names beside 0 must be 0.
    zeros : Condition
        SONNX's further condition.
    rule : str
        ``"sonnx"`` (also demands `zeros`), ``"numpy"``, or ``"target"``.

    Notes
    -----
    This module's functions return answers; their notes name the theories.

    Examples
    --------
    >>> answer = broadcast_shapes(("N", 4), ("M", 1))
    >>> answer.shape, str(answer.condition), str(answer.zeros)
    ((OneOf(sizes=('N', 'M')), 4), 'N = 1 or M = 1 or N = M', 'N and M are not 0 and 1')
    >>> answer.substitute(N=3).shape, answer.substitute(N=3, M=1).shape, answer.holds(N=3, M=2)
    ((3, 4), (3, 4), False)
    """

    # [E_Broadcast_any_Derived_590]

    shape: tuple[Size, ...]
    condition: Condition
    zeros: Condition = _ALWAYS
    rule: str = "numpy"
    _asked: tuple[tuple[Any, ...], tuple[_Fact, ...]] = field(
        default=((), ()), init=False, compare=False, repr=False
    )

    def __str__(self) -> str:
        said = ", ".join(map(str, self.shape))
        said = f"({said},)" if len(self.shape) == 1 else f"({said})"
        return f"{said} if {self._asks()}" if self._asks() else said

    def _asks(self) -> Condition:
        return Condition((*self.condition, *(self.zeros if self.rule == "sonnx" else ())))

    def substitute(
        self, sizes: Mapping[str, int | str] | None = None, /, **more: int | str
    ) -> Answer:
        """Return the answer with names replaced by numbers or other names.

        Parameters
        ----------
        sizes, **more : int or str, by name
            ``substitute(N=3)``; ``substitute({"batch size": 3})`` for any names.

        Returns
        -------
        Answer
            The answer for these sizes. If all names get numbers, `shape` has only numbers.

        Raises
        ------
        BroadcastError
            The shapes never broadcast with these sizes.
        TypeError, ValueError
            The shapes lack a name; a size is invalid, or contradicts a known fact.
        """
        shapes, facts = self._asked
        return _answer(shapes, (*facts, *self._facts({**(sizes or {}), **more})), self.rule)

    def holds(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> bool:
        """Return whether the shapes broadcast for given numbers of all names.

        Parameters
        ----------
        sizes, **more : int, by name
            As for `substitute`, with a number for each name of the shapes.

        Returns
        -------
        bool
            True if and only if the rule accepts the shapes with these sizes.

        Raises
        ------
        TypeError, ValueError
            A name has no number, or as for `substitute`.
        """
        found = _Names((*self._asked[1], *self._facts({**(sizes or {}), **more})))
        roots = {name: found.root(name) for name in self._names()}
        numbers = {name: size for name, size in roots.items() if isinstance(size, int)}
        # Each name needs a number, even a name without a condition.
        for name in roots:
            _number(name, numbers)
        return self._asks().holds(numbers)

    def _names(self) -> list[str]:
        """Return the shapes' names, and their roots that are names."""
        shapes, facts = self._asked
        own = _Names(facts)
        found = [each for shape in shapes for size in shape for each in (size, own.root(size))]
        return sorted({size for size in found if isinstance(size, str)})

    def _facts(self, sizes: Mapping[str, object]) -> list[_Fact]:
        named = self._names()
        if wrong := [name for name in sizes if name not in named]:
            expected = f"expected one of {', '.join(named) or 'none'}"
            raise ValueError(f"sizes: the shapes have no name {wrong[0]!r}, {expected}")
        return [(name, "=", _size_of(size, f"sizes[{name!r}]")) for name, size in sizes.items()]


def broadcast_shapes(
    *shapes: Iterable[int | str | None],
    rule: Rule = "sonnx",
    known: Mapping[str, int | str] | None = None,
) -> Answer:
    """Return the common shape of shapes with names, and the condition on the names.

    Parameters
    ----------
    *shapes : sequence of int, str or None
        Shapes of any ranks. A size is a number of at least 0, a name, or None or -1 if unknown.
    rule : str, optional
        ``"sonnx"``, or ``"numpy"`` for the rule of NumPy and ONNX, by which 0 may meet 1.
    known : dict, optional
        Facts about names: ``">= 2"`` (or ``"> 1"``), ``"= M"``, ``"= 3"`` or 3.

    Returns
    -------
    Answer
        The shape, and its necessary and sufficient condition under the known facts.

    Raises
    ------
    BroadcastError
        The facts allow no sizes for which the shapes broadcast: a `NeverError`.
    TypeError
        An argument is not a shape, or a size is neither an integer nor a name.
    ValueError
        There are no shapes, a size is below -1, or facts contradict each other or are invalid.

    Notes
    -----
    Rests on ``conditions_compatible`` and ``answer_numpy_shape`` of ``why3/model``, and for facts
    on ``forced_replaced``, ``settled_agree`` and ``settled_always`` of ``why3/model/known.mlw``.
    Programs: ``why3/kernel/symbolic.mlw``, ``why3/kernel/known.mlw``.

    Examples
    --------
    >>> print(broadcast_shapes(("N",), ("M",), known={"N": ">= 2", "M": ">= 2"}))
    (M,) if N = M
    >>> broadcast_shapes(("N", "N"), (5, 4), rule="numpy", known={"N": ">= 2"})
    Traceback (most recent call last):
    whycast.symbolic.NeverError: shapes never broadcast: axis 1 of the common rank 2, tensor 0 has \
size 5, tensor 1 has size 4; other sizes demand N = 5
      tensor 0:  5  [5]
      tensor 1:  5  >4<
    """
    # [E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_670]
    if rule not in ("sonnx", "numpy"):
        raise ValueError(f"rule: expected 'sonnx' or 'numpy', got {show(rule)}")
    if not shapes:
        raise ValueError("broadcast_shapes: expected at least one shape, got none")
    own = _own({f"shapes[{m}]": shape for m, shape in enumerate(shapes)})
    return _answer(own, facts_of(known), rule)


def broadcast_to(
    shape: Iterable[int | str | None],
    target: Iterable[int | str | None],
    known: Mapping[str, int | str] | None = None,
) -> Answer:
    """Return the condition under which a tensor broadcasts to a target shape.

    Parameters
    ----------
    shape, target : sequence of int, str or None
        The tensor's shape and the target, as in `broadcast_shapes`.
    known : dict, optional
        As for `broadcast_shapes`.

    Returns
    -------
    Answer
        The target, and the condition: on each axis the tensor has size 1 or the target's size.

    Raises
    ------
    BroadcastError
        The tensor never broadcasts to the target: a `NeverError`.
    TypeError, ValueError
        As for `broadcast_shapes`.

    Notes
    -----
    Rests on ``one_way_broadcasts`` and ``one_way_settled`` of ``why3/model/one_way.mlw``.

    Examples
    --------
    >>> print(broadcast_to(("N",), ("M",)))
    (M,) if N = 1 or N = M
    >>> print(broadcast_to((4, "N"), ("M", 1)))
    (4, 1) if M = 4 and N = 1
    """
    # [E_Broadcast_any_Derived_670]
    own = _own({"shape": shape, "target": target})
    return _answer(own, facts_of(known), "target")


def expand(
    shape: Iterable[int | str | None],
    target: Iterable[int | str | None],
    known: Mapping[str, int | str] | None = None,
) -> Answer:
    """Return the output shape of ONNX Expand, and the condition.

    Parameters
    ----------
    shape, target : sequence of int, str or None
        The tensor's shape and the second input, as in `broadcast_shapes`.
    known : dict, optional
        As for `broadcast_shapes`.

    Returns
    -------
    Answer
        The answer of `broadcast_shapes` by NumPy's rule, by which both shapes may grow.

    Raises
    ------
    BroadcastError, TypeError, ValueError
        As for `broadcast_shapes`.

    Notes
    -----
    Rests on the theories of `broadcast_shapes`.

    Examples
    --------
    >>> print(expand((3, "N"), (1, 4)))
    (3, 4) if N = 1 or N = 4
    """
    # [E_Broadcast_any_Derived_580]
    own = _own({"shape": shape, "target": target})
    return _answer(own, facts_of(known), "numpy")


# --- reading arguments ----------------------------------------------------------------------------


def _own(shapes: Mapping[str, object]) -> tuple[tuple[int | str, ...], ...]:
    """Return shapes of numbers and names, with new names for unknown sizes."""
    found = {name: _sizes(shape, name) for name, shape in shapes.items()}
    taken = {size for own in found.values() for size in own}
    unknown = (name for n in count() if (name := f"?{n}") not in taken)
    return tuple(
        tuple(next(unknown) if size is None or size == -1 else size for size in own)
        for own in found.values()
    )


def _sizes(shape: object, name: str) -> tuple[int | str | None, ...]:
    if isinstance(shape, (str, Mapping)) or not isinstance(shape, Iterable):
        raise TypeError(f"{name}: expected a sequence of sizes and names, got {show(shape)}")
    found = entries_of(shape, name, "sizes and names")
    return tuple(
        size if size is None else _size_of(size, f"{name}[{axis}]", least=-1)
        for axis, size in enumerate(found)
    )


def _size_of(value: object, name: str, least: int = 0) -> int | str:
    if isinstance(value, str):
        return str(value)
    try:
        size = as_int(value, name)
    except TypeError:
        more = "" if least == 0 else ", None or -1"
        raise TypeError(f"{name}: expected an integer, a name{more}, got {show(value)}") from None
    if size < least:
        raise ValueError(f"{name}: expected a size of at least {least}, got {show_int(size)}")
    return size


# A relation and a number, or = and a name that does not look like a number.
_FACT = re.compile(
    r"\s*(?:(\u2265|>=?|==?)\s*([0-9]{1,4000})|==?\s*(?![-+.0-9\s=]+$)(\S(?:.*\S)?))\s*", re.DOTALL
)


def facts_of(known: Mapping[str, int | str] | None) -> tuple[_Fact, ...]:
    facts: list[_Fact] = []
    for name, said in (known or {}).items():
        if not isinstance(name, str):
            raise TypeError(f"known: expected names, got {show(name)}")
        if not isinstance(said, str):
            facts.append((name, "=", _size_of(said, f"known[{name!r}]")))
        elif read := _FACT.fullmatch(said):
            relation, number, same = read.groups("=")
            value = same if read[2] is None else int(number) + (relation == ">")
            facts.append((name, "=" if relation[0] == "=" else ">=", value))
        else:
            raise ValueError(
                f"known[{name!r}]: expected such as '>= 2', '= M', '= 3' or 3, got {show(said)}"
            )
    return tuple(facts)


class _Names:
    """Known facts: equal names have one root, a number or a name; a name may have a least size."""

    def __init__(self, facts: Sequence[_Fact]) -> None:
        self.same: dict[int | str, int | str] = {}
        self.least: dict[int | str, int] = {}
        for name, relation, value in facts:
            a, b = self.root(name), self.root(value)
            if relation == ">=" or a == b:
                continue
            if not isinstance(a, str):
                a, b = b, a
            if not isinstance(a, str):
                raise ValueError(f"{name} is known to be {b}, and {a}")
            self.same[a] = b
        for name, number in [(name, int(z)) for name, relation, z in facts if relation == ">="]:
            own = self.root(name)
            if isinstance(own, int) and own < number:
                raise ValueError(f"{name} is known to be at least {number}, and {own}")
            self.least[own] = max(self.least.get(own, 0), number)

    def root(self, size: int | str) -> int | str:
        while size in self.same:
            size = self.same[size]
        return size


# --- answers --------------------------------------------------------------------------------------

_RawClause: TypeAlias = "tuple[int, int, int]"


def _answer(shapes: Sequence[Sequence[int | str]], facts: tuple[_Fact, ...], rule: str) -> Answer:
    names = _Names(facts)
    own = [[names.root(size) for size in shape] for shape in shapes]
    texts = list(dict.fromkeys(size for shape in own for size in shape if isinstance(size, str)))
    numbers = {text: -1 - k for k, text in enumerate(texts)}
    asked = tuple(
        tuple(size if isinstance(size, int) else numbers[size] for size in shape) for shape in own
    )
    least = [names.least.get(text, 0) for text in texts]
    found, _ = solve(asked, lambda z: texts[-1 - z], least, rule)
    object.__setattr__(found, "_asked", (tuple(map(tuple, shapes)), facts))
    return found


def solve(
    shapes: tuple[Shape, ...], text: Callable[[int], str], least: Sequence[int], rule: str
) -> tuple[Answer, tuple[Shape, ...]]:
    """Return the answer for shapes in which integers below 0 stand for names.

    `text` spells a name; `least` lists the least sizes of the names -1, -2, and so on. For rule
    ``"target"`` the second shape is the target, and the second result is empty. For other rules the
    second result is that of the kernel's `symbolic_sizes`.
    """
    names = -min((size for shape in shapes for size in shape), default=0)
    one_way, known = rule == "target", list(least) + [0] * names
    equations: list[Clause] = []

    def spelled(z: int) -> int | str:
        return z if z >= 0 else text(z)

    def can_be_one(z: int) -> bool:
        return _kernel.can_be_one(tuple(known), z)

    def can_be_equal(x: int, y: int) -> bool:
        return _kernel.can_be_equal(tuple(known), x, y)

    def never(axis: int, at: Callable[[list[int]], Sequence[int]]) -> NeverError:
        rank = max(map(len, shapes))
        column = [_kernel.padded_size(shape, rank, axis) for shape in shapes]
        other, tensor = (0, 1) if one_way else at(column)
        one, two = column[other], column[tensor]
        named = tuple(tuple(map(spelled, shape)) for shape in shapes)
        why = Condition(equations), {text(z): known[-1 - z] for z in (one, two) if z < 0}
        if one_way:
            return NeverError(0, 0, axis, spelled(one), spelled(two), named[:1], named[1], *why)
        return NeverError(other, tensor, axis, spelled(two), spelled(one), named, None, *why)

    def never_equal(axis: int, x: int, y: int) -> NeverError:
        return never(axis, lambda column: sorted(map(column.index, (x, y))))

    def clauses() -> tuple[_RawClause, ...]:
        if one_way:
            return _kernel.one_way(*shapes)
        program = _kernel.symbolic_conditions
        return ask(lambda e: never(e.value[2], lambda _: e.value[:2]), program, shapes)

    def is_forced(clause: _RawClause) -> bool:
        _, x, y = clause
        if can_be_one(x):
            return y == 0 and rule == "sonnx"
        return one_way or not can_be_one(y)

    if one_way and len(shapes[0]) > len(shapes[1]):
        own, target = (tuple(map(spelled, shape)) for shape in shapes)
        raise NeverError(0, 0, 0, own[0], None, (own,), target)
    asked = clauses()
    while forced := next(filter(is_forced, asked), None):
        axis, x, y = forced
        if not can_be_equal(x, y):
            raise never_equal(axis, x, y)
        if x >= 0:
            x, y = y, x
        equations.append(Clause(((spelled(x), spelled(y)),), axis))
        shapes = _kernel.replaced(shapes, x, y)
        if y < 0:
            known[-1 - y] = max(known[-1 - x], known[-1 - y])
        asked = clauses()

    def told(clause: _RawClause) -> Clause:
        axis, x, y = clause
        ones = [x] if one_way else [x, y]
        pairs = [(z, 1) for z in ones if z < 0 and can_be_one(z)]
        pairs += [(x, y)] if can_be_equal(x, y) else []
        return Clause(tuple((spelled(a), spelled(b)) for a, b in dict.fromkeys(pairs)), axis)

    condition = Condition(dict.fromkeys([*equations, *map(told, asked)]))
    if one_way:
        return Answer(tuple(map(spelled, shapes[1])), condition, rule=rule), ()

    zeros = []
    for axis, x, y in _kernel.symbolic_zeros(shapes):
        ways = [(a, b) for a, b in ((x, y), (y, x)) if can_be_equal(a, 0) and can_be_one(b)]
        if (x, y) == (0, 1) and rule == "sonnx":
            raise never_equal(axis, x, y)
        if ways:
            a, b = ways[0]
            zeros.append(Zeros(spelled(a), spelled(b), len(ways) == 2, axis))

    def size_of(symbols: tuple[int, ...]) -> Size:
        sure = [z for z in symbols if not can_be_one(z)]
        if not symbols or sure or len(symbols) == 1:
            return spelled((*sure, *symbols, 1)[0])
        return OneOf(tuple(map(text, symbols)))

    found = _kernel.symbolic_sizes(shapes)
    sizes, others = tuple(map(size_of, found)), Condition(dict.fromkeys(zeros))
    return Answer(sizes, condition, others, rule), found


def _named(sizes: Iterable[int | str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def _number(size: int | str, sizes: Mapping[str, int]) -> int:
    if not isinstance(size, str):
        return size
    if size not in sizes:
        raise ValueError(f"sizes: expected a number for each name, got none for {size!r}")
    return sizes[size]
