"""Well-sorted terms of many-sorted logic.

`build` and similar functions make all terms; they compute the sort, or refuse. Equal terms are one
object, so `is` compares them. Each sort has an element; those of Int are the integers. Arrays and
functions are equal if all their values are. A formula is a term of sort Bool.

The meaning of terms, stated below, decides whether a rule is sound. A term has a value for each
assignment to its free variables; a step's formula holds for all assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple


class Refused(Exception):  # noqa: N818 (it is no error to refuse)
    """Input is malformed, unknown, or not as a rule requires."""


def require(condition: object, reason: str) -> None:
    """Refuse, unless a side condition holds."""
    if not condition:
        raise Refused(reason)


class Sort(NamedTuple):
    """A sort, such as `Int`, `(Array Int Bool)`; `(-> A B C)` is for functions from A, B to C."""

    name: str
    arguments: tuple[Sort, ...] = ()

    def __str__(self) -> str:
        words = " ".join([self.name, *map(str, self.arguments)])
        return f"({words})" if self.arguments else self.name


# Tasks have no reals, but certificates may.
BOOL, INT, REAL = Sort("Bool"), Sort("Int"), Sort("Real")


class Term:
    """An operator, its label, and arguments; the first argument of `apply` is the function.

    Labels: the value of `integer` and `rational`, the name of `variable` and `constant`, a position
    for `skolem`, the bound variables for `forall`, `exists` and `lambda`.
    """

    __slots__ = ("arguments", "free", "label", "operator", "sort")

    def __init__(
        self, operator: str, label: Label, arguments: tuple[Term, ...], sort: Sort
    ) -> None:
        self.operator, self.label, self.arguments, self.sort = operator, label, arguments, sort
        free = frozenset[Term]().union(*(each.free for each in arguments))
        if operator == "variable":
            free = frozenset([self])
        elif operator in BINDERS:
            free -= frozenset(bound(self))
        self.free: frozenset[Term] = free

    def __str__(self) -> str:
        if self.operator in ("integer", "rational", "variable", "constant"):
            return str(self.label)
        words = [str(each) for each in self.arguments]
        if isinstance(self.label, tuple):
            words.insert(0, f"({' '.join(map(str, self.label))})")
        return f"({' '.join([self.operator, *words])})" if words else self.operator


Label = int | Fraction | str | tuple[Term, ...]

BINDERS = ("forall", "exists", "lambda")

# All terms. After `forget`, the earlier terms must not be used.
KNOWN: dict[tuple[str, Label, tuple[Term, ...], Sort], Term] = {}


def forget() -> None:
    """Forget all terms."""
    KNOWN.clear()


def _unique(operator: str, label: Label, arguments: tuple[Term, ...], sort: Sort) -> Term:
    key = (operator, label, arguments, sort)
    if (found := KNOWN.get(key)) is None:
        found = KNOWN[key] = Term(operator, label, arguments, sort)
    return found


def truth(value: bool) -> Term:
    """Return `true` or `false`."""
    return _unique("true" if value else "false", "", (), BOOL)


def integer(value: int) -> Term:
    """Return the literal of an integer."""
    return _unique("integer", value, (), INT)


def literal(value: int | Fraction, sort: Sort) -> Term:
    """Return the literal of a number, of the sort Int or Real."""
    require(sort == REAL or value == int(value), "a fraction is no integer")
    if sort == REAL:
        return _unique("rational", Fraction(value), (), REAL)
    return integer(int(value))


def variable(name: str, sort: Sort) -> Term:
    """Return a variable; variables with the same name and sort are the same."""
    return _unique("variable", name, (), sort)


def constant(name: str, sort: Sort) -> Term:
    """Return a declared symbol; the symbol of a function has a sort of functions."""
    return _unique("constant", name, (), sort)


def by_zero(operator: str) -> Term:
    """Return the symbol of the function from a dividend to its `div` or `mod` by 0."""
    name = {"div": "@int_div_by_zero", "mod": "@mod_by_zero"}[operator]
    return constant(name, Sort("->", (INT, INT)))


def value_of(term: Term) -> int | Fraction | bool | None:
    """Return the value of a literal, None for other terms."""
    if isinstance(term.label, int | Fraction) and term.operator in ("integer", "rational"):
        return term.label
    return {"true": True, "false": False}.get(term.operator)


def _all_of(sort: Sort, result: Sort) -> Callable[..., Sort | None]:
    return lambda *sorts: result if {*sorts} == {sort} else None


def _alike(*sorts: Sort) -> Sort | None:
    return BOOL if len({*sorts}) == 1 else None


def _sum(*sorts: Sort) -> Sort | None:
    return sorts[0] if sorts[0] in (INT, REAL) and _alike(*sorts) else None


def _comparison(*sorts: Sort) -> Sort | None:
    return BOOL if _sum(*sorts) else None


def _select(array: Sort, index: Sort) -> Sort | None:
    return array.arguments[1] if array.name == "Array" and array.arguments[0] == index else None


def _difference(a: Sort, b: Sort) -> Sort | None:
    return a.arguments[0] if a.name == "Array" and a == b else None


_CONNECTIVE, _INTEGER = _all_of(BOOL, BOOL), _all_of(INT, INT)
MANY = 10**6

# For each operator: the least and the largest number of arguments; the sort, from their sorts.
OPERATORS: dict[str, tuple[int, int, Callable[..., Sort | None]]] = {
    "not": (1, 1, _CONNECTIVE),
    # The conjunction or disjunction of one formula is that formula.
    "and": (1, MANY, _CONNECTIVE),
    "or": (1, MANY, _CONNECTIVE),
    "=>": (2, 2, _CONNECTIVE),
    "=": (2, 2, _alike),
    # Any two of the arguments differ.
    "distinct": (2, MANY, _alike),
    "ite": (3, 3, lambda c, a, b: a if c == BOOL and a == b else None),
    "+": (1, MANY, _sum),
    "*": (1, MANY, _sum),
    "-": (1, 2, _sum),
    "<": (2, 2, _comparison),
    "<=": (2, 2, _comparison),
    ">": (2, 2, _comparison),
    ">=": (2, 2, _comparison),
    "to_real": (1, 1, _all_of(INT, REAL)),
    # The largest integer that is not above the argument.
    "to_int": (1, 1, _all_of(REAL, INT)),
    "abs": (1, 1, _INTEGER),
    # SMT-LIB's: x = y * (div x y) + (mod x y) and 0 <= (mod x y) < |y|, for y other than 0.
    "div": (2, 2, _INTEGER),
    "mod": (2, 2, _INTEGER),
    # The same for y other than 0; for y = 0, the values are 0 and x.
    "div_total": (2, 2, _INTEGER),
    "mod_total": (2, 2, _INTEGER),
    "select": (2, 2, _select),
    "store": (3, 3, lambda a, i, v: a if a == Sort("Array", (i, v)) else None),
    # An index at which two arrays differ, if they do.
    "@array_deq_diff": (2, 2, _difference),
    # The argument itself.
    "@purify": (1, 1, lambda sort: sort),
}


def build(operator: str, *arguments: Term) -> Term:
    """Apply an operator; refuse arguments of wrong number or sorts. `(- 3)` is the literal -3."""
    require(operator in OPERATORS, f"no operator that is known: {operator}")
    least, most, rule = OPERATORS[operator]
    require(least <= len(arguments) <= most, f"{operator} of {len(arguments)} arguments")
    sort = rule(*(each.sort for each in arguments))
    if sort is None:
        raise Refused(f"{operator} of {', '.join(str(each.sort) for each in arguments)}")
    value = value_of(arguments[0])
    if operator == "-" and len(arguments) == 1 and value is not None:
        return literal(-value, sort)
    return _unique(operator, "", arguments, sort)


def apply(function: Term, *arguments: Term) -> Term:
    """Apply a function to all its arguments."""
    *expected, result = function.sort.arguments or (function.sort,)
    fits = function.sort.name == "->" and expected == [each.sort for each in arguments]
    require(fits, f"{function} of {', '.join(str(each.sort) for each in arguments)}")
    return _unique("apply", "", (function, *arguments), result)


def bind(binder: str, variables: Sequence[Term], body: Term) -> Term:
    """Bind variables: `body` holds for all or some of their values, or defines a function of them.

    A quantifier may bind one variable twice, without effect; a function may not.
    """
    require(variables and all(each.operator == "variable" for each in variables), "no variables")
    sort = BOOL
    if binder == "lambda":
        require(len({*variables}) == len(variables), "a function of one variable twice")
        sort = Sort("->", (*(each.sort for each in variables), body.sort))
    else:
        require(body.sort == BOOL, f"{binder} of no formula")
    return _unique(binder, tuple(variables), (body,), sort)


def skolem(formula: Term, position: int) -> Term:
    """Return one of the values for which a closed formula `(forall xs F)` fails, if it does.

    The values for a formula are chosen together, once; `position` is the variable's.
    """
    require(formula.operator == "forall" and not formula.free, "a witness of no closed formula")
    variables = bound(formula)
    require(0 <= position < len(variables), "a witness of no variable")
    return _unique("skolem", position, (formula,), variables[position].sort)


def bound(term: Term) -> tuple[Term, ...]:
    """Return the variables that a term itself binds."""
    return term.label if isinstance(term.label, tuple) else ()


def rebuild(term: Term, arguments: Sequence[Term]) -> Term:
    """Replace the arguments of a term; refuse another formula in a witness."""
    if all(old is new for old, new in zip(term.arguments, arguments, strict=True)):
        return term
    require(term.operator != "skolem", "another formula has other witnesses")
    if term.operator == "apply":
        return apply(*arguments)
    if term.operator in BINDERS:
        return bind(term.operator, bound(term), *arguments)
    return build(term.operator, *arguments)


def negation(formula: Term) -> Term:
    """Return `(not F)`."""
    return build("not", formula)


def equal(a: Term, b: Term) -> Term:
    """Return `(= a b)`."""
    return build("=", a, b)


def together(operator: str, arguments: Sequence[Term]) -> Term:
    """Return `(op a b ...)`; for one term that term, for none the neutral element."""
    if len(arguments) == 1:
        return arguments[0]
    return build(operator, *arguments) if arguments else NEUTRAL[operator]()


NEUTRAL: dict[str, Callable[[], Term]] = {"and": lambda: truth(True), "or": lambda: truth(False)}


def listed(formula: Term, operator: str) -> tuple[Term, ...]:
    """Return the formulas of a conjunction or disjunction, also of one formula or none."""
    if formula.operator == operator:
        return formula.arguments
    return () if formula is NEUTRAL[operator]() else (formula,)


def parts(term: Term, operator: str, count: int | None = None) -> tuple[Term, ...]:
    """Return the arguments of an application of an operator, or refuse another term."""
    require(term.operator == operator, f"expected an application of {operator}")
    require(count in (None, len(term.arguments)), f"expected {count} arguments of {operator}")
    return term.arguments


def substitute(term: Term, values: Mapping[Term, Term]) -> Term:
    """Replace free variables by terms of their sorts, at once; refuse to capture a variable.

    The result has the value of `term` where the variables have the values of the terms.
    """
    require(all(x.sort == t.sort for x, t in values.items()), "a term of another sort")

    @cache
    def of(each: Term) -> Term:
        if each.operator == "variable":
            return values.get(each, each)
        if each.free.isdisjoint(values):
            return each
        if each.operator in BINDERS:
            own = {x: t for x, t in values.items() if x in each.free}
            is_safe = all(t.free.isdisjoint(bound(each)) for t in own.values())
            require(is_safe, "a variable would be captured")
            return rebuild(each, [substitute(each.arguments[0], own)])
        return rebuild(each, [of(argument) for argument in each.arguments])

    return of(term)


def same_but_for_names(a: Term, b: Term) -> bool:
    """Decide whether two terms differ only in the names of bound variables."""
    return numbered(a, 0, {}) is numbered(b, 0, {})


def numbered(term: Term, depth: int, done: dict[tuple[Term, int], Term]) -> Term:
    """Rename each bound variable to the number of variables around it; no input has such names.

    A witness's formula keeps its names.
    """
    if not term.arguments or term.operator == "skolem":
        return term
    if (term, depth) not in done:
        xs = [variable(str(depth + i), x.sort) for i, x in enumerate(bound(term))]
        inside = [numbered(each, depth + len(xs), done) for each in term.arguments]
        if xs:
            body = substitute(inside[0], dict(zip(bound(term), xs, strict=True)))
            done[term, depth] = bind(term.operator, xs, body)
        else:
            done[term, depth] = rebuild(term, inside)
    return done[term, depth]
