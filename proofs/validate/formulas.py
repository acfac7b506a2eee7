"""Contracts of unknown integers: a condition becomes a formula of Z3, once for all values.

The conditions are Python that is made of the typed WhyML (validate/contracts.py). Each operation in
them is replaced by one of this module. A condition that is not known leads to both values. Two
numbers become one term. Other values become a `Choice`, and each operation takes all its cases.
What has no value (an element beyond the last) is `NOTHING`. What is computed from it can be
anything, so that no condition that depends on it is proved.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import z3

from validate import conditions
from validate.conditions import Beyond
from validate.kernel import Element
from validate.logic import every, is_number, opposite, some
from validate.values import Unknown


@dataclass(frozen=True)
class Choice:
    """One of several values: that whose condition holds, which is one of them always."""

    cases: tuple[tuple[Any, Any], ...]


class Nothing:
    """What a formula speaks of where there is nothing."""


NOTHING = Nothing()


def is_truth(value: Any) -> bool:
    """Tell a truth value, known or not."""
    return isinstance(value, (bool, z3.BoolRef))


def number(value: Any) -> Any:
    """Take a value for a number: nothing is any number."""
    if value is NOTHING:
        return z3.FreshInt()
    if not is_number(value) and not isinstance(value, Beyond):
        raise Unknown(f"a contract takes {type(value).__name__} for a number")
    return value


def truth(value: Any) -> Any:
    """Take a value for a truth value: nothing is any."""
    if value is NOTHING:
        return z3.FreshBool()
    if not is_truth(value):
        raise Unknown(f"a contract takes {type(value).__name__} for a truth value")
    return value


def one_of(cases: Iterable[tuple[Any, Any]]) -> Any:
    """Join values under conditions: those that are the same are one, and so are all numbers."""
    joined: dict[Any, tuple[list[Any], Any]] = {}
    for condition, value in cases:
        of_value = value.cases if isinstance(value, Choice) else ((True, value),)
        for inner, each in of_value:
            both = every([condition, inner])
            if both is not False:
                joined.setdefault(identity(each), ([], each))[0].append(both)
    found = [(some(conditions), value) for conditions, value in joined.values()]
    if len(found) == 1:
        return found[0][1]
    values = [value for _, value in found]
    if any(map(is_truth, values)):
        return some(every([condition, truth(value)]) for condition, value in found)
    if any(isinstance(value, z3.ArithRef) for value in values):
        result = number(values[-1])
        for condition, value in found[-2::-1]:
            result = z3.If(condition, number(value), result)
        return result
    return Choice(tuple(found))


def identity(value: Any) -> Any:
    """Tell values apart: a term of Z3 is the same as what looks the same."""
    if isinstance(value, z3.ExprRef):
        return ("z3", value.get_id())
    if isinstance(value, (tuple, list)):
        return (type(value), *map(identity, value))
    if isinstance(value, Choice):
        return (Choice, *((identity(c), identity(v)) for c, v in value.cases))
    if is_dataclass(value):
        parts = (identity(getattr(value, field.name)) for field in fields(value))
        return (type(value).__name__, *parts)
    return (type(value), value) if isinstance(value, (int, str)) else ("object", id(value))


def of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation take the cases of what it is given one by one."""

    @functools.wraps(function)
    def spread(*given: Any) -> Any:
        for place, value in enumerate(given):
            if isinstance(value, Choice):
                return one_of(
                    (condition, spread(*given[:place], each, *given[place + 1 :]))
                    for condition, each in value.cases
                )
        return function(*given)

    return spread


# What the conditions are made of


