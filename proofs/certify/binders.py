"""Rules of quantifiers and functions.

What is said of bound variables is that they are those of a set: a variable that is bound twice, or
does not occur, says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from certify.equality import claimed, sides
from certify.reader import Value
from certify.rules import hyphened, rule, term, terms_in
from certify.terms import (
    BINDERS,
    Term,
    bind,
    bound,
    build,
    equal,
    negation,
    parts,
    rebuild,
    require,
    same_but_for_names,
    skolem,
    substitute,
    together,
    truth,
)

QUANTIFIERS = ("forall", "exists")


def quantified(formula: Term, *binders: str) -> tuple[tuple[Term, ...], Term]:
    """Take a quantifier apart."""
    require(formula.operator in (binders or QUANTIFIERS), "expected a quantifier")
    return bound(formula), formula.arguments[0]


@rule
def instantiate(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(forall xs F)`: F, with terms of the same sorts for all xs."""
    (formula,), (values,) = premises, arguments
    xs, body = quantified(formula, "forall")
    return substitute(body, dict(zip(xs, terms_in(values), strict=True)))


@rule
def skolemize(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(not (forall xs F))`, which is closed: `(not F)`, with its witnesses for the xs."""
    (formula,), () = premises, arguments
    (inner,) = parts(formula, "not")
    xs, body = quantified(inner, "forall")
    return negation(substitute(body, {x: skolem(inner, i) for i, x in enumerate(xs)}))


@rule
def alpha_equiv(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= s t)`, where t is s with other names for some of its bound variables."""
    (), (given, old, new) = premises, arguments
    names = dict(zip(terms_in(old), terms_in(new), strict=True))
    renamed = with_names(term(given), names)
    require(same_but_for_names(term(given), renamed), "more is changed than bound names")
    return equal(term(given), renamed)


def with_names(given: Term, names: dict[Term, Term]) -> Term:
    """Write other names for variables, also where they are bound; who calls compares.

    What a witness is of is no part of the formula: it keeps its names.
    """
    done: dict[Term, Term] = {}

    def of(each: Term) -> Term:
        if each not in done:
            is_whole = each.operator == "skolem"
            below = [] if is_whole else [of(argument) for argument in each.arguments]
            if each.operator in BINDERS:
                xs = [names.get(x, x) for x in bound(each)]
                done[each] = bind(each.operator, xs, *below)
            else:
                done[each] = each if is_whole else names.get(each) or rebuild(each, below)
        return done[each]

    return of(given)


@hyphened
def beta_reduce(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= ((lambda xs t) a ...) b)`, where b is t with the arguments for all xs."""
    given, left, right = claimed(premises, arguments)
    function, *values = parts(left, "apply")
    xs, body = quantified(function, "lambda")
    require(substitute(body, dict(zip(xs, values, strict=True))) is right, "another value")
    return given


@hyphened
def exists_elim(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (exists xs F) (not (forall xs (not F))))`."""
    given, left, right = claimed(premises, arguments)
    xs, body = quantified(left, "exists")
    require(right is negation(bind("forall", xs, negation(body))), "not the dual")
    return given


@hyphened
def quant_unused_vars(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (Q xs F) (Q ys F))`, where those of the xs that F has are those of the ys that it has.

    Where it has none of the xs, F itself may stand on the right.
    """
    given, left, right = claimed(premises, arguments)
    xs, body = quantified(left)
    ys = set[Term]() if right is body else {*bound(right)}
    is_same = right is body or (right.operator, right.arguments) == (left.operator, (body,))
    require(is_same and {*xs} & body.free == ys & body.free, "another quantifier")
    return given


@rule
def quant_var_reordering(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (forall xs F) (forall ys F))`, where the ys are the xs in another order."""
    return quant_unused_vars(premises, arguments)


@hyphened
def quant_merge_prenex(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (Q xs (Q ys F)) (Q xs ys F))`, for any number of the same quantifier Q."""
    given, left, right = claimed(premises, arguments)
    body, variables = left, list[Term]()
    while body.operator == left.operator and body is not right:
        xs, body = quantified(body)
        variables += xs
        if right is bind(left.operator, variables, body):
            return given
    require(False, "not the same variables together")
    return given


@hyphened
def quant_miniscope_and(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (forall xs (and F G ...)) (and (forall xs F) (forall xs G) ...))`."""
    given, left, right = claimed(premises, arguments)
    xs, body = quantified(left, "forall")
    formulas = [bind("forall", xs, formula) for formula in parts(body, "and")]
    require(right is together("and", formulas), "not each formula below the quantifier")
    return given


@hyphened
def quant_miniscope_or(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (forall xs (or F G ...)) (or F' G' ...))`, with each of the xs in one formula at most.

    F' is F if it has none of the xs; it may be `(forall ys F)`, and those of the xs that F has are
    those of the ys that it has.
    """
    given, left, right = claimed(premises, arguments)
    xs, body = quantified(left, "forall")
    used = set[Term]()
    for old, new in zip(parts(body, "or"), parts(right, "or"), strict=True):
        ys = set[Term]()
        if new is not old:
            ys = {*bound(new)}
            require(quantified(new, "forall")[1] is old, "another formula")
        own = {*xs} & old.free
        require(own == ys & old.free, "other variables than the formula has")
        require(own.isdisjoint(used), "a variable in two formulas")
        used |= own
    return given


@hyphened
def quant_miniscope_ite(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (forall xs (ite C F G)) (ite C (forall xs F) (forall xs G)))`, if no x is in C."""
    given, left, right = claimed(premises, arguments)
    xs, body = quantified(left, "forall")
    condition, yes, no = parts(body, "ite")
    require(condition.free.isdisjoint(xs), "the condition has a variable")
    expected = build("ite", condition, bind("forall", xs, yes), bind("forall", xs, no))
    require(right is expected, "not each branch below the quantifier")
    return given


@hyphened
def quant_var_elim_eq(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(= (forall (x) (or (not (= x t)) F ...)) G)`, where t has no x, and G is F ... with t for x.

    Without F ..., G is `false`.
    """
    given, left, right = claimed(premises, arguments)
    (x,), body = quantified(left, "forall")
    first, *rest = parts(body, "or") if body.operator == "or" else (body,)
    (equation,) = parts(first, "not")
    variable, value = sides(equation)
    require(variable is x and x not in value.free, "not solved for the variable")
    expected = substitute(together("or", rest), {x: value}) if rest else truth(False)
    require(right is expected, "another formula is left")
    return given
