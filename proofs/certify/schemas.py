"""Rules written as patterns: the name, arguments, premises, and conclusion.

These are the patterns in certificates of our tasks; cvc5 has more. In a rule, a capitalized word
stands for one term, and `Zs...` for any number of arguments of the `and` or `or` around it; a
certificate contains their conjunction or disjunction. If Zs is empty, `(and Y Zs...)` is Y.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from certify.reader import Expression, Reader, Value, expressions, several, word
from certify.rules import RULES, spelled, term
from certify.terms import Term, build, listed, parts, require, together

PATTERNS = """
; Formulas, taken apart.
(eq_resolve         ()  (F (= F G))          G)
(modus_ponens       ()  (F (=> F G))         G)
(not_not_elim       ()  ((not (not F)))      F)
(contra             ()  (F (not F))          false)
(implies_elim       ()  ((=> F G))           (or (not F) G))
(not_implies_elim1  ()  ((not (=> F G)))     F)
(not_implies_elim2  ()  ((not (=> F G)))     (not G))
(equiv_elim1        ()  ((= F G))            (or (not F) G))
(equiv_elim2        ()  ((= F G))            (or F (not G)))
(not_equiv_elim1    ()  ((not (= F G)))      (or F G))
(not_equiv_elim2    ()  ((not (= F G)))      (or (not F) (not G)))
(ite_elim1          ()  ((ite C F G))        (or (not C) F))
(ite_elim2          ()  ((ite C F G))        (or C G))
(not_ite_elim1      ()  ((not (ite C F G)))  (or (not C) (not F)))
(not_ite_elim2      ()  ((not (ite C F G)))  (or C (not G)))
(true_intro         ()  (F)                  (= F true))
(true_elim          ()  ((= F true))         F)
(false_intro        ()  ((not F))            (= F false))
(false_elim         ()  ((= F false))        (not F))

; Clauses that say what a connective means.
(cnf_implies_pos    ((=> F G))    ()  (or (not (=> F G)) (not F) G))
(cnf_implies_neg1   ((=> F G))    ()  (or (=> F G) F))
(cnf_implies_neg2   ((=> F G))    ()  (or (=> F G) (not G)))
(cnf_equiv_pos1     ((= F G))     ()  (or (not (= F G)) (not F) G))
(cnf_equiv_pos2     ((= F G))     ()  (or (not (= F G)) F (not G)))
(cnf_equiv_neg1     ((= F G))     ()  (or (= F G) F G))
(cnf_equiv_neg2     ((= F G))     ()  (or (= F G) (not F) (not G)))
(cnf_ite_pos1       ((ite C F G)) ()  (or (not (ite C F G)) (not C) F))
(cnf_ite_pos2       ((ite C F G)) ()  (or (not (ite C F G)) C G))
(cnf_ite_pos3       ((ite C F G)) ()  (or (not (ite C F G)) F G))
(cnf_ite_neg1       ((ite C F G)) ()  (or (ite C F G) (not C) (not F)))
(cnf_ite_neg2       ((ite C F G)) ()  (or (ite C F G) C (not G)))
(cnf_ite_neg3       ((ite C F G)) ()  (or (ite C F G) (not F) (not G)))
(ite_eq             ((ite C X Y)) ()  (ite C (= (ite C X Y) X) (= (ite C X Y) Y)))