@of_each
def choose(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """Give `then() if condition else otherwise()`."""
    if isinstance(condition, bool):
        return then() if condition else otherwise()
    condition = truth(condition)
    return one_of([(condition, then()), (opposite(condition), otherwise())])


def junction(all_of: bool, *parts: Callable[[], Any]) -> Any:
    """Give `a and b`, or `a or b`: what comes behind a part that decides is not asked."""
    found: list[Any] = []
    for part in parts:
        found.append(truth(part()))
        if found[-1] is not all_of and isinstance(found[-1], bool):
            return not all_of
    return every(found) if all_of else some(found)


def negation(part: Any) -> Any:
    """Give `not a`."""
    return opposite(truth(part))


COMPARISONS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
OPERATIONS = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul}


def known(operations: Mapping[str, Any], name: str) -> Any:
    """Give an operation of Python's grammar."""
    if name not in operations:
        raise Unknown(f"a contract has {name}")
    return operations[name]


@of_each
def compare(name: str, a: Any, b: Any) -> Any:
    """Compare numbers."""
    return known(COMPARISONS, name)(number(a), number(b))


@of_each
def compute(name: str, a: Any, b: Any) -> Any:
    """Add, subtract, multiply."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    return known(OPERATIONS, name)(number(a), number(b))


@of_each
def equal(a: Any, b: Any) -> Any:
    """Give `a == b`: of the same type, with the same elements."""
    if a is NOTHING or b is NOTHING:
        return z3.FreshBool()
    if (is_number(a) and is_number(b)) or (is_truth(a) and is_truth(b)):
        return a == b
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return len(a) == len(b) and junction(True, *map(parts_equal, a, b))
    if is_dataclass(a) and is_dataclass(b):
        if type(a).__name__ != type(b).__name__:
            return False
        names = [field.name for field in fields(a)]
        mine, others = ([getattr(each, name) for name in names] for each in (a, b))
        return junction(True, *map(parts_equal, mine, others))
    if callable(a) or callable(b):
        raise Unknown("a contract compares functions")
    return a is b


def parts_equal(a: Any, b: Any) -> Callable[[], Any]:
    """Put a comparison off."""
    return lambda: equal(a, b)


@of_each
def length(value: Any) -> Any:
    """Give `len(value)`."""
    return NOTHING if value is NOTHING else len(value)


@of_each
def at(elements: Any, i: Any) -> Any:
    """Give an element; the number of an axis may be unknown."""
    if elements is NOTHING or i is NOTHING:
        return NOTHING
    if isinstance(i, int):
        return elements[i] if 0 <= i < len(elements) else NOTHING
    beyond = junction(False, lambda: i < 0, lambda: i >= len(elements))
    return one_of([*((i == k, each) for k, each in enumerate(elements)), (beyond, NOTHING)])


@of_each
def put(elements: Any, i: Any, value: Any) -> Any:
    """Give the sequence with another element at one place."""
    if elements is NOTHING or i is NOTHING:
        return NOTHING
    places = range(len(elements))
    changed = tuple(choose(i == k, lambda: value, lambda k=k: elements[k]) for k in places)
    inside = junction(True, lambda: i >= 0, lambda: i < len(elements))
    return choose(inside, lambda: changed, lambda: NOTHING)


@of_each
def create(size: Any, element: Callable[[int], Any]) -> Any:
    """Make the sequence of the values of a function."""
    if size is NOTHING or (isinstance(size, int) and size < 0):
        return NOTHING
    if not isinstance(size, int):
        raise Unknown("a contract makes a sequence of any length")
    return tuple(element(k) for k in range(size))


@of_each
def joined(*parts: Any) -> Any:
    """Join sequences."""
    return NOTHING if any(part is NOTHING for part in parts) else sum(parts, ())


@of_each
def quantified(all_of: bool, holds: Callable[[int], Any], low: Any, high: Any) -> Any:
    """Give `all(...)` or `any(...)` of a range."""
    if not (isinstance(low, int) and isinstance(high, int)):
        raise Unknown("a contract speaks of any number of places")
    parts = [functools.partial(holds, k) for k in range(low, high)]
    return junction(all_of, *parts)


@of_each
def everywhere(all_of: bool, holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Give `every(...)` or `some(...)`: integers beyond all that they meet are alike."""
    if high is not None or not isinstance(low, int):
        return quantified(all_of, holds, low, high)
    met: list[int] = []
    beyond = holds(Beyond(True, met))
    within = functools.partial(quantified, all_of, holds, low, max(met, default=low - 1) + 1)
    return junction(all_of, lambda: beyond, within)


