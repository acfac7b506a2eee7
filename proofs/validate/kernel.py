"""The extracted Python as it stands: loaded from its text, and refused where it is not understood.

Comparison by `is`, classes of values, and whatever else an unknown integer cannot notice, must not
occur: what may is listed here, by the names of Python's grammar.
"""

from __future__ import annotations

import ast
import builtins
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from validate.values import Comparison, Number, Unknown, mapped

GRAMMAR = (
    "Add Sub Mult USub And Or Not Eq NotEq Lt LtE Gt GtE Load Store",
    "Name Constant Tuple List Attribute Subscript Slice Call keyword BinOp UnaryOp BoolOp Compare",
    "IfExp Assign AnnAssign AugAssign Expr Return Raise If For While Try ExceptHandler Pass",
    "Match match_case MatchClass MatchAs MatchOr",
)
KNOWN = {word for line in GRAMMAR for word in line.split()}
BUILTINS = {"len", "range", "enumerate", "max", "tuple", "list", "AssertionError"}


class Element:
    """An element of a tensor: it can be moved, and nothing else."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, _: object) -> bool:
        raise Unknown("elements are compared")

    def __bool__(self) -> bool:
        raise Unknown("an element is taken for a truth value")

    def __repr__(self) -> str:
        return self.name


def load(text: str) -> ModuleType:
    """Run the text of the kernel as a module of its own."""
    tree = ast.parse(text)
    check(tree)
    module = ModuleType("symbolic_kernel")
    sys.modules[module.__name__] = module  # `dataclass` looks there.
    exec(compile(tree, "_kernel.py", "exec"), module.__dict__)
    return module


def check(tree: ast.Module) -> None:
    """Refuse functions with anything in them that unknown integers were not made for."""
    own = {each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))}
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in node.names
    }
    refused = (imported | set(dir(builtins))) - BUILTINS - own
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in (node for statement in function.body for node in code(statement)):
                name = node.id if isinstance(node, ast.Name) else ""
                if type(node).__name__ not in KNOWN or name in refused:
                    what = name or type(node).__name__
                    raise Unknown(
                        f"{function.name} has {what} in line {getattr(node, 'lineno', 0)}"
                    )


def code(statement: ast.AST) -> Iterator[ast.AST]:
    """Give a statement and all that is in it, but the types that it gives to variables."""
    yield statement
    for name, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and name != "annotation":
                yield from code(part)


# --- values of Python, and terms -----------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """How a call ends: with a value, or with an exception and what it carries."""

    value: Any
    error: str = ""

    def __str__(self) -> str:
        return f"raises {self.error}: {self.value}" if self.error else f"{self.value}"


def term(value: Any, _: str = "") -> Any:
    """Give a number, truth value or element of Python, with a term of Z3 for what is not known."""
    kind = type(value)
    if kind is Number:
        return value.z3
    if kind in (int, bool, Element, type(None)):
        return value
    if kind is Comparison:
        raise Unknown("a truth value that nobody decided is returned")
    raise Unknown(f"a value is of the type {kind.__name__}")


def called(function: Any, arguments: Any, module: ModuleType) -> Outcome:
    """Call a function of the kernel and say how that ends; lists stay as they are."""
    lists = [(each, list(each)) for each in arguments if type(each) is list]
    try:
        value = function(*arguments)
        if any(value is each for each, _ in lists):
            raise Unknown("an argument itself is returned")
        return Outcome(mapped(value, term))
    except Exception as error:
        kind = type(error)
        if getattr(module, kind.__name__, None) is not kind:
            return Outcome(str(error), f"builtins.{kind.__name__}")
        # Without a value, it carries nothing, whatever it was given.
        carried = getattr(error, "value", error.args or None)
        return Outcome(mapped(carried, term), kind.__name__)
    finally:
        for each, before in lists:
            if len(each) != len(before) or any(map(operator.is_not, each, before)):
                raise Unknown("an argument is changed")