; Rewriting of formulas.
(bool-double-not-elim   (F)           ()  (= (not (not F)) F))
(bool-eq-true           (F)           ()  (= (= F true) F))
(bool-eq-false          (F)           ()  (= (= F false) (not F)))
(bool-eq-nrefl          (F)           ()  (= (= F (not F)) false))
(bool-impl-false1       (F)           ()  (= (=> F false) (not F)))
(bool-impl-false2       (F)           ()  (= (=> false F) true))
(bool-impl-true1        (F)           ()  (= (=> F true) true))
(bool-impl-true2        (F)           ()  (= (=> true F) F))
(bool-impl-elim         (F G)         ()  (= (=> F G) (or (not F) G)))
(bool-and-conf          (Xs... F Ys... Zs...) () (= (and Xs... F Ys... (not F) Zs...) false))
(bool-and-conf2         (Xs... F Ys... Zs...) () (= (and Xs... (not F) Ys... F Zs...) false))
(bool-or-taut           (Xs... F Ys... Zs...) () (= (or Xs... F Ys... (not F) Zs...) true))
(bool-or-taut2          (Xs... F Ys... Zs...) () (= (or Xs... (not F) Ys... F Zs...) true))
(bool-or-de-morgan      (F G Zs...)   () (= (not (or F G Zs...)) (and (not F) (not (or G Zs...)))))
(bool-and-de-morgan     (F G Zs...)   () (= (not (and F G Zs...)) (or (not F) (not (and G Zs...)))))
(bool-or-and-distrib    (F G Ys... H Zs...) ()
    (= (or (and F G Ys...) H Zs...) (and (or F H Zs...) (or (and G Ys...) H Zs...))))
(bool-implies-de-morgan (F G)         ()  (= (not (=> F G)) (and F (not G))))
(bool-not-eq-elim1      (F G)         ()  (= (not (= F G)) (= (not F) G)))
(bool-not-eq-elim2      (F G)         ()  (= (not (= F G)) (= F (not G))))
(bool-not-ite-elim      (C F G)       ()  (= (not (ite C F G)) (ite C (not F) (not G))))

; Rewriting of choices.
(ite-then-true               (C F)     ()  (= (ite C true F) (or C F)))
(ite-else-false              (C F)     ()  (= (ite C F false) (and C F)))
(ite-then-false              (C F)     ()  (= (ite C false F) (and (not C) F)))
(ite-else-true               (C F)     ()  (= (ite C F true) (or (not C) F)))
(ite-expand                  (C F G)   ()  (= (ite C F G) (and (or (not C) F) (or C G))))
(ite-true-cond               (X Y)     ()  (= (ite true X Y) X))
(ite-false-cond              (X Y)     ()  (= (ite false X Y) Y))
(ite-not-cond                (C X Y)   ()  (= (ite (not C) X Y) (ite C Y X)))
(ite-eq-branch               (C X)     ()  (= (ite C X X) X))

; Rewriting of equations.
(eq-refl      (X)       ()                   (= (= X X) true))
(eq-symm      (X Y)     ()                   (= (= X Y) (= Y X)))
(eq-ite-lift  (C X Y Z) ()                   (= (= (ite C X Y) Z) (ite C (= X Z) (= Y Z))))
(distinct-binary-elim (X Y) ()               (= (distinct X Y) (not (= X Y))))
(skolem_intro ((@purify X)) ()               (= (@purify X) X))

; Rewriting of arithmetic.
(arith-elim-gt        (X Y)     ()  (= (> X Y) (not (>= Y X))))
(arith-elim-lt        (X Y)     ()  (= (< X Y) (not (>= X Y))))
(arith-elim-leq       (X Y)     ()  (= (<= X Y) (>= Y X)))
(arith-leq-norm       (X Y)     ()  (= (<= X Y) (not (>= X (+ Y 1)))))
(arith-geq-tighten    (X Y)     ()  (= (not (>= X Y)) (>= Y (+ X 1))))
(arith-geq-norm1-int  (X Y)     ()  (= (>= X Y) (>= (- X Y) 0)))
(arith-int-geq-tighten    (N R M)
    ((= (= (to_real (to_int R)) R) false) (= M (+ (to_int R) 1)))
    (= (>= (to_real N) R) (>= N M)))