@of_each
def largest(a: Any, b: Any) -> Any:
    """Give `max(a, b)`."""
    return choose(compare("Lt", a, b), lambda: b, lambda: a)


@of_each
def field(value: Any, name: str) -> Any:
    """Give `value.name`."""
    return NOTHING if value is NOTHING else getattr(value, name)


@of_each
def is_a(value: Any, made: type) -> Any:
    """Give `isinstance(value, made)`; the same class may have been loaded again."""
    return z3.FreshBool() if value is NOTHING else type(value).__name__ == made.__name__


def call(function: Any, *given: Any) -> Any:
    """Call a function, or each of several."""
    if isinstance(function, Choice):
        return one_of((condition, call(each, *given)) for condition, each in function.cases)
    return NOTHING if function is NOTHING else function(*given)


@of_each
def let(*given: Any) -> Any:
    """Call the last of what is given with the others: the cases of a match see one value."""
    return given[-1](*given[:-1])


def needed(condition: Any, value: Callable[[], Any]) -> Any:
    """Give what a function is that requires something: nothing where that does not hold."""
    return choose(condition, value, lambda: NOTHING)


def unreachable() -> Any:
    """Stand where the cases of a match end."""
    return NOTHING


def concrete(name: str) -> Callable[..., Any]:
    """Take an operation of integers that are known."""
    function = getattr(conditions, name)

    def computed(*given: Any) -> Any:
        if any(value is NOTHING for value in given):
            return NOTHING
        if not all(isinstance(value, int) for value in given):
            raise Unknown(f"a contract asks for {name} of any numbers")
        return function(*given)

    return of_each(computed)


HELPERS: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(choose, junction, negation, compare, compute, equal, length, at, put, create, joined),
        *(quantified, everywhere, largest, field, is_a, call, let, needed, unreachable),
    )
} | {"div": concrete("div"), "mod": concrete("mod"), "identical": equal}


# From the conditions


def lazy(node: ast.expr) -> ast.expr:
    """Put off what may not be asked."""
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(nothing, node)


def helped(name: str, *given: ast.expr) -> ast.expr:
    """Call an operation of this module."""
    return ast.Call(ast.Name(name, ast.Load()), list(given), [])


