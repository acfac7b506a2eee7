"""Rules of propositional logic that are no pattern: resolution, and connectives of any length.

A clause is a disjunction. Its literals are what it has as arguments; `false` has none, and a
formula that is no disjunction is the one literal of itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from certify.reader import Value
from certify.rules import number, rule, term, terms_in
from certify.terms import Term, build, negation, parts, require, together, truth


def literals(clause: Term) -> tuple[Term, ...]:
    """Take a clause apart."""
    if clause.operator == "or":
        return clause.arguments
    return () if clause is truth(False) else (clause,)


def without(clause: Sequence[Term], literal: Term) -> list[Term]:
    """Take a literal out of a clause, everywhere; a disjunction may be a literal itself."""
    if literal.operator == "or" and tuple(clause) == literal.arguments:
        return []
    return [each for each in clause if each is not literal]


def resolve(a: Sequence[Term], b: Sequence[Term], positive: Term, pivot: Term) -> list[Term]:
    """From `F or A` and `not F or B` follows `A or B`; the other way round if not `positive`."""
    first, second = pivot, negation(pivot)
    if positive is not truth(True):
        first, second = second, first
    return [*without(a, first), *without(b, second)]


def chain(premises: Sequence[Term], positives: Value, pivots: Value) -> list[Term]:
    """Resolve the first clause with each of the others in turn."""
    found = list(literals(premises[0]))
    steps = zip(premises[1:], terms_in(positives), terms_in(pivots), strict=True)
    for clause, positive, pivot in steps:
        found = resolve(found, literals(clause), positive, pivot)
    return found


@rule
def resolution(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Two clauses with a pivot in the first, whose negation is in the second: what is left.

    The pivot is the one that is given, or its negation if the other argument is `false`.
    """
    a, b = premises
    positive, pivot = map(term, arguments)
    return together("or", resolve(literals(a), literals(b), positive, pivot))


@rule
def chain_resolution(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """Resolve the first clause with each of the others in turn: what is left."""
    positives, pivots = arguments
    return together("or", chain(premises, positives, pivots))


@rule
def chain_m_resolution(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """As chain_resolution; the conclusion is given, and has all that is left, in any order."""
    conclusion, positives, pivots = arguments
    found, wanted = chain(premises, positives, pivots), term(conclusion)
    is_found = together("or", list(dict.fromkeys(found))) is wanted
    require(is_found or {*found} <= {*literals(wanted)}, "a literal is left")
    return wanted


@rule
def factoring(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """A clause without what it has twice."""
    (clause,), () = premises, arguments
    return together("or", list(dict.fromkeys(literals(clause))))


@rule
def reordering(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """A clause with the same literals, or more."""
    (clause,), (wanted,) = premises, arguments
    require({*literals(clause)} <= {*literals(term(wanted))}, "a literal is missing")
    return term(wanted)


@rule
def and_intro(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """F, G, ...: their conjunction."""
    () = arguments
    return together("and", premises)


@rule
def and_elim(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """A conjunction: one of its formulas."""
    (formula,), (index,) = premises, arguments
    return at(parts(formula, "and"), index)


@rule
def not_or_elim(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """A disjunction that does not hold: the negation of one of its formulas."""
    (formula,), (index,) = premises, arguments
    (inner,) = parts(formula, "not")
    return negation(at(parts(inner, "or"), index))


@rule
def not_and(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """A conjunction that does not hold: the disjunction of the negations."""
    (formula,), () = premises, arguments
    (inner,) = parts(formula, "not")
    return build("or", *map(negation, parts(inner, "and")))


@rule
def cnf_and_pos(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a conjunction F: `not F`, or the formula of F that the index names."""
    (), (formula, index) = premises, arguments
    return build("or", negation(term(formula)), at(parts(term(formula), "and"), index))


@rule
def cnf_and_neg(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a conjunction F: F, or the negation of one of its formulas."""
    (), (formula,) = premises, arguments
    return build("or", term(formula), *map(negation, parts(term(formula), "and")))


@rule
def cnf_or_pos(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a disjunction F: `not F`, or one of its formulas."""
    (), (formula,) = premises, arguments
    return build("or", negation(term(formula)), *parts(term(formula), "or"))


@rule
def cnf_or_neg(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """For a disjunction F: F, or the negation of the formula of F that the index names."""
    (), (formula, index) = premises, arguments
    return build("or", term(formula), negation(at(parts(term(formula), "or"), index)))


@rule
def process_scope(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
    """`(=> F (=> G ... C))`, with C given: `(=> (and F G ...) C)`.

    If C is `false`, what is in front of it does not hold.
    """
    (formula,), (conclusion,) = premises, arguments
    wanted, supposed = term(conclusion), list[Term]()
    while formula is not wanted:
        first, formula = parts(formula, "=>")
        supposed.append(first)
    hypothesis = together("and", supposed)
    return negation(hypothesis) if wanted is truth(False) else build("=>", hypothesis, wanted)


def at(items: Sequence[Term], index: Value) -> Term:
    """Return the item at an index; there is none beyond the last."""
    return items[number(term(index))]
