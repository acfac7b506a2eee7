"""The checker: a small certificate, and texts that it must refuse."""

import ast
import re
import sys
from pathlib import Path

import pytest

from certificates import command, faults
from certify.checker import check
from certify.reader import Certificate, Task, expressions
from certify.terms import INT, Refused, same_but_for_names, variable
from gate.closed import ROOT

TASK = """
(set-logic ALL)
(declare-sort U 0)
(declare-fun p (U) Bool)
(declare-fun q (U Int) Bool)
(declare-fun c () U)
(declare-fun n () Int)
; a fact about all values
(assert (forall ((x U)) (! (=> (p x) (q x 1)) :pattern ((p x)))))
(assert (p c))
(assert (let ((m (+ n 1))) (< n m)))
(assert (not (q c 1)))
(assert (exists ((x U)) (not (= x c))))
(check-sat)
"""

CERTIFICATE = """(
(declare-sort U 0)
(declare-const p (-> U Bool))
(declare-const q (-> U Int Bool))
(declare-const c U)
(define @t1 () (@var "x" U))
(define @t2 () (q c 1))
(assume @p1 (forall (@list @t1) (=> (p @t1) (q @t1 1))))
(assume @p2 (p c))
(assume @p3 (not @t2))
(step @p4 (=> (p c) @t2) :rule instantiate :premises (@p1) :args ((@list c)))
(step @p5 :rule modus_ponens :premises (@p2 @p4))
(step @p6 false :rule contra :premises (@p5 @p3))
)"""


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("(assume @p2 (p c))", "(assume @p2 (q c 2))", "the task does not assert this"),
        ("(q c 1))", "(q c 2))", "the task does not assert this"),
        ("(@list c)", "(@list 1)", "a term of another sort"),
        ("(@list c)", "(@list c c)", "instantiate"),
        ("(@p2 @p4)", "(@p4 @p2)", "modus_ponens"),
        ("(@p2 @p4)", "(@p2 @p9)", "nothing is concluded under the name @p9"),
        ("(@p2 @p4)", "(@p2)", "modus_ponens"),
        ("modus_ponens", "sophism", "a rule that is not known: sophism"),
        ("(step @p6 false", "(step @p6 true", "another conclusion than is stated"),
        ("(step @p6 false :rule contra :premises (@p5 @p3))", "", "does not say false"),
        ("@p5 :rule", "@p4 :rule", "a name that something else has"),
        ("(-> U Int Bool)", "(-> U Bool)", "not declared so: q"),
        ("(declare-const c U)", "(declare-const d U)", "not declared so: d"),
        ("(declare-sort U 0)", "(declare-sort U 1)", "not the task's: U"),
        ('(@var "x" U)', '(@var "x" V)', "no sort: V"),
        ("(define @t2 () (q c 1))", "(define p () (q c 1))", "not so: p"),
        ("(define @t2 () (q c 1))", "(define @t2 () (q 1 c))", "of Int, U"),
        ("(define @t2 () (q c 1))", "(define and () (q c 1))", "no name for something new: and"),
        ("(assume @p3", "(trust @p3", "a command of the certificate that is not known"),
        ("(assume @p3 (not @t2))", "(assume @p3 (not @t2)", "a parenthesis"),
    ],
)
def test_what_is_wrong_is_refused(old: str, new: str, reason: str) -> None:
    assert old in CERTIFICATE
    with pytest.raises(Refused, match=re.escape(reason)):
        check(TASK, CERTIFICATE.replace(old, new, 1))


NOT_UNDERSTOOD = """
(push 1)
(define-funs-rec () ())
(declare-datatypes ((d 0)) (((e))))
(declare-fun c () U)
(declare-fun |and| () Bool)
(declare-sort Int 0)
(declare-sort Array 2)
(declare-sort Real 0)
(declare-fun r () Real)
(assert (! (p c) :named a))
(assert (! (p c)))
(assert (= (div_total 1 0) 0))
(assert (= (@int_div_by_zero 1) 0))
(assert (forall ((x U) (x Int)) (p c)))
(assert (forall ((+ Int)) (p c)))
(assert (let ((and c)) (p c)))
(assert (+ n 1))
(assert (= n c))
(assert (p d))
(assert (ite n (p c) (p c)))
(assert (select c c))
(declare-const r (Array U Bool)) (assert (select r n))
(declare-const r (Array U U)) (assert (= r (store r c n)))
(assert (p c)))
(assert ())
(assert (c))
(assert (let ((a n) (a 1)) (< a 1)))
(assert (let ((a n)) (< a 1) (p c)))
(assert (forall ((x U U)) (p x)))
(declare-fun r ((U U)) Bool)
(declare-fun r ((Array U)) Bool)
(define-fun r () Bool n)
(assert (forall ((x U)) (let ((y x)) (forall ((x U)) (= x y)))))
"""


