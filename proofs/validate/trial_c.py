"""Calls of the trusted operations in C: values of the logic as memory, and memory as values again.

Memory has exactly the bytes that a value speaks of, under the sanitizers for addresses and
undefined behaviour. What proofs keep count of and a machine does not (how much was written, who
has what was lent) is counted here too, as the operations are described in c/trusted.mlw.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gate import closed
from gate.mapped import Entry
from validate import conditions
from validate.conditions import Function, Record

GCC = "/usr/bin/gcc"
FLAGS = ("-std=gnu99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# No more of anything than that is given to a call.
LARGEST = 64

HARNESS = """\
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct whycast_place { int64_t tensor; int64_t axis; } whycast_place;

static struct region { char kind; int64_t count; void *at; } all[1000];
static int64_t used;

static int64_t number(void)
{
    int64_t n;
    if (scanf("%" SCNd64, &n) != 1) exit(3);
    return n;
}

static void show(int64_t n) { printf("%" PRId64 "\\n", n); }

/* Memory: so many bytes, numbers or pointers; if that is negative, some that is there already. */
static void *region(char kind)
{
    int64_t n = number();
    if (n < 0) return all[-1 - n].at;
    struct region *r = &all[used++];
    r->kind = kind, r->count = n, r->at = malloc((size_t) (kind == 'b' ? n : 8 * n));
    for (int64_t i = 0; i < n; i++)
        if (kind == 'b') ((uint8_t *) r->at)[i] = (uint8_t) number();
        else if (kind == 'q') ((int64_t *) r->at)[i] = number();
        else ((void **) r->at)[i] = region(kind == 'B' ? 'b' : 'q');
    return r->at;
}

static int64_t place_of(const void *at)
{
    for (int64_t i = 0; i < used; i++) if (all[i].at == at) return i;
    return -1;
}