class Formulas(ast.NodeTransformer):
    """Puts the operations of this module in the place of Python's; refuses all others."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Go on inside what stays as it is."""
        known = (ast.Name, ast.Constant, ast.Lambda, ast.arguments, ast.arg, ast.Load, ast.Tuple)
        if not isinstance(node, (*known, ast.FunctionDef, ast.Return, ast.Module, ast.Expression)):
            raise Unknown(f"a contract has {type(node).__name__}: {ast.unparse(node)}")
        return super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave classes as they are."""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Let a function have no value where it may not be called."""
        *needs, last = [self.required(each) for each in node.body]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        value: ast.expr = self.visit(last.value)
        for need in needs:
            assert isinstance(need, ast.expr)
            value = helped("needed", self.visit(need), lazy(value))
        node.body = [ast.Return(value)]
        node.decorator_list = [ast.Name("remembered", ast.Load())]
        return node

    def required(self, node: ast.stmt) -> ast.AST:
        """Give what a statement `required(...)` asks for; another one stays."""
        match node:
            case ast.Expr(ast.Call(ast.Name("required"), [need], [])):
                return need
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """Make a sequence, which may have all elements of others."""
        if not any(isinstance(each, ast.Starred) for each in node.elts):
            return self.generic_visit(node)
        parts = [
            self.visit(
                each.value if isinstance(each, ast.Starred) else ast.Tuple([each], ast.Load())
            )
            for each in node.elts
        ]
        return helped("joined", *parts)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Lead to both values."""
        test, body, other = map(self.visit, (node.test, node.body, node.orelse))
        return helped("choose", test, lazy(body), lazy(other))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Join truth values."""
        all_of = ast.Constant(isinstance(node.op, ast.And))
        return helped("junction", all_of, *(lazy(self.visit(each)) for each in node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Turn a truth value, or a number."""
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return helped("negation", value)
        if isinstance(node.op, ast.USub):
            return helped("compute", ast.Constant("Sub"), ast.Constant(0), value)
        return value if isinstance(node.op, ast.UAdd) else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compare two values."""
        (op,), (other,) = node.ops, node.comparators
        a, b = self.visit(node.left), self.visit(other)
        if isinstance(op, ast.Eq):
            return helped("equal", a, b)
        return helped("compare", ast.Constant(type(op).__name__), a, b)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Compute with two numbers."""
        a, b = self.visit(node.left), self.visit(node.right)
        return helped("compute", ast.Constant(type(node.op).__name__), a, b)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Take a field; of the kernel, a class."""
        if isinstance(node.value, ast.Name) and node.value.id == "kernel":
            return node
        return helped("field", self.visit(node.value), ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Take a component of a tuple."""
        return helped("at", self.visit(node.value), self.visit(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Call what is known here, a function of the theories, or the value of a formula."""
        match node:
            case ast.Call(ast.Name("all" | "any" as name), [ast.GeneratorExp(body, [each])]):
                assert isinstance(each.iter, ast.Call)
                assert isinstance(each.target, ast.Name)
                given = ast.arguments(
                    posonlyargs=[],
                    args=[ast.arg(each.target.id)],
                    kwonlyargs=[],
                    kw_defaults=[],
                    defaults=[],
                )
                holds = ast.Lambda(given, self.visit(body))
                bounds = map(self.visit, each.iter.args)
                return helped("quantified", ast.Constant(name == "all"), holds, *bounds)
            case ast.Call(ast.Name("isinstance"), [value, made]):
                return helped("is_a", self.visit(value), self.visit(made))
            case ast.Call(ast.Name("len"), [value]):
                return helped("length", self.visit(value))
            case ast.Call(ast.Name("max"), [a, b]):
                return helped("largest", self.visit(a), self.visit(b))
            case ast.Call(ast.Name("every" | "some"), _):
                return self.beyond(node)
        arguments = [self.visit(each) for each in node.args]
        if isinstance(node.func, ast.Lambda):
            return helped("let", *arguments, self.visit(node.func))
        return helped("call", self.visit(node.func), *arguments)

    def beyond(self, node: ast.Call) -> ast.AST:
        """Speak of all integers between bounds, of which one may be missing."""
        holds, low, high = node.args
        assert isinstance(node.func, ast.Name)
        name = ast.Constant(node.func.id == "every")
        return helped("everywhere", name, *map(self.visit, (holds, low, high)))


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what a function of the theories has given, with what it was given."""
    kept: dict[Any, tuple[Any, Any]] = {}

    @functools.wraps(function)
    def once(*given: Any) -> Any:
        if any(callable(value) and not isinstance(value, Element) for value in given):
            return function(*given)
        key = identity(given)
        if key not in kept:
            kept[key] = (given, function(*given))
        return kept[key][1]

    return once


NAMES = {**HELPERS, "remembered": remembered, "dataclass": dataclass, "Any": Any}


def compiled(text: str, mode: str, names: dict[str, Any]) -> Any:
    """Compile definitions, or a condition, to what makes formulas."""
    tree = ast.fix_missing_locations(Formulas().visit(ast.parse(text, mode=mode)))
    code = compile(tree, "<conditions>", mode)
    return eval(code, names) if mode == "eval" else exec(code, names)
