"""Try the trusted operations: each condition of each contract, on random values.

The conditions come from the typed WhyML; the drivers map operations to Python and C. Python
represents logical values (terms.py), also functions on the integers, so it can decide a condition
on all of memory. A fault is a condition that is false or cannot be computed, a result of
another type, or a change that the contract does not allow.
"""

import copy
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gate import judge, mapped, trial_c
from gate.facts import Facts, Failure
from gate.mapped import Entry
from gate.program import Program
from gate.terms import Contract, Function, Kind, Record, Ref, Theories, class_of, fits
from gate.trial_c import UnrealError

# For each operation, up to DRAWN calls are drawn, and up to TRIED allowed ones are tried.
TRIED, DRAWN = 100, 60_000

LARGE = (2**31, 2**63 - 1, -(2**63), 2**63, 10**20)


class Call(NamedTuple):
    """A call: its arguments before and after it, and its result."""

    before: list[Any]
    after: list[Any]
    result: Any


class Operation(Contract):
    """An operation of a driver, with its contract; in C, a type variable is an int64."""

    def __init__(self, facts: Mapping[str, Any], theories: Theories, language: str) -> None:
        super().__init__(facts, theories)

        def kind(made: Kind) -> Kind:
            if language == "C" and made.name == "anything":
                return Kind("int64")
            return made._replace(inside=tuple(map(kind, made.inside)))

        self.name = facts["mapped"].replace("(!)", "(!_)")
        self.arguments, self.result = tuple(map(kind, self.types)), kind(self.ends[""])

    def requires(self, values: Sequence[Any]) -> bool:
        """Decide whether the contract allows a call."""
        return all(condition.holds(*values) for condition in self.of_kind("requires"))

    def cannot_be_tried(self) -> Iterator[str]:
        """List the parts of the contract that no trial reaches."""
        yield from self.untried
        if self.facts["exceptions"]:
            yield "raises: that cannot be tried"
        if self.facts["shares"]:
            yield "its result may be one of its arguments, or part of it: that cannot be tried"
        for name, field in self.facts["writes"]:
            if name not in self.facts["arguments"]:
                yield f"writes {field}, which is no argument's: that cannot be tried"

    def excludes(self, call: Call) -> Iterator[str]:
        """Find faults of an allowed call."""
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
        for each in self.of_kind("ensures"):
            try:
                if each.holds(*call.after, *olds, call.result) is not True:
                    yield f"ensures {{ {each.text} }} is not true"
            except Exception as error:
                what = f"has no value: {type(error).__name__} {error}"
                yield f"ensures {{ {each.text} }} {what}"


def changes(before: Any, after: Any) -> Iterator[str]:
    """Yield the changed fields of a value; no contract allows a change of `length` or `value`."""
    identical = Theories({}).equal
    if isinstance(before, Record):
        old, new = vars(before), vars(after)
        yield from (field for field in old if not identical(old[field], new[field]))
    elif isinstance(before, list):
        if len(before) != len(after):
            yield "length"
        elif not identical(before, after):
            yield "elts"
    elif not identical(before, after):
        yield "value"


class Drawing(Random):
    """A source of values; `large`: also integers beyond the length of any list."""

    large = False


def integer(random: Drawing) -> int:
    """Draw an integer, mostly a small one; if `random.large`, sometimes a large one."""
    kind = random.random()
    if kind < 0.9 or not random.large:
        return random.randint(-2, 7) if kind < 0.6 else random.randint(0, 40)
    # Read from a text, equal integers are different objects.
    return int(str(random.choice(LARGE))) + random.randint(-2, 2)


class Anything:
    """An element that programs only move."""

    def __repr__(self) -> str:
        return "_"


def drawn(kind: Kind, random: Drawing, before: Sequence[Any] = ()) -> Any:
    """Draw a value of a type; `before` has the earlier arguments."""

    def several() -> list[Any]:
        length = random.randint(0, random.choice((6, 6, 40)))
        return [drawn(kind.inside[0], random) for _ in range(length)]

    match kind.name:
        case "anything":
            return Anything()
        case "nothing":
            return None
        case "boolean":
            return random.random() < 0.5
        case "integer":
            return integer(random)
        case "int64":
            return max(-(2**63), min(integer(random), 2**63 - 1))
        case "sequence":
            # Half of the sequences equal an earlier one, if any, but are different objects.
            same = [value for value in before if isinstance(value, tuple)]
            return tuple(list(same[-1]) if same and random.random() < 0.5 else several())
        case "list":
            return several()
        case "tuple":
            return tuple(drawn(each, random) for each in kind.inside)
        case "function":
            inside = kind.inside[1]
            places = range(-1, 4 if inside.name == "function" else 12)
            return Function({p: drawn(inside, random) for p in places}, drawn(inside, random))
        case "one of":
            return drawn(random.choice(kind.inside), random)
    if found := trial_c.drawn(kind, random):
        return found[0]
    if "." in kind.name and not kind.fields:
        raise UnrealError(f"no value of the type {kind.name} is known")
    made = Record if "." in kind.name else class_of(kind.name)
    pairs = zip(kind.fields, kind.inside, strict=True)
    value = made(**{name: drawn(inside, random) for name, inside in pairs})
    trial_c.arrange(kind, value, random, before)
    return value


