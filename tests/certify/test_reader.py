"""What a task says is read as Z3 reads it: names between bars, what shadows, macros, comments."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import z3

from certify.checker import check
from certify.reader import Task
from certify.terms import Refused, Term, bound

# Words that are names, or none unless they stand between bars. What SMT-LIB reserves is a name
# between bars too, which Z3 does not know.
USUAL = [*"abcde"]
ODD = [*"01=+-<(", *("00", "-1", "1.5", "#b1", "0a", "true", "and", "not", "ite", ".x", "lambda")]
ODD += [":k", '"x"', "Int", "Bool", "U", "Array", "->", "a;b", 'a"b', "a\\b", "é", "", "x y", "\n"]
ODD += ["div_total", "@purify"]
RESERVED = ["!", "_", "as", "let", "forall", "exists", "match", "par", "STRING", "assert", "reset"]

NOISE = (" ", " ", " ", "\n", "\t", ' ; ) | "\n', ";|\r\n")
SORTS = ("Int", "Bool", "U")
LITERALS = {"Int": ["0", "1", "(- 3)"], "Bool": ["true", "false"], "U": ["u"]}
OPERATORS = {
    "Int": [("+", "Int Int"), ("-", "Int"), ("-", "Int Int"), ("div", "Int Int"), ("abs", "Int")],
    "Bool": [("<", "Int Int"), ("not", "Bool"), ("and", "Bool Bool"), ("=>", "Bool Bool")],
    "U": [("ite", "Bool U U")],
}

Scope = Mapping[str, list[str]]


class Script:
    """A task that is drawn: it is well-sorted, as far as its names are what they seem."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.known: dict[str, list[str]] = {"u": ["U"]}
        lines = ["(declare-sort U 0)", "(declare-const u U)"]
        lines += [self.declared(name) for name in self.draw.sample(USUAL, 3)]
        lines += [self.declared(self.odd()) for _ in range(self.draw.randint(0, 1))]
        lines += [f"(assert {self.term('Bool', 4, self.known)})" for _ in range(2)]
        self.text = "\n".join([*lines, "(check-sat)"])

    def odd(self) -> str:
        return str(self.draw.choice(ODD + RESERVED))

    def name(self) -> str:
        """Draw a name that hides another, as often as not."""
        return self.odd() if self.draw.random() < 0.03 else self.draw.choice(USUAL)

    def written(self, name: str) -> str:
        return f"|{name}|" if name not in RESERVED and self.draw.random() < 0.3 else name

    def pairs(self, names: list[str], things: list[str]) -> str:
        pairs = zip(names, things, strict=True)
        return f"({' '.join(f'({self.written(name)} {thing})' for name, thing in pairs)})"

    def declared(self, name: str) -> str:
        """Declare a name, or define it."""
        sort, *own = self.known[name] = self.draw.choices(SORTS, k=self.draw.randint(1, 3))
        if self.draw.random() < 0.6:
            return f"(declare-fun {self.written(name)} ({' '.join(own)}) {self.written(sort)})"
        names = [self.name() for _ in own]
        scope = {"u": ["U"], **{x: [s] for x, s in zip(names, own, strict=True)}}
        body = self.term(sort, 2, scope)
        return f"(define-fun {self.written(name)} {self.pairs(names, own)} {sort} {body})"

    def term(self, sort: str, depth: int, scope: Scope) -> str:
        draw, kind = self.draw, self.draw.randrange(8) if depth else 0
        fitting = [(name, own) for name, (result, *own) in scope.items() if result == sort]
        plain = [name for name, own in fitting if not own]
        if kind < 2:
            if plain and draw.random() < 0.8:
                return self.written(draw.choice(plain))
            literal = draw.choice(LITERALS[sort])
            return f"|{literal}|" if draw.random() < 0.02 else literal
        if kind in (2, 5) and sort == "Bool":
            name, its = self.name(), draw.choice(SORTS)
            body = self.term(sort, depth - 1, {**scope, name: [its]})
            if name in USUAL and draw.random() < 0.3:
                body = f"(! {body} :pattern ((= {name} {name})))"
            return f"({draw.choice(['forall', 'exists'])} {self.pairs([name], [its])} {body})"
        if kind == 3:
            names, sorts = [self.name(), *draw.sample(USUAL, 1)], draw.choices(SORTS, k=2)
            inner = {**scope, **{x: [s] for x, s in zip(names, sorts, strict=True)}}
            values = [self.term(each, depth - 1, scope) for each in sorts]
            return f"(let {self.pairs(names, values)} {self.term(sort, depth - 1, inner)})"
        if kind == 4 and sort == "Bool":
            name, own = "=", draw.choices(SORTS) * 2
        else:
            functions = [each for each in fitting if each[1]]
            operators = [(name, own.split()) for name, own in OPERATORS[sort]]
            name, own = draw.choice(functions * 2 + operators)
        words = [self.written(name), *(self.term(each, depth - 1, scope) for each in own)]
        return f"({draw.choice(NOISE).join(words)})"


