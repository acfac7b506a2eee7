"""One question to an implementation: a case, at a level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._cases._values import array, laid_on, number_at

Level: TypeAlias = Literal[
    "verdict",
    "shape",
    "index",
    "strides",
    "data",
    "report",
    "symbolic",
    "operator",
    "inplace",
    "adjoint",
]
ALL_LEVELS: tuple[Level, ...] = get_args(Level)
# Those of one rule and numbers, which have a right answer: `serve` and files of cases have it.
LEVELS = ALL_LEVELS[:6]
OF_ARRAYS = ("data", "operator", "inplace", "adjoint")
# Those that are judged by what is given for the tensors broadcast first.
OPERATORS: tuple[Level, ...] = ("operator", "inplace")

# Sizes that have names, in cases of the level ``symbolic``.
NAMES = ("N", "M", "K")

# The stages, in order. Cases of `random` end with the time, all others are fixed.
Stage: TypeAlias = Literal["small", "many", "ranks", "sizes", "dtypes", "layouts", "random"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class Case(NamedTuple):
    """One question to an implementation of a rule.

    Parameters
    ----------
    shapes : tuple of shapes
        Shapes of the tensors; one, for all rules but ``sonnx`` and ``numpy``. At level
        ``symbolic`` a size is a number or a name.
    target : shape, optional
        Shape to broadcast to, for rules with a target and at the levels ``index`` and ``strides``.
    axes : tuple of int, optional
        Axes, for rules that take them.
    dtypes : tuple of str, optional
        Each tensor's dtype; ``str``, ``object`` and ``StringDType`` are strings. Default: int32.
    layouts : tuple of str, optional
        Each tensor's layout in memory: ``C`` (the default), ``reversed``, ``transposed``,
        ``sliced``, ``overlapping``, ``readonly``, ``broadcast`` (a stride of 0), ``unaligned``; or,
        if the tensor before has the same shape and dtype, ``same``, that array itself, or
        ``backwards``, its memory in reverse.
    multi_index : tuple of int, optional
        At level ``index``: a multi-index of the output.
    strides : tuple of int, optional
        At level ``strides``: the strides of the tensor.

    Notes
    -----
    Cases compare equal and hash by all of these. Their text is a call that makes them again.

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
        """The fields that are given beside the shapes."""
        fields, defaults = self._asdict(), self._field_defaults
        return {name: fields[name] for name in defaults if fields[name] != defaults[name]}

    def arrays(self, level: str = "data") -> list[AnyArray]:
        """Make the tensors of a level: new arrays whose elements show their tensor and place."""
        made: list[AnyArray] = []
        for m, tensor in enumerate(self.tensors(level)):
            shared = laid_on(made[-1], *tensor) if made else None
            made.append(array(number_at(m, level), *tensor) if shared is None else shared)
        return made

    def tensors(self, level: str = "data") -> Iterator[tuple[Shape, str, str]]:
        """Return the shape, the dtype and the layout of each tensor; of a gradient, its target."""
        shapes = self.shapes if level != "adjoint" or self.target is None else (self.target,)
        count = len(shapes)
        dtypes, layouts = self.dtypes or ("int32",) * count, self.layouts or ("C",) * count
        return zip(shapes, dtypes, layouts, strict=True)

    @property
    def every_shape(self) -> tuple[Shape, ...]:
        """The shapes of the tensors, and the target where there is one."""
        return self.shapes if self.target is None else (*self.shapes, self.target)

    def within(self, dtypes: tuple[str, ...], first: str = "") -> Case:
        """Replace the default dtype by the first of `dtypes`, if these lack it.

        If the `first` tensor has its own, give it that.
        """
        other = dtypes[:1] if dtypes and "int32" not in dtypes else ()
        found = self.dtypes or other * len(self.shapes)
        if first:
            found = (first, *(found or ("int32",) * len(self.shapes))[1:])
        return self._replace(dtypes=found)

    def of_tensors(self, count: int) -> Case:
        """Leave out some tensors, or repeat them all in turn, until there are so many."""
        places = [m % len(self.shapes) for m in range(count)]
        return self._replace(
            shapes=tuple([self.shapes[m] for m in places]),
            dtypes=tuple([self.dtypes[m] for m in places if self.dtypes]),
            layouts=tuple([self.layouts[m] for m in places if self.layouts]),
        )

    @property
    def weight(self) -> tuple[object, ...]:
        """The key by which one case is smaller than another."""
        shapes = self.every_shape
        ordinary = sum((name != "int32") + name.startswith(">") for name in self.dtypes)
        ordinary += sum(name != "C" for name in self.layouts)
        heavy = tuple([tuple(map(weight_of, shape)) for shape in shapes])
        count = sum(map(len, shapes)) + len(shapes)
        return (count, ordinary, sum(map(sum, heavy)), heavy, self)


def weight_of(size: Any) -> int:
    """Return what a size weighs: a name more than small numbers, and than names before it."""
    return NAMES.index(size) + 100 if isinstance(size, str) else size


def names_in(case: Case) -> list[str]:
    sizes: list[Any] = [size for shape in case.every_shape for size in shape]
    return list(dict.fromkeys(size for size in sizes if isinstance(size, str)))


def replaced(case: Case, sizes: Mapping[Any, Any]) -> Case:
    """Put other sizes in the place of some."""

    def own(shape: Shape) -> Shape:
        return tuple([sizes.get(size, size) for size in shape])

    target = None if case.target is None else own(case.target)
    return case._replace(shapes=tuple(map(own, case.shapes)), target=target)


def asked(rule: Rule, level: Level, case: Case, tensors: Sequence[object]) -> tuple[object, ...]:
    """Return an implementation's arguments; at level ``data`` with tensors."""
    if level == "strides":
        return rule.arguments((case.shapes[0], case.strides), case)
    if level == "adjoint":
        return (*tensors, case.shapes[0])
    arguments = rule.arguments(tensors if level in OF_ARRAYS else case.shapes, case)
    return (*arguments, case.multi_index) if level == "index" else arguments


def levels_to(level: Level, *, up_to: bool) -> tuple[Level, ...]:
    return LEVELS[: LEVELS.index(level) + 1] if up_to and level in LEVELS else (level,)


def level_named(name: object, rule: Rule | None = None) -> Level:
    """Return one of `LEVELS`, or another one if the rule, where one is given, has it."""
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
