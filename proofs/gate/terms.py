"""Compute the theories' terms, which whycontract prints as JSON: see translation.ml.

All values are known here: integers, tuples for sequences, lists for arrays, functions. A formula
without a value is an error, neither true nor false. validate/validation.py adds unknown integers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

# The most values that a quantifier ranges over.
MOST = 10_000

Scope = Mapping[str, Any]


class UndefinedError(Exception):
    """A formula has no value."""


class UndecidedError(Exception):
    """A formula tries too many integers, or uses `Beyond` outside of shifts and comparisons."""


class UnknownError(Exception):
    """A formula cannot be computed; the message is the reason."""


class Kind(NamedTuple):
    """A type: its name, or its values' class; the types of its parts; the parts' names."""

    name: str
    inside: tuple[Kind, ...] = ()
    fields: tuple[str, ...] = ()

    @staticmethod
    def of(found: Sequence[Any]) -> Kind:
        """Read a type that whycontract prints."""
        name, inside, fields = found
        return Kind(name, tuple(map(Kind.of, inside)), tuple(fields))

    def within(self) -> Iterator[Kind]:
        """Yield the type and all types in it."""
        yield self
        for kind in self.inside:
            yield from kind.within()


def fits(kind: Kind, value: Any, integers: tuple[type, ...] = (int,)) -> bool:
    """Decide whether a value belongs to a type, as far as Python shows."""
    inside = partial(fits, integers=integers)
    match kind.name:
        case "integer" | "int64":
            return isinstance(value, integers) and type(value) is not bool
        case "boolean" | "nothing" as name:
            return type(value) is bool if name == "boolean" else value is None
        case "sequence" | "list" as name:
            made = tuple if name == "sequence" else list
            return type(value) is made and all(inside(kind.inside[0], part) for part in value)
        case "one of":
            return any(inside(case, value) for case in kind.inside)
        case "anything" | "function":
            return True
    if "." in kind.name:
        return True
    return (
        type(value).__name__ == kind.name
        and len(parts(value)) == len(kind.inside)
        and all(map(inside, kind.inside, parts(value)))
    )


class Function:
    """A function on the integers that has one value, except at some places."""

    def __init__(self, places: Mapping[int, Any], other: Any) -> None:
        self.places, self.other = dict(places), other

    def __call__(self, i: Any) -> Any:
        """Return the value at a place."""
        # A `Beyond` equals no place, so it has the value `other`.
        return next((value for place, value in self.places.items() if i == place), self.other)

    def but(self, places: Mapping[int, Any]) -> Function:
        """Return the function with other values at some places."""
        return Function({**self.places, **places}, self.other)

    def __repr__(self) -> str:
        return f"{self.places} or {self.other}"


class Record:
    """A value with fields."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a value has no {name}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}{vars(self)}"


@cache
def class_of(name: str) -> type[Record]:
    """Return the class of a constructor's values."""
    return type(name, (Record,), {})


Ref = class_of("Ref")


