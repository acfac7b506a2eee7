"""Every rule, on random instances: in small models the premises imply the conclusion.

A rule must refuse an instance that was changed in one place, or its conclusion must still hold.
These tests notice wrong patterns and missing side conditions, except two conditions of arithmetic,
for which test_checker.py has certificates.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from certificates.faults import OTHER_WORDS
from certify import equality, schemas
from certify.reader import Certificate, Expression, Task, Value, expressions, several, word
from certify.rules import RULES, Rule, spelled
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
    constant,
    integer,
    literal,
    negation,
    rebuild,
    together,
    truth,
    variable,
)

# In a small model, the sort U has two elements and symbols have random values.
U = Sort("U")
ARRAY = Sort("Array", (U, U))
ELEMENTS = (0, 1)
INTEGERS = (-3, -2, -1, 0, 1, 2, 3)
VALUES: dict[Sort, Sequence[Any]] = {
    BOOL: (False, True),
    INT: INTEGERS,
    REAL: (*INTEGERS, Fraction(1, 2), Fraction(-5, 2)),
    U: ELEMENTS,
    ARRAY: tuple(itertools.product(ELEMENTS, repeat=2)),
}

Model = dict[str, Any]
Assignment = Mapping[Term, Any]


def quotient(a: int, b: int) -> int:
    """Divide as SMT-LIB does: the remainder is not negative."""
    for q in range(-abs(a) - 1, abs(a) + 2):
        if 0 <= a - b * q < abs(b):
            return q
    raise AssertionError(f"{a} and {b} have no quotient")


MEANING: dict[str, Callable[..., Any]] = {
    "not": lambda a: not a,
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
    "=>": lambda a, b: b or not a,
    "=": lambda a, b: a == b,
    "distinct": lambda *a: len({*a}) == len(a),
    "ite": lambda c, a, b: a if c else b,
    "+": lambda *a: sum(a),
    "*": lambda *a: math.prod(a),
    "-": lambda *a: a[0] - a[1] if len(a) == 2 else -a[0],
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "abs": abs,
    # `random_model` defines division by 0 in the same way.
    "div": lambda a, b: quotient(a, b) if b else 7 * a + 1,
    "mod": lambda a, b: a - b * quotient(a, b) if b else 5 * a + 2,
    "div_total": lambda a, b: quotient(a, b) if b else 0,
    "mod_total": lambda a, b: a - b * quotient(a, b) if b else a,
    "select": lambda a, i: a[i],
    "store": lambda a, i, v: (*a[:i], v, *a[i + 1 :]),
    "@array_deq_diff": lambda a, b: next((i for i in ELEMENTS if a[i] != b[i]), 0),
    "@purify": lambda a: a,
    "to_real": lambda a: a,
    "to_int": math.floor,
}


def worth(term: Term, model: Model, at: Assignment) -> Any:
    match term.operator:
        case "true" | "false":
            return term.operator == "true"
        case "integer" | "rational":
            return term.label
        case "variable":
            return at[term]
        case "constant":
            return model[str(term.label)]
        case "apply":
            function, *arguments = (worth(each, model, at) for each in term.arguments)
            return function(*arguments)
        case "forall" | "exists":
            found = (worth(term.arguments[0], model, {**at, **each}) for each in assigned(term))
            return all(found) if term.operator == "forall" else any(found)
        case "lambda":
            body, every = term.arguments[0], assigned(term)
            return Table({(*each.values(),): worth(body, model, {**at, **each}) for each in every})
        case "skolem":
            (formula,) = term.arguments
            first, *others = assigned(formula)
            fails = (x for x in (first, *others) if not worth(formula.arguments[0], model, x))
            return next(fails, first)[bound(formula)[int(str(term.label))]]
    return MEANING[term.operator](*(worth(each, model, at) for each in term.arguments))


class Table(dict[tuple[Any, ...], Any]):
    """A function, as a table of its values."""

    def __call__(self, *arguments: Any) -> Any:
        return self[arguments]


def assigned(term: Term) -> Iterator[dict[Term, Any]]:
    """Yield each assignment of values to the variables that a term binds."""
    xs = bound(term)
    for values in itertools.product(*(VALUES[x.sort] for x in xs)):
        yield dict(zip(xs, values, strict=True))


FUNCTIONS = {"f": (U, U), "g": (U, U), "p": (U, BOOL), "q": (U, BOOL), "size": (U, INT)}
CONSTANTS = {"c": U, "d": U, "i": INT, "j": INT, "a": ARRAY, "b": ARRAY}
CONSTANTS |= dict.fromkeys(("A", "B", "C", "D"), BOOL)
SYMBOLS = {name: constant(name, Sort("->", sorts)) for name, sorts in FUNCTIONS.items()}
SYMBOLS |= {name: constant(name, sort) for name, sort in CONSTANTS.items()}
VARIABLES = [variable(name, U) for name in "xyz"]
VARIABLES += [variable("v", BOOL), variable("n", INT), variable("m", INT), variable("r", REAL)]


def random_model(chance: random.Random) -> Model:
    model: Model = {name: chance.choice(VALUES[sort]) for name, sort in CONSTANTS.items()}
    for name, (domain, result) in FUNCTIONS.items():
        model[name] = Table({(v,): chance.choice(VALUES[result]) for v in VALUES[domain]})
    if chance.random() < 0.3:
        model["g"] = model["f"]
    model["@int_div_by_zero"] = lambda a: 7 * a + 1
    model["@mod_by_zero"] = lambda a: 5 * a + 2
    return model


# Operators and symbols of each sort, with the sorts of their arguments.
KINDS: dict[Sort, list[Any]] = {
    BOOL: [
        *(("not", BOOL), ("and", BOOL, BOOL), ("or", BOOL, BOOL, BOOL), ("or", BOOL, BOOL)),
        *(("=>", BOOL, BOOL), ("=", U, U), ("=", INT, INT), ("=", BOOL, BOOL), ("<", INT, INT)),
        *((">=", INT, INT), ("p", U), ("q", U), ("forall", BOOL), ("exists", BOOL)),
    ],
    REAL: [("+", REAL, REAL), ("*", REAL, REAL), ("to_real", INT)],
    INT: [("+", INT, INT), ("*", INT, INT), ("-", INT, INT), ("size", U)],
    U: [("f", U), ("g", U), ("select", ARRAY, U)],
    ARRAY: [("store", ARRAY, U, U)],
}


class Language:
    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def term(self, sort: Sort, depth: int = 2) -> Term:
        pick = self.chance.choice
        if depth == 0 or sort not in VALUES or self.chance.random() < 0.25:
            known = [each for each in (*SYMBOLS.values(), *VARIABLES) if each.sort == sort]
            if sort == INT:
                known += [integer(pick(INTEGERS))]
            if sort == REAL:
                numbers = [literal(Fraction(pick(INTEGERS), 2), REAL), *known]
                known = [*numbers, build("to_real", self.term(INT, 0))]
            if sort == BOOL and self.chance.random() < 0.2:
                known = [truth(pick((True, False)))]
            return pick(known)
        if self.chance.random() < 0.15:
            return build("ite", *(self.term(each, depth - 1) for each in (BOOL, sort, sort)))
        name, *sorts = pick(KINDS[sort])
        arguments = [self.term(each, depth - 1) for each in sorts]
        if name in ("forall", "exists"):
            return bind(name, self.variables(), *arguments)
        return apply(SYMBOLS[name], *arguments) if name in SYMBOLS else build(name, *arguments)

    def variables(self) -> list[Term]:
        finite = [each for each in VARIABLES if each.sort not in (INT, REAL)]
        return self.chance.sample(finite, self.chance.choice((1, 1, 2)))


def closed(formula: Term) -> Term:
    """Bind the variables of finite sorts."""
    xs = [x for x in formula.free if x.sort not in (INT, REAL)]
    return bind("forall", xs, formula) if xs else formula


def fails(premises: Sequence[Term], conclusion: Term, chance: random.Random) -> bool:
    """Look for values for which the premises hold and the conclusion does not."""
    for _ in range(12):
        model = random_model(chance)
        at = {x: chance.choice(VALUES[x.sort]) for x in VARIABLES}
        if all(worth(each, model, at) for each in premises) and not worth(conclusion, model, at):
            return True
    return False


Given = tuple[list[Term], list[Value]]
Instance = Callable[[Language], Given]

# Premises and arguments of each rule that is no pattern. DRAWN draws each word in capitals once a
# line; all other words are as in a certificate.
TABLE = """
(resolution          (L L1)                       (P X))
(chain_resolution    (L L1 L2)                    ((@list P P1) (@list X X1)))
(chain_m_resolution  (L L1)                       (L2 (@list P) (@list X)))
(chain_m_resolution  ((or A B C) (or (not A) B))  ((or C B D) (@list true) (@list A)))
(reordering          ((or F G H))                 ((or H F G F)))
(reordering          ((or F G H))                 ((or H F)))
(and_intro           (F G H)                      ())
(and_elim            ((and F G H))                (1))
(not_or_elim         ((not (or F G)))             (1))
(not_and             ((not (and F G H)))          ())
(cnf_and_pos         ()                           ((and F G) 0))
(cnf_and_neg         ()                           ((and F G H)))
(cnf_or_pos          ()                           ((or F G H)))
(cnf_or_neg          ()                           ((or F G) 1))
(process_scope       ((=> F (=> G H)))            (H))
(process_scope       ((=> F (=> G false)))        (false))