static void show_all(void)
{
    for (int64_t r = 0; r < used; r++)
        for (int64_t i = 0; i < all[r].count; i++)
            if (all[r].kind == 'b') show(((uint8_t *) all[r].at)[i]);
            else if (all[r].kind == 'q') show(((int64_t *) all[r].at)[i]);
            else show(place_of(((void **) all[r].at)[i]));
    for (int64_t r = 0; r < used; r++) free(all[r].at);
    used = 0;
}
"""


MAIN = """\
int main(void)
{
    for (int n; scanf("%d", &n) == 1; show_all()) tried[n]();
    return 0;
}
"""


class UnrealError(Exception):
    """There is no such value, or no such outcome."""


class Kind(NamedTuple):
    """A type: its name or the class of its values, what it is made of, and the names of that."""

    name: str | type
    inside: tuple[Kind, ...] = ()
    fields: tuple[str, ...] = ()


class Ref(Record):
    """A variable."""

    def __init__(self, contents: Any) -> None:
        super().__init__(contents=contents)


@cache
def found_in(pattern: str, name: str | type) -> str:
    """Give what a pattern finds in the name of a type of c/trusted.mlw; nothing of another type."""
    found = re.fullmatch(r"c\.trusted\." + pattern, str(name))
    return found[1] if found else ""


def word_width(kind: Kind) -> int:
    """Give the bytes of a word; 0 of another type."""
    return int(found_in(r"Word(\d+)\.word", kind.name) or 0)


def own(kind: Kind) -> str:
    """Give the name of a type of memory without its module."""
    return found_in(r"(?:Memory|Arrays)\.(\w+)", kind.name)


# Values

Draw = Callable[..., Any]


def drawn(kind: Kind, random: Random, before: Sequence[Any], draw: Draw) -> Any:
    """Draw a value of an abstract type of c/trusted.mlw."""
    if width := word_width(kind):
        return tuple(random.randrange(256) for _ in range(width))
    if own(kind) == "byte":
        return random.randrange(256)
    if own(kind) == "loan":
        return random.randrange(10**9)
    if not kind.fields:
        raise UnrealError(f"no value of the type {kind.name} is known")
    types = dict(zip(kind.fields, kind.inside, strict=True))
    value: Any = Record(**{name: draw(inside, random) for name, inside in types.items()})
    if own(kind) == "outputs":
        # Only what there is can be lent.
        none, some = types["loans"].inside[1].inside
        lent = [m for m in range(len(value.rooms)) if random.random() < 0.5]
        value.loans = Function({m: made(some, m) for m in lent}, made(none))
    if own(kind) == "buffer" and before and hasattr(before[0], "loans"):
        for m, room in enumerate(before[0].rooms):
            if random.random() < 0.3 and vars(loan := before[0].loans(m)):
                value.room, value.loan = room, loan.item0
    return value


class Memory:
    """What a call is given, as numbers, and what it leaves, as values again."""

    def __init__(self, kinds: Sequence[Kind], values: Sequence[Any]) -> None:
        self.kinds, self.values = kinds, values
        self.sent: list[int] = []
        self.counts: list[int] = []
        self.owners: list[tuple[Kind, Any]] = []
        self.regions: dict[int, int] = {}
        self.borrowed = {v.loan: v for v in values if hasattr(v, "loan")}
        for number, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            self.regions[number] = len(self.counts)
            self.send(kind, value)

    def region(self, kind: Kind, value: Any, contents: Sequence[int]) -> None:
        """Send memory, and remember whose it is."""
        self.head(kind, value, len(contents))
        self.sent += contents

    def head(self, kind: Kind, value: Any, count: int) -> None:
        """Send how much memory follows."""
        if count > LARGEST:
            raise UnrealError("too much memory")
        self.counts.append(count)
        self.owners.append((kind, value))
        self.sent.append(count)

    def send(self, kind: Kind, value: Any) -> None:
        """Send a value as the numbers that its function in C reads."""

        def filled(function: Function, count: int) -> list[int]:
            if count > LARGEST:
                raise UnrealError("too much memory")
            return [function(i) for i in range(count)]

        if kind.name == "int64":
            self.sent.append(value)
        elif word_width(kind):
            self.sent += value
        elif kind.name == "ref":
            self.region(kind, value, [value.contents])
        elif own(kind) == "input":
            self.region(kind, value, filled(value.bytes, value.extent))
        elif own(kind) == "buffer" and (lender := self.lender(value.loan)):
            first, m, room = lender
            if room != value.room:
                raise UnrealError("a loan has the room of what is lent")
            self.sent.append(-2 - first - m)
        elif own(kind) == "buffer":
            self.region(kind, value, filled(value.data, value.room))
        elif own(kind) == "sizes":
            self.region(kind, value, value.values)
        elif own(kind) == "result":
            self.region(kind, value, filled(value.found, value.capacity))
        elif own(kind) == "place":
            self.region(kind, value, [value.tensor, value.axis])
        elif own(kind) in ("shapes", "inputs"):
            field = kind.inside[0]
            parts = value.rows if own(kind) == "shapes" else value.items
            self.head(kind, value, len(parts))
            for part in parts:
                self.send(field.inside[0], part)
        elif own(kind) == "outputs":
            self.head(kind, value, len(value.rooms))
            for m, room in enumerate(value.rooms):
                loan = getattr(value.loans(m), "item0", None)
                data = self.borrowed[loan].data if loan in self.borrowed else value.memory(m)
                self.region(Kind("output"), (value, m), filled(data, room))
        else:
            raise UnrealError(f"no memory is known that is a {kind.name}")

    def lender(self, loan: Any) -> tuple[int, int, int] | None:
        """Give the region of the outputs that a loan is of, the output, and its room."""
        for r, (kind, value) in enumerate(self.owners):
            if own(kind) == "outputs":
                for m, room in enumerate(value.rooms):
                    if getattr(value.loans(m), "item0", None) == loan:
                        return r, m, room
        return None

    def after(self, left: Sequence[Sequence[int]]) -> list[Any]:
        """Give the arguments as a call leaves them in memory."""
        found = list[Any]()
        for number, (kind, value) in enumerate(zip(self.kinds, self.values, strict=True)):
            if not isinstance(value, Record):
                found.append(value)
            elif own(kind) == "buffer" and (lender := self.lender(value.loan)):
                found.append(self.value(kind, value, lender[0] + 1 + lender[1], left))
            else:
                found.append(self.value(kind, value, self.regions[number], left))
        return found

    def value(self, kind: Kind, value: Any, r: int, left: Sequence[Sequence[int]]) -> Any:
        """Give what a value has become, the memory of which begins with a region."""
        fields = dict(vars(value))

        def seen(function: Function, r: int) -> Function:
            return Function({**function.places, **dict(enumerate(left[r]))}, function.other)

        if kind.name == "ref":
            return Ref(left[r][0])
        if own(kind) == "input":
            fields["bytes"] = seen(value.bytes, r)
        elif own(kind) == "buffer":
            fields["data"] = seen(value.data, r)
        elif own(kind) == "sizes":
            fields["values"] = tuple(left[r])
        elif own(kind) == "result":
            fields["found"] = seen(value.found, r)
        elif own(kind) == "place":
            fields["tensor"], fields["axis"] = left[r]
        else:
            if list(left[r]) != [r + 1 + i for i in range(self.counts[r])]:
                raise UnrealError("pointers have changed")
            if own(kind) == "outputs":
                for m in range(len(value.rooms)):
                    # Of what is lent, the whole knows only what it had been.
                    if not vars(value.loans(m)):
                        now = seen(value.memory(m), r + 1 + m)
                        fields["memory"] = conditions.changed(fields["memory"], m, now)
            else:
                field, inside = kind.fields[0], kind.inside[0].inside[0]
                parts = enumerate(fields[field])
                fields[field] = tuple(self.value(inside, p, r + 1 + i, left) for i, p in parts)
        return Record(**fields)

    def pointed(self, kind: Kind, r: int, left: Sequence[Sequence[int]]) -> Any:
        """Give the value that a pointer to the beginning of a region is."""
        if r < 0:
            raise UnrealError("the result points to the beginning of nothing")
        owner, value = self.owners[r]
        if own(kind) == "sizes":
            return Record(values=tuple(left[r]))
        if owner.name == "output" and own(kind) == "buffer":
            outputs, m = value
            data = Function(
                outputs.memory(m).places | dict(enumerate(left[r])), outputs.memory(m).other
            )
            return Record(data=data, written=0, room=outputs.rooms[m], loan=-1)
        if owner != kind:
            raise UnrealError("the result points to memory of another type")
        return self.value(kind, value, r, left)


def is_real(kinds: Sequence[Kind], values: Sequence[Any]) -> bool:
    """Tell whether there are such values in memory."""
    try:
        sent = Memory(kinds, values).sent
    except UnrealError:
        return False
    return all(-(2**63) <= number < 2**63 for number in sent)


def counted(
    name: str, kinds: Sequence[Kind], before: Sequence[Any], after: Sequence[Any], result: Any
) -> None:
    """Count what a machine does not: the room that is left, what was written, who has what."""
    match name.removeprefix("c.trusted.").split("."):
        case ["Memory", "read_only"]:
            after[0].capacity = 0
            result.values = result.values[: after[1]]
        case ["Memory", "copy" | "copy_input"]:
            after[0].written += after[-1]
        case [_, "store"]:
            after[0].written += len(after[2])
        case ["Arrays", "lend"]:
            types = dict(zip(kinds[0].fields, kinds[0].inside, strict=True))
            _, some = types["loans"].inside[1].inside
            after[0].loans = conditions.changed(after[0].loans, after[1], made(some, result.loan))
        case ["Arrays", "give_back"]:
            outputs, buffer = after
            types = dict(zip(kinds[0].fields, kinds[0].inside, strict=True))
            none, some = types["loans"].inside[1].inside
            for m in range(len(outputs.rooms)):
                if before[0].loans(m) == made(some, buffer.loan):
                    outputs.loans = conditions.changed(outputs.loans, m, made(none))
                    outputs.memory = conditions.changed(outputs.memory, m, buffer.data)
            outputs.total += buffer.written
            buffer.room = 0


def made(kind: Kind, *values: Any) -> Any:
    """Make a value of a constructor."""
    assert isinstance(kind.name, type)
    return kind.name(*values)


# The program

READ = {
    "const uint8_t *": "b",
    "uint8_t *": "b",
    "const int64_t *": "q",
    "int64_t *": "q",
    "whycast_place *": "q",
    "const uint8_t *const *": "B",
    "uint8_t *const *": "B",
    "const int64_t *const *": "Q",
}


class Driver:
    """What a driver maps to C, compiled when the first call is wanted."""

    def __init__(
        self,
        entries: Sequence[Entry],
        signatures: Mapping[str, tuple[tuple[Kind, ...], Kind]],
        folder: Path,
    ) -> None:
        self.types = {entry.name: entry.template for entry in entries if entry.kind == "type"}
        self.prelude = "\n".join(entry.template for entry in entries if entry.kind == "prelude")
        self.signatures = signatures
        self.entries = [e for e in entries if e.kind == "val" and e.name in signatures]
        self.program = folder / "trial"

    def build(self) -> None:
        """Compile all operations into one program."""
        functions = [self.function(number, e) for number, e in enumerate(self.entries)]
        listed = ", ".join(f"try_{number}" for number in range(len(functions)))
        text = [HARNESS, self.prelude, *functions]
        text += [f"static void (*const tried[])(void) = {{ {listed} }};", MAIN]
        source = self.program.with_suffix(".c")
        source.write_text("\n".join(text), encoding="utf-8")
        closed.run(GCC, *FLAGS, source, "-o", self.program)

    def function(self, number: int, entry: Entry) -> str:
        """Write the function that reads arguments, does the call, and shows what it gives."""
        kinds, result = self.signatures[entry.name]
        lines, given = list[str](), list[str]()
        for place, kind in enumerate(kinds, start=1):
            name = f"x{place}"
            given.append(name)
            if kind.name == "int64":
                lines.append(f"int64_t {name} = number();")
                # An argument that needs parentheses gets them where the driver asks for them.
                loose = len(entry.precedence) > place and entry.precedence[place] >= 4
                given[-1] = f"{name} + 0" if loose else f"({name} + 0)"
            elif kind.name == "ref":
                lines.append(f"int64_t *{name} = region('q');")
                given[-1] = f"(*{name})"
            elif width := word_width(kind):
                lines.append(f"{self.types[str(kind.name)]} {name};")
                lines.append(f"for (int i = 0; i < {width}; i++)")
                lines.append(f"    ((uint8_t *) &{name})[i] = (uint8_t) number();")
            else:
                read = self.types[str(kind.name)]
                lines.append(f"{read}{name} = region('{READ[read]}');")
        done = re.sub(r"%(\d)", lambda hole: given[int(hole[1]) - 1], entry.template)
        if result.name == "nothing":
            lines.append(f"{done}; show(0);")
        elif result.name == "int64":
            # What binds as tightly as the driver says is not taken apart by the operator before it.
            tight = entry.precedence[:1] <= (2,)
            lines.append(f"int64_t made = ~{done if tight else f'({done})'}; show(~made);")
        elif result.name == "boolean":
            lines.append(f"show({done});")
        elif width := word_width(result):
            lines.append(f"{self.types[str(result.name)]} made = {done};")
            lines.append(f"void *at = memcpy(malloc({width}), &made, sizeof made);")
            lines.append(f"all[used++] = (struct region) {{'b', {width}, at}}; show(0);")
        else:
            lines.append(f"{self.types[str(result.name)]}made = {done}; show(place_of(made));")
        body = "\n    ".join(lines)
        return f"static void try_{number}(void)\n{{\n    {body}\n}}\n"

    def calls(
        self, entry: Entry, tried: Sequence[list[Any]]
    ) -> Iterator[tuple[list[Any], list[Any], Any]]:
        """Do calls of an operation; give the arguments before and after them, and the results."""
        if not self.program.exists():
            self.build()
        kinds, result = self.signatures[entry.name]
        number = self.entries.index(entry)
        memories = [Memory(kinds, values) for values in tried]
        words = [str(n) for memory in memories for n in (number, *memory.sent)]
        done = subprocess.run(
            [self.program],
            input="\n".join(words),
            env=closed.environment() | {"ASAN_OPTIONS": "detect_leaks=0"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            said = re.search(r"runtime error: .*|AddressSanitizer: \S+", done.stderr)
            raise UnrealError(said[0] if said else f"ends with {done.returncode}")
        numbers = iter(map(int, done.stdout.split()))
        for memory, values in zip(memories, tried, strict=True):
            shown = next(numbers)
            width = word_width(result)
            counts = [*memory.counts, *([width] if width else [])]
            left = [[next(numbers) for _ in range(count)] for count in counts]
            value: Any = shown
            if width:
                value = tuple(left[-1])
            elif result.name == "nothing":
                value = None
            elif result.name == "boolean":
                value = {0: False, 1: True}[shown]
            elif result.name != "int64":
                value = memory.pointed(result, shown, left)
            after = memory.after(left)
            counted(entry.name, kinds, values, after, value)
            yield values, after, value
