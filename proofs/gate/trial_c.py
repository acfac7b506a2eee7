"""Call the trusted operations in C: write logical values to memory, and read memory as values.

Memory contains exactly the bytes of a value; sanitizers check addresses and undefined behaviour.
Ghost state (the written bytes, the lent parts) changes as in c/trusted.mlw.
"""

import copy
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from gate import closed
from gate.mapped import Entry
from gate.terms import Function, Kind, Record, class_of

GCC = "/usr/bin/gcc"
FLAGS = ("-std=gnu99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# The most elements of a region.
LARGEST = 64

HARNESS = """\
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WHYCAST_MEMCPY memcpy

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

/* Memory: reads a count, then as many bytes, numbers or pointers; -1 - r means region r. */
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
    """A value, or an outcome, that no machine has."""


def own(kind: Kind) -> str:
    """Return the name of a type of c/trusted.mlw without its module, "" for other types."""
    return kind.name.rpartition(".")[2] if kind.name.startswith("c.trusted.") else ""


def word_width(kind: Kind) -> int:
    """Return the number of bytes in a type of words, 0 for another type."""
    return int(re.sub(r"\D", "", kind.name)) if own(kind) == "word" else 0


Some, Nothing = class_of("Some"), class_of("Nothing")

# For each type, two fields: the contents of memory, as a function, and its size.
FILLED = {"input": ("bytes", "extent"), "buffer": ("data", "room"), "result": ("found", "capacity")}
# The fields that are arrays of pointers in C.
LISTS = {"shapes": "rows", "inputs": "items"}


def drawn(kind: Kind, random: Random) -> tuple[Any, ...]:
    """Draw a value of a type of c/trusted.mlw without fields."""
    if width := word_width(kind):
        return (tuple(random.randrange(256) for _ in range(width)),)
    most = {"byte": 256, "loan": 10**9}.get(own(kind))
    return (random.randrange(most),) if most else ()


def arrange(kind: Kind, value: Any, random: Random, before: Sequence[Any]) -> None:
    """Let outputs lend only existing parts, and make some later buffers lent parts."""
    if own(kind) == "outputs":
        lent = [m for m in range(len(value.rooms)) if random.random() < 0.5]
        value.loans = Function({m: Some(item0=m) for m in lent}, Nothing())
    if own(kind) == "buffer" and before and hasattr(before[0], "loans"):
        for m, room in enumerate(before[0].rooms):
            if random.random() < 0.3 and vars(loan := before[0].loans(m)):
                value.room, value.loan = room, loan.item0


def contents(kind: Kind, value: Any) -> list[int]:
    """Return a value as the numbers in memory."""
    if own(kind) in FILLED:
        function, count = (getattr(value, name) for name in FILLED[own(kind)])
        if count > LARGEST:
            raise UnrealError("too much memory")
        return [function(i) for i in range(count)]
    if own(kind) in ("sizes", "word"):
        return list(value if word_width(kind) else value.values)
    if own(kind) == "place" or kind.name == "one of":
        return list(vars(value).values())
    raise UnrealError(f"no memory is known that is a {kind.name}")


def seen(kind: Kind, value: Any, now: Sequence[int]) -> Any:
    """Return a value after a call that left these numbers in memory."""
    made = copy.copy(value)
    if own(kind) in FILLED:
        name = FILLED[own(kind)][0]
        setattr(made, name, getattr(value, name).but(dict(enumerate(now))))
    elif own(kind) == "sizes":
        made.values = tuple(now)
    else:
        vars(made).update(zip(vars(made), now, strict=True))
    return made


class Memory:
    """The arguments of a call as numbers, and its results as values."""

    def __init__(self, kinds: Sequence[Kind], values: Sequence[Any]) -> None:
        self.kinds, self.values = kinds, values
        self.sent: list[int] = []
        self.counts: list[int] = []
        self.owners: list[tuple[Kind, Any]] = []
        self.borrowed = {v.loan: v for v in values if hasattr(v, "loan")}
        self.lent: dict[int, int] = {}
        self.regions = [self.send(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def send(self, kind: Kind, value: Any) -> int:
        """Send a value as the numbers that the harness reads; return its region."""
        region = len(self.counts)
        if kind.name == "int64":
            self.sent.append(value)
        elif own(kind) == "buffer" and (lent := self.lent.get(value.loan)) is not None:
            if self.counts[lent] != value.room:
                raise UnrealError("a loan has another room than its output")
            self.sent.append(-1 - lent)
            return lent
        elif own(kind) in LISTS or own(kind) == "outputs":
            inside = self.parts(kind, value)
            self.head(kind, value, len(inside))
            for part in inside:
                self.send(*part)
            for m, (_, part) in enumerate(inside if own(kind) == "outputs" else ()):
                self.lent[part.loan] = region + 1 + m
        else:
            numbers = contents(kind, value)
            self.head(kind, value, len(numbers))
            self.sent += numbers
        return region

    def parts(self, kind: Kind, value: Any) -> list[tuple[Kind, Any]]:
        """List the targets of a value's pointers; each output is a buffer."""
        if own(kind) in LISTS:
            return [(kind.inside[0].inside[0], part) for part in getattr(value, LISTS[own(kind)])]
        return [
            (
                Kind("c.trusted.Memory.buffer"),
                Record(
                    data=self.borrowed[loan].data if loan in self.borrowed else value.memory(m),
                    **{"written": 0, "room": room, "loan": loan},
                ),
            )
            for m, room in enumerate(value.rooms)
            for loan in [getattr(value.loans(m), "item0", None)]
        ]

    def head(self, kind: Kind, value: Any, count: int) -> None:
        """Send the size of the memory that follows, and note its owner."""
        if count > LARGEST:
            raise UnrealError("too much memory")
        self.counts.append(count)
        self.owners.append((kind, value))
        self.sent.append(count)

    def after(self, left: Sequence[Sequence[int]]) -> list[Any]:
        """Return the arguments after a call."""
        three = zip(self.kinds, self.values, self.regions, strict=True)
        return [
            self.value(kind, value, region, left) if isinstance(value, Record) else value
            for kind, value, region in three
        ]

    def value(self, kind: Kind, value: Any, region: int, left: Sequence[Sequence[int]]) -> Any:
        """Return a value after a call; its memory begins with region `region`."""
        if own(kind) not in (*LISTS, "outputs"):
            return seen(kind, value, left[region])
        inside = self.parts(kind, value)
        first = region + 1
        if list(left[region]) != [*range(first, first + len(inside))]:
            raise UnrealError("pointers have changed")
        now = [seen(*part, left[first + m]) for m, part in enumerate(inside)]
        made = copy.copy(value)
        if own(kind) in LISTS:
            setattr(made, LISTS[own(kind)], tuple(now))
        else:
            # In the outputs' own memory, lent parts keep their earlier contents.
            own_parts = {m: part.data for m, part in enumerate(now) if part.loan is None}
            made.memory = value.memory.but(own_parts)
        return made

    def pointed(self, kind: Kind, region: int, left: Sequence[Sequence[int]]) -> Any:
        """Return the value of a pointer to the beginning of a region."""
        if region < 0:
            raise UnrealError("the result points to the beginning of nothing")
        owner, value = self.owners[region]
        if own(kind) == "sizes":
            return Record(values=tuple(left[region]))
        if own(owner) != own(kind):
            raise UnrealError("the result points to memory of another type")
        found = self.value(owner, value, region, left)
        if own(kind) == "buffer":
            found.loan = -1
        return found


def is_real(kinds: Sequence[Kind], values: Sequence[Any]) -> bool:
    """Decide whether memory can contain these values."""
    try:
        sent = Memory(kinds, values).sent
    except UnrealError:
        return False
    return all(-(2**63) <= number < 2**63 for number in sent)


def counted(name: str, before: Sequence[Any], after: Sequence[Any], result: Any) -> None:
    """Update ghost state: the capacity and room, the written bytes, the loans."""
    match name.removeprefix("c.trusted.").split("."):
        case ["Memory", "read_only"]:
            after[0].capacity = 0
            result.values = result.values[: after[1]]
        case ["Memory", "copy" | "copy_input"]:
            after[0].written += after[-1]
        case [_, "store"]:
            after[0].written += len(after[2])
        case ["Arrays", "lend"]:
            after[0].loans = after[0].loans.but({after[1]: Some(item0=result.loan)})
        case ["Arrays", "give_back"]:
            outputs, buffer = after
            for m in range(len(outputs.rooms)):
                if getattr(before[0].loans(m), "item0", None) == buffer.loan:
                    outputs.loans = outputs.loans.but({m: Nothing()})
                    outputs.memory = outputs.memory.but({m: buffer.data})
            outputs.total += buffer.written
            buffer.room = 0


class Driver:
    """The C of a driver; the first call compiles it."""

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
        """Write the function that reads arguments, does the call, and prints the result."""
        kinds, result = self.signatures[entry.name]
        lines, given = list[str](), list[str]()
        for place, kind in enumerate(kinds, start=1):
            name = f"x{place}"
            given.append(name)
            if kind.name == "int64":
                lines.append(f"int64_t {name} = number();")
                # The driver's precedence decides whether a sum needs parentheses.
                loose = len(entry.precedence) > place and entry.precedence[place] >= 4
                given[-1] = f"{name} + 0" if loose else f"({name} + 0)"
            elif kind.name == "one of":
                lines.append(f"int64_t *{name} = region('q');")
                given[-1] = f"(*{name})"
            elif word_width(kind):
                lines.append(f"{self.types[kind.name]} {name};")
                lines.append(f"memcpy(&{name}, region('b'), sizeof {name});")
            else:
                read = self.types[kind.name]
                letter = "b" if "uint8_t" in read else "q"
                letter = letter.upper() if read.count("*") == 2 else letter
                lines.append(f"{read}{name} = region('{letter}');")
        done = re.sub(r"%(\d)", lambda hole: given[int(hole[1]) - 1], entry.template)
        if result.name == "nothing":
            lines.append(f"{done}; show(0);")
        elif result.name == "int64":
            # If the text binds less tightly than declared, `~` changes the result.
            tight = entry.precedence[:1] <= (2,)
            lines.append(f"int64_t made = ~{done if tight else f'({done})'}; show(~made);")
        elif result.name == "boolean":
            lines.append(f"show({done});")
        elif width := word_width(result):
            lines.append(f"{self.types[result.name]} made = {done};")
            lines.append(f"void *at = memcpy(malloc({width}), &made, sizeof made);")
            lines.append(f"all[used++] = (struct region) {{'b', {width}, at}}; show(0);")
        else:
            lines.append(f"{self.types[result.name]}made = {done}; show(place_of(made));")
        body = "\n    ".join(lines)
        return f"static void try_{number}(void)\n{{\n    {body}\n}}\n"

    def calls(
        self, entry: Entry, tried: Sequence[list[Any]]
    ) -> Iterator[tuple[list[Any], list[Any], Any]]:
        """Call an operation; yield the arguments before and after each call, and its result."""
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
            counted(entry.name, values, after, value)
            yield values, after, value