(refl       ()                         (S))
(symm       ((= S T))                  ())
(symm       ((not (= S T)))            ())
(trans      ((= S T) (= T c) (= c x))  ())
(cong       ((= S T))                  ((f S)))
(cong       ((= N M) (= K I))          ((+ N K)))
(cong       ((= N M) (= K I))          ((+ N n)))
(cong       ((= G F))                  ((and H G)))
(cong       ((= F (not (not F))))      ((Q (@list x v) F)))
(ho_cong    ((= f g) (= S T))          ())

(arith_poly_norm     ()  ((= (+ N (- M K)) (+ M (- N K)))))
(arith_poly_norm     ()  ((= (* N (+ M K)) (+ (* M N) (* N K)))))
(arith_poly_norm     ()  ((= (* 1/2 (to_real (+ N M))) (* 1/2 (to_real (+ M N))))))
(arith_poly_norm_rel ((= (* 2 (- N M)) (* 1 (- (* 2 N) (* 2 M)))))
                     ((= (REL N M) (REL (* 2 N) (* 2 M)))))
(arith_poly_norm_rel ((= (* -2 (- N M)) (* 1 (- (* -2 N) (* -2 M)))))
                     ((= (REL N M) (REL (* -2 N) (* -2 M)))))
(arith_poly_norm_rel ((= (* 0 (- N M)) (* 0 (- K I)))) ((= (REL N M) (REL K I))))
(arith_poly_norm_rel ((= (* 2/3 (to_real (- N M))) (* 1/3 (to_real (- (* 2 N) (* 2 M))))))
                     ((= (REL N M) (REL (* 2 N) (* 2 M)))))
