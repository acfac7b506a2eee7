"""Cases, and the options that choose them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from whycast._checks import show
from whycast._rules import Rule, rule_on_tensors
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._cases._values import ALL_DTYPES, DTYPES, array, laid_on, number_at

# `serve` and files of cases have these levels: the rule and the request determine the answer.
Answered: TypeAlias = Literal["verdict", "shape", "index", "strides", "data", "report"]
Level: TypeAlias = Literal[Answered, "symbolic", "operator", "inplace", "vjp", "adjoint"]
LEVELS: tuple[Level, ...] = get_args(Answered)
ALL_LEVELS: tuple[Level, ...] = get_args(Level)
OF_ARRAYS = ("data", "operator", "inplace", "vjp", "adjoint")
# At these levels an answer must match the answer for the same tensors, broadcast first.
OPERATORS: tuple[Level, ...] = ("operator", "inplace", "vjp")

NAMES = ("N", "M", "K")

# The stages in order. Random cases continue until the time is over; all other cases are fixed.
Stage: TypeAlias = Literal["small", "many", "ranks", "sizes", "dtypes", "layouts", "random"]
STAGES: tuple[Stage, ...] = get_args(Stage)

Tensors: TypeAlias = tuple[int, float]


class Case(NamedTuple):
    """One question to an implementation of a rule.

    Parameters
    ----------
    shapes : tuple of shapes
        Shapes of the tensors; only the rules ``sonnx`` and ``numpy`` take several. At level
        ``symbolic`` a size is a number or a name.
    target : shape, optional
        Shape to broadcast to, for rules with a target, and at ``index``, ``strides``, ``adjoint``.
    axes : tuple of int, optional
        Axes, for rules that take them.
    dtypes : tuple of str, optional
        Each tensor's dtype; ``str``, ``object`` and ``StringDType`` are strings. Default: int32.
    layouts : tuple of str, optional
        Each tensor's layout in memory: ``C`` (the default), ``reversed``, ``transposed``,
        ``sliced``, ``overlapping``, ``readonly``, ``broadcast`` (a stride of 0), ``unaligned``. If
        the previous tensor has the same shape and dtype, also ``same`` (the same array) and
        ``backwards`` (a reversed view of the same memory).
    multi_index : tuple of int, optional
        At level ``index``: a multi-index of the output.
    strides : tuple of int, optional
        At level ``strides``: the strides of the tensor.

    Notes
    -----
    Cases compare and hash by all attributes. ``repr()`` returns a call that makes the case.

    Examples
    --------
    >>> case = Case(((2, 1), (3,)), dtypes=("int32", "float32"))
    >>> case
    Case(((2, 1), (3,)), dtypes=('int32', 'float32'))
    >>> [x.tolist() for x in case.arrays()[:1]]
    [[[16843009], [33686018]]]
    """

    shapes: tuple[Shape, ...]
    target: Shape | None = None
    axes: tuple[int, ...] | None = None
    dtypes: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    multi_index: tuple[int, ...] | None = None
    strides: Strides | None = None

    def __repr__(self) -> str:
        rest = [f"{name}={value!r}" for name, value in self.given.items()]
        return f"Case({', '.join([repr(self.shapes), *rest])})"

    @property
    def given(self) -> dict[str, object]:
        """The fields, except the shapes, that differ from their default value."""
        fields, defaults = self._asdict(), self._field_defaults
        return {name: fields[name] for name in defaults if fields[name] != defaults[name]}

    def arrays(self, level: str = "data") -> list[AnyArray]:
        """Make a level's tensors: new arrays in which a misplaced element shows."""
        made: list[AnyArray] = []
        for m, tensor in enumerate(self.tensors(level)):
            shared = laid_on(made[-1], *tensor) if made else None
            made.append(array(number_at(m, level), *tensor) if shared is None else shared)
        return made

    def tensors(self, level: str = "data") -> Iterator[tuple[Shape, str, str]]:
        """Return each tensor's shape, dtype and layout.

        At level ``vjp`` the gradient comes first; at ``adjoint`` it is the only tensor.
        """
        shapes = self.shapes if level != "adjoint" or self.target is None else (self.target,)
        count = len(shapes)
        dtypes, layouts = self.dtypes or ("int32",) * count, self.layouts or ("C",) * count
        if level == "vjp":
            delta = rule_on_tensors(zero_meets_one=True).shape(self) or max(shapes, key=len)
            shapes, dtypes, layouts = (delta, *shapes), (dtypes[-1], *dtypes), ("C", *layouts)
        return zip(shapes, dtypes, layouts, strict=True)

    @property
    def every_shape(self) -> tuple[Shape, ...]:
        """The shapes of the tensors, and the target if the case has one."""
        return self.shapes if self.target is None else (*self.shapes, self.target)

    def of_tensors(self, places: Sequence[int]) -> Case:
        """Return a case of the tensors at `places`, in this order."""
        shapes = tuple([self.shapes[m] for m in places])
        dtypes = tuple([self.dtypes[m] for m in places if self.dtypes])
        layouts = tuple([self.layouts[m] for m in places if self.layouts])
        return self._replace(shapes=shapes, dtypes=dtypes, layouts=layouts)

    @property
    def weight(self) -> tuple[object, ...]:
        """The key that sorts cases from the smallest up."""
        shapes = self.every_shape
        ordinary = sum((name != "int32") + name.startswith(">") for name in self.dtypes)
        ordinary += sum(name != "C" for name in self.layouts)
        heavy = tuple([tuple(map(weight_of, shape)) for shape in shapes])
        count = sum(map(len, shapes)) + len(shapes)
        return (count, ordinary, sum(map(sum, heavy)), heavy, self)