def parts(value: Any) -> tuple[Any, ...]:
    """Return the arguments with which a constructor made a value."""
    if is_dataclass(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    is_plain = isinstance(value, (tuple, list))
    return tuple(value if is_plain else getattr(value, "__dict__", {}).values())


class Beyond:
    """`shift` plus an integer above, or below, all of `met`.

    All integers on that side compare alike, so a formula of comparisons has one value for them.
    """

    def __init__(self, above: bool, met: list[int], shift: int = 0) -> None:
        self.above, self.met, self.shift = above, met, shift

    def meet(self, other: object) -> None:
        """Add a compared integer, less `shift`, to `met`."""
        if type(other) is not int:
            raise UndecidedError
        self.met.append(other - self.shift)

    def __lt__(self, other: object) -> bool:
        self.meet(other)
        return not self.above

    def __gt__(self, other: object) -> bool:
        self.meet(other)
        return self.above

    __le__, __ge__ = __lt__, __gt__

    def __eq__(self, other: object) -> bool:
        self.meet(other)
        return False

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> Beyond:
        if type(other) is not int:
            raise UndecidedError
        return Beyond(self.above, self.met, self.shift + other)

    def __sub__(self, other: int) -> Beyond:
        return self + -other

    __radd__ = __add__

    def refuse(self, *_: object) -> Any:
        """Refuse all operations except shifts and comparisons."""
        raise UndecidedError

    __rsub__ = __mul__ = __rmul__ = __neg__ = __bool__ = refuse
    __floordiv__ = __rfloordiv__ = __index__ = __call__ = refuse


def div(a: int, b: int) -> int:
    """Divide as Euclid does: the remainder is not negative."""
    if b == 0:
        raise UndefinedError("a division by 0")
    return a // b if b > 0 else -(a // -b)


def quotient(a: int, b: int) -> int:
    """Divide as machines do: towards 0."""
    return div(a, b) if a >= 0 else -div(-a, b)


def at(elements: Any, i: int) -> Any:
    """Return an element of a tuple or list."""
    if not 0 <= i < len(elements):
        raise UndefinedError(f"element {i} of {len(elements)}")
    return elements[i]


def put(elements: Any, i: int, value: Any) -> Any:
    """Return the sequence, or list, with another element at one place."""
    at(elements, i)
    return type(elements)([*elements[:i], value, *elements[i + 1 :]])


def create(length: int, element: Callable[[int], Any]) -> tuple[Any, ...]:
    """Make the sequence of the values of a function."""
    if length < 0:
        raise UndefinedError("a sequence of negative length")
    return tuple(element(k) for k in range(length))


# Symbols of Why3's library and of c/trusted.mlw, in Python.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "int.Int.prefix -": operator.neg,
    "int.Int.infix +": operator.add,
    "int.Int.infix -": operator.sub,
    "int.Int.infix *": operator.mul,
    "int.Int.infix <": operator.lt,
    "int.Int.infix <=": operator.le,
    "int.Int.infix >": operator.gt,
    "int.Int.infix >=": operator.ge,
    "int.MinMax.max": lambda a, b: b if a < b else a,
    "int.MinMax.min": lambda a, b: a if a < b else b,
    "int.EuclideanDivision.div": div,
    "int.EuclideanDivision.mod": lambda a, b: a - b * div(a, b),
    "int.ComputerDivision.div": quotient,
    "seq.Seq.create": create,
    "array.Array.elts": lambda array: Function(dict(enumerate(array)), None),
    "map.Map.set": lambda function, i, value: function.but({i: value}),
    **dict.fromkeys(("seq.Seq.length", "array.Array.length"), len),
    **dict.fromkeys(("seq.Seq.get", "seq.Seq.mixfix []", "array.Array.mixfix []"), at),
    **dict.fromkeys(("seq.Seq.set", "array.Array.mixfix [<-]"), put),
    "seq.Seq.empty": tuple,
    "seq.Seq.singleton": lambda value: (value,),
    "seq.Seq.cons": lambda value, elements: (value, *elements),
    "seq.Seq.snoc": lambda elements, value: (*elements, value),
    "seq.Seq.infix ++": operator.add,
    **{f"c.trusted.Word{width}.part": at for width in (1, 2, 4, 8, 16)},
    "tuple": lambda *given: given or None,
    "int.Int.zero": lambda: 0,
    "int.Int.one": lambda: 1,
    "mach.int.Int64.int64'int": lambda value: value,
    "mach.int.Int64.int64'minInt": lambda: -(2**63),
    "mach.int.Int64.int64'maxInt": lambda: 2**63 - 1,
}