(arith_sum_ub        ((REL N M) (REL1 K I))  ())
(arith_sum_ub        ((<= n m) (= i i))      ())
(arith_mult_pos      ()  (K (REL N M)))
(arith_mult_neg      ()  (K (REL N M)))
(arith_mult_sign     ()  ((and (> n 0) (< m 0)) (* n m n)))
(arith_mult_sign     ()  ((and (not (= n 0)) (< m 0) (> i 0)) (* n m n i)))
(arith_mult_sign     ()  ((< n 0) (* n n n)))
(arith_mult_abs_comparison ((REL (abs n) (abs m)) (REL (abs i) (abs I))) ())
(arith_mult_abs_comparison ((distinct (abs n) (abs m)) (distinct (abs i) (abs I))) ())
(arith_mult_abs_comparison
    ((> (abs n) (abs m)) (and (= (abs i) (abs (- i))) (not (= i 0)))) ())
(arith_trichotomy    ((not (REL N M)) (not (REL1 N M))) ())
(arith_trichotomy    ((<= N M) (>= N M))  ())
(int_tight_ub        ((< N I))            ())
(int_tight_lb        ((> N I))            ())
(arith_reduction     ()                   ((OP N I)))
(arith_reduction     ()                   ((OP N M)))
(arith_reduction     ()                   ((abs N)))

(instantiate         ((forall (@list x v) F))                  ((@list S G)))
(skolemize           ((not (forall (@list x y z v) F)))        ())
(skolemize           ((not (forall (@list x y) (or (p x) v)))) ())
(alpha_equiv         () ((forall (@list x) F) (@list x) (@list z)))
(alpha_equiv         () ((not (forall (@list x) (p x))) (@list x) (@list z)))
(alpha_equiv         () ((exists (@list x y) (= x y)) (@list x) (@list z)))
(beta_reduce         () ((= (_ (lambda (@list x y) (= x (f y))) S T) (= S (f T)))))
(exists_elim         () ((= (exists (@list x v) F) (not (forall (@list x v) (not F))))))
(quant_unused_vars   () ((= (Q (@list x y) F) (Q (@list x) F))))
(quant_unused_vars   () ((= (Q (@list x y) F) F)))
(quant_unused_vars   () ((= (Q (@list x y v) (p x)) (Q (@list x) (p x)))))
(quant_unused_vars   () ((= (Q (@list x y) F) (Q (@list y x) F))))
(quant_merge_prenex  () ((= (Q (@list x v) (Q (@list y) F)) (Q (@list x v y) F))))
(quant_miniscope_and () ((= (forall (@list x v) (and F G))
                            (and (forall (@list x v) F) (forall (@list x v) G)))))