def test_a_task_that_is_not_understood_is_refused() -> None:
    # A variable may hide another of the same name.
    hidden = "(assert (forall ((x U)) (let ((y x)) (forall ((y U)) (= x y)))))"
    assert len(Task(TASK.replace("(check-sat)", f"{hidden}(check-sat)")).assertions) == 6
    commands = NOT_UNDERSTOOD.strip().splitlines()
    texts = [TASK.replace("(check-sat)", f"{command}\n(check-sat)") for command in commands]
    # A task must end with `(check-sat)`.
    texts += ["", TASK.replace("(check-sat)", ""), TASK + "(set-info :a b)", TASK + TASK]
    for text in texts:
        with pytest.raises(Refused):
            pytest.fail(f"read: {Task(text).assertions}")


def test_both_formats_are_read_to_the_same_terms() -> None:
    text = """(declare-fun f (Int) Int)
        (define-fun g ((x Int)) Int (- x))
        (assert (= (f (- 3)) (g 1)))
        (assert (let ((y (f 1))) (let ((y (f y))) (exists ((x Int) (z Int)) (< x (- y))))))
        (check-sat)"""
    task = Task(text)
    certificate = """((define @t () (@var "x" Int))
        (define g () (lambda (@list @t) (- @t)))
        (assume @p1 (= (f -3) (_ g 1)))
        (define @l () (@list @t (@var "z" Int)))
        (assume @p2 (exists @l (< @t (- (f (f 1)))))))"""
    steps = list(Certificate(task, certificate).steps())
    assert [step.stated for step in steps] == task.assertions


def test_a_certificate_passes_and_a_change_is_told_apart_from_another_proof() -> None:
    assert check(TASK, CERTIFICATE) == 6
    conjunction = """(step @p7 (and @t2 (p c)) :rule and_intro :premises (@p5 @p2))
        (step @p8 @t2 :rule and_elim :premises (@p7) :args (0)) (step @p6"""
    longer = CERTIFICATE.replace("(step @p6", conjunction).replace("(@p5 @p3)", "(@p8 @p3)")
    turned = longer.replace("@t2 (p c)) :", "(p c) @t2) :").replace("(@p5 @p2)", "(@p2 @p5)")
    for changed, before, why in (
        (CERTIFICATE.replace("(@p2 @p4)", "(@p4 @p2)"), CERTIFICATE, ""),
        (CERTIFICATE.replace("(@list c)", "(@list  c)"), CERTIFICATE, faults.SAME),
        (longer, CERTIFICATE, f"{faults.ANOTHER}, from @p7 on"),
        (turned.replace(":args (0)", ":args (1)"), longer, faults.ORDER),
    ):
        assert faults.accepted(TASK, changed, before) == why