def allowed(operation: Operation, *, in_memory: bool) -> list[list[Any]]:
    """Draw arguments that the contract allows; `in_memory`: only those that memory can contain."""
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
    """Evaluate an expression of Python, or execute an assignment."""
    code = re.sub(r"%(\d)", r"x\1", template)
    before = [copy.copy(v) if isinstance(v, list | Ref) else v for v in values]
    variables = {
        f"x{number}": value.contents if isinstance(value, Ref) else value
        for number, value in enumerate(values, start=1)
    }
    try:
        expression = compile(code, "the driver", "eval")
    except SyntaxError:
        exec(code, {}, variables)
        result = None
    else:
        result = eval(expression, {}, variables)
    after = list[Any]()
    for number, value in enumerate(values, start=1):
        now = variables[f"x{number}"]
        if not isinstance(value, Ref) and now is not value:
            raise UnrealError(f"%{number} is another object afterwards")
        after.append(Ref(contents=now) if isinstance(value, Ref) else now)
    return Call(before, after, result)


def ghost(operation: Operation, values: list[Any]) -> Call:
    """Make the result of a ghost operation: a field is the argument of that name, or a default."""
    given = dict(zip(operation.facts["arguments"], values, strict=True))
    kinds = dict(zip(operation.result.fields, operation.result.inside, strict=True))
    fields = {name: given.get(name, nothing(kind)) for name, kind in kinds.items()}
    return Call(values, values, Record(**fields))


def nothing(kind: Kind) -> Any:
    """Return the default of a field: 0, the first case, or a function that is constant."""
    if kind.name == "function":
        return Function({}, nothing(kind.inside[1]))
    return class_of(kind.inside[0].name)() if kind.name == "one of" else 0


def faults(
    operation: Operation, entry: Entry | None, driver: trial_c.Driver | None
) -> Iterator[str]:
    """Try an operation by its entry of a driver, unless it is ghost; yield its faults."""
    said = list(operation.cannot_be_tried())
    holes = map(int, re.findall(r"%(\d)", entry.template)) if entry else ()
    if max(holes, default=0) > len(operation.arguments):
        said.append("its text has more holes than it has arguments")
    yield from said
    if said:
        return
    try:
        tried = allowed(operation, in_memory=entry is not None and driver is not None)
        if not tried:
            yield f"its requires allow none of {DRAWN} drawn calls: it cannot be tried"
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


def compiled(found: dict[str, Any], language: str) -> dict[str, Operation]:
    """Make operations, by their names in drivers, from the facts of whycontract."""
    theories = Theories(found["definitions"])
    operations = (Operation(facts, theories, language) for facts in found["programs"])
    return {operation.name: operation for operation in operations if operation.name}


def judged(root: Path, facts: Facts) -> Iterator[Failure]:
    """Try all operations that drivers map or proofs trust; yield the faults."""
    theories = {theory["file"] for theory in facts["theories"]}
    languages = [each for each in judge.LANGUAGES.items() if each[0] in theories]
    if languages:
        whycontract = Program(root, "whycontract")
        for file, language in languages:
            yield from judged_in(whycontract, facts, file, language)


def judged_in(whycontract: Program, facts: Facts, file: str, language: str) -> Iterator[Failure]:
    """Try the operations of one theory, with the driver of its language."""
    entries = mapped.read(whycontract.root, language)
    values = {entry.name: entry for entry in entries if entry.kind == "val"}
    own = {judge.module_name(file, s["module"]) for s in facts["symbols"] if s["file"] == file}
    ghosts = {(s["file"], s["module"], s["name"]) for s in facts["symbols"] if s["ghost"]}
    trusted = {
        judge.module_name(file, f"{each['module']}.{each['name']}"): each
        for each in judge.trusted(facts)
        if each["file"] == file
    }
    modules = {entry.module for entry in values.values()} | own
    there = compiled(whycontract.ask("operations", *sorted(modules)), language)
    signatures = {name: (op.arguments, op.result) for name, op in there.items()}
    with tempfile.TemporaryDirectory() as folder:
        driver = trial_c.Driver(entries, signatures, Path(folder)) if language == "C" else None
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
