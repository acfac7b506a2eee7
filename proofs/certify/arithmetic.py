"""Rules of arithmetic.

A polynomial has a coefficient for each product of factors. Terms with the same polynomial are
equal.
"""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from certify.rules import number, rule
from certify.terms import (
    Term,
    apply,
    build,
    by_zero,
    equal,
    integer,
    literal,
    negation,
    parts,
    require,
)

# The factors of a product are sorted; no coefficient is 0.
Polynomial = dict[tuple[Term, ...], Fraction]
ZERO = Fraction(0)
RELATIONS = ("=", "<", "<=", ">", ">=")


def amount(given: Term) -> Fraction:
    """Return the number of a literal, or refuse another term."""
    require(given.operator in ("integer", "rational"), "expected the literal of a number")
    return Fraction(str(given.label))


def polynomial(given: Term, known: dict[Term, Polynomial]) -> Polynomial:
    """Return a term's polynomial; terms with operators not listed here are factors."""
    if given in known:
        return known[given]
    found: Polynomial = {(given,): Fraction(1)}
    if given.operator in ("integer", "rational"):
        found = total({(): amount(given)})
    elif given.operator in ("+", "-", "*", "to_real"):
        first, *rest = (polynomial(each, known) for each in given.arguments)
        if given.operator == "*":
            found = reduce(product, rest, first)
        elif given.operator == "-":
            found = total(first, *map(negative, rest)) if rest else negative(first)
        else:
            found = total(first, *rest)
    known[given] = found
    return found


def total(*some: Polynomial) -> Polynomial:
    """Add polynomials."""
    keys = set[tuple[Term, ...]]().union(*some)
    found = {key: sum((each.get(key, ZERO) for each in some), ZERO) for key in keys}
    return {key: factor for key, factor in found.items() if factor != 0}


def negative(given: Polynomial) -> Polynomial:
    """Multiply a polynomial by -1."""
    return {key: -factor for key, factor in given.items()}


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """Multiply two polynomials."""
    some = itertools.product(a.items(), b.items())
    return total(*({tuple(sorted((*p, *q), key=id)): m * n} for (p, m), (q, n) in some))


def relation(formula: Term) -> tuple[str, Term, Term]:
    """Take a comparison of numbers apart."""
    require(formula.operator in RELATIONS, "expected a comparison")
    left, right = formula.arguments
    return formula.operator, left, right


@rule(0)
def arith_poly_norm(given: Term) -> Term:
    """`(= s t)`, if s and t are the same polynomial."""
    known = dict[Term, Polynomial]()
    left, right = (polynomial(each, known) for each in parts(given, "="))
    require(left == right, "two polynomials")
    return given


@rule(1)
def arith_poly_norm_rel(premise: Term, given: Term) -> Term:
    """`(= (* c (- a b)) (* d (- x y)))` implies `(= (r a b) (r x y))`, for a comparison r.

    c and d are nonzero literals, of the same sign unless r is `=`; `to_real` may stand before `-`.
    """
    one, other = map(relation, parts(given, "="))
    require(one[0] == other[0], "two comparisons")
    factors = list[Fraction]()
    for side, (_, left, right) in zip(parts(premise, "="), (one, other), strict=True):
        factor, difference = parts(side, "*", 2)
        own = difference.arguments[0] if difference.operator == "to_real" else difference
        require(own is build("-", left, right), "not the difference of the sides")
        factors.append(amount(factor))
    require(0 not in factors, "a factor 0")
    same_sign = (factors[0] > 0) == (factors[1] > 0)
    require(same_sign or one[0] == "=", "factors of different signs")
    return given


@rule(None)
def arith_sum_ub(premises: Sequence[Term]) -> Term:
    """Add premises `a < b`, `a <= b`, `a = b`; the sum has `<` if a premise has `<`, else `<=`."""
    found = list(map(relation, premises))
    require({name for name, _, _ in found} <= {"<", "<=", "="}, "a comparison the other way round")
    operator = "<" if any(name == "<" for name, _, _ in found) else "<="
    left = build("+", *(a for _, a, _ in found))
    return build(operator, left, build("+", *(b for _, _, b in found)))


@rule(0)
def arith_mult_pos(factor: Term, given: Term) -> Term:
    """For m and a comparison `(r a b)`: m > 0 and `(r a b)` imply `(r (* m a) (* m b))`."""
    return multiplication(">", factor, given, lambda name: name)


@rule(0)
def arith_mult_neg(factor: Term, given: Term) -> Term:
    """For m and `(r a b)`: m < 0 and `(r a b)` imply `(r' (* m a) (* m b))`; r' is r reversed."""
    turned = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return multiplication("<", factor, given, turned.__getitem__)


def multiplication(sign: str, factor: Term, given: Term, turn: Callable[[str], str]) -> Term:
    """Multiply a comparison by a factor of the given sign."""
    operator, left, right = relation(given)
    multiplied = build(turn(operator), build("*", factor, left), build("*", factor, right))
    has_sign = build(sign, factor, literal(0, factor.sort))
    return build("=>", build("and", has_sign, given), multiplied)


