"""Small models: what a term is worth where sorts have two elements, and symbols random values."""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from certify.terms import (
    BOOL,
    INT,
    REAL,
    Sort,
    Term,
    apply,
    bind,
    bound,
    build,
    constant,
    integer,
    literal,
    truth,
    variable,
)

U = Sort("U")
ARRAY = Sort("Array", (U, U))
ELEMENTS = (0, 1)
INTEGERS = (-3, -2, -1, 0, 1, 2, 3)
VALUES: dict[Sort, Sequence[Any]] = {
    BOOL: (False, True),
    INT: INTEGERS,
    REAL: (*INTEGERS, Fraction(1, 2), Fraction(-5, 2)),
    U: ELEMENTS,
    ARRAY: tuple(itertools.product(ELEMENTS, repeat=2)),
}

Model = dict[str, Any]
Assignment = Mapping[Term, Any]


def quotient(a: int, b: int) -> int:
    """Divide as SMT-LIB does: the remainder is not negative."""
    for q in range(-abs(a) - 1, abs(a) + 2):
        if 0 <= a - b * q < abs(b):
            return q
    raise AssertionError(f"{a} and {b} have no quotient")


MEANING: dict[str, Callable[..., Any]] = {
    "not": lambda a: not a,
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
    "=>": lambda a, b: b or not a,
    "=": lambda a, b: a == b,
    "distinct": lambda *a: len({*a}) == len(a),
    "ite": lambda c, a, b: a if c else b,
    "+": lambda *a: sum(a),
    "*": lambda *a: math.prod(a),
    "-": lambda *a: a[0] - a[1] if len(a) == 2 else -a[0],
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "abs": abs,
    # By 0, as the model's own functions are: see `random_model`.
    "div": lambda a, b: quotient(a, b) if b else 7 * a + 1,
    "mod": lambda a, b: a - b * quotient(a, b) if b else 5 * a + 2,
    "div_total": lambda a, b: quotient(a, b) if b else 0,
    "mod_total": lambda a, b: a - b * quotient(a, b) if b else a,
    "select": lambda a, i: a[i],
    "store": lambda a, i, v: (*a[:i], v, *a[i + 1 :]),
    "@array_deq_diff": lambda a, b: next((i for i in ELEMENTS if a[i] != b[i]), 0),
    "@purify": lambda a: a,
    "to_real": lambda a: a,
    "to_int": math.floor,
}


def value(term: Term, model: Model, at: Assignment) -> Any:
    match term.operator:
        case "true" | "false":
            return term.operator == "true"
        case "integer" | "rational":
            return term.label
        case "variable":
            return at[term]
        case "constant":
            return model[str(term.label)]
        case "apply":
            function, *arguments = (value(each, model, at) for each in term.arguments)
            return function(*arguments)
        case "forall" | "exists":
            found = (value(term.arguments[0], model, {**at, **each}) for each in assigned(term))
            return all(found) if term.operator == "forall" else any(found)
        case "lambda":
            body, every = term.arguments[0], assigned(term)
            return Table({(*each.values(),): value(body, model, {**at, **each}) for each in every})
        case "skolem":
            (formula,) = term.arguments
            first, *others = assigned(formula)
            fails = (x for x in (first, *others) if not value(formula.arguments[0], model, x))
            return next(fails, first)[bound(formula)[int(str(term.label))]]
    return MEANING[term.operator](*(value(each, model, at) for each in term.arguments))


class Table(dict[tuple[Any, ...], Any]):
    """A function, as a table of its values."""

    def __call__(self, *arguments: Any) -> Any:
        return self[arguments]


def assigned(term: Term) -> Iterator[dict[Term, Any]]:
    """List the values of the variables that a term binds."""
    xs = bound(term)
    for values in itertools.product(*(VALUES[x.sort] for x in xs)):
        yield dict(zip(xs, values, strict=True))


