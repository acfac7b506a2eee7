"""Every rule, on random instances: where the premises hold, the conclusion does.

What a rule is given is also changed in one place. It then refuses, or what it concludes holds all
the same. A pattern that is wrong, and a side condition that is left out, are noticed by this; but
two conditions of arithmetic have a certificate each in test_checker.py.
"""

import random
from collections.abc import Iterator, Sequence

import pytest
from instances import INSTANCES, Instance, drawn, elsewhere
from small_models import Language, fails

from certify import equality
from certify.reader import Value
from certify.rules import RULES, Rule
from certify.terms import Refused, Term

# Of each rule with several names one.
NAMES = {rule: name for name, rule in RULES.items() if name in INSTANCES}


def outcomes(name: str, rule: Rule, instances: list[Instance], often: int) -> Iterator[str]:
    """Try a rule: yield `refused`, `right` or `wrong` for each instance."""
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
    # With so many, each side condition is missed if it is left out.
    often = 40 * len(INSTANCES[name])
    found = list(outcomes(name, RULES[name], INSTANCES[name], often))
    assert "wrong" not in found
    assert found.count("right") > often / 12


# From premises that contradict each other everything follows.
@pytest.mark.parametrize("name", sorted({*NAMES.values()} - {"contra"}))
def test_another_conclusion_is_noticed(name: str) -> None:
    """Some other conclusions hold, too."""
    language = Language(name)

    def wrong(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
        return elsewhere(RULES[name](premises, arguments), language)

    assert "wrong" in outcomes(name, wrong, INSTANCES[name], 40 * len(INSTANCES[name]))
