"""Every rule, on random instances: where the premises hold, the conclusion does.

What a rule is given is also changed in one place. It then refuses, or what it concludes holds all
the same.
"""

import functools
import random
from collections.abc import Callable, Iterator

import instances
import pytest
from instances import INSTANCES, Given
from small_models import Language, fails

from certify import schemas
from certify.equality import GENERAL
from certify.reader import Expression
from certify.rules import RULES, Rule
from certify.terms import BOOL, Refused, Term

OFTEN, MODELS = 25, 12


def conclusion(rule: Rule, given: Given) -> Term | None:
    """Apply a rule, which may refuse as it likes."""
    try:
        return rule(*given)
    except (Refused, ValueError, LookupError):
        return None


def tried(
    name: str, rule: Rule, instance: Callable[[Language], Given], often: int
) -> tuple[int, int, int]:
    """Try a rule: how many conclusions do not hold, how many do, and how often it refuses."""
    language, chance = Language(name), random.Random(name)
    wrong = right = refused = 0
    for i in range(often):
        try:
            given = instance(language)
            given = instances.changed(given, language) if i % 3 else given
        except Refused:
            continue
        if any(premise.sort != BOOL for premise in given[0]):
            continue
        if (found := conclusion(rule, given)) is None:
            refused += 1
        elif fails(given[0], found, chance, MODELS, rule is GENERAL):
            wrong += 1
        else:
            right += 1
    return wrong, right, refused


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_conclusion_holds_where_the_premises_do(name: str) -> None:
    wrong, right, _ = tried(name, RULES[name], INSTANCES[name], OFTEN)
    assert wrong == 0
    assert right > OFTEN / 12


SWAPS = {
    "and": "or",
    "or": "and",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "=>": "=",
    "true": "false",
    "false": "true",
    "0": "1",
    "1": "0",
    "+": "-",
    "div_total": "mod_total",
    "mod_total": "div_total",
}


def variants(pattern: Expression, names: list[str]) -> list[Expression]:
    """List a conclusion changed in one place: a `not` less, another operator, another word."""
    if isinstance(pattern, str):
        others = [n for n in names if n != pattern] if pattern in names else []
        return [*others, *([SWAPS[pattern]] if pattern in SWAPS else [])]
    found: list[Expression] = [pattern[1]] if pattern[0] == "not" else []
    for i, each in enumerate(pattern):
        found += [[*pattern[:i], new, *pattern[i + 1 :]] for new in variants(each, names)]
    return found


def wrong_schemas(schema: schemas.Schema) -> Iterator[schemas.Schema]:
    """List what a schema might be instead: its conclusion negated, or one place changed."""
    names = sorted(instances.words([schema.conclusion, *schema.premises, *schema.arguments]))
    yield schema._replace(conclusion=["not", schema.conclusion])
    for other in variants(schema.conclusion, names):
        yield schema._replace(conclusion=other)
    for i, premise in enumerate(schema.premises):
        for other in variants(premise, names):
            yield schema._replace(premises=[*schema.premises[:i], other, *schema.premises[i + 1 :]])


@pytest.mark.parametrize("schema", schemas.SCHEMAS, ids=lambda schema: schema.name)
def test_a_wrong_pattern_is_noticed(schema: schemas.Schema) -> None:
    """Some of the others are right as well, or say less."""
    noticed, others = 0, list(wrong_schemas(schema))
    for other in random.Random(schema.name).sample(others, min(len(others), 8)):
        name = f"{schema.name} {other.conclusion} {other.premises}"
        instance = functools.partial(instances.of_schema, other._replace(name=name))
        try:
            noticed += tried(name, other.follow, instance, 12)[0] > 0
        except LookupError:  # Nothing is well-sorted, or a word for several is one for one.
            continue
    assert noticed > 0
