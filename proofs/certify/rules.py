"""What a rule is: a function from premises and arguments to a conclusion.

The conclusion holds wherever the premises hold, for every assignment to free variables. A rule that
finds something else than it expects refuses; so does Python, where there are too many premises or
too few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from certify.reader import Value
from certify.terms import Refused, Term

Rule = Callable[[Sequence[Term], Sequence[Value]], Term]

RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    """Make a rule known by the name of its function; cvc5 writes some with hyphens."""
    RULES[function.__name__] = function
    return function


def hyphened(function: Rule) -> Rule:
    """Make a rule known by the name of its function, with hyphens."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def term(value: Value) -> Term:
    """Expect a term for an argument."""
    if not isinstance(value, Term):
        raise Refused("a list for a term")
    return value


def terms_in(value: Value) -> tuple[Term, ...]:
    """Expect a list for an argument."""
    if isinstance(value, Term):
        raise Refused("a term for a list")
    return value


def number(value: Term) -> int:
    """Expect the literal of an integer."""
    if value.operator != "integer":
        raise Refused("expected the literal of an integer")
    return int(str(value.label))