class Asked(NamedTuple):
    """The options that choose the cases for a target at a level."""

    level: Level
    seed: int = 0
    every: int = 1
    dtypes: Sequence[str] = ()
    max_size: float = math.inf
    max_rank: float = math.inf
    refuses: Sequence[str] = ()
    # `tensors`: the least and greatest number of tensors; `first`: the first tensor's dtype if it
    # differs; `form`: the form of gradients.
    tensors: Tensors = (0, math.inf)
    first: str = ""
    form: str = ""

    def checked(self, rule: Rule) -> Asked:
        check_numbers(int, every=self.every, seed=self.seed)
        check_numbers((int, float), max_size=self.max_size, max_rank=self.max_rank)
        check_names("dtypes", self.dtypes, ALL_DTYPES if rule.dtypes == "any" else DTYPES)
        check_names("refuses", self.refuses)
        return self._replace(dtypes=tuple(self.dtypes), refuses=tuple(self.refuses))

    def fitted(self, case: Case, *, cut: bool = False) -> Case:
        """Set the dtypes; repeat tensors if there are too few; with `cut`, drop surplus tensors."""
        if case.target is None:
            least, most = self.tensors
            count = len(case.shapes)
            wanted = int(max(least, min(most, count) if cut else count))
            if wanted != count:
                case = case.of_tensors([m % count for m in range(wanted)])
        if self.level not in OF_ARRAYS:
            return case
        dtypes, count = case.dtypes, len(case.shapes)
        if self.level in OPERATORS:
            # An operator need not accept tensors of different dtypes.
            dtypes = dtypes[-1:] * len(dtypes)
        if self.dtypes and "int32" not in self.dtypes:
            dtypes = dtypes or (self.dtypes[0],) * count
        if self.first:
            dtypes = (self.first, *(dtypes or ("int32",) * count)[1:])
        return case if dtypes == case.dtypes else case._replace(dtypes=dtypes)

    def left_out(self, case: Case) -> str | None:
        if case.target is None and len(case.shapes) > self.tensors[1]:
            return f"more tensors than {self.tensors[1]}"
        # If the first tensor is a condition, its dtype does not count.
        own = set(case.dtypes[bool(self.first) :])
        if self.level in OF_ARRAYS and self.dtypes and not own <= {*self.dtypes}:
            return "a dtype that is not to be asked"
        if max(map(len, case.every_shape)) > self.max_rank:
            return f"a rank above {self.max_rank}"
        if self.max_size < math.inf:
            numbers = [n for each in case.every_shape for n in each if isinstance(n, int)]
            numbers += [*(case.multi_index or ()), *(case.strides or ())]
            if max(map(abs, numbers), default=0) > self.max_size:
                return f"a number above {self.max_size}"
        return None


_LEAST = {"every": 1, "seed": -math.inf}


def check_numbers(kind: Any, **numbers: float) -> None:
    for name, number in numbers.items():
        if not isinstance(number, kind):
            expected = "an int" if kind is int else "a number"
            raise TypeError(f"{name}: expected {expected}, got {show(number)}")
        if number == 0 and name in ("seconds", "timeout"):
            raise ValueError(f"{name}: expected more than 0, got 0")
        if not number >= _LEAST.get(name, 0):
            raise ValueError(f"{name}: expected at least {_LEAST.get(name, 0)}, got {number}")


def check_names(name: str, names: Sequence[str], known: Sequence[str] = ()) -> None:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise TypeError(f"{name}: expected a sequence of names, got {show(names)}")
    for each in names:
        if not isinstance(each, str) or (known and each not in known):
            wanted = f"some of {', '.join(known)}" if known else "names"
            raise ValueError(f"{name}: expected {wanted}, got {each!r}")


def tensors_of(given: int | tuple[int, int] | None) -> Tensors | None:
    if given is None:
        return None
    low, high = given if isinstance(given, tuple) else (given, given)
    if type(low) is not int or type(high) is not int or not 0 < low <= high:
        raise ValueError(f"tensors: expected a number or two, such as (1, 3), got {show(given)}")
    return low, high


def weight_of(size: Any) -> int:
    return NAMES.index(size) + 100 if isinstance(size, str) else size


def names_in(case: Case) -> list[str]:
    sizes: list[Any] = [size for shape in case.every_shape for size in shape]
    return list(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def replaced(case: Case, sizes: Mapping[Any, Any]) -> Case:
    def own(shape: Shape) -> Shape:
        return tuple([sizes.get(size, size) for size in shape])

    target = None if case.target is None else own(case.target)
    return case._replace(shapes=tuple(map(own, case.shapes)), target=target)


def asked(rule: Rule, level: Level, case: Case, tensors: Sequence[object]) -> tuple[object, ...]:
    if level == "strides":
        return rule.arguments((case.shapes[0], case.strides), case)
    if level == "adjoint":
        return (*tensors, case.shapes[0])
    arguments = rule.arguments(tensors if level in OF_ARRAYS else case.shapes, case)
    return (*arguments, case.multi_index) if level == "index" else arguments


def levels_to(level: Level, *, up_to: bool) -> tuple[Level, ...]:
    return LEVELS[: LEVELS.index(level) + 1] if up_to and level in LEVELS else (level,)


def level_named(name: object, rule: Rule | None = None) -> Level:
    known = list(LEVELS)
    if rule is not None and rule.named is not None:
        known.append("symbolic")
    if rule is not None and rule.takes == "tensors":
        known += [*OPERATORS, "adjoint"]
    for level in known:
        if level == name:
            return level
    if not isinstance(name, str):
        raise TypeError(f"level: expected a str, got {name!r}")
    raise ValueError(f"level: expected one of {', '.join(map(repr, known))}, got {name!r}")
