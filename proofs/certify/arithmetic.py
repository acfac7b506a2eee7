"""Rules of arithmetic.

A polynomial has a coefficient for each product of terms that are no sums or products themselves;
two sums are equal, whatever these terms are, if they are the same polynomial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from certify.equality import sides
from certify.reader import Value
from certify.rules import number, rule, term
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
    truth,
)

Product = frozenset[tuple[Term, int]]  # terms with their exponents
Polynomial = dict[Product, Fraction]  # no coefficient is 0
ZERO = Fraction(0)
RELATIONS = ("=", "<", "<=", ">", ">=")


def amount(given: Term) -> Fraction:
    """Expect the literal of a number."""
    require(given.operator in ("integer", "rational"), "expected the literal of a number")
    return Fraction(str(given.label))


def polynomial(given: Term, known: dict[Term, Polynomial]) -> Polynomial:
    """Multiply a term out."""
    if given not in known:
        known[given] = expanded(given, known)
    return known[given]


def expanded(given: Term, known: dict[Term, Polynomial]) -> Polynomial:
    """Multiply out what the term is made of; a term that is no sum or product is one of its own."""
    if given.operator in ("integer", "rational"):
        return cleaned({frozenset(): amount(given)})
    if given.operator == "to_real":
        return polynomial(given.arguments[0], known)
    if given.operator not in ("+", "-", "*"):
        return {frozenset([(given, 1)]): Fraction(1)}
    first, *rest = (polynomial(each, known) for each in given.arguments)
    if given.operator == "-" and not rest:
        return {product: -factor for product, factor in first.items()}
    for each in rest:
        if given.operator == "*":
            first = multiplied(first, each)
        else:
            sign = -1 if given.operator == "-" else 1
            keys = {**first, **each}
            first = cleaned({k: first.get(k, ZERO) + sign * each.get(k, ZERO) for k in keys})
    return first


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """Multiply two polynomials."""
    found = dict[Product, Fraction]()
    for p, m in a.items():
        for q, n in b.items():
            exponents = Counter(dict(p))
            exponents.update(dict(q))
            key = frozenset(exponents.items())
            found[key] = found.get(key, ZERO) + m * n
    return cleaned(found)


def cleaned(given: dict[Product, Fraction]) -> Polynomial:
    """Leave out what has the coefficient 0."""
    return {product: factor for product, factor in given.items() if factor != 0}


def relation(formula: Term) -> tuple[str, Term, Term]:
    """Take a comparison of numbers apart."""
    require(formula.operator in RELATIONS, "expected a comparison")
    left, right = formula.arguments
    return formula.operator, left, right


@rule
def arith_poly_norm(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= s t)`, if s and t are the same polynomial."""
    (), (given,) = premises, arguments
    _, left, right = relation(term(given))
    parts(term(given), "=")
    known = dict[Term, Polynomial]()
    require(polynomial(left, known) == polynomial(right, known), "two polynomials")
    return term(given)


