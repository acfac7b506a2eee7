"""A rule is a function from premises and arguments to a conclusion.

For each assignment to free variables, the conclusion holds if the premises hold; `cong` of a binder
requires its premise for all values of the bound variables. A rule refuses unexpected premises and
arguments; it or Python refuses a wrong number of them. A rule's docstring contains its premises, a
colon, and the conclusion; or the conclusion and its conditions.
"""

from collections.abc import Callable, Sequence

from certify.reader import Value
from certify.terms import Refused, Term, parts, require

Terms = tuple[Term, ...]
Rule = Callable[[Sequence[Term], Sequence[Value]], Term]

RULES: dict[str, Rule] = {}


def term(value: Value) -> Term:
    """Expect a term for an argument."""
    if not isinstance(value, Term):
        raise Refused("a list for a term")
    return value


def spelled(name: str) -> str:
    """Spell the name of a rule as Python does; cvc5 writes some with hyphens."""
    return name.replace("-", "_")


def rule(count: int | None) -> Callable[[Callable[..., Term]], Rule]:
    """Register a rule by its function's name; it takes `count` premises, then arguments.

    If `count` is None, the premises are one sequence. Arguments are terms, in some rules also
    `Terms`.
    """

    def known(function: Callable[..., Term]) -> Rule:
        has_lists = Terms in function.__annotations__.values()

        def follow(premises: Sequence[Term], arguments: Sequence[Value]) -> Term:
            require(count in (None, len(premises)), f"expected {count} premises")
            given = arguments if has_lists else map(term, arguments)
            return function(*([premises] if count is None else premises), *given)

        RULES[function.__name__] = follow
        return follow

    return known


def claim(function: Callable[[Term, Term], None]) -> Rule:
    """Register a rule that concludes a given equation, unless the function refuses its sides."""

    def claimed(given: Term) -> Term:
        function(*parts(given, "="))
        return given

    claimed.__name__ = function.__name__
    return rule(0)(claimed)


def number(value: Term) -> int:
    """Expect the literal of an integer."""
    if value.operator != "integer":
        raise Refused("expected the literal of an integer")
    return int(str(value.label))