(arith-min-lt1        (X Y)     ()  (= (<= (ite (< X Y) X Y) X) true))
(arith-min-lt2        (X Y)     ()  (= (<= (ite (< X Y) X Y) Y) true))
(arith-max-geq1       (X Y)     ()  (= (>= (ite (>= X Y) X Y) X) true))
(arith-max-geq2       (X Y)     ()  (= (>= (ite (>= X Y) X Y) Y) true))
(arith-abs-eq         (X Y)     ()  (= (= (abs X) (abs Y)) (or (= X Y) (= X (- Y)))))
(arith-abs-int-gt     (X Y)     ()
    (= (> (abs X) (abs Y))
       (ite (>= X 0)
            (ite (>= Y 0) (> X Y) (> X (- Y)))
            (ite (>= Y 0) (> (- X) Y) (> (- X) (- Y))))))
(arith-int-div-total      (X Y) ((= (= Y 0) false))  (= (div X Y) (div_total X Y)))
(arith-int-div-total-one  (X)   ()                   (= (div_total X 1) X))
(arith-int-div-total-zero (X)   ()                   (= (div_total X 0) 0))
(arith-int-div-total-neg  (X Y) ((= (< Y 0) true))
    (= (div_total X Y) (- (div_total X (- Y)))))
(arith-int-mod-total      (X Y) ((= (= Y 0) false))  (= (mod X Y) (mod_total X Y)))
(arith-int-mod-total-one  (X)   ()                   (= (mod_total X 1) 0))
(arith-int-mod-total-zero (X)   ()                   (= (mod_total X 0) X))
(arith-int-mod-total-neg  (X Y) ((= (< Y 0) true))   (= (mod_total X Y) (mod_total X (- Y))))

; Arrays.
(arrays_read_over_write        ((select (store A I E) J)) ((not (= I J)))
    (= (select (store A I E) J) (select A J)))
(arrays_read_over_write_contra () ((not (= (select (store A I E) J) (select A J))))  (= J I))
(arrays_read_over_write_1      ((select (store A I E) I)) ()  (= (select (store A I E) I) E))
(arrays_ext                    () ((not (= A B)))
    (not (= (select A (@array_deq_diff A B)) (select B (@array_deq_diff A B)))))
"""


class Schema(NamedTuple):
    """A rule written as a pattern."""

    name: str
    arguments: list[Expression]
    premises: list[Expression]
    conclusion: Expression

    def follow(self, premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
        """Match premises and arguments; return the conclusion."""
        found = dict[str, Term]()
        for pattern, given in zip(self.arguments, arguments, strict=True):
            match(pattern, term(given), found)
        for pattern, given in zip(self.premises, premises, strict=True):
            match(pattern, given, found)
        return instance(self.conclusion, found)


def match(pattern: Expression, given: Term, found: dict[str, Term]) -> None:
    """Find the terms for a pattern's capitalized words, or refuse."""
    if isinstance(pattern, list):
        operator, *rest = pattern
        for each, argument in zip(rest, parts(given, word(operator)), strict=True):
            match(each, argument, found)
    elif pattern[0].isupper():
        require(found.setdefault(pattern, given) is given, f"{pattern} is not the same everywhere")
    else:
        require(given is instance(pattern, {}), f"expected {pattern}")


def instance(pattern: Expression, found: Mapping[str, Term]) -> Term:
    """Replace a pattern's capitalized words by their terms."""
    if isinstance(pattern, str):
        return Reader({}, {}).term(pattern, found)
    operator, arguments = word(pattern[0]), list[Term]()
    open_ends = [each for each in pattern if isinstance(each, str) and each.endswith("...")]
    for each in pattern[1:]:
        is_several = each in open_ends
        arguments += listed(found[word(each)], operator) if is_several else [instance(each, found)]
    return together(operator, arguments) if open_ends else build(operator, *arguments)


SCHEMAS = [
    Schema(word(name), several(arguments), several(premises), conclusion)
    for name, arguments, premises, conclusion in map(several, expressions(PATTERNS))
]
for _schema in SCHEMAS:
    RULES[spelled(_schema.name)] = _schema.follow
