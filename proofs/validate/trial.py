"""The trusted operations, tried: each condition of each contract, on random values, both ways.

The conditions are made from the typed WhyML (validate/python.ml), the Python and the C are what
the drivers map the operations to. A value of the logic is one of Python here, a function on the
integers included, so that what is said of all places of memory is decided for all of them. What is
said and cannot be asked of such values is an error, as is a change that no contract allows.
"""

from __future__ import annotations

import copy
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gate import judge, mapped
from gate.facts import Facts, Failure
from gate.mapped import Entry
from gate.program import Program
from validate import conditions, trial_c
from validate.conditions import Function, Record
from validate.trial_c import Kind, Ref, UnrealError

# How many calls are tried of an operation, and how many are drawn at most to find as many that its
# contract allows.
TRIED, DRAWN = 100, 60_000

LARGE = (2**31, 2**63 - 1, -(2**63), 2**63, 10**20)


class Call(NamedTuple):
    """A call: its arguments before and after it, and its result."""

    before: list[Any]
    after: list[Any]
    result: Any


@dataclass(frozen=True)
class Condition:
    """One conjunct of a contract; without `holds` it is not executable, for a reason."""

    kind: str
    text: str
    reason: str | None
    holds: Callable[..., bool] | None

    def false_of(self, *values: object) -> str | None:
        """Say what is wrong with the condition for these values; nothing if it holds."""
        if self.holds is None:
            return None
        try:
            value = self.holds(*values)
        except Exception as error:
            what = f"has no value: {type(error).__name__} {error}"
            return f"{self.kind} {{ {self.text} }} {what}"
        return None if value is True else f"{self.kind} {{ {self.text} }} is not true"


@dataclass(frozen=True)
class Operation:
    """An operation with its contract; the name is that of the driver."""

    name: str
    facts: dict[str, Any]
    arguments: tuple[Kind, ...]
    result: Kind
    conditions: tuple[Condition, ...]

    def requires(self, values: Sequence[Any]) -> bool:
        """Tell whether a call is allowed."""
        asked = (condition for condition in self.conditions if condition.kind == "requires")
        return all(condition.holds is not None and condition.holds(*values) for condition in asked)

    def cannot_be_tried(self) -> Iterator[str]:
        """Say what of the contract no trial can reach."""
        for condition in self.conditions:
            if condition.holds is None:
                text = f"{condition.kind} {{ {plain(condition.text)} }}"
                yield f"{text} cannot be tried: {condition.reason}"
        if self.facts["exceptions"]:
            yield "raises: that cannot be tried"
        if self.facts["shares"]:
            yield "its result may be one of its arguments, or part of it: that cannot be tried"
        for name, field in self.facts["writes"]:
            if name not in self.facts["arguments"]:
                yield f"writes {field}, which is no argument's: that cannot be tried"

    def excludes(self, call: Call) -> Iterator[str]:
        """Say what is wrong with a call that is allowed."""
        facts = self.facts
        if not fits(self.result, call.result):
            yield f"the result is of another type than {self.result.name}"
            return
        if self.result.name == "list" and any(call.result is value for value in call.after):
            yield "the result is an argument, and no new one"
        for name, before, after in zip(facts["arguments"], call.before, call.after, strict=True):
            for field in changes(before, after):
                if [name, field] not in facts["writes"]:
                    yield f"changes {name}.{field}, which it does not say"
        olds = [call.before[facts["arguments"].index(name)] for name in facts["olds"]]
        for condition in self.conditions:
            if condition.kind == "ensures" and (
                what := condition.false_of(*call.after, *olds, call.result)
            ):
                yield plain(what)


def plain(text: str) -> str:
    """Write WhyML on one line."""
    return " ".join(text.split())


