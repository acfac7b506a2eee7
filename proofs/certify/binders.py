"""Rules of quantifiers and functions.

Some rules compare bound variables as sets: repeated and unused ones have no effect.
"""

from functools import cache

from certify.rules import RULES, Terms, claim, rule
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


def quantified(formula: Term, *binders: str) -> tuple[Terms, Term]:
    """Take a quantifier apart."""
    require(formula.operator in (binders or ("forall", "exists")), "expected a quantifier")
    return bound(formula), formula.arguments[0]


@rule(1)
def instantiate(formula: Term, values: Terms) -> Term:
    """`(forall xs F)`: F, in which terms of the same sorts replace all xs."""
    xs, body = quantified(formula, "forall")
    return substitute(body, dict(zip(xs, values, strict=True)))


@rule(1)
def skolemize(formula: Term) -> Term:
    """`(not (forall xs F))`, which is closed: `(not F)`, with the formula's witnesses for xs."""
    (inner,) = parts(formula, "not")
    xs, body = quantified(inner, "forall")
    return negation(substitute(body, {x: skolem(inner, i) for i, x in enumerate(xs)}))


@rule(0)
def alpha_equiv(given: Term, old: Terms, new: Terms) -> Term:
    """`(= s t)`, where t is s with other names for some of its bound variables."""
    renamed = with_names(given, dict(zip(old, new, strict=True)))
    require(same_but_for_names(given, renamed), "more is changed than bound names")
    return equal(given, renamed)


def with_names(given: Term, names: dict[Term, Term]) -> Term:
    """Rename variables, bound ones too; callers compare the result."""

    @cache
    def of(each: Term) -> Term:
        # A witness keeps its formula.
        if each.operator == "skolem":
            return each
        below = list(map(of, each.arguments))
        if each.operator in BINDERS:
            return bind(each.operator, [names.get(x, x) for x in bound(each)], *below)
        return names.get(each) or rebuild(each, below)

    return of(given)


@claim
def beta_reduce(left: Term, right: Term) -> None:
    """`(= ((lambda xs t) a ...) b)`, where b is t with the arguments for all xs."""
    function, *values = parts(left, "apply")
    xs, body = quantified(function, "lambda")
    require(substitute(body, dict(zip(xs, values, strict=True))) is right, "another value")


@claim
def exists_elim(left: Term, right: Term) -> None:
    """`(= (exists xs F) (not (forall xs (not F))))`."""
    xs, body = quantified(left, "exists")
    require(right is negation(bind("forall", xs, negation(body))), "not the dual")


@claim
def quant_unused_vars(left: Term, right: Term) -> None:
    """`(= (Q xs F) (Q ys F))` or `(= (Q xs F) F)`: xs and ys have the same variables of F."""
    xs, body = quantified(left)
    ys = set[Term]() if right is body else {*bound(right)}
    is_same = right is body or (right.operator, right.arguments) == (left.operator, (body,))
    require(is_same and {*xs} & body.free == ys & body.free, "another quantifier")


RULES["quant_var_reordering"] = quant_unused_vars


@claim
def quant_merge_prenex(left: Term, right: Term) -> None:
    """`(= (Q xs (Q ys F)) (Q xs ys F))`, for any number of the same quantifier Q."""
    xs, body = quantified(left)
    while body.operator == left.operator and right is not bind(left.operator, xs, body):
        xs, body = (*xs, *bound(body)), body.arguments[0]
    require(right is bind(left.operator, xs, body), "not the same variables together")


@claim
def quant_miniscope_and(left: Term, right: Term) -> None:
    """`(= (forall xs (and F G ...)) (and (forall xs F) (forall xs G) ...))`."""
    xs, body = quantified(left, "forall")
    formulas = [bind("forall", xs, formula) for formula in parts(body, "and")]
    require(right is together("and", formulas), "not each formula below the quantifier")


@claim
def quant_miniscope_or(left: Term, right: Term) -> None:
    """`(= (forall xs (or F G ...)) (or F' G' ...))`, with each of the xs in at most one formula.

    F' is F if no x occurs in F, or `(forall ys F)` if xs and ys have the same variables of F.
    """
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


@claim
def quant_miniscope_ite(left: Term, right: Term) -> None:
    """`(= (forall xs (ite C F G)) (ite C (forall xs F) (forall xs G)))`, if no x is in C."""
    xs, body = quantified(left, "forall")
    condition, yes, no = parts(body, "ite")
    require(condition.free.isdisjoint(xs), "the condition has a variable")
    expected = build("ite", condition, bind("forall", xs, yes), bind("forall", xs, no))
    require(right is expected, "not each branch below the quantifier")


@claim
def quant_var_elim_eq(left: Term, right: Term) -> None:
    """`(= (forall (x) (or (not (= x t)) F ...)) G)`: t has no x, and G is F ... with t for x.

    If there are no F ..., G is `false`.
    """
    (x,), body = quantified(left, "forall")
    first, *rest = parts(body, "or") if body.operator == "or" else (body,)
    (equation,) = parts(first, "not")
    variable, value = parts(equation, "=")
    require(variable is x and x not in value.free, "not solved for the variable")
    expected = substitute(together("or", rest), {x: value}) if rest else truth(False)
    require(right is expected, "another formula is left")