FUNCTIONS = {"f": (U, U), "g": (U, U), "p": (U, BOOL), "q": (U, BOOL), "size": (U, INT)}
CONSTANTS = {"c": U, "d": U, "i": INT, "j": INT, "a": ARRAY, "b": ARRAY}
CONSTANTS |= dict.fromkeys(("A", "B", "C", "D"), BOOL)
SYMBOLS = {name: constant(name, Sort("->", sorts)) for name, sorts in FUNCTIONS.items()}
SYMBOLS |= {name: constant(name, sort) for name, sort in CONSTANTS.items()}
VARIABLES = [variable(name, U) for name in "xyz"]
VARIABLES += [variable("v", BOOL), variable("n", INT), variable("m", INT), variable("r", REAL)]


def random_model(chance: random.Random) -> Model:
    model: Model = {name: chance.choice(VALUES[sort]) for name, sort in CONSTANTS.items()}
    for name, (domain, result) in FUNCTIONS.items():
        model[name] = Table({(v,): chance.choice(VALUES[result]) for v in VALUES[domain]})
    if chance.random() < 0.3:
        model["g"] = model["f"]
    model["@int_div_by_zero"] = lambda a: 7 * a + 1
    model["@mod_by_zero"] = lambda a: 5 * a + 2
    return model


class Language:
    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def term(self, sort: Sort, depth: int = 2) -> Term:
        pick = self.chance.choice
        if depth == 0 or sort not in VALUES or self.chance.random() < 0.25:
            known = [each for each in (*SYMBOLS.values(), *VARIABLES) if each.sort == sort]
            if sort == INT:
                known += [integer(pick(INTEGERS))]
            if sort == REAL:
                numbers = [literal(Fraction(pick(INTEGERS), 2), REAL), *known]
                known = [*numbers, build("to_real", self.term(INT, 0))]
            if sort == BOOL and self.chance.random() < 0.2:
                known = [truth(pick((True, False)))]
            return pick(known)
        if self.chance.random() < 0.15:
            return build("ite", *(self.term(each, depth - 1) for each in (BOOL, sort, sort)))
        kinds: dict[Sort, list[tuple[str, tuple[Sort, ...]]]] = {
            BOOL: [
                *(("not", (BOOL,)), ("and", (BOOL, BOOL)), ("or", (BOOL, BOOL, BOOL))),
                *(("=>", (BOOL, BOOL)), ("=", (U, U)), ("=", (INT, INT)), ("=", (BOOL, BOOL))),
                *(("<", (INT, INT)), (">=", (INT, INT)), ("p", (U,)), ("q", (U,))),
                *(("forall", (BOOL,)), ("exists", (BOOL,)), ("or", (BOOL, BOOL))),
            ],
            REAL: [("+", (REAL, REAL)), ("*", (REAL, REAL)), ("to_real", (INT,))],
            INT: [("+", (INT, INT)), ("*", (INT, INT)), ("-", (INT, INT)), ("size", (U,))],
            U: [("f", (U,)), ("g", (U,)), ("select", (ARRAY, U))],
            ARRAY: [("store", (ARRAY, U, U))],
        }
        name, sorts = pick(kinds[sort])
        arguments = [self.term(each, depth - 1) for each in sorts]
        if name in ("forall", "exists"):
            return bind(name, self.variables(), *arguments)
        return apply(SYMBOLS[name], *arguments) if name in SYMBOLS else build(name, *arguments)

    def variables(self) -> list[Term]:
        """Draw one or two variables of finite sorts."""
        finite = [each for each in VARIABLES if each.sort not in (INT, REAL)]
        return self.chance.sample(finite, self.chance.choice((1, 1, 2)))


def fails(
    premises: Sequence[Term],
    conclusion: Term,
    chance: random.Random,
    often: int,
    everywhere: bool = False,
) -> bool:
    """Look for values for which the premises hold and the conclusion does not.

    The premises may have to hold `everywhere`: for all values of the variables that have few.
    """
    premises = [closed(each) for each in premises] if everywhere else premises
    for _ in range(often):
        model = random_model(chance)
        at = {x: chance.choice(VALUES[x.sort]) for x in VARIABLES}
        holds = all(value(each, model, at) for each in premises)
        if holds and not value(conclusion, model, at):
            return True
    return False


def closed(formula: Term) -> Term:
    """Bind the variables of finite sorts."""
    xs = [x for x in formula.free if x.sort not in (INT, REAL)]
    return bind("forall", xs, formula) if xs else formula
