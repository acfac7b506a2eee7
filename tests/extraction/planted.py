"""Faults to plant in the kernel, one by one: each is to be noticed, with a path and an input.

They are made everywhere in the functions by rule: a comparison is another one, a number is one more
or less, an operation is another one, a condition is turned round, a statement is left out, a branch
is the other one, an exception is another one or carries something else, arguments change places.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from validate import kernel
from validate.programs import Program
from validate.validation import Finding, Validation

# The operators that can stand in the place of one.
OPERATORS: dict[type[ast.AST], tuple[type[Any], ...]] = {
    **{ast.Eq: (ast.NotEq, ast.LtE), ast.NotEq: (ast.Eq, ast.Lt)},
    **{ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt)},
    **{ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt)},
    **{ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,)},
}
EXCEPTIONS = ("RankMismatch", "NegativeSize")


class Fault(NamedTuple):
    """A change of a program, in a line, and the whole text with it."""

    program: str
    line: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.program}: line {self.line}, {self.what}"


def faults(text: str) -> Iterator[Fault]:
    """Make all faults of the programs of the kernel, one program after the other."""
    lines = text.splitlines()
    for function in ast.parse(text).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        above, below = lines[: function.lineno - 1], lines[function.end_lineno :]
        texts = set()
        for place, node in enumerate(parts(function)):
            for change, new in enumerate(changes(node)):
                changed = copy.deepcopy(function)
                target = next(islice(parts(changed), place, None))
                Replacement(target, changes(target)[change]).visit(changed)
                body = ast.unparse(ast.fix_missing_locations(changed))
                if body not in texts:
                    texts.add(body)
                    line = getattr(node, "lineno", function.lineno)
                    whole = "\n".join([*above, body, *below])
                    yield Fault(function.name, line, f"{ast.unparse(new)} {change}", whole)


def parts(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Give all that is in a function."""
    return (node for statement in function.body for node in kernel.code(statement))


class Replacement(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, or look further."""
        return self.new if node is self.old else self.generic_visit(node)


def changes(node: ast.AST) -> list[ast.AST]:
    """Give what can stand in the place of a node."""
    match node:
        case ast.Compare(left, [old], right):
            return [ast.Compare(left, [other()], right) for other in OPERATORS[type(old)]]
        case ast.Constant(bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(int(value)):
            return [ast.Constant(value + 1), ast.Constant(value - 1)]
        case ast.BinOp(left, old, right):
            return [ast.BinOp(left, other(), right) for other in OPERATORS[type(old)]]
        case ast.BoolOp(old, values):
            return [
                ast.BoolOp(ast.Or() if isinstance(old, ast.And) else ast.And(), values),
                *values,
            ]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.IfExp(test, body, orelse):
            return [ast.IfExp(test, orelse, body)]
        case ast.If(test, body, orelse):
            return [ast.If(ast.UnaryOp(ast.Not(), test), body, orelse), ast.Pass()]
        case ast.Raise(ast.Call(ast.Name("AssertionError"))):
            return []
        case ast.Raise(ast.Call(ast.Name(name) as function, arguments), cause):
            other = next(each for each in EXCEPTIONS if each != name)
            found: list[ast.AST] = [ast.Raise(ast.Call(ast.Name(other), [], []), cause), ast.Pass()]
            if len(arguments) == 1 and isinstance(arguments[0], ast.Name):
                found.append(ast.Raise(ast.Call(function, [one_more(arguments[0])], []), cause))
            return found
        case ast.AugAssign(target, old, value):
            others = OPERATORS[type(old)]
            return [*(ast.AugAssign(target, other(), value) for other in others), ast.Pass()]
        case ast.Return():
            return [ast.Return(None)]
        case ast.Call(function, [first, second, *more], keywords):
            return [ast.Call(function, [second, first, *more], keywords)]
        case ast.Match(subject, [first, second, *more]):
            exchanged = [
                ast.match_case(first.pattern, None, second.body),
                ast.match_case(second.pattern, None, first.body),
            ]
            return [ast.Match(subject, [*exchanged, *more])]
        case ast.For() | ast.While() | ast.Assign() | ast.Expr(ast.Call()):
            return [ast.Pass()]
        case ast.keyword(name, value):
            return [ast.keyword(name, one_more(value))]
        case ast.Tuple([first, second], ast.Load()):
            return [ast.Tuple([second, first], ast.Load())]
    return []


def one_more(value: ast.expr) -> ast.expr:
    """Add 1."""
    return ast.BinOp(value, ast.Add(), ast.Constant(1))


def noticed(fault: Fault, programs: Mapping[str, Program]) -> Finding | None:
    """Validate a program with a fault in it, on small arguments first, until something differs."""
    module, program = kernel.load(fault.text), programs[fault.program]
    forms = sorted(program.forms(3), key=lambda each: len(str(each)))
    found = (Validation(program, each, module).run().finding for each in forms)
    return next(filter(None, found), None)