@rule
def arith_poly_norm_rel(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (* c (- a b)) (* d (- x y)))`: `(= (r a b) (r x y))`, for a comparison r.

    c and d are literals other than 0, and have the same sign unless r is `=`. A difference of
    integers may be made real.
    """
    (premise,), (given,) = premises, arguments
    one, other = map(relation, sides(term(given)))
    require(one[0] == other[0], "two comparisons")
    factors = list[Fraction]()
    for side, (_, left, right) in zip(sides(premise), (one, other), strict=True):
        factor, difference = parts(side, "*", 2)
        own = difference.arguments[0] if difference.operator == "to_real" else difference
        require(own is build("-", left, right), "not the difference of the sides")
        factors.append(amount(factor))
    require(0 not in factors, "a factor 0")
    same_sign = (factors[0] > 0) == (factors[1] > 0)
    require(same_sign or one[0] == "=", "factors of different signs")
    return term(given)


@rule
def arith_sum_ub(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Some `a < b`, `a <= b` or `a = b`: the sums of the sides.

    The sums compare by `<` if one premise does, and by `<=` otherwise.
    """
    () = arguments
    found = list(map(relation, premises))
    require({name for name, _, _ in found} <= {"<", "<=", "="}, "a comparison the other way round")
    operator = "<" if any(name == "<" for name, _, _ in found) else "<="
    left = build("+", *(a for _, a, _ in found))
    return build(operator, left, build("+", *(b for _, _, b in found)))


@rule
def arith_mult_pos(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For m and a comparison `(r a b)`: if m > 0 and it holds, `(r (* m a) (* m b))`."""
    (), (factor, given) = premises, arguments
    return multiplication(">", term(factor), term(given), lambda name: name)


@rule
def arith_mult_neg(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For m and a comparison `(r a b)`: if m < 0 and it holds, `(* m b)` and `(* m a)` compare so.

    It is written the other way round, with `>` for `<`.
    """
    (), (factor, given) = premises, arguments
    turned = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return multiplication("<", term(factor), term(given), turned.__getitem__)


def multiplication(sign: str, factor: Term, given: Term, turn: Callable[[str], str]) -> Term:
    """Say that a comparison may be multiplied by a factor of a sign."""
    operator, left, right = relation(given)
    product = build(turn(operator), build("*", factor, left), build("*", factor, right))
    has_sign = build(sign, factor, literal(0, factor.sort))
    return build("=>", build("and", has_sign, given), product)


@rule
def arith_mult_sign(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a product m and formulas that tell the signs of its factors: together they tell its own.

    A formula is `(> t 0)`, `(< t 0)` or `(not (= t 0))`; the last tells it of an even power of t.
    """
    (), (given, product) = premises, arguments
    signs, factors = dict[Term, str](), list(parts(term(product), "*"))
    known = parts(term(given), "and") if term(given).operator == "and" else (term(given),)
    for formula in known:
        inner = formula.arguments[0] if formula.operator == "not" else formula
        sign, factor, zero = relation(inner)
        allowed = ("=",) if formula is not inner else ("<", ">")
        require(sign in allowed and zero is integer(0), "no sign")
        signs[factor] = sign
    require(all(s != "=" or factors.count(t) % 2 == 0 for t, s in signs.items()), "an odd power")
    is_negative = [signs[each] for each in factors].count("<") % 2 == 1
    return build("=>", term(given), build("<" if is_negative else ">", term(product), integer(0)))


@rule
def arith_mult_tangent(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For x, y, a, b: `x * y >= b * x + a * y - a * b`, if and only if (x - a) * (y - b) >= 0.

    That is, if both x <= a and y <= b, or both x >= a and y >= b. With the last argument `false`,
    `<=` takes the place of `>=`, and y is compared with b the other way round.
    """
    (), given = premises, arguments
    x, y, a, b, above = map(term, given)
    same, other = (">=", "<=") if above is truth(True) else ("<=", ">=")
    plane = build("-", build("+", build("*", b, x), build("*", a, y)), build("*", a, b))
    first = build("and", build("<=", x, a), build(other, y, b))
    second = build("and", build(">=", x, a), build(same, y, b))
    return equal(build(same, build("*", x, y), plane), build("or", first, second))


@rule
def arith_mult_abs_comparison(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Some |s| > |t|, or all |s| = |t|: the products of all s and of all t compare so.

    Where the first premise says `>`, another may be `(and (= (abs s) (abs t)) (not (= s 0)))`.
    """
    () = arguments
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


@rule
def arith_trichotomy(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Two of a < b, a = b and a > b do not hold: the third does."""
    () = arguments
    first, second = (relation(opposite(formula)) for formula in premises)
    require(first[1:] == second[1:], "not of the same terms")
    left = {"<", "=", ">"} - {first[0], second[0]}
    require(len(left) == 1 and {first[0], second[0]} <= {"<", "=", ">"}, "not two of the three")
    return build(left.pop(), *first[1:])


def opposite(formula: Term) -> Term:
    """Give the comparison that holds where another does not."""
    if formula.operator == "not":
        return formula.arguments[0]
    operator, left, right = relation(formula)
    return build({"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[operator], left, right)


@rule
def int_tight_ub(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(< t c)`, for the literal c of an integer: `(<= t d)`, with d = c - 1."""
    (formula,), () = premises, arguments
    left, right = parts(formula, "<")
    return build("<=", left, integer(number(right) - 1))


@rule
def int_tight_lb(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(> t c)`, for the literal c of an integer: `(>= t d)`, with d = c + 1."""
    (formula,), () = premises, arguments
    left, right = parts(formula, ">")
    return build(">=", left, integer(number(right) + 1))


@rule
def arith_reduction(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """What `div`, `mod` and `abs` mean.

    `(div a b)` and `(mod a b)` are the total ones unless b is 0. `(abs a)` is -a or a. Of the total
    ones, k being the quotient: it is k, or a - b * k; and b * k <= a < b * (k + 1) for b > 0,
    b * k <= a < b * (k - 1) for b < 0. Where b is a literal, only what is true of it is said.
    """
    (), (given,) = premises, arguments
    value = term(given)
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
    """Say that k is the quotient of a and b."""

    def between(step: int) -> Term:
        beyond = build("*", b, build("+", k, integer(step)))
        return build("and", build("<=", build("*", b, k), a), build("<", a, beyond))

    if b.operator == "integer":
        require(number(b) != 0, "a quotient by 0")
        return between(1 if number(b) > 0 else -1)
    cases = ((">", 1), ("<", -1))
    return build("and", *(build("=>", build(r, b, integer(0)), between(s)) for r, s in cases))
