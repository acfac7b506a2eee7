"""Rules that compare normal forms, and rules that compute."""

import math
from collections.abc import Callable
from fractions import Fraction

from certify.rules import claim, rule
from certify.terms import BOOL, NEUTRAL, Term, equal, literal, rebuild, require, truth, value_of


def leaves(given: Term, operator: str) -> set[Term]:
    """Return a term's arguments below nested uses of one operator, without its neutral element."""
    if given.operator == operator:
        return {leaf for each in given.arguments for leaf in leaves(each, operator)}
    return set() if given is NEUTRAL[operator]() else {given}


@claim
def aci_norm(left: Term, right: Term) -> None:
    """`(= F G)` for two conjunctions, or two disjunctions, of the same set of formulas.

    Order, nesting and repetition do not matter. A side may be one formula, or `true` or `false`.
    """
    operators = [each for each in ("and", "or") if each in (left.operator, right.operator)]
    is_same = any(leaves(left, each) == leaves(right, each) for each in operators)
    require(is_same, "not the same formulas")


@claim
def absorb(left: Term, right: Term) -> None:
    """`(= (or ... true ...) true)`, `(= (and ... false ...) false)`, however they are nested."""
    zero = {"or": truth(True), "and": truth(False)}.get(left.operator)
    require(right is zero and right in leaves(left, left.operator), "nothing absorbs the rest")


Number = int | Fraction

COMPUTED: dict[str, Callable[[list[Number]], Number]] = {
    "not": lambda values: not values[0],
    "and": lambda values: all(values),
    "or": lambda values: any(values),
    "=>": lambda values: not values[0] or bool(values[1]),
    "=": lambda values: values[0] == values[1],
    "+": sum,
    "*": lambda values: math.prod(values),
    "-": lambda values: -values[0] if len(values) == 1 else values[0] - values[1],
    "<": lambda values: values[0] < values[1],
    "<=": lambda values: values[0] <= values[1],
    ">": lambda values: values[0] > values[1],
    ">=": lambda values: values[0] >= values[1],
    "abs": lambda values: max(values[0], -values[0]),
    "to_real": lambda values: values[0],
    "to_int": lambda values: math.floor(values[0]),
    "div_total": lambda values: quotient(*values),
    "mod_total": lambda values: values[0] - values[1] * quotient(*values),
}


def quotient(a: Number, b: Number) -> int:
    """Divide so that the remainder is not negative; by 0, the quotient is 0."""
    if b == 0:
        return 0
    return a // b if b > 0 else -(a // -b)


@rule(0)
def evaluate(given: Term) -> Term:
    """`(= t s)`, where s is t with operators on literals computed, the innermost first."""
    return equal(given, computed(given))


def computed(given: Term) -> Term:
    """Compute the operators on literals in a term, except below binders, `skolem` and `apply`."""
    if given.operator in ("forall", "exists", "lambda", "skolem", "apply") or not given.arguments:
        return given
    arguments = [computed(each) for each in given.arguments]
    values = [found for each in arguments if (found := value_of(each)) is not None]
    if given.operator == "ite" and values and arguments[0].operator in ("true", "false"):
        return arguments[1 if values[0] else 2]
    operator = given.operator
    if operator in ("div", "mod") and len(values) == 2 and values[1] != 0:
        operator += "_total"
    if operator not in COMPUTED or len(values) < len(arguments):
        return rebuild(given, arguments)
    found = COMPUTED[operator]([*values])
    return truth(bool(found)) if given.sort == BOOL else literal(found, given.sort)
