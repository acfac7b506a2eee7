"""Faults to plant in the kernel, one by one: each is to be noticed, with a path and an input.

They are made everywhere in the functions by rule: a comparison is another one, a number is one more
or less, an operation is another one, a condition is turned round, a statement is left out, a branch
is the other one, an exception is another one or carries something else, arguments change places.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from validate import kernel
from validate.programs import Program
from validate.validation import Finding, Validation

# The sign of an operator, and the operators that can stand in its place.
OPERATORS: dict[type[ast.AST], tuple[str, tuple[type[Any], ...]]] = {
    ast.Eq: ("==", (ast.NotEq, ast.LtE)),
    ast.NotEq: ("!=", (ast.Eq, ast.Lt)),
    ast.Lt: ("<", (ast.LtE, ast.Gt)),
    ast.LtE: ("<=", (ast.Lt, ast.Gt)),
    ast.Gt: (">", (ast.GtE, ast.Lt)),
    ast.GtE: (">=", (ast.Gt, ast.Lt)),
    ast.Add: ("+", (ast.Sub,)),
    ast.Sub: ("-", (ast.Add,)),
    ast.Mult: ("*", (ast.Add,)),
}
EXCEPTIONS = ("RankMismatch", "NegativeSize")

# Its kind, and what stands in the place of a node: None is nothing.
Change = tuple[str, ast.AST | None]
LEFT_OUT: Change = ("left out", None)


@dataclass(frozen=True)
class Fault:
    """A change of a program, by its kind and the how-manieth of this kind in the program it is."""

    program: str
    kind: str
    number: int
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.program}: {self.kind} {self.number}"


def faults(text: str) -> Iterator[Fault]:
    """Make all faults of the programs of the kernel, one program after the other."""
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            yield from faults_of(function, text.splitlines())


def faults_of(function: ast.FunctionDef, lines: list[str]) -> Iterator[Fault]:
    """Make all faults of a program, each with the whole text."""
    above, below = lines[: function.lineno - 1], lines[function.end_lineno :]
    numbers: Counter[str] = Counter()
    texts = set()
    for place, node in enumerate(parts(function)):
        for change, (kind, _) in enumerate(changes(node)):
            numbers[kind] += 1
            changed = copy.deepcopy(function)
            target = next(islice(parts(changed), place, None))
            Replacement(target, changes(target)[change][1]).visit(changed)
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in texts:
                texts.add(text)
                line = getattr(node, "lineno", function.lineno)
                whole = "\n".join([*above, text, *below])
                yield Fault(function.name, kind, numbers[kind], line, whole)


def parts(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Give all that is in a function."""
    return (node for statement in function.body for node in kernel.code(statement))


class Replacement(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self.old, self.new = old, ast.Pass() if new is None else new

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, or look further."""
        return self.new if node is self.old else self.generic_visit(node)


def changes(node: ast.AST) -> list[Change]:
    """Give what can stand in the place of a node."""
    match node:
        case ast.Compare(left, [old], right):
            sign, others = OPERATORS[type(old)]
            return [
                (f"{sign} to {OPERATORS[other][0]}", ast.Compare(left, [other()], right))
                for other in others
            ]
        case ast.Constant(bool(value)):
            return [("other truth", ast.Constant(not value))]
        case ast.Constant(int(value)):
            return [("one more", ast.Constant(value + 1)), ("one less", ast.Constant(value - 1))]
        case ast.BinOp(left, operation, right):
            sign, (other,) = OPERATORS[type(operation)]
            return [(sign, ast.BinOp(left, other(), right))]
        case ast.BoolOp(old, values):
            turned = ast.Or() if isinstance(old, ast.And) else ast.And()
            alone: list[Change] = [("one operand", value) for value in values]
            return [("and, or", ast.BoolOp(turned, values)), *alone]
        case ast.UnaryOp(_, operand):
            return [("no sign", operand)]
        case ast.IfExp(test, body, orelse):
            return [("exchanged", ast.IfExp(test, orelse, body))]
        case ast.If(test, body, orelse):
            return [("turned", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)), LEFT_OUT]
        case ast.Raise(ast.Call(ast.Name("AssertionError"))):
            return []
        case ast.Raise(ast.Call() as call):
            return [*raised(node, call), LEFT_OUT]
        case ast.AugAssign(target, operation, value):
            sign, (other,) = OPERATORS[type(operation)]
            return [(sign, ast.AugAssign(target, other(), value)), LEFT_OUT]
        case ast.Return():
            return [("no value", ast.Return(None))]
        case ast.Call(function, [first, second, *more], keywords):
            return [("exchanged", ast.Call(function, [second, first, *more], keywords))]
        case ast.Match(subject, [first, second, *more]):
            exchanged = [
                ast.match_case(first.pattern, None, second.body),
                ast.match_case(second.pattern, None, first.body),
            ]
            return [("exchanged", ast.Match(subject, [*exchanged, *more]))]
        case ast.For() | ast.While() | ast.Assign() | ast.Expr(ast.Call()):
            return [LEFT_OUT]
        case ast.keyword(name, value):
            return [("payload", ast.keyword(name, ast.BinOp(value, ast.Add(), ast.Constant(1))))]
        case ast.Tuple([first, second], ast.Load()):
            return [("exchanged", ast.Tuple([second, first], ast.Load()))]
    return []


def raised(node: ast.Raise, call: ast.Call) -> Iterator[Change]:
    """Raise another exception, or let it carry something else."""
    if isinstance(call.func, ast.Name):
        other = next(name for name in EXCEPTIONS if name != call.func.id)
        yield "exception", ast.Raise(ast.Call(ast.Name(other), [], []), node.cause)
        if len(call.args) == 1 and isinstance(call.args[0], ast.Name):
            more = ast.BinOp(call.args[0], ast.Add(), ast.Constant(1))
            yield "payload", ast.Raise(ast.Call(call.func, [more], []), node.cause)


def noticed(fault: Fault, programs: Mapping[str, Program]) -> Finding | None:
    """Validate a program with a fault in it, on small arguments first, until something differs."""
    module, program = kernel.load(fault.text), programs[fault.program]
    forms = sorted(program.forms(3), key=lambda each: len(str(each)))
    found = (Validation(program, each, module).run().finding for each in forms)
    return next(filter(None, found), None)
