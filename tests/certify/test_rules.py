"""Every rule, on random instances: where the premises hold, the conclusion does.

What a rule is given is also changed in one place. It then refuses, or what it concludes holds all
the same. A pattern that is wrong, and a side condition that is left out, are noticed by this.
"""

import ast
import inspect
import random
import types
from collections.abc import Iterator, Sequence

import pytest
from instances import INSTANCES, Instance, drawn, elsewhere
from small_models import Language, fails

from certify import arithmetic, binders, clauses, equality, normal
from certify.reader import Value
from certify.rules import RULES, Rule
from certify.terms import Refused, Term

# Of each rule with several names one.
NAMES = {rule: name for name, rule in RULES.items() if name in INSTANCES}


def outcomes(name: str, rule: Rule, instances: list[Instance], often: int) -> Iterator[str]:
    """Try a rule: it refuses, as it likes, or its conclusion is right, or wrong."""
    chance = random.Random(name)
    for premises, arguments in drawn(name, instances, often):
        try:
            found = rule(premises, arguments)
        except (Refused, ValueError, LookupError, TypeError):
            yield "refused"
            continue
        is_general = RULES[name] is equality.GENERAL
        yield "wrong" if fails(premises, found, chance, 12, is_general) else "right"


def test_each_rule_has_instances() -> None:
    assert {*NAMES} == {*RULES.values()}
    assert {*INSTANCES} == {*NAMES.values()}


@pytest.mark.parametrize("name", NAMES.values())
def test_a_conclusion_holds_where_the_premises_do(name: str) -> None:
    often = 40 * len(INSTANCES[name])
    found = list(outcomes(name, RULES[name], INSTANCES[name], often))
    assert "wrong" not in found
    assert found.count("right") > often / 12


# From premises that contradict each other everything follows.
@pytest.mark.parametrize("name", sorted({*NAMES.values()} - {"contra"}))
def test_another_conclusion_is_noticed(name: str) -> None:
    """Some of the others hold as well."""
    language = Language(name)

    def wrong(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
        return elsewhere(RULES[name](premises, arguments), language)

    assert "wrong" in outcomes(name, wrong, INSTANCES[name], 40 * len(INSTANCES[name]))


# Side conditions

# No drawn instance notices these: test_checker.py has a certificate for each.
UNNOTICED = {"expected the literal of a number", "expected a comparison"}


def conditions(module: types.ModuleType) -> Iterator[tuple[str, int, str]]:
    """List the side conditions: the function, the line, what it says."""
    tree = ast.parse(inspect.getsource(module))
    for function in [each for each in tree.body if isinstance(each, ast.FunctionDef)]:
        for node in ast.walk(function):
            match node:
                case ast.Call(ast.Name("require"), [_, ast.Constant(str() as says)]):
                    yield function.name, node.lineno, says


CONDITIONS = [
    pytest.param(module, *each, id=f"{each[0]}-{each[2].replace(' ', '_')}")
    for module in (clauses, equality, arithmetic, binders, normal)
    for each in conditions(module)
    if each[2] not in UNNOTICED
]


class Without(ast.NodeTransformer):
    """Leave out what stands in a line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.copy_location(ast.Pass(), node) if node.lineno == self.line else node


def rules_without(module: types.ModuleType, line: int) -> dict[str, Rule]:
    """Give the rules of a module of which a side condition is left out."""
    tree = ast.fix_missing_locations(Without(line).visit(ast.parse(inspect.getsource(module))))
    before = dict(RULES)
    exec(compile(tree, module.__name__, "exec"), types.ModuleType(module.__name__).__dict__)
    found = {name: rule for name, rule in RULES.items() if before[name] is not rule}
    RULES.update(before)
    return found


@pytest.mark.parametrize(("module", "function", "line", "says"), CONDITIONS)
def test_a_side_condition_is_missed(
    module: types.ModuleType, function: str, line: int, says: str
) -> None:
    rules = rules_without(module, line)
    own = [function] if function in rules else [name for name in rules if name in INSTANCES]
    assert any(
        "wrong" in outcomes(name, rules[name], INSTANCES[name], 200 * len(INSTANCES[name]))
        for name in reversed(own)  # A helper stands behind most rules that need it not.
    )


def test_each_condition_that_is_not_missed_is_there() -> None:
    assert {says for *_, says in conditions(arithmetic)} >= UNNOTICED
