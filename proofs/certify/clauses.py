"""Rules of propositional logic that no schema expresses: resolution, and connectives of any length.

A clause is the disjunction of its literals: `false` has none, any other formula may be a literal.
"""

from collections.abc import Sequence

from certify.rules import Terms, number, rule
from certify.terms import Term, build, listed, negation, parts, require, together, truth


def without(clause: Sequence[Term], literal: Term) -> list[Term]:
    """Remove a literal from a clause; if it is the whole disjunction, leave nothing."""
    if literal.operator == "or" and tuple(clause) == literal.arguments:
        return []
    return [each for each in clause if each is not literal]


def resolve(a: Sequence[Term], b: Sequence[Term], positive: Term, pivot: Term) -> list[Term]:
    """From `F or A` and `not F or B`, make `A or B`; if not `positive`, `a` contains `not F`."""
    first, second = pivot, negation(pivot)
    if positive is not truth(True):
        first, second = second, first
    return [*without(a, first), *without(b, second)]


def chain(premises: Sequence[Term], positives: Terms, pivots: Terms) -> list[Term]:
    """Resolve the first clause with the others in turn."""
    found = list(listed(premises[0], "or"))
    for clause, positive, pivot in zip(premises[1:], positives, pivots, strict=True):
        found = resolve(found, listed(clause, "or"), positive, pivot)
    return found


@rule(2)
def resolution(a: Term, b: Term, positive: Term, pivot: Term) -> Term:
    """Clauses with F and with `not F`: the other literals; if not `positive`, `not F` is in `a`."""
    return together("or", resolve(listed(a, "or"), listed(b, "or"), positive, pivot))


@rule(None)
def chain_resolution(premises: Sequence[Term], positives: Terms, pivots: Terms) -> Term:
    """Resolve the first clause with each of the others in turn: the remaining literals."""
    return together("or", chain(premises, positives, pivots))


@rule(None)
def chain_m_resolution(
    premises: Sequence[Term], wanted: Term, positives: Terms, pivots: Terms
) -> Term:
    """As chain_resolution; the conclusion `wanted` may have more literals, in any order."""
    found = chain(premises, positives, pivots)
    is_found = together("or", list(dict.fromkeys(found))) is wanted
    require(is_found or {*found} <= {*listed(wanted, "or")}, "a literal is left")
    return wanted


@rule(1)
def reordering(clause: Term, wanted: Term) -> Term:
    """A clause: the given clause `wanted`, if it has the same literals, or more."""
    require({*listed(clause, "or")} <= {*listed(wanted, "or")}, "a literal is missing")
    return wanted


@rule(None)
def and_intro(premises: Sequence[Term]) -> Term:
    """F, G, ...: their conjunction."""
    return together("and", premises)


@rule(1)
def and_elim(formula: Term, index: Term) -> Term:
    """A conjunction: one of its formulas."""
    return parts(formula, "and")[number(index)]


@rule(1)
def not_or_elim(formula: Term, index: Term) -> Term:
    """A negated disjunction: the negation of one of its formulas."""
    (inner,) = parts(formula, "not")
    return negation(parts(inner, "or")[number(index)])


@rule(1)
def not_and(formula: Term) -> Term:
    """A negated conjunction: the disjunction of the negations of its formulas."""
    (inner,) = parts(formula, "not")
    return build("or", *map(negation, parts(inner, "and")))


@rule(0)
def cnf_and_pos(formula: Term, index: Term) -> Term:
    """For a conjunction F: `not F`, or the formula of F that the index names."""
    return build("or", negation(formula), parts(formula, "and")[number(index)])


@rule(0)
def cnf_and_neg(formula: Term) -> Term:
    """For a conjunction F: F, or the negation of one of its formulas."""
    return build("or", formula, *map(negation, parts(formula, "and")))


@rule(0)
def cnf_or_pos(formula: Term) -> Term:
    """For a disjunction F: `not F`, or one of its formulas."""
    return build("or", negation(formula), *parts(formula, "or"))


@rule(0)
def cnf_or_neg(formula: Term, index: Term) -> Term:
    """For a disjunction F: F, or the negation of the formula of F that the index names."""
    return build("or", formula, negation(parts(formula, "or")[number(index)]))


@rule(1)
def process_scope(formula: Term, wanted: Term) -> Term:
    """`(=> F ... C)`, with C given: `(=> (and F ...) C)`, or `(not (and F ...))` for C `false`."""
    supposed = list[Term]()
    while formula is not wanted:
        first, formula = parts(formula, "=>")
        supposed.append(first)
    hypothesis = together("and", supposed)
    return negation(hypothesis) if wanted is truth(False) else build("=>", hypothesis, wanted)
