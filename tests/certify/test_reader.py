"""The reader agrees with Z3 on tasks: names between bars, shadowing, macros, comments."""

import random
from collections.abc import Mapping

import z3

from certify.reader import Task
from certify.terms import Refused, Term, bound, substitute

# The words in ODD are names only between bars; Z3 refuses those in RESERVED even between bars.
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
    """A drawn task, well-sorted unless an odd name changes its meaning."""

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
        """Draw a name; about half of these names hide another."""
        return self.odd() if self.draw.random() < 0.03 else self.draw.choice(USUAL)

    def written(self, name: str) -> str:
        return f"|{name}|" if name not in RESERVED and self.draw.random() < 0.3 else name

    def pairs(self, names: list[str], things: list[str]) -> str:
        pairs = zip(names, things, strict=True)
        return f"({' '.join(f'({self.written(name)} {thing})' for name, thing in pairs)})"

    def declared(self, name: str) -> str:
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


def written(term: Term) -> str:
    """Write a term in SMT-LIB, with macros applied."""
    if term.operator == "apply" and term.arguments[0].operator == "lambda":
        macro, *given = term.arguments
        values = dict(zip(bound(macro), given, strict=True))
        return written(substitute(macro.arguments[0], values))
    words = [written(each) for each in term.arguments]
    if bound(term):
        words.insert(0, f"({' '.join(f'({x} {x.sort})' for x in bound(term))})")
    if term.operator == "integer" and int(str(term.label)) < 0:
        return f"(- {str(term)[1:]})"
    name = [] if term.operator == "apply" else [term.operator]
    return f"({' '.join([*name, *words])})" if words else str(term)


def read_by_z3(text: str) -> list[z3.ExprRef] | None:
    """Return the assertions that Z3 reads; None if Z3 refuses the task."""
    try:
        return list(z3.parse_smt2_string(text))
    except z3.Z3Exception:
        return None


def same(a: z3.ExprRef, b: z3.ExprRef) -> bool:
    """Compare two formulas; Z3 simplifies some formulas in macros."""
    return bool(a.eq(b) or z3.simplify(a).eq(z3.simplify(b)))


def test_a_task_is_read_as_z3_reads_it() -> None:
    both = 0
    for seed in range(1000):
        text = Script(seed).text
        try:
            asserted = [f"(assert {written(each)})" for each in Task(text).assertions]
        except (Refused, ValueError):  # `check` refuses either.
            continue
        declared = text.partition("\n(assert ")[0]
        ours = read_by_z3("\n".join([declared, *asserted, "(check-sat)"]))
        if ours is not None:
            theirs = read_by_z3(text)
            assert theirs is not None, text
            assert all(same(a, b) for a, b in zip(ours, theirs, strict=True)), text
            both += 1
    assert both > 250
