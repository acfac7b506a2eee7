"""A side condition that is left out of a rule is noticed: what the rule concludes does not hold."""

import ast
import random
import types

import pytest
from instances import INSTANCES, changed
from small_models import Language, fails
from test_rules import conclusion

from certify.equality import GENERAL
from certify.rules import RULES, Rule
from certify.terms import BOOL, Refused
from gate.closed import ROOT

MODULES = ("clauses", "equality", "arithmetic", "binders", "normal")
OFTEN = 600
OF_ALL = {name for name, rule in RULES.items() if rule is GENERAL}

# No drawn instance notices these: test_checker.py has a certificate for each.
UNNOTICED = {"expected the literal of a number", "expected a comparison"}


def conditions() -> list[tuple[str, int, str, str]]:
    """List the side conditions: the module, the number there, the function, what it says."""
    found = []
    for module in MODULES:
        tree = ast.parse(source(module))
        inside = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
        calls = [(f.name, call) for f in inside for each in ast.walk(f) for call in condition(each)]
        calls.sort(key=lambda pair: pair[1].lineno)
        for i, (function, call) in enumerate(calls):
            found.append((module, i, function, ast.literal_eval(call.args[1])))
    return found


def source(module: str) -> str:
    return (ROOT / "proofs" / "certify" / f"{module}.py").read_text(encoding="utf-8")


def condition(node: ast.AST) -> list[ast.Call]:
    """Return the call that a side condition is, and nothing of another node."""
    call = node.value if isinstance(node, ast.Expr) else None
    is_one = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "require"
    return [call] if isinstance(call, ast.Call) and is_one else []


class Without(ast.NodeTransformer):
    """Leave out the side condition of a number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not condition(node):
            return node
        self.left -= 1
        return ast.copy_location(ast.Pass(), node) if self.left == -1 else node


def rules_without(module: str, number: int) -> dict[str, Rule]:
    """Give the rules of a module of which a side condition is left out."""
    tree = ast.fix_missing_locations(Without(number).visit(ast.parse(source(module))))
    before = dict(RULES)
    exec(compile(tree, module, "exec"), types.ModuleType(f"certify.{module}").__dict__)
    found = {name: rule for name, rule in RULES.items() if before[name] is not rule}
    RULES.clear()
    RULES.update(before)
    return found


def is_noticed(name: str, rule: Rule) -> bool:
    """Look for an instance of which the conclusion does not hold."""
    language, chance = Language(name), random.Random(name)
    for i in range(OFTEN):
        try:
            given = INSTANCES[name](language)
            given = changed(given, language) if i % 3 else given
        except Refused:
            continue
        if all(premise.sort == BOOL for premise in given[0]):
            found = conclusion(rule, given)
            if found is not None and fails(given[0], found, chance, 12, name in OF_ALL):
                return True
    return False


@pytest.mark.parametrize(
    ("module", "number", "function", "says"),
    [each for each in conditions() if each[3] not in UNNOTICED],
    ids=lambda each: str(each).replace(" ", "_"),
)
def test_a_side_condition_is_missed(module: str, number: int, function: str, says: str) -> None:
    rules = rules_without(module, number)
    own = [name for name in rules if name.replace("-", "_") == function]
    assert any(is_noticed(name, rules[name]) for name in own or rules)


def test_each_condition_that_is_not_missed_is_there() -> None:
    assert {*UNNOTICED} <= {says for *_, says in conditions()}