UNSOUND = """
; nothing is concluded under the name @p1
(assume-push @p1 (not (p c))) (step @p2 :rule true_intro :premises (@p1))
(step-pop @p3 :rule scope :premises (@p2)) (step @p4 false :rule contra :premises (@p1 @p1))
; nothing is concluded under the name @p2
(assume-push @p1 (not (p c))) (step @p2 :rule true_intro :premises (@p1))
(step-pop @p3 :rule scope :premises (@p2)) (step @p4 false :rule contra :premises (@p2 @p2))
; does not say false
(assume-push @p1 false)
; an assertion below a supposition
(assume-push @p1 false) (assume @p2 (p c))
; nothing is supposed
(assume @p1 (p c)) (step-pop @p2 :rule scope :premises (@p1))
; scope ends a supposition
(assume-push @p1 (p c)) (step @p2 :rule scope :premises (@p1))
; only scope ends a supposition
(assume-push @p1 (p c)) (step-pop @p2 :rule true_intro :premises (@p1))
; a supposition that is no formula
(assume-push @p1 n)
; something is supposed of a variable that is bound here
(assume-push @p1 (= @x c)) (step @p2 :rule true_intro :premises (@p1))
(step @p3 :rule cong :premises (@p2) :args ((forall (@list @x) (= @x c))))
; something is supposed of a variable that is bound here
(assume-push @p1 (= @x c)) (step @p2 :rule true_intro :premises (@p1))
(step @p3 :rule nary_cong :premises (@p2) :args ((forall (@list @x) (= @x c))))
; a witness of no closed formula
(define @f () (forall (@list @y) (= @x @y)))
(step @p1 :rule refl :args ((@quantifiers_skolemize @f 0)))
; a witness of no variable
(define @f () (forall (@list @y) (p @y)))
(step @p1 :rule refl :args ((@quantifiers_skolemize @f -1)))
; another formula has other witnesses
(define @f () (forall (@list @y) (p @y))) (assume-push @p1 (= @f true))
(step @p2 :rule cong :premises (@p1) :args ((@quantifiers_skolemize @f 0)))
; a variable would be captured
(assume-push @p1 (forall (@list @x) (exists (@list @y) (not (= @x @y)))))
(step @p2 :rule instantiate :premises (@p1) :args ((@list @y)))
; no variables
(step @p1 :rule refl :args ((forall (@list c) (p c))))
; expected a list of variables
(step @p1 :rule refl :args ((forall @x (p @x))))
; forall of no formula
(step @p1 :rule refl :args ((forall (@list @x) n)))
; a function of one variable twice
(step @p1 :rule refl :args ((lambda (@list @x @x) n)))
; = of Int, Bool
(step @p1 :rule bool-eq-true :args (n))
; another conclusion than is stated
(step @p1 (= (div 1 0) 0) :rule evaluate :args ((div 1 0)))
; expected an application of =>
(assume @p1 (p c)) (step @p2 :rule implies_elim :premises (@p1))
; expected 1 premises
(step @p1 :rule and_elim :args ((and (p c) false) 1))
; expected true
(assume-push @p1 (= (p c) (p c))) (step @p2 :rule true_elim :premises (@p1))
; a step's fields
(step @p1 :rule refl :args (c) :because (c))
; p of
(step @p1 :rule refl :args ((_ p)))
; expected the literal of a number
(define @f () (forall (@list (@var "i" Int) (@var "j" Int)) (< n 0)))
(assume-push @p1 (= (* (@quantifiers_skolemize @f 1) (- 1 2)) (* 1 (- 3 3))))
(step @p2 :rule arith_poly_norm_rel :premises (@p1) :args ((= (= 1 2) (= 3 3))))
; expected a comparison
(step @p1 :rule evaluate :args ((= (* 1 (- 2 1)) (* 1 (- 1 0)))))
(step @p2 :rule true_elim :premises (@p1))
(step @p3 :rule arith_poly_norm_rel :premises (@p2) :args ((= (+ 2 1) (+ 1 0))))
"""


@pytest.mark.parametrize("case", UNSOUND.strip().split("\n; "))
def test_what_would_be_unsound_is_refused(case: str) -> None:
    reason, _, steps = case.removeprefix("; ").partition("\n")
    front = '(declare-sort U 0)(define @x () (@var "x" U))(define @y () (@var "y" U))'
    with pytest.raises(Refused, match=re.escape(reason)):
        check(TASK, f"({front}{steps})")


ALIKE = """
(exists (@list x) (f x z))          (exists (@list y) (f y z))
(exists (@list x) (exists (@list x z) (f x z)))  (exists (@list y) (exists (@list z x) (f z x)))
"""
UNLIKE = """
(exists (@list x) (f x z))          (exists (@list y) (f z y))
(exists (@list x) (f x z))          (exists (@list z) (f z z))
(exists (@list x y) (f x y))        (exists (@list y x) (f x y))
(exists (@list x) (exists (@list x z) (f x z)))  (exists (@list y) (exists (@list z x) (f y x)))
(exists (@list x) (exists (@list x) (f x x)))    (exists (@list x) (exists (@list y) (f x y)))
"""


def test_names_of_bound_variables_say_nothing_and_others_do() -> None:
    reader = Certificate(Task("(declare-fun f (Int Int) Bool)(check-sat)"), "()")
    scope = {name: variable(name, INT) for name in "xyz"}
    for text, is_alike in ((ALIKE, True), (UNLIKE, False)):
        terms = [reader.term(each, scope) for each in expressions(text)]
        for a, b in zip(terms[::2], terms[1::2], strict=True):
            assert same_but_for_names(a, b) is is_alike, (str(a), str(b))


def test_the_checker_is_small_and_has_nothing_of_others() -> None:
    files = sorted((ROOT / "proofs" / "certify").glob("*.py"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert sum(text.count("\n") for text in texts) <= 1660
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        tops = {name.partition(".")[0] for name in names}
        assert tops <= {"certify", *sys.stdlib_module_names}, names


def test_a_certificate_is_left_for_other_checkers(tmp_path: Path) -> None:
    task = tmp_path / "core.shape" / "Shape.a.0.smt2"
    command.left(task, TASK, CERTIFICATE)
    commands = task.with_suffix(".cpc").read_text(encoding="utf-8")
    assert commands.startswith("(declare-sort U 0)\n")
    assert check(task.read_text(encoding="utf-8"), f"({commands})") == check(TASK, CERTIFICATE)