def changes(before: Any, after: Any) -> Iterator[str]:
    """Give the fields of a value that have changed; `length` and `value` are what never does."""
    if isinstance(before, Record | Ref):
        old, new = vars(before), vars(after)
        yield from (field for field in old if not conditions.identical(old[field], new[field]))
    elif isinstance(before, list):
        if len(before) != len(after):
            yield "length"
        elif not conditions.identical(before, after):
            yield "elts"
    elif not conditions.identical(before, after):
        yield "value"


# Types


def kinds() -> dict[str, Any]:
    """Give what the types of arguments and results are made of: see `type_check` in python.ml."""

    def unknown(reason: str) -> Kind:
        raise UnrealError(reason)

    def of_constructor(made: type, *inside: Kind) -> Kind:
        return Kind("ref" if made is Ref else made, inside)

    def one_of(*cases: Kind) -> Kind:
        return cases[0] if len(cases) == 1 else Kind("one of", cases)

    simple = ("anything", "nothing", "integer", "boolean", "int64")
    nested = ("sequence", "list", "tuple", "function")
    return {
        **{f"is_{name}": Kind(name) for name in simple},
        **{f"is_{name}": lambda *inside, name=name: Kind(name, inside) for name in nested},
        "is_made": of_constructor,
        "is_one_of": one_of,
        "is_abstract": lambda name, **fields: Kind(name, tuple(fields.values()), tuple(fields)),
        "is_unknown": unknown,
    }


class Made:
    """The values of types that theories define: classes by the name of their constructor."""

    def __init__(self) -> None:
        self.classes: dict[str, type] = {"Ref": Ref}

    def __getattr__(self, name: str) -> type:
        if name not in self.classes:
            self.classes[name] = type(name, (Record,), {})
        return self.classes[name]


def fits(kind: Kind, value: Any) -> bool:
    """Tell whether a value is one of a type, as far as Python's own types tell."""
    types = {"integer": int, "int64": int, "boolean": bool, "nothing": type(None)}
    if kind.name in ("sequence", "list"):
        own = tuple if kind.name == "sequence" else list
        return type(value) is own and all(fits(kind.inside[0], each) for each in value)
    return kind.name not in types or type(value) is types[str(kind.name)]


class Drawing(Random):
    """A source of values; `large`: of integers too that no list has as many elements as."""

    large = False


def integer(random: Drawing) -> int:
    """Draw an integer: one of the small ones, mostly; now and then one that is no machine's."""
    kind = random.random()
    if kind < 0.9 or not random.large:
        return random.randint(-2, 7) if kind < 0.6 else random.randint(0, 40)
    # Made anew, so that equal ones are not the same object.
    return int(str(random.choice(LARGE))) + random.randint(-2, 2)


def drawn(kind: Kind, random: Drawing, before: Sequence[Any] = ()) -> Any:
    """Draw a value of a type; `before` are the arguments before it."""

    def several(inside: Kind) -> list[Any]:
        return [drawn(inside, random) for _ in range(random.randint(0, random.choice((6, 6, 40))))]

    match kind.name, kind.inside:
        case "anything", _:
            return Anything(random.randint(0, 9))
        case "nothing", _:
            return None
        case "boolean", _:
            return random.random() < 0.5
        case "integer", _:
            return integer(random)
        case "int64", _:
            return max(-(2**63), min(integer(random), 2**63 - 1))
        case "sequence", (inside,):
            # Every second one equals one before it, and is another one.
            same = [value for value in before if isinstance(value, tuple)]
            return tuple(list(same[-1]) if same and random.random() < 0.5 else several(inside))
        case "list", (inside,):
            return several(inside)
        case "tuple", _:
            return tuple(drawn(each, random) for each in kind.inside)
        case "function", (_, inside):
            places = range(-1, 4 if inside.name == "function" else 12)
            return Function({p: drawn(inside, random) for p in places}, drawn(inside, random))
        case "one of", cases:
            return drawn(random.choice(cases), random)
        case ((type() as made), inside):
            return made(*(drawn(each, random) for each in inside))
        case "ref", (inside,):
            return Ref(drawn(inside, random))
    return trial_c.drawn(kind, random, before, drawn)


