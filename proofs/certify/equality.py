"""Rules of equality: equal things are equal in every place."""

from __future__ import annotations

from collections.abc import Sequence

from certify.reader import Value
from certify.rules import RULES, hyphened, rule, term
from certify.terms import Term, apply, equal, negation, parts, rebuild, require, together


def sides(equation: Term) -> tuple[Term, Term]:
    """Take an equation apart."""
    left, right = parts(equation, "=")
    return left, right


def claimed(premises: Sequence[Term], arguments: Sequence[Value]) -> tuple[Term, Term, Term]:
    """Take an equation that is an argument, and its sides: it rests on no premise."""
    (), (given,) = premises, arguments
    return term(given), *sides(term(given))


@rule
def refl(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= t t)`, for any t."""
    (), (given,) = premises, arguments
    return equal(term(given), term(given))


@rule
def symm(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= s t)`: `(= t s)`; and of `(not (= s t))` likewise."""
    (formula,), () = premises, arguments
    if formula.operator == "not":
        left, right = sides(formula.arguments[0])
        return negation(equal(right, left))
    left, right = sides(formula)
    return equal(right, left)


@rule
def trans(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= r s)`, `(= s t)`, ...: the first of all equals the last."""
    () = arguments
    first, last = sides(premises[0])
    for premise in premises[1:]:
        left, right = sides(premise)
        require(left is last, "the equations do not meet")
        last = right
    return equal(first, last)


@rule
def cong(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a term and equations of its last arguments: it equals the term with the other sides.

    Below a binder there is one argument. The equation holds for all values of its variables, since
    no supposition speaks of them: the checker sees to that.
    """
    (given,) = arguments
    left = term(given)
    pairs = list(map(sides, premises))
    unchanged = len(left.arguments) - len(pairs)
    is_of_them = all(a is b for (a, _), b in zip(pairs, left.arguments[unchanged:], strict=True))
    require(is_of_them, "the equations are not those of the arguments")
    return equal(left, rebuild(left, [*left.arguments[:unchanged], *(b for _, b in pairs)]))


RULES["nary_cong"] = RULES["pairwise_cong"] = cong

# The only rule whose premises have to hold for all values of variables, and not just for one.
GENERAL = cong


@rule
def ho_cong(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Equal functions, and equal arguments: the applications are equal."""
    () = arguments
    (f, g), *pairs = map(sides, premises)
    return equal(apply(f, *(a for a, _ in pairs)), apply(g, *(b for _, b in pairs)))


@hyphened
def distinct_elim(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(distinct a b ...)` equals the conjunction of `(not (= a b))` for any two of them."""
    given, left, right = claimed(premises, arguments)
    each = parts(left, "distinct")
    differ = [negation(equal(a, b)) for i, a in enumerate(each) for b in each[i + 1 :]]
    require(right is together("and", differ), "not each two of them")
    return given
