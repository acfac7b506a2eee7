"""Load the extracted Python, unless unknown integers could change its meaning.

Functions may use only the listed grammar and built-in names: `is` and `type`, for example, treat an
unknown integer differently from a known one.
"""

import ast
import builtins
import sys
from collections.abc import Iterator
from types import ModuleType

from validate.paths import Unknown

GRAMMAR = (
    "Add Sub Mult USub And Or Not Eq NotEq Lt LtE Gt GtE Load Store",
    "Name Constant Tuple List Attribute Subscript Slice Call keyword BinOp UnaryOp BoolOp Compare",
    "IfExp Assign AnnAssign AugAssign Expr Return Raise If For While Try ExceptHandler Pass",
    "Match match_case MatchClass MatchAs MatchOr",
)
KNOWN = {word for line in GRAMMAR for word in line.split()}
BUILTINS = {"len", "range", "enumerate", "max", "tuple", "list", "AssertionError"}


def load(text: str) -> ModuleType:
    """Run the text of the kernel as a module; refuse code that unknown integers do not support."""
    tree = ast.parse(text)
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
                    what = f"{name or type(node).__name__} in line {getattr(node, 'lineno', 0)}"
                    raise Unknown(f"{function.name} has {what}")
    module = ModuleType("symbolic_kernel")
    sys.modules[module.__name__] = module  # `dataclass` looks there.
    exec(compile(tree, "_kernel.py", "exec"), module.__dict__)
    return module


def code(statement: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and its parts, except the types of variables."""
    yield statement
    for name, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and name != "annotation":
                yield from code(part)