class Anything:
    """An element of which a program knows nothing: it is moved, no more."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"<{self.number}>"


# Calls


def allowed(operation: Operation, *, in_memory: bool) -> list[list[Any]]:
    """Draw arguments of calls that the contract allows, and that can be in a machine's memory."""
    random, found = Drawing(operation.name), list[list[Any]]()
    kinds = {kind.name for kind in (*operation.arguments, operation.result)}
    random.large = in_memory or kinds.isdisjoint(("sequence", "list"))
    for _ in range(DRAWN):
        values = list[Any]()
        for kind in operation.arguments:
            values.append(drawn(kind, random, values))
        if in_memory and not trial_c.is_real(operation.arguments, values):
            continue
        if operation.requires(values):
            found.append(values)
            if len(found) == TRIED or not values:
                break
    return found


def in_python(template: str, values: list[Any]) -> Call:
    """Do what Python does: evaluate an expression, or execute an assignment."""
    code = re.sub(r"%(\d)", r"x\1", template)
    before = [copy.copy(v) if isinstance(v, list | Ref) else v for v in values]
    variables = {
        f"x{number}": value.contents if isinstance(value, Ref) else value
        for number, value in enumerate(values, start=1)
    }
    result = None
    if is_statement(code):
        exec(code, {}, variables)
    else:
        result = eval(code, {}, variables)
    after = list[Any]()
    for number, value in enumerate(values, start=1):
        now = variables[f"x{number}"]
        if not isinstance(value, Ref) and now is not value:
            raise UnrealError(f"%{number} is another object afterwards")
        after.append(Ref(now) if isinstance(value, Ref) else now)
    return Call(before, after, result)


def is_statement(code: str) -> bool:
    """Tell an assignment from an expression; anything else is no Python."""
    try:
        compile(code, "the driver", "eval")
    except SyntaxError:
        compile(code, "the driver", "exec")
        return True
    return False


def ghost(operation: Operation, values: list[Any]) -> Call:
    """Make the value that a ghost operation gives, of which nothing is extracted.

    It has the arguments in the fields of their names, and nothing in the others.
    """
    given = dict(zip(operation.facts["arguments"], values, strict=True))
    kinds = dict(zip(operation.result.fields, operation.result.inside, strict=True))
    fields = {name: given.get(name, nothing(kind)) for name, kind in kinds.items()}
    return Call(values, values, Record(**fields))


def nothing(kind: Kind) -> Any:
    """Give what a field has of which nothing is told: 0, and of a function its first case."""
    if kind.name == "function":
        return Function({}, nothing(kind.inside[1]))
    if kind.name == "one of":
        return nothing(kind.inside[0])
    return kind.name() if isinstance(kind.name, type) else 0


def faults(
    operation: Operation, entry: Entry | None, driver: trial_c.Driver | None
) -> Iterator[str]:
    """Try an operation by an entry of a driver, a ghost one by none; say what is wrong with it."""
    said = list(operation.cannot_be_tried())
    holes = map(int, re.findall(r"%(\d)", entry.template)) if entry else ()
    if max(holes, default=0) > len(operation.arguments):
        said.append("its text has more holes than it has arguments")
    if said:
        yield from said
        return
    try:
        tried = allowed(operation, in_memory=entry is not None and driver is not None)
        if not tried:
            yield f"its requires allow none of {DRAWN} calls that were drawn: it cannot be tried"
            return
        calls: Iterator[Call]
        if entry is None:
            calls = (ghost(operation, values) for values in tried)
        elif driver is not None:
            calls = (Call(*found) for found in driver.calls(entry, tried))
        else:
            calls = (in_python(entry.template, values) for values in tried)
        for call in calls:
            for what in operation.excludes(call):
                yield f"{what}, of {call.before}"
                return
    except Exception as error:
        yield f"cannot be tried: {type(error).__name__} {error}"