class Theories:
    """The definitions of the theories; `classes` maps names to programs' types."""

    def __init__(
        self, definitions: Mapping[str, Any], classes: Callable[[str], Any] = class_of
    ) -> None:
        self.definitions, self.classes = definitions, classes
        self.functions: dict[str, Callable[..., Any]] = {
            **OPERATIONS,
            **{"not": operator.not_, "=": self.equal, "apply": lambda f, *given: f(*given)},
        }

    def is_plain(self, value: Any) -> bool:
        """Recognize an int or a bool; `equal` compares these by Python's ==."""
        return type(value) in (int, bool)

    def equal(self, a: Any, b: Any) -> Any:
        """Compare two values, elements by identity: NaN is itself, 1 is not 1.0."""
        if Beyond in (type(a), type(b)) or (self.is_plain(a) and self.is_plain(b)):
            return a == b
        if isinstance(a, (tuple, list)) and type(a) is type(b):
            return len(a) == len(b) and all(map(self.equal, a, b))
        if is_dataclass(a) or isinstance(a, Record):
            return type(a).__name__ == type(b).__name__ and all(map(self.equal, parts(a), parts(b)))
        if callable(a) and callable(b):
            return self.quantified(True, lambda i: self.equal(a(i), b(i)), None, None)
        return a is b

    def field(self, value: Any, name: str) -> Any:
        """Return a field; an array is a list, whose fields have other names."""
        if isinstance(value, list):
            return self.functions[f"array.Array.{name}"](value)
        return getattr(value, name)

    def is_a(self, value: Any, constructor: str) -> Any:
        """Compare the names of a value's class and a constructor: a class may be loaded twice."""
        if constructor == "unknown":
            raise UnknownError("a pattern that is no constructor's")
        if constructor in ("True", "False"):
            return value if constructor == "True" else not value
        return constructor == "tuple" or type(value).__name__ == constructor

    def quantified(self, all_of: bool, holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
        """Decide a formula for all, or some, integers from `low` to `high` (None: no bound).

        Without a bound, try one integer beyond all compared ones, and each integer up to these.
        """
        met: list[int] = []
        missing = [above for above, bound in ((False, low), (True, high)) if bound is None]
        beyond = [holds(Beyond(above, met)) for above in missing]
        first = min(met, default=high if high is not None else 0) if low is None else low
        last = max(met, default=first - 1) if high is None else high
        if type(first) is not int or type(last) is not int or last - first > MOST:
            raise UndecidedError
        within = (holds(k) for k in range(first, last + 1))
        return (all if all_of else any)(chain(beyond, within))

    def function(self, name: str) -> Callable[..., Any]:
        """Return a symbol as a function, which is undefined where its preconditions fail."""
        if name not in self.functions:
            if name not in self.definitions:
                raise UnknownError(f"{name} has no definition")

            def made(*given: Any) -> Any:
                if not all(need(*given) for need in needs):
                    raise UndefinedError("a precondition of a function of the theories fails")
                return value(*given)

            self.functions[name] = made  # It may call itself.
            try:
                value, *needs = [self.compiled(each)({}) for each in self.definitions[name]]
            except UnknownError as error:
                del self.functions[name]
                raise UnknownError(f"{name}: {error}") from error
        return self.functions[name]

    def compiled(self, term: Any) -> Callable[[Scope], Any]:
        """Return a function that computes a term in a scope."""
        match term:
            case bool() | None:
                return lambda _: term
            case str():
                return lambda scope: scope[term]
            case ["literal", digits]:
                number = int(digits)
                return lambda _: number
            case ["unknown", reason]:
                raise UnknownError(reason)
            case ["lambda", names, body]:
                inner = self.compiled(body)
                return lambda scope: (
                    lambda *given: inner({**scope, **dict(zip(names, given, strict=True))})
                )
            case ["let", name, value, body]:
                of, inner = self.compiled(value), self.compiled(body)
                return lambda scope: inner({**scope, name: of(scope)})
            case ["match", value, branches]:
                of = self.compiled(value)
                cases = [(shape, self.compiled(body)) for shape, body in branches]
                return lambda scope: self.matched(of(scope), cases, scope)
            case ["all" | "any" as word, name, low, high, body]:
                first, last, inner = map(self.compiled, (low, high, body))
                return lambda scope: self.quantified(
                    word == "all", lambda k: inner({**scope, name: k}), first(scope), last(scope)
                )
            case ["make", name, names, *given]:
                made = class_of(name) if "." in name else self.classes(name)
                pairs = list(zip(names, map(self.compiled, given), strict=True))
                return lambda scope: made(**{field: part(scope) for field, part in pairs})
            case ["field", name, value]:
                of = self.compiled(value)
                return lambda scope: self.field(of(scope), name)
        head, several = term[0], [self.compiled(each) for each in term[1:]]
        if head == "if":
            test, then, other = several
            return lambda scope: then(scope) if test(scope) else other(scope)
        if head in ("and", "or"):
            decided = all if head == "and" else any
            return lambda scope: decided(each(scope) for each in several)
        function = self.function(head)
        return lambda scope: function(*(each(scope) for each in several))

    def matched(self, value: Any, cases: Sequence[tuple[Any, Any]], scope: Scope) -> Any:
        """Return the result of the first case that fits a value."""
        for shape, body in cases:
            found = dict(scope)
            if self.fitted(value, shape, found):
                return body(found)
        raise UndefinedError("no case fits")

    def fitted(self, value: Any, shape: Any, found: dict[str, Any]) -> bool:
        """Decide whether a value fits a pattern; bind the pattern's names in a scope."""
        if not isinstance(shape, list):
            found |= {} if shape is None else {shape: value}
            return True
        constructor, *inside = shape
        if not self.is_a(value, constructor):
            return False
        return all(self.fitted(*pair, found) for pair in zip(parts(value), inside, strict=True))


class Condition(NamedTuple):
    """A conjunct of a contract, about the arguments and the end of a call."""

    kind: str
    exception: str | None
    text: str
    holds: Callable[..., Any]


class Contract:
    """The contract of a program or an operation.

    `ends`: the types of result and exceptions; `untried`: uncomputable conditions, with reasons.
    """

    def __init__(self, facts: Mapping[str, Any], theories: Theories) -> None:
        self.facts, self.theories = facts, theories
        self.name = facts["name"].rpartition(".")[2]
        self.parameters = tuple(facts["arguments"])
        self.types = tuple(map(Kind.of, facts["argument_types"]))
        ends = {"": facts["result_type"], **facts["exceptions"]}
        self.ends = {name: Kind.of(kind) for name, kind in ends.items()}
        self.conditions, self.untried = list[Condition](), list[str]()
        for each in facts["conditions"]:
            kind, text = each["kind"], " ".join(each["text"].split())
            try:
                holds = theories.compiled(each["holds"])({})
                self.conditions.append(Condition(kind, each["exception"], text, holds))
            except UnknownError as error:
                self.untried.append(f"{kind} {{ {text} }} cannot be tried: {error}")

    def of_kind(self, kind: str, exception: str | None = None) -> list[Condition]:
        """List the conditions of one kind."""
        return [c for c in self.conditions if (c.kind, c.exception) == (kind, exception)]
