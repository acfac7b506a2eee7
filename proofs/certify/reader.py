"""Read a task, in SMT-LIB 2.6, and a certificate, in the format CPC.

A task declares symbols and asserts formulas; a certificate has the steps from the assertions to
`false`. The reader refuses every unknown command, word or annotation.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from certify import terms
from certify.terms import BINDERS, BOOL, Refused, Sort, Term, require

Expression = str | list["Expression"]
Value = Term | tuple[Term, ...]
# Bound names and their values; None forbids a name.
Scope = Mapping[str, Value | None]

TOKEN = re.compile(r'(\s+|;[^\r\n]*)|([()]|"[^"]*"|\|[^|\\]*\||[^\s()"|;]+)', re.ASCII)
NUMERAL = re.compile(r"0|[1-9][0-9]*")
# A simple symbol needs no bars: it is neither a literal nor a reserved word of SMT-LIB 2.6.
SIMPLE = re.compile(
    "(?!-?[0-9]|(!|_|as|let|exists|forall|match|par|BINARY|DECIMAL|HEXADECIMAL|NUMERAL|STRING"
    "|assert|echo|exit|pop|push|reset|(check|declare|define|get|reset|set)-.*)$)"
    "[a-zA-Z0-9_~!@$%^&*+=<>.?/-]+"
)
RESERVED = frozenset(["true", "false", "@list", "@var", *BINDERS, *terms.OPERATORS])


def expressions(text: str) -> list[Expression]:
    """Read nested parentheses; words are strings; |a| is the same as a, |0| is different from 0."""
    stack, place = list[list[Expression]]([[]]), 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise Refused(f"not understood: {text[place : place + 20]!r}")
        place, word = found.end(), found[2]
        if word == "(":
            stack.append([])
        elif word == ")":
            require(len(stack) > 1, "a parenthesis too many")
            closed = stack.pop()
            stack[-1].append(closed)
        elif word is not None:
            stack[-1].append(barred(word[1:-1]) if word.startswith("|") else word)
    require(len(stack) == 1, "a parenthesis is missing")
    return stack[0]


def barred(name: str) -> str:
    """Write a symbol: between bars, unless it is simple."""
    return name if SIMPLE.fullmatch(name) else f"|{name}|"


def word(expression: Expression) -> str:
    """Expect a word."""
    if not isinstance(expression, str):
        raise Refused("expected a word")
    return expression


def symbol(expression: Expression) -> str:
    """Expect a name that can be declared."""
    name = word(expression)
    is_new = (name[0] == "|" or SIMPLE.fullmatch(name)) and name not in RESERVED
    require(is_new, f"no name for something new: {name}")
    return name


def several(expression: Expression) -> list[Expression]:
    """Expect a list in parentheses."""
    if isinstance(expression, str):
        raise Refused(f"expected a list: {expression}")
    return expression


class Reader:
    """Declared sorts and symbols, and the syntax that both formats share."""

    def __init__(self, sorts: Mapping[str, int], symbols: Mapping[str, Value]) -> None:
        self.sorts, self.symbols = dict(sorts), dict(symbols)

    def sort(self, expression: Expression) -> Sort:
        """Read a sort."""
        if isinstance(expression, str):
            require(self.sorts.get(expression) == 0, f"no sort: {expression}")
            return Sort(expression)
        name, *rest = several(expression)
        known = {"Array": 2, "->": max(len(rest), 2)} | self.sorts
        require(known.get(word(name)) == len(rest), f"no sort of {len(rest)} others: {name}")
        return Sort(word(name), tuple(self.sort(each) for each in rest))

    def define(self, name: str, value: Value) -> None:
        """Define a name, once."""
        require(name not in self.symbols, f"declared again: {name}")
        self.symbols[symbol(name)] = value

    def value(self, expression: Expression, scope: Scope) -> Value:
        """Read a term, or a list of terms; `scope` has the names bound here."""
        if isinstance(expression, str):
            return self.atom(expression, scope)
        require(expression, "an empty parenthesis")
        head, *rest = expression
        if isinstance(head, str) and head not in scope:
            if (special := self.special(head, rest, scope)) is not None:
                return special
            if head in terms.OPERATORS:
                return terms.build(head, *(self.term(each, scope) for each in rest))
        function, *arguments = [self.term(each, scope) for each in expression]
        return terms.apply(function, *arguments)

    def term(self, expression: Expression, scope: Scope) -> Term:
        """Read a term."""
        found = self.value(expression, scope)
        if not isinstance(found, Term):
            raise Refused("a list is no term")
        return found

    def atom(self, name: str, scope: Scope) -> Value:
        """Read a word: a bound name, a literal, or a symbol."""
        if name in scope:
            if (found := scope[name]) is None:
                raise Refused(f"{name} stands for a term whose variables mean something else here")
            return found
        if name in ("true", "false"):
            return terms.truth(name == "true")
        if NUMERAL.fullmatch(name):
            return terms.integer(int(name))
        require(name in self.symbols, f"not declared: {name}")
        return self.symbols[name]

    def special(self, head: str, rest: list[Expression], scope: Scope) -> Value | None:
        """Read a `let`, or a form that the format adds; return None for any other."""
        if head != "let":
            return None
        require(len(rest) == 2, "let")
        new = dict[str, Value | None]()
        for pair in several(rest[0]):
            name, value = several(pair)
            require(word(name) not in new, f"bound twice: {name}")
            new[symbol(name)] = self.value(value, scope)
        return self.value(rest[1], {**scope, **new})


class Task(Reader):
    """A task: the names that it declares and, in order, its assertions."""

    def __init__(self, text: str) -> None:
        by_zero = [terms.by_zero(operator) for operator in ("div", "mod")]
        super().__init__({"Bool": 0, "Int": 0}, {str(each.label): each for each in by_zero})
        self.assertions: list[Term] = []
        commands = expressions(text)
        require(commands and commands[-1] == ["check-sat"], "the last command is to be check-sat")
        for command in commands[:-1]:
            name, *rest = several(command)
            self.command(word(name), rest)

    def command(self, name: str, rest: list[Expression]) -> None:
        """Carry out a command."""
        match name, rest:
            case (("set-logic" | "set-info" | "set-option"), _):
                pass
            case "declare-sort", [str() as new, str() as arity]:
                require(new not in {*self.sorts, "Array", "Real", "->"}, f"again: {new}")
                self.sorts[symbol(new)] = int(arity)
            case "declare-fun", [str() as new, list() as domain, result]:
                sorts = (*map(self.sort, domain), self.sort(result))
                sort = Sort("->", sorts) if domain else sorts[0]
                self.define(new, terms.constant(new, sort))
            case "declare-const", [str() as new, result]:
                self.define(new, terms.constant(new, self.sort(result)))
            case "define-fun", [str() as new, list() as parameters, result, body]:
                variables = self.variables(parameters) if parameters else []
                value = self.term(body, {str(each.label): each for each in variables})
                require(value.sort == self.sort(result), f"{new}: a value of another sort")
                self.define(new, terms.bind("lambda", variables, value) if variables else value)
            case "assert", [formula]:
                self.assertions.append(self.term(formula, {}))
                require(self.assertions[-1].sort == BOOL, "an assertion that is no formula")
            case _:
                raise Refused(f"a command that is not known: {name}")

    def variables(self, declared: Expression) -> list[Term]:
        """Read names with their sorts."""
        pairs = [several(pair) for pair in several(declared)]
        require(all(len(pair) == 2 for pair in pairs), "expected a name and a sort")
        require(len({word(name) for name, _ in pairs}) == len(pairs), "a name is bound twice")
        return [terms.variable(symbol(name), self.sort(sort)) for name, sort in pairs]

    def special(self, head: str, rest: list[Expression], scope: Scope) -> Value | None:
        """Read a quantifier, or a formula with patterns; ignore the patterns."""
        require(head[0] != "@" and head not in ("div_total", "mod_total"), "no operator of a task")
        if head in ("forall", "exists") and len(rest) == 2:
            variables = self.variables(rest[0])
            below: dict[str, Value | None] = {
                name: term if isinstance(term, Term) and term.free.isdisjoint(variables) else None
                for name, term in scope.items()
            }
            below.update({str(each.label): each for each in variables})
            return terms.bind(head, variables, self.term(rest[1], below))
        if head == "!":
            require(rest[1::2] == [":pattern"] * ((len(rest) - 1) // 2) != [], "an annotation")
            return self.term(rest[0], scope)
        return super().special(head, rest, scope)


class Step(NamedTuple):
    """A command of a certificate: its conclusion, if stated; its rule, premises, arguments."""

    command: str
    name: str
    stated: Term | None
    rule: str
    premises: list[str]
    arguments: list[Value]


class Certificate(Reader):
    """A certificate of a task: it may repeat the task's declarations, and name terms."""

    def __init__(self, task: Task, text: str) -> None:
        super().__init__(task.sorts, task.symbols)
        self.task = task
        (self.commands,) = map(several, expressions(text))

    def steps(self) -> Iterator[Step]:
        """Read the steps, one by one."""
        for command in self.commands:
            match command:
                case ["declare-sort", str() as sort, str() as arity]:
                    require(self.task.sorts.get(sort) == int(arity), f"not the task's: {sort}")
                case ["declare-const", str() as name, sort]:
                    own = terms.constant(name, self.sort(sort))
                    require(self.task.symbols.get(name) is own, f"not declared so: {name}")
                case ["define", str() as name, [], value]:
                    if name in self.task.symbols:
                        require(self.task.symbols[name] is self.value(value, {}), f"not so: {name}")
                    else:
                        self.define(name, self.value(value, {}))
                case [("assume" | "assume-push") as kind, str() as name, formula]:
                    yield Step(kind, name, self.term(formula, {}), "", [], [])
                case [("step" | "step-pop") as kind, str() as name, *rest]:
                    yield self.step(kind, name, rest)
                case _:
                    raise Refused("a command of the certificate that is not known")

    def step(self, kind: str, name: str, rest: list[Expression]) -> Step:
        """Read a step: its conclusion may stand before the rule."""
        stated = None
        if rest[0] != ":rule":
            stated = self.term(rest[0], {})
            rest = rest[1:]
        fields = {word(key): value for key, value in zip(rest[::2], rest[1::2], strict=True)}
        require({":rule"} <= {*fields} <= {":rule", ":premises", ":args"}, "a step's fields")
        premises = [word(each) for each in several(fields.get(":premises", []))]
        arguments = [self.value(each, {}) for each in several(fields.get(":args", []))]
        return Step(kind, name, stated, word(fields[":rule"]), premises, arguments)

    def atom(self, name: str, scope: Scope) -> Value:
        """Read a word; integers below zero and fractions are literals here."""
        if re.fullmatch("-[1-9][0-9]*", name):
            return terms.integer(int(name))
        if re.fullmatch("-?[0-9]+/[1-9][0-9]*", name):
            return terms.literal(Fraction(name), terms.REAL)
        return super().atom(name, scope)

    def special(self, head: str, rest: list[Expression], scope: Scope) -> Value | None:
        """Read a variable, a list, a term below a binder, a Skolem term, an application."""
        match head, rest:
            case "@var", [str() as name, sort] if name.startswith('"'):
                return terms.variable(barred(name[1:-1]), self.sort(sort))
            case "@list", _:
                return tuple(self.term(each, scope) for each in rest)
            case (("forall" | "exists" | "lambda"), [variables, body]):
                xs = self.value(variables, scope)
                require(isinstance(xs, tuple), "expected a list of variables")
                return terms.bind(head, xs if isinstance(xs, tuple) else (), self.term(body, scope))
            case "@quantifiers_skolemize", [formula, str() as position]:
                return terms.skolem(self.term(formula, scope), int(position))
            case "_", [function, *arguments]:
                values = [self.term(each, scope) for each in arguments]
                return terms.apply(self.term(function, scope), *values)
        return super().special(head, rest, scope)
