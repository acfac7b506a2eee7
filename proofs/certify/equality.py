"""Rules of equality: equal terms may replace each other."""

from collections.abc import Sequence

from certify.rules import RULES, rule
from certify.terms import Term, apply, equal, negation, parts, rebuild, require


@rule(0)
def refl(term: Term) -> Term:
    """`(= t t)`, for any t."""
    return equal(term, term)


@rule(1)
def symm(formula: Term) -> Term:
    """`(= s t)`: `(= t s)`; `(not (= s t))`: `(not (= t s))`."""
    if formula.operator == "not":
        left, right = parts(formula.arguments[0], "=")
        return negation(equal(right, left))
    left, right = parts(formula, "=")
    return equal(right, left)


@rule(None)
def trans(premises: Sequence[Term]) -> Term:
    """`(= r s)`, `(= s t)`, ...: the first term equals the last."""
    first, last = parts(premises[0], "=")
    for premise in premises[1:]:
        left, right = parts(premise, "=")
        require(left is last, "the equations do not meet")
        last = right
    return equal(first, last)


@rule(None)
def cong(premises: Sequence[Term], left: Term) -> Term:
    """For t and equations of its last arguments: `(= t u)`; u is t with the equations' right sides.

    If t is a binder, the equation of its only argument must hold for all values of the variables:
    the checker refuses suppositions about them.
    """
    pairs = [parts(premise, "=") for premise in premises]
    unchanged = len(left.arguments) - len(pairs)
    is_of_them = all(a is b for (a, _), b in zip(pairs, left.arguments[unchanged:], strict=True))
    require(is_of_them, "the equations are not those of the arguments")
    return equal(left, rebuild(left, [*left.arguments[:unchanged], *(b for _, b in pairs)]))


RULES["nary_cong"] = cong

# Only this rule requires premises that hold for all values of variables.
GENERAL = cong


@rule(None)
def ho_cong(premises: Sequence[Term]) -> Term:
    """Equal functions, and equal arguments: the applications are equal."""
    (f, g), *pairs = (parts(premise, "=") for premise in premises)
    return equal(apply(f, *(a for a, _ in pairs)), apply(g, *(b for _, b in pairs)))