# Both are compared as tuples: what is bound has the number of binders that are above its own.

Form = tuple[Any, ...]


def applied(name: str, *arguments: Form) -> Form:
    """Apply an operator; Z3 simplifies some applications in macros."""
    if name == "-" and len(arguments) == 1 and arguments[0][0] == "integer":
        return ("integer", str(-int(arguments[0][1])))
    if name == "ite" and (arguments[1] == arguments[2] or arguments[0] == ("true",)):
        return arguments[1]
    if name == "ite" and arguments[0] == ("false",):
        return arguments[2]
    return (name, *arguments)


def of_reader(term: Term, scope: Mapping[Term, Callable[[int], Form]], depth: int) -> Form:
    """Give the form of a term of ours; macros are applied."""
    if term.operator == "variable":
        return scope[term](depth)
    if term.operator in ("forall", "exists"):
        inner: dict[Term, Callable[[int], Form]] = dict(scope)
        for i, x in enumerate(bound(term)):
            inner[x] = lambda _, level=depth + i: ("bound", level)  # type: ignore[misc]
        deeper = depth + len(bound(term))
        return (term.operator, len(bound(term)), of_reader(term.arguments[0], inner, deeper))
    if term.operator == "apply" and term.arguments[0].operator == "lambda":
        macro, *given = term.arguments

        def value(each: Term) -> Callable[[int], Form]:
            return lambda level: of_reader(each, scope, level)

        own = dict(zip(bound(macro), map(value, given), strict=True))
        return of_reader(macro.arguments[0], own, depth)
    if term.operator in ("integer", "constant"):
        return (term.operator, str(term.label).strip("|") if term.label != "||" else "")
    arguments = tuple(of_reader(each, scope, depth) for each in term.arguments)
    return arguments if term.operator == "apply" else applied(term.operator, *arguments)


def of_z3(term: Any, scope: list[int], depth: int) -> Form:
    """Give the form of a term of Z3's."""
    if z3.is_quantifier(term):
        new, kind = term.num_vars(), "forall" if term.is_forall() else "exists"
        levels = [*scope, *range(depth, depth + new)]
        return (kind, new, of_z3(term.body(), levels, depth + new))
    if z3.is_var(term):
        return ("bound", scope[-1 - z3.get_var_index(term)])
    if z3.is_int_value(term):
        return ("integer", str(term.as_long()))
    name = str(term.decl().name())
    arguments = [of_z3(each, scope, depth) for each in term.children()]
    if term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        return (("constant", name), *arguments) if arguments else ("constant", name)
    return applied({"if": "ite", "implies": "=>"}.get(name, name), *arguments)


def read_by_both(text: str) -> tuple[list[Form] | None, list[Form] | None]:
    """Read a task by either, which may refuse."""
    try:
        ours = [of_reader(each, {}, 0) for each in Task(text).assertions]
    except (Refused, ValueError):  # `check` refuses either.
        ours = None
    try:
        theirs = [of_z3(each, [], 0) for each in z3.parse_smt2_string(text)]
    except z3.Z3Exception:
        theirs = None
    return ours, theirs


def test_a_task_is_read_as_z3_reads_it() -> None:
    both = 0
    for seed in range(2000):
        text = Script(seed).text
        ours, theirs = read_by_both(text)
        assert ours is None or ours == theirs, text
        both += ours is not None
    assert both > 500


def test_a_name_between_bars_is_no_literal_and_no_keyword() -> None:
    for name in [*ODD, *RESERVED]:
        text = f"(declare-const |{name}| Int) (assert (= |{name}| 1)) (check-sat)"
        assume = f"(assume @p1 (= {name} 1))"
        evaluate = f"(step @p2 (= (= {name} 1) false) :rule evaluate :args ((= {name} 1)))"
        false = "(step @p3 false :rule eq_resolve :premises (@p1 @p2))"
        with pytest.raises(Refused):
            check(text, f"({assume}{evaluate}{false})")


def test_bars_say_nothing_of_a_simple_symbol() -> None:
    ours, theirs = read_by_both(
        "(declare-const |a| |Int|) (declare-const |0| Int) (declare-const |a b| Int)"
        "(assert (exists ((|a| Int) (|0 | Int)) (|=| a (+ |0| |0 | |a b|)))) (check-sat)"
    )
    assert ours == theirs
    assert ours is not None