# What is tried


def bounded(low: int, high: int) -> range:
    """Give the integers from one to another; what is said of too many is undecided."""
    if high - low > 10_000:
        raise conditions.UndecidedError
    return range(low, high)


def operations(whycontract: Program, names: Sequence[str], language: str) -> dict[str, Operation]:
    """Give the operations of some modules by the names that drivers give them."""
    return compiled(whycontract.ask("operations", *names), language)


def compiled(found: dict[str, Any], language: str) -> dict[str, Operation]:
    """Make the operations of what whycontract says.

    What is of any type is an object in Python, and a number of 64 bits in C.
    """
    made = Made()
    scope: dict[str, Any] = {**vars(conditions), **kinds(), "kernel": made}
    scope |= {"Any": Any, "dataclass": dataclass, "range": bounded}
    if language == "C":
        scope["is_anything"] = scope["is_int64"]
    exec(compile(found["definitions"], "<definitions of the theories>", "exec"), scope)

    def condition(facts: dict[str, Any]) -> Condition:
        holds = None if facts["python"] is None else eval(facts["python"], scope)
        return Condition(facts["kind"], facts["text"], facts["reason"], holds)

    def kind(text: str) -> Kind:
        try:
            return eval(text, scope)  # type: ignore[no-any-return]
        except UnrealError as error:
            return Kind(f"unknown: {error}")

    return {
        name: Operation(
            name,
            facts,
            tuple(map(kind, facts["argument_types"])),
            kind(facts["result_type"]),
            tuple(map(condition, facts["conditions"])),
        )
        for facts in found["programs"]
        if (name := facts["mapped"].replace("(!)", "(!_)"))
    }


def judged(root: Path, facts: Facts) -> Iterator[Failure]:
    """Try all that the drivers map, and all that the proofs trust; give what is wrong."""
    theories = {theory["file"] for theory in facts["theories"]}
    wanted = [each for each in judge.LANGUAGES.items() if each[0] in theories]
    if not wanted:
        return
    whycontract = Program(root, "whycontract")
    with tempfile.TemporaryDirectory() as folder:
        for file, language in wanted:
            yield from judged_in(whycontract, facts, file, language, Path(folder))


def judged_in(
    whycontract: Program, facts: Facts, file: str, language: str, folder: Path
) -> Iterator[Failure]:
    """Try the operations of one language."""
    entries = mapped.read(whycontract.root, language)
    values = {entry.name: entry for entry in entries if entry.kind == "val"}
    own = {judge.module_name(file, s["module"]) for s in facts["symbols"] if s["file"] == file}
    ghosts = {(s["file"], s["module"], s["name"]) for s in facts["symbols"] if s["ghost"]}
    trusted = {
        f"{judge.module_name(file, each['module'])}.{each['name']}": each
        for each in judge.trusted(facts)
        if each["file"] == file
    }
    modules = {entry.module for entry in values.values()} | own
    there = operations(whycontract, sorted(modules), language)
    signatures = {name: (op.arguments, op.result) for name, op in there.items()}
    driver = trial_c.Driver(entries, signatures, folder) if language == "C" else None
    for name in dict.fromkeys((*trusted, *values)):
        entry, each = values.get(name), trusted.get(name)
        if entry is None and each and (file, each["module"], each["name"]) not in ghosts:
            found = iter([f"is mapped to nothing by {mapped.DRIVERS[language]}"])
        elif name in there:
            found = faults(there[name], entry, driver)
        elif each or (entry and entry.module not in own):
            found = iter(["is no symbol that can be tried"])
        else:
            continue
        line = each["line"] if each else entry.line if entry else None
        place = f"{file if each else mapped.DRIVERS[language]}:{line}"
        yield from (Failure(place, name, what) for what in found)
