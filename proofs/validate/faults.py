"""Faults to plant in the kernel, one by one: each is to be noticed, with a path and an input.

They are made everywhere in the functions by rule: a comparison is another one, a number is one more
or less, an operation is another one, a condition is turned round, a statement is left out, a branch
is the other one, an exception is another one or carries something else, arguments change places.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from validate import kernel
from validate.programs import ANY, BY_CONTRACT, Arguments, Program
from validate.validation import Finding, Validation, form

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Lt),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
}
EXCEPTIONS = ("RankMismatch", "NegativeSize")

# A fault is looked for in arguments of all ranks up to one, and in those that have another in all.
SMALL, LARGE = 2, 3


@dataclass(frozen=True)
class Fault:
    """A change of a program: the statement before and after, and the whole text.

    `number` tells changes apart that look alike.
    """

    program: str
    line: int
    old: str
    new: str
    number: int
    text: str

    def __str__(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.program}: {self.old}  becomes  {self.new}{again}"


def faults(text: str) -> Iterator[Fault]:
    """Make all faults of the programs of the kernel, one program after the other."""
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            yield from faults_of(function, text.splitlines())


def faults_of(function: ast.FunctionDef, lines: list[str]) -> Iterator[Fault]:
    """Make all faults of a program."""
    above, below = lines[: function.lineno - 1], lines[function.end_lineno :]
    found: Counter[tuple[str, str]] = Counter()
    texts = set()
    for place, (node, _) in enumerate(parts(function)):
        for change in range(len(changes(node))):
            changed = copy.deepcopy(function)
            target, statement = next(islice(parts(changed), place, None))
            old, line = first_line(statement), getattr(statement, "lineno", function.lineno)
            new = changes(target)[change]
            Replacement(target, new).visit(changed)
            if statement is target:
                statement = ast.Pass() if new is None else new
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in texts:
                texts.add(text)
                key = (old, first_line(statement))
                found[key] += 1
                whole = "\n".join([*above, text, *below])
                yield Fault(function.name, line, *key, found[key], whole)


def parts(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Give all that is in a function, each with the statement that it belongs to."""
    for statement in function.body:
        yield from with_statement(statement, statement)


def with_statement(node: ast.AST, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Give a node and what is in it, as `kernel.code` does."""
    yield node, statement
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and name != "annotation":
                yield from with_statement(part, part if isinstance(part, ast.stmt) else statement)


def first_line(node: ast.AST) -> str:
    """Show a statement by its first line."""
    return ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]


class Replacement(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self.old, self.new = old, ast.Pass() if new is None else new

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the node, or look further."""
        return self.new if node is self.old else self.generic_visit(node)


def changes(node: ast.AST) -> list[ast.AST | None]:
    """Give what can stand in the place of a node: None is nothing."""
    if isinstance(node, ast.Compare):
        return [
            ast.Compare(node.left, [other()], node.comparators)
            for other in COMPARISONS[type(node.ops[0])]
        ]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return [ast.Constant(node.value + 1), ast.Constant(node.value - 1)]
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        return [ast.Constant(not node.value)]
    if isinstance(node, ast.BinOp):
        return [ast.BinOp(node.left, OPERATIONS[type(node.op)](), node.right)]
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return [ast.BoolOp(other, node.values), *node.values]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [ast.IfExp(node.test, node.orelse, node.body)]
    if isinstance(node, ast.If):
        turned = ast.UnaryOp(ast.Not(), node.test)
        return [ast.If(turned, node.body, node.orelse), None]
    if isinstance(node, ast.Raise) and node.exc is not None:
        return [*raised(node), *([] if "AssertionError" in ast.unparse(node) else [None])]
    if isinstance(node, ast.AugAssign):
        other_operation = OPERATIONS[type(node.op)]()
        return [ast.AugAssign(node.target, other_operation, node.value), None]
    if isinstance(node, ast.Return):
        return [ast.Return(None)]
    if isinstance(node, ast.Call) and len(node.args) > 1:
        arguments = [node.args[1], node.args[0], *node.args[2:]]
        return [ast.Call(node.func, arguments, node.keywords)]
    if isinstance(node, ast.Match):
        first, second, *more = node.cases
        exchanged = [
            ast.match_case(first.pattern, None, second.body),
            ast.match_case(second.pattern, None, first.body),
        ]
        return [ast.Match(node.subject, [*exchanged, *more])]
    if isinstance(node, (ast.For, ast.While)):
        return [None]
    if isinstance(node, ast.Assign):
        return [None]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [None]
    if isinstance(node, ast.keyword):
        return [ast.keyword(node.arg, ast.BinOp(node.value, ast.Add(), ast.Constant(1)))]
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        return [ast.Tuple(node.elts[::-1], node.ctx)]
    return []


def raised(node: ast.Raise) -> list[ast.AST | None]:
    """Raise another exception, or let it carry something else."""
    call = node.exc
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return []
    if call.func.id == "AssertionError":
        return []
    other = next(name for name in EXCEPTIONS if name != call.func.id)
    found: list[ast.AST | None] = [ast.Raise(ast.Call(ast.Name(other), [], []), node.cause)]
    if len(call.args) == 1 and isinstance(call.args[0], ast.Name):
        more = ast.BinOp(call.args[0], ast.Add(), ast.Constant(1))
        found.append(ast.Raise(ast.Call(call.func, [more], []), node.cause))
    return found


def noticed(
    fault: Fault,
    programs: Mapping[str, Program],
    forms: Callable[[str, int], Sequence[Arguments]],
) -> Finding | None:
    """Validate a program with a fault in it, on small arguments first, until something differs."""
    module, name = kernel.load(fault.text), fault.program
    called = programs.get(BY_CONTRACT.get(name, ""))
    arguments = sorted(forms(name, SMALL), key=lambda each: len(form(each)))
    arguments += [each for each in forms(name, LARGE) if {*ranks(each)} == {LARGE}]
    for each in arguments:
        result = Validation(programs[name], each, module, called).run()
        if result.findings:
            return result.findings[0]
    return None


def ranks(value: Any) -> Iterator[int]:
    """Give the lengths of the sequences of integers."""
    if type(value) is tuple and any(type(part) is tuple for part in value):
        for part in value:
            yield from ranks(part)
    elif type(value) is tuple and all(part is ANY or type(part) is int for part in value):
        yield len(value)