(quant_miniscope_or  () ((= (forall (@list x y) (or F G))
                            (or (forall (@list x) F) (forall (@list y) G)))))
(quant_miniscope_or  () ((= (forall (@list x) (or F G)) (or (forall (@list x) F) G))))
(quant_miniscope_or  () ((= (forall (@list x) (or (p x) (q x)))
                            (or (forall (@list x) (p x)) (forall (@list x) (q x))))))
(quant_miniscope_or  () ((= (forall (@list x) (or (p x) G))
                            (or (forall (@list x) (p x)) (forall (@list x) G)))))
(quant_miniscope_ite () ((= (forall (@list x v) (ite F G H))
                            (ite F (forall (@list x v) G) (forall (@list x v) H)))))
(quant_var_elim_eq   () ((= (forall (@list x) (not (= x S))) false)))
(quant_var_elim_eq   () ((= (forall (@list x) (or (not (= x S)) (p x) (= x y)))
                            (or (p S) (= S y)))))

(aci_norm            () ((= (ANDOR F G H) (ANDOR (ANDOR H F) G F))))
(absorb              () ((= (or (or F true) G) true)))
(absorb              () ((= (and F (and G false)) false)))
(evaluate            () ((REL (OP (OP I J) J) (OP J I))))
(evaluate            () ((ANDOR (REL I J) (=> P P1) (= P (not P1)))))
(evaluate            () ((ite (REL I J) (to_real (abs I)) 1/2)))
"""

NUMBERS = [SYMBOLS["i"], *(x for x in VARIABLES if x.sort == INT)]
ATOMS = [*(SYMBOLS[name] for name in "ABCD"), build("or", SYMBOLS["A"], SYMBOLS["B"])]


def pick(*choices: Any) -> Callable[[Language], Any]:
    return lambda language: language.chance.choice(choices)


def clause(language: Language) -> Term:
    literals = [*ATOMS, *map(negation, ATOMS)]
    return together("or", language.chance.choices(literals, k=language.chance.randrange(1, 4)))


def number(language: Language) -> Term:
    a, b = language.chance.choices([*NUMBERS, integer(2), integer(-1)], k=2)
    return build(language.chance.choice("+-*"), a, b) if language.chance.random() < 0.7 else a


DRAWN: dict[str, Callable[[Language], Any]] = {
    "REL": pick("=", "<", "<=", ">", ">="),
    "OP": pick("+", "-", "*", "div", "mod", "div_total", "mod_total"),
    "Q": pick("forall", "exists"),
    "ANDOR": pick("and", "or"),
    "P": pick(truth(False), truth(True)),
    "X": pick(*ATOMS),
    "L": clause,
    **dict.fromkeys("IJ", pick(*map(integer, range(-3, 4)))),
    **dict.fromkeys("NMK", number),
    **dict.fromkeys("ST", lambda language: language.term(U, 1)),
    **dict.fromkeys("FGH", lambda language: language.term(BOOL, language.chance.choice((1, 2)))),
}

READER = Certificate(Task("(check-sat)"), "()")
READER.symbols |= SYMBOLS | {str(x.label): x for x in VARIABLES}


def words(pattern: Expression) -> set[str]:
    if isinstance(pattern, str):
        return {pattern} if pattern[0].isupper() else set()
    return set[str]().union(*map(words, pattern))


def of_line(line: list[Expression], language: Language) -> Given:
    """Draw terms for the capitals of a line."""
    kinds = {name: DRAWN.get(name.rstrip("123")) for name in sorted(words(line))}
    drawn = {name: kind(language) for name, kind in kinds.items() if kind}

    def written(pattern: Expression) -> Expression:
        if isinstance(pattern, list):
            return [written(each) for each in pattern]
        found = drawn.get(pattern)
        return found if isinstance(found, str) else pattern

    _, premises, arguments = map(written, line)
    return (
        [READER.term(each, drawn) for each in several(premises)],
        [READER.value(each, drawn) for each in several(arguments)],
    )


# The sorts of a pattern's words; X, Y and Z share one sort, and all other words are formulas.
SORTS = {**dict.fromkeys("AB", ARRAY), **dict.fromkeys("EIJ", U), "N": INT, "M": INT, "R": REAL}


def of_schema(schema: schemas.Schema, language: Language) -> Given:
    pick = language.chance.choice
    one = pick((INT, INT, REAL) if schema.name.startswith("arith") else (BOOL, INT, U, REAL))
    sorts, found = SORTS | dict.fromkeys("XYZ", one), dict[str, Term]()
    for name in sorted(words([schema.conclusion, *schema.premises, *schema.arguments])):
        found[name] = language.term(sorts.get(name, BOOL), pick((0, 0, 1)))
        if name.endswith("..."):
            some = [language.term(BOOL, 0) for _ in range(language.chance.randrange(3))]
            found[name] = together(pick(("and", "or")), some)
    premises, arguments = (
        [schemas.instance(each, found) for each in patterns]
        for patterns in (schema.premises, schema.arguments)
    )
    return premises, [*arguments]


INSTANCES: dict[str, list[Instance]] = {}
for _line in map(several, expressions(TABLE)):
    INSTANCES.setdefault(word(_line[0]), []).append(partial(of_line, _line))
INSTANCES |= {spelled(schema.name): [partial(of_schema, schema)] for schema in schemas.SCHEMAS}


def drawn(name: str, instances: list[Instance], often: int) -> Iterator[Given]:
    """Draw instances: one in three fits the rule, the other two are changed in one place."""
    language = Language(name)
    for i in range(often):
        try:
            given = instances[i % len(instances)](language)
            given = changed(given, language) if i // len(instances) % 3 else given
        except Refused:
            continue
        if all(premise.sort == BOOL for premise in given[0]):
            yield given


def changed(given: Given, language: Language) -> Given:
    premises, arguments = [*given[0]], [*given[1]]
    pick = language.chance.choice
    of: list[Any] = pick([each for each in (premises, arguments) if each])
    i = language.chance.randrange(len(of))
    if language.chance.random() < 0.1:
        of.pop(i)
    elif language.chance.random() < 0.1 and i > 0:
        of[i - 1], of[i] = of[i], of[i - 1]
    elif isinstance(old := of[i], tuple):
        of[i] = tuple(elsewhere(each, language) for each in old)
    else:
        of[i] = elsewhere(old, language)
    return premises, arguments


def elsewhere(term: Term, language: Language) -> Term:
    chance, new = language.chance, [*term.arguments]
    if new and chance.random() < 0.75:
        i = chance.randrange(len(new))
        new[i] = elsewhere(new[i], language)
        return rebuild(term, new)
    if term.operator == "integer":
        return integer(int(str(term.label)) + chance.choice((-1, 1)))
    if term.operator in OTHER_WORDS and new and chance.random() < 0.5:
        other = OTHER_WORDS[term.operator]
        return bind(other, bound(term), *new) if bound(term) else build(other, *new)
    if bound(term) and chance.random() < 0.7:
        return bind(term.operator, language.variables(), *new)
    if len(new) > 1 and chance.random() < 0.5:
        chance.shuffle(new)
        return rebuild(term, new)
    return new[0] if term.operator == "not" else language.term(term.sort, chance.choice((0, 1)))


# One name for each rule.
NAMES = {rule: name for name, rule in RULES.items() if name in INSTANCES}


def outcomes(name: str, rule: Rule, instances: list[Instance], often: int) -> Iterator[str]:
    """Try a rule: yield `refused`, `right` or `wrong` for each instance."""
    chance = random.Random(name)
    for premises, arguments in drawn(name, instances, often):
        try:
            found = rule(premises, arguments)
        except (Refused, ValueError, LookupError, TypeError):
            yield "refused"
            continue
        if RULES[name] is equality.GENERAL:  # The premises hold for all values of the variables.
            premises = [closed(each) for each in premises]
        yield "wrong" if fails(premises, found, chance) else "right"


def test_each_rule_has_instances() -> None:
    assert {*NAMES} == {*RULES.values()}
    assert {*INSTANCES} == {*NAMES.values()}


@pytest.mark.parametrize("name", NAMES.values())
def test_a_conclusion_holds_where_the_premises_do(name: str) -> None:
    # This many instances suffice to notice each missing side condition.
    often = 40 * len(INSTANCES[name])
    found = list(outcomes(name, RULES[name], INSTANCES[name], often))
    assert "wrong" not in found
    assert found.count("right") > often / 12


# Everything follows from the premises of contra.
@pytest.mark.parametrize("name", sorted({*NAMES.values()} - {"contra"}))
def test_another_conclusion_is_noticed(name: str) -> None:
    """Some other conclusions hold too: one noticed wrong conclusion is enough."""
    language = Language(name)

    def wrong(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
        return elsewhere(RULES[name](premises, arguments), language)

    assert "wrong" in outcomes(name, wrong, INSTANCES[name], 40 * len(INSTANCES[name]))
