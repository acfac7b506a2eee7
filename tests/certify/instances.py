"""Instances of rules: for each rule premises and arguments at random, right ones and others."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

from small_models import ARRAY, SYMBOLS, VARIABLES, Language, U

from certify import checker, schemas
from certify.reader import Expression, Value
from certify.rules import RULES
from certify.terms import (
    BOOL,
    INT,
    REAL,
    Refused,
    Sort,
    Term,
    apply,
    bind,
    bound,
    build,
    equal,
    integer,
    negation,
    rational,
    rebuild,
    substitute,
    together,
    truth,
    variable,
)

Given = tuple[list[Term], list[Value]]
X, Y, Z, V, N, M, R = VARIABLES


def words(pattern: Expression) -> set[str]:
    """Collect the words of a pattern that stand for terms."""
    if isinstance(pattern, str):
        return {pattern} if pattern[0].isupper() else set()
    return set[str]().union(*map(words, pattern))


def of_schema(schema: schemas.Schema, language: Language) -> Given:
    """Give terms of sorts that fit for the words of a schema, and what it is given with them."""
    every = [schema.conclusion, *schema.premises, *schema.arguments]
    names = sorted(words(every))
    sorts = sorts_of(schema.name, names, every, len(schema.arguments))
    chosen = language.chance.choice(sorts)
    found = dict[str, Term]()
    for name, sort in zip(names, chosen, strict=True):
        found[name] = language.term(sort, language.chance.choice((0, 0, 1)))
        if name.endswith("..."):
            operator = operator_around(every, name)
            some = [language.term(sort, 0) for _ in range(language.chance.randrange(3))]
            found[name] = together(operator, some)
    made = [schemas.instance(each, found) for each in schema.premises]
    arguments: list[Value] = [schemas.instance(each, found) for each in schema.arguments]
    return made, arguments


KNOWN_SORTS: dict[str, list[tuple[Sort, ...]]] = {}


def sorts_of(
    name: str, names: list[str], every: list[Expression], arguments: int
) -> list[tuple[Sort, ...]]:
    """List the sorts of the words for which premises and conclusion of a schema are formulas."""
    if name not in KNOWN_SORTS:
        KNOWN_SORTS[name] = []
        some = [BOOL, INT, U, *([ARRAY] if "array" in name else [REAL] * (len(names) < 4))]
        for sorts in itertools.product(some, repeat=len(names)):
            found = {w: variable(w, s) for w, s in zip(names, sorts, strict=True)}
            try:
                sorted_so = [schemas.instance(each, found).sort for each in every]
            except Refused:
                continue
            if {*sorted_so[: len(every) - arguments]} == {BOOL}:
                KNOWN_SORTS[name].append(sorts)
    return KNOWN_SORTS[name]


def operator_around(patterns: Sequence[Expression], name: str) -> str:
    """Find the operator that a word for several arguments stands below."""
    for pattern in patterns:
        if isinstance(pattern, list):
            if name in pattern and isinstance(pattern[0], str):
                return pattern[0]
            if found := operator_around(pattern, name):
                return found
    return ""


# Rules that are functions


def clause(language: Language) -> Term:
    atoms = [SYMBOLS[name] for name in "ABCD"] + [build("or", SYMBOLS["A"], SYMBOLS["B"])]
    atoms += [negation(atom) for atom in atoms]
    count = language.chance.randrange(1, 4)
    return together("or", [language.chance.choice(atoms) for _ in range(count)])


def pivots(language: Language, count: int) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    pick = language.chance.choice
    positive = tuple(truth(pick((True, False))) for _ in range(count))
    atoms = [*(SYMBOLS[name] for name in "ABCD"), build("or", SYMBOLS["A"], SYMBOLS["B"])]
    return positive, tuple(pick(atoms) for _ in range(count))


def resolution(language: Language) -> Given:
    (positive,), (pivot,) = pivots(language, 1)
    return [clause(language), clause(language)], [positive, pivot]


def chain_resolution(language: Language) -> Given:
    positives, chosen = pivots(language, 2)
    return [clause(language) for _ in range(3)], [positives, chosen]


def chain_m_resolution(language: Language) -> Given:
    premises, arguments = chain_resolution(language)
    wanted = RULES["chain_resolution"](premises, arguments)
    if language.chance.random() < 0.5:
        wanted = clause(language)
    return premises, [wanted, *arguments]


def reordering(language: Language) -> Given:
    given = clause(language)
    literals = [*(given.arguments if given.operator == "or" else [given])]
    language.chance.shuffle(literals)
    return [given], [together("or", literals)]


def process_scope(language: Language) -> Given:
    conclusion = language.chance.choice((truth(False), SYMBOLS["C"]))
    formula = conclusion
    for _ in range(language.chance.randrange(1, 3)):
        formula = build("=>", language.term(BOOL, 1), formula)
    return [formula], [conclusion]


def many(operator: str, language: Language) -> Term:
    count = language.chance.randrange(2, 4)
    return build(operator, *(language.term(BOOL, 1) for _ in range(count)))


def index(language: Language) -> Term:
    return integer(language.chance.randrange(2))


def trans(language: Language) -> Given:
    pick = [language.term(U, 1) for _ in range(4)]
    count = language.chance.randrange(2, 4)
    return [equal(pick[i], pick[i + 1]) for i in range(count)], []


def cong(language: Language) -> Given:
    left = language.term(language.chance.choice((BOOL, INT, U)), 2)
    first = 1 if left.operator == "apply" else 0
    premises = []
    for each in left.arguments[first:]:
        same = each.sort == BOOL and language.chance.random() < 0.5
        other = negation(negation(each)) if same else language.term(each.sort, 1)
        premises.append(equal(each, language.chance.choice((each, other))))
    return premises, [left]


def ho_cong(language: Language) -> Given:
    x, y = language.term(U, 1), language.term(U, 1)
    return [equal(SYMBOLS["f"], SYMBOLS["g"]), equal(x, y)], []


def distinct_elim(language: Language) -> Given:
    each = [language.term(U, 1) for _ in range(3)]
    differ = [negation(equal(a, b)) for i, a in enumerate(each) for b in each[i + 1 :]]
    return [], [equal(build("distinct", *each), build("and", *differ))]


def shuffled(term: Term, language: Language) -> Term:
    """Write a sum or product in another way."""
    new = [shuffled(each, language) for each in term.arguments]
    if term.operator in ("+", "*"):
        language.chance.shuffle(new)
    if term.operator == "-" and len(new) == 2:
        return build("+", new[0], build("*", integer(-1), new[1]))
    if term.operator == "*" and len(new) == 2 and new[0].operator == "+":
        return build("+", *(build("*", each, new[1]) for each in new[0].arguments))
    return rebuild(term, new) if term.operator in ("+", "*", "-") else term


def sum_of(language: Language, depth: int = 2) -> Term:
    if depth == 0:
        return language.chance.choice((N, M, integer(2), integer(-1), SYMBOLS["i"]))
    operator = language.chance.choice("+-*")
    return build(operator, sum_of(language, depth - 1), sum_of(language, depth - 1))


def arith_poly_norm(language: Language) -> Given:
    left = sum_of(language)
    right = shuffled(left, language)
    if language.chance.random() < 0.3:
        half = rational(Fraction(1, 2))
        left, right = (build("*", half, build("to_real", each)) for each in (left, right))
    return [], [equal(left, right)]


def comparison(language: Language) -> str:
    return language.chance.choice(("=", "<", "<=", ">", ">="))


def arith_poly_norm_rel(language: Language) -> Given:
    a, b, k = sum_of(language, 1), sum_of(language, 1), language.chance.choice((1, 2, 3, -1, -2))
    c = language.chance.choice((1, 2, -1, 0))
    x, y = build("*", integer(k), a), build("*", integer(k), b)
    one, other = build("-", a, b), build("-", x, y)
    factors, differences = [integer(c * k), integer(c)], [one, other]
    if language.chance.random() < 0.3:
        factors = [rational(Fraction(int(str(each)), 3)) for each in factors]
        differences = [build("to_real", each) for each in differences]
    premise = equal(*(build("*", *side) for side in zip(factors, differences, strict=True)))
    r = comparison(language)
    return [premise], [equal(build(r, a, b), build(r, x, y))]


def arith_sum_ub(language: Language) -> Given:
    relations = [language.chance.choice(("<", "<=", "=", ">")) for _ in range(2)]
    return [build(r, sum_of(language, 1), sum_of(language, 0)) for r in relations], []


def arith_mult(language: Language) -> Given:
    return [], [sum_of(language, 1), build(comparison(language), N, sum_of(language, 1))]


def arith_mult_sign(language: Language) -> Given:
    chosen = language.chance.choice(
        (
            ((">", N), ("<", M)),
            (("=", N), ("<", M), ("<", SYMBOLS["i"])),
            (("<", N),),
            (("=", M), (">", N)),
        )
    )
    signs, factors = list[Term](), list[Term]()
    for operator, term in chosen:
        formula = build(operator, term, integer(0))
        signs.append(negation(formula) if operator == "=" else formula)
        factors += [term] * (2 if operator == "=" else language.chance.choice((1, 2, 3)))
    if len(factors) == 1:
        factors.append(factors[0])
    return [], [together("and", signs), build("*", *factors)]


def arith_mult_tangent(language: Language) -> Given:
    above = truth(language.chance.random() < 0.5)
    return [], [*(sum_of(language, 0) for _ in range(4)), above]


def arith_mult_abs_comparison(language: Language) -> Given:
    kind = language.chance.choice((">", ">", "=", "distinct"))
    premises = []
    for i in range(2):
        s, t = sum_of(language, 0), sum_of(language, 0)
        if i and kind == ">" and language.chance.random() < 0.6:
            t = language.chance.choice((s, build("-", s)))
            same = build("=", build("abs", s), build("abs", t))
            premises.append(build("and", same, negation(build("=", s, integer(0)))))
        else:
            premises.append(build(kind, build("abs", s), build("abs", t)))
    return premises, []


def arith_trichotomy(language: Language) -> Given:
    a, b = sum_of(language, 1), sum_of(language, 1)
    forms = [negation(build("=", a, b)), build("<=", a, b), build(">=", a, b)]
    forms += [negation(build("<", a, b)), negation(build(">", a, b))]
    return language.chance.sample(forms, 2), []


def int_tight(operator: str, language: Language) -> Given:
    return [build(operator, sum_of(language, 1), integer(language.chance.randrange(-3, 4)))], []


def arith_reduction(language: Language) -> Given:
    name = language.chance.choice(("div", "mod", "div_total", "mod_total", "abs"))
    second = (
        [] if name == "abs" else [language.chance.choice((N, integer(2), integer(-3), integer(0)))]
    )
    return [], [build(name, sum_of(language, 1), *second)]


def instantiate(language: Language) -> Given:
    formula = bind("forall", language.variables(), language.term(BOOL, 3))
    return [formula], [tuple(language.term(x.sort, 1) for x in bound(formula))]


def skolemize(language: Language) -> Given:
    body = language.term(BOOL, 2)
    return [negation(bind("forall", closing(body, language), body))], []


def closing(body: Term, language: Language) -> list[Term]:
    """Bind all that is free, once integers have values."""
    xs = [x for x in body.free if x.sort not in (INT, REAL)]
    return sorted(xs, key=str) or language.variables()


def alpha_equiv(language: Language) -> Given:
    formula = bind("forall", [X], language.term(BOOL, 2))
    return [], [language.chance.choice((formula, negation(formula))), (X,), (Z,)]


def beta_reduce(language: Language) -> Given:
    body, value = language.term(BOOL, 2), language.term(U, 1)
    call = apply(bind("lambda", [X], body), value)
    return [], [equal(call, substitute(body, {X: value}))]


def exists_elim(language: Language) -> Given:
    xs, body = language.variables(), language.term(BOOL, 2)
    dual = negation(bind("forall", xs, negation(body)))
    return [], [equal(bind("exists", xs, body), dual)]


def quant_unused_vars(language: Language) -> Given:
    quantifier = language.chance.choice(("forall", "exists"))
    xs, body = language.variables(), language.term(BOOL, 1)
    ys = [x for x in xs if x in body.free]
    right = bind(quantifier, ys, body) if ys else body
    return [], [equal(bind(quantifier, xs, body), right)]


def quant_var_reordering(language: Language) -> Given:
    body = language.term(BOOL, 2)
    return [], [equal(bind("forall", [X, Y], body), bind("forall", [Y, X], body))]


def quant_merge_prenex(language: Language) -> Given:
    quantifier = language.chance.choice(("forall", "exists"))
    xs, ys, body = language.variables(), language.variables(), language.term(BOOL, 1)
    inner = bind(quantifier, ys, body)
    return [], [equal(bind(quantifier, xs, inner), bind(quantifier, [*xs, *ys], body))]


def quant_miniscope_and(language: Language) -> Given:
    xs, body = language.variables(), many("and", language)
    return [], [
        equal(
            bind("forall", xs, body),
            build("and", *(bind("forall", xs, each) for each in body.arguments)),
        )
    ]


def quant_miniscope_or(language: Language) -> Given:
    xs, body = language.variables(), many("or", language)
    new = []
    for each in body.arguments:
        own = [x for x in xs if x in each.free]
        if language.chance.random() < 0.2:
            own = language.variables()
        new.append(bind("forall", own, each) if own else each)
    return [], [equal(bind("forall", xs, body), build("or", *new))]


def quant_miniscope_ite(language: Language) -> Given:
    xs = language.variables()
    c, f, g = (language.term(BOOL, 1) for _ in range(3))
    right = build("ite", c, bind("forall", xs, f), bind("forall", xs, g))
    return [], [equal(bind("forall", xs, build("ite", c, f, g)), right)]


def quant_var_elim_eq(language: Language) -> Given:
    value, rest = language.term(U, 1), language.term(BOOL, 2)
    first = negation(equal(X, value))
    if language.chance.random() < 0.3:
        return [], [equal(bind("forall", [X], first), truth(False))]
    left = bind("forall", [X], build("or", first, rest))
    return [], [equal(left, substitute(rest, {X: value}))]


def mixed(given: Term, operator: str, language: Language) -> Term:
    leaves = [*given.arguments, language.chance.choice(given.arguments)]
    language.chance.shuffle(leaves)
    return build(operator, build(operator, *leaves[:2]), *leaves[2:])


def aci_norm(language: Language) -> Given:
    operator = language.chance.choice(("and", "or"))
    given = many(operator, language)
    return [], [equal(given, mixed(given, operator, language))]


def absorb(language: Language) -> Given:
    operator = language.chance.choice(("and", "or"))
    zero = truth(operator == "or")
    given = build(operator, *many(operator, language).arguments, zero)
    return [], [equal(mixed(given, operator, language), zero)]


def evaluate(language: Language) -> Given:
    def ground(depth: int) -> Term:
        if depth == 0:
            return integer(language.chance.randrange(-3, 4))
        name = language.chance.choice(("+", "*", "-", "div", "mod", "div_total", "mod_total"))
        return build(name, ground(depth - 1), ground(depth - 1))

    left = build(comparison(language), ground(2), ground(1))
    return [], [language.chance.choice((left, build("xor", left, truth(True)), ground(2)))]


def with_argument(operator: str, *, indexed: bool) -> Callable[[Language], Given]:
    def given(language: Language) -> Given:
        formula = many(operator, language)
        return [], [formula, *([index(language)] if indexed else [])]

    return given


def with_premise(operator: str, negated: bool, indexed: bool) -> Callable[[Language], Given]:
    def given(language: Language) -> Given:
        formula = many(operator, language)
        arguments: list[Value] = [index(language)] if indexed else []
        return [negation(formula) if negated else formula], arguments

    return given


# Those that are no function of the name of their rule.
OTHERS: dict[str, Callable[[Language], Given]] = {
    "factoring": lambda language: ([clause(language)], []),
    "and_intro": lambda language: ([clause(language), clause(language)], []),
    "and_elim": with_premise("and", negated=False, indexed=True),
    "not_or_elim": with_premise("or", negated=True, indexed=True),
    "not_and": with_premise("and", negated=True, indexed=False),
    "cnf_and_pos": with_argument("and", indexed=True),
    "cnf_and_neg": with_argument("and", indexed=False),
    "cnf_or_pos": with_argument("or", indexed=False),
    "cnf_or_neg": with_argument("or", indexed=True),
    "refl": lambda language: ([], [language.term(U, 2)]),
    "symm": lambda language: ([equal(language.term(U, 1), language.term(U, 1))], []),
    "nary_cong": cong,
    "pairwise_cong": cong,
    "arith_mult_pos": arith_mult,
    "arith_mult_neg": arith_mult,
    "int_tight_ub": lambda language: int_tight("<", language),
    "int_tight_lb": lambda language: int_tight(">", language),
    **{schema.name: functools.partial(of_schema, schema) for schema in schemas.SCHEMAS},
}
INSTANCES: dict[str, Callable[[Language], Given]] = {
    name: OTHERS.get(name) or globals()[name.replace("-", "_")]
    for name in RULES
    if checker.MODULES  # They have made the rules known.
}


# Others: what a rule is given, changed in one place


def changed(given: Given, language: Language) -> Given:
    """Change a premise or an argument in one place, or take one out, or exchange two."""
    premises, arguments = [*given[0]], [*given[1]]
    pick = language.chance.choice
    of: list[Term] | list[Value] = pick(
        [each for each in (premises, arguments) if each] or [premises]
    )
    if not of:
        return premises, arguments
    i = language.chance.randrange(len(of))
    if language.chance.random() < 0.1:
        of.pop(i)
    elif language.chance.random() < 0.1 and i > 0:
        of[i - 1], of[i] = of[i], of[i - 1]  # type: ignore[assignment]
    elif isinstance(old := of[i], tuple):
        of[i] = tuple(elsewhere(each, language) for each in old)  # type: ignore[call-overload]
    else:
        of[i] = elsewhere(old, language)
    return premises, arguments


SIMILAR = [
    ("and", "or"),
    ("forall", "exists"),
    ("<", "<="),
    (">", ">="),
    ("<", ">"),
    ("+", "*"),
    ("=", "distinct"),
]


def elsewhere(term: Term, language: Language) -> Term:
    """Change a term in one place."""
    pick = language.chance.choice
    if term.arguments and language.chance.random() < 0.75:
        i = language.chance.randrange(len(term.arguments))
        new = [*term.arguments]
        new[i] = elsewhere(new[i], language)
        return rebuild(term, new)
    if term.operator == "integer":
        return integer(int(str(term.label)) + pick((-1, 1)))
    others = [b for pair in SIMILAR for a, b in (pair, pair[::-1]) if a == term.operator]
    if others and language.chance.random() < 0.5:
        name = pick(others)
        return (
            bind(name, bound(term), *term.arguments)
            if bound(term)
            else build(name, *term.arguments)
        )
    if bound(term) and language.chance.random() < 0.7:
        return bind(term.operator, language.variables(), *term.arguments)
    if len(term.arguments) > 1 and language.chance.random() < 0.5 and not bound(term):
        new = [*term.arguments]
        language.chance.shuffle(new)
        return rebuild(term, new)
    if term.operator == "not":
        return term.arguments[0]
    return language.term(term.sort, pick((0, 1)))