@rule(0)
def arith_mult_sign(given: Term, product: Term) -> Term:
    """For a product: the signs of its factors imply its sign.

    Signs are `(> t 0)`, `(< t 0)` and, for an even power of t, `(not (= t 0))`.
    """
    signs, factors = dict[Term, str](), parts(product, "*")
    for formula in parts(given, "and") if given.operator == "and" else (given,):
        inner = formula.arguments[0] if formula.operator == "not" else formula
        sign, factor, zero = relation(inner)
        allowed = ("=",) if formula is not inner else ("<", ">")
        require(sign in allowed and zero is integer(0), "no sign")
        signs[factor] = sign
    require(all(s != "=" or factors.count(t) % 2 == 0 for t, s in signs.items()), "an odd power")
    is_negative = [signs[each] for each in factors].count("<") % 2 == 1
    return build("=>", given, build("<" if is_negative else ">", product, integer(0)))


@rule(None)
def arith_mult_abs_comparison(premises: Sequence[Term]) -> Term:
    """From all |s| > |t|, or all |s| = |t|: the products of all s and all t compare alike.

    If the first premise has `>`, others may be `(and (= (abs s) (abs t)) (not (= s 0)))`.
    """
    kind, found = premises[0].operator, list[tuple[Term, Term]]()
    for premise in premises:
        if premise.operator == "and":
            comparison, nonzero = parts(premise, "and", 2)
            ((large,), (small,)) = (parts(each, "abs") for each in parts(comparison, "="))
            require(nonzero is negation(equal(large, integer(0))), "it may be 0")
        else:
            ((large,), (small,)) = (parts(each, "abs") for each in parts(premise, kind))
        found.append((large, small))
    require(kind in ("=", ">"), "expected = or >")
    left, right = (build("abs", build("*", *each)) for each in zip(*found, strict=True))
    return build(kind, left, right)


@rule(2)
def arith_trichotomy(a: Term, b: Term) -> Term:
    """If two of a < b, a = b and a > b are false, the third holds."""
    first, second = (relation(opposite(formula)) for formula in (a, b))
    require(first[1:] == second[1:], "not of the same terms")
    left = {"<", "=", ">"} - {first[0], second[0]}
    require(len(left) == 1 and {first[0], second[0]} <= {"<", "=", ">"}, "not two of the three")
    return build(left.pop(), *first[1:])


def opposite(formula: Term) -> Term:
    """Return the negation of a comparison as a comparison."""
    if formula.operator == "not":
        return formula.arguments[0]
    operator, left, right = relation(formula)
    return build({"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[operator], left, right)


@rule(1)
def int_tight_ub(formula: Term) -> Term:
    """`(< t c)`, for an integer literal c, implies `(<= t d)`, with d = c - 1."""
    left, right = parts(formula, "<")
    return build("<=", left, integer(number(right) - 1))


@rule(1)
def int_tight_lb(formula: Term) -> Term:
    """`(> t c)`, for an integer literal c, implies `(>= t d)`, with d = c + 1."""
    left, right = parts(formula, ">")
    return build(">=", left, integer(number(right) + 1))


@rule(0)
def arith_reduction(value: Term) -> Term:
    """The meaning of `div`, `mod` and `abs`.

    `(abs a)` is -a or a. `(div a b)` and `(mod a b)` are `div_total` and `mod_total` unless b is 0.
    `div_total` is k and `mod_total` is a - b * k, where b * k <= a < b * (k + 1) for b > 0, and
    b * k <= a < b * (k - 1) for b < 0.
    """
    if value.operator == "abs":
        (a,) = value.arguments
        negative = build("<", a, integer(0))
        return equal(value, build("ite", negative, build("-", a), a))
    a, b = value.arguments
    if value.operator in ("div", "mod"):
        total = build(f"{value.operator}_total", a, b)
        undefined = apply(by_zero(value.operator), a)
        return equal(value, build("ite", equal(b, integer(0)), undefined, total))
    require(value.operator in ("div_total", "mod_total"), "no reduction that is known")
    k = build("@purify", build("div_total", a, b))
    is_k = equal(value, k if value.operator == "div_total" else build("-", a, build("*", b, k)))
    return build("and", is_k, quotient(a, b, k))


def quotient(a: Term, b: Term, k: Term) -> Term:
    """State that k is the quotient of a and b."""

    def between(step: int) -> Term:
        beyond = build("*", b, build("+", k, integer(step)))
        return build("and", build("<=", build("*", b, k), a), build("<", a, beyond))

    if b.operator == "integer":
        require(number(b) != 0, "a quotient by 0")
        return between(1 if number(b) > 0 else -1)
    cases = ((">", 1), ("<", -1))
    return build("and", *(build("=>", build(r, b, integer(0)), between(s)) for r, s in cases))
