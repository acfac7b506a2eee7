"""The operations that the proofs trust in C: each that the driver maps, tried on random values.

The C is read from the driver of the extraction, so that what is tried is what is printed. Memory
has exactly the bytes that a contract speaks of, under the sanitizers for addresses and undefined
behaviour; words lie at any address.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assurance import judge
from assurance.whygate import Whygate

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "why3" / "extraction" / "c.drv"
TRUSTED = ROOT / "why3" / "c" / "trusted.mlw"
INTEGERS = Path("/usr/share/why3/stdlib/mach/int.mlw")
FLAGS = ("-std=gnu99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
TRIALS = 3000


class Entry(NamedTuple):
    """What the driver says of a symbol of WhyML."""

    kind: str
    name: str
    template: str
    precedence: list[int]


# All that the driver may hold.
PART = re.compile(
    r"""\s+
    | \(\*.*?\*\)
    | printer\s+"[^"]*"
    | prelude\s+"(?P<prelude>[^"]*)"
    | module\s+(?P<module>[\w.]+)
    | (?P<end>end)\b
    | remove\s+module\b
    | syntax\s+(?P<kind>type | val | literal)\s+(?P<name>\w+ | \([^\w"]*?_?[^\w"]*?\))\s+
      "(?P<template>[^"]*)"(?:\s+prec(?P<precedence>(?:\s+\d+)+))?
    """,
    re.VERBOSE | re.DOTALL,
)


def entries(text: str) -> Iterator[Entry]:
    """Give what a driver maps; refuse whatever else it holds."""
    place, module = 0, ""
    while place < len(text):
        part = PART.match(text, place)
        assert part, f"not understood: {text[place : place + 60]}"
        place = part.end()
        module = part["module"] or module
        if part["prelude"]:
            yield Entry("prelude", "", part["prelude"].replace("\\\n", "").replace("\\n", "\n"), [])
        if part["kind"]:
            name = re.sub(r"\s", "", part["name"])
            precedence = [int(number) for number in (part["precedence"] or "").split()]
            yield Entry(part["kind"], f"{module}.{name}", part["template"], precedence)


ENTRIES = list(entries(DRIVER.read_text(encoding="utf-8")))
(PRELUDE,) = [entry.template for entry in ENTRIES if entry.kind == "prelude"]
VALS = {entry.name: entry for entry in ENTRIES if entry.kind == "val"}

TYPES = {
    "mach.int.Int64.int64": "int64_t",
    "c.trusted.Memory.input": "const uint8_t *",
    "c.trusted.Memory.buffer": "uint8_t *",
    "c.trusted.Memory.sizes": "const int64_t *",
    "c.trusted.Memory.result": "int64_t *",
    **{f"c.trusted.Word{n}.word": f"uint{8 * n}_t" for n in (1, 2, 4, 8)},
    "c.trusted.Word16.word": "word_16",
    "c.trusted.Arrays.shapes": "const int64_t *const *",
    "c.trusted.Arrays.inputs": "const uint8_t *const *",
    "c.trusted.Arrays.outputs": "uint8_t *const *",
    "c.trusted.Arrays.place": "whycast_place *",
}


class Contract(NamedTuple):
    """The clauses of a contract, what tries them, and templates that do not keep them.

    `@(a, b)` stands for the operation, of these arguments.
    """

    clauses: list[str]
    code: str
    wrong: list[str]


def arithmetic(sign: str, name: str, wrong: list[str], unless: str = "0") -> Contract:
    """Try an operation on two integers wherever the result is one."""
    requires = ["b <> 0"] if sign in "/%" else []
    code = f"""
        int64_t a = any(), b = any();
        __int128 due;
        if ({unless}) return;
        due = (__int128) a {sign} b;
        if (due < INT64_MIN || due > INT64_MAX) return;
        expect(@(a, b) == due);"""
    return Contract([*requires, f"in_bounds ({name})", f"result = {name}"], code, wrong)


def comparison(sign: str, clauses: list[str], wrong: list[str]) -> Contract:
    """Try a comparison of two integers."""
    code = f"""
        int64_t a = any(), b = below(2) ? any() : a;
        expect((@(a, b)) == (a {sign} b));"""
    return Contract(clauses, code, wrong)


def word(width: int) -> dict[str, Contract]:
    """Try the words of a width."""
    kind = TYPES[f"c.trusted.Word{width}.word"]
    other = 2 if width == 1 else 1
    return {
        f"c.trusted.Word{width}.width_{width}": Contract(
            [f"let constant width_{width} : int64 = {width}"],
            f"expect((@()) == {width} && sizeof({kind}) == {width});",
            [f"INT64_C({width + 1})"],
        ),
        f"c.trusted.Word{width}.load": Contract(
            [
                "0 <= k /\\ k + width <= z.room",
                "forall i. 0 <= i < width -> part result i = z.data (k + i)",
            ],
            f"""
            int64_t room = {width} + below(40), k = below(room - {width} + 1);
            uint8_t *z = bytes(room), *old = copied(z, room);
            {kind} result = @(z, k);
            expect(memcmp(&result, old + k, {width}) == 0 && memcmp(z, old, (size_t) room) == 0);
            free(z), free(old);""",
            [
                f"load_{width}(%1 + %2 + 1)",
                f"load_{width}(%1)",
                f"({kind}) {{0}}" if width == 16 else f"({kind}) 0",
                f"*(const {kind} *) (%1 + %2)" if width > 1 else "load_1(%1 + %2 - 1)",
            ],
        ),
        f"c.trusted.Word{width}.store": Contract(
            [
                "0 <= k /\\ k + width <= z.room",
                "forall i. z.data i = if k <= i < k + width then part v (i - k) "
                "else (old z).data i",
            ],
            f"""
            int64_t room = {width} + below(40), k = below(room - {width} + 1);
            uint8_t *z = bytes(room), *old = copied(z, room), *w = bytes({width});
            {kind} v;
            memcpy(&v, w, {width});
            @(z, k, v);
            memcpy(old + k, w, {width});
            expect(memcmp(z, old, (size_t) room) == 0);
            free(z), free(old), free(w);""",
            [
                f"store_{width}(%1 + %2 + 1, %3)",
                f"store_{width}(%1, %3)",
                "(void) 0",
                f"memcpy(%1 + %2, &%3, {other})",
            ],
        ),
    }


AT = "0 <= k < length s.values"
CONTRACTS: dict[str, Contract] = {
    "ref.Ref.(!_)": Contract([], "int64_t r = any(); expect((@(r)) == r);", ["-%1", "%1 + 1"]),
    "ref.Ref.(:=)": Contract(
        [],
        "int64_t r = any(), v = any(); @(r, v); expect(r == v);",
        ["%1 = %1", "(void) (%2)"],
    ),
    "mach.int.Int64.(+)": arithmetic("+", "a + b", ["%1 - %2", "%1 | %2"]),
    "mach.int.Int64.(-)": arithmetic("-", "a - b", ["%1 + %2", "%2 - %1"]),
    "mach.int.Int64.(*)": arithmetic("*", "a * b", ["%1 + %2", "(int64_t) ((int) %1 * (int) %2)"]),
    "mach.int.Int64.(/)": arithmetic("/", "div a b", ["%1 / %2 - (%1 < 0)"], "b == 0"),
    "mach.int.Int64.(=)": comparison(
        "==", ["to_int a = to_int b -> result", "result -> a = b"], ["%1 <= %2", "%1 != %2"]
    ),
    "mach.int.Int64.(<=)": comparison("<=", ["result <-> to_int a <= to_int b"], ["%1 < %2"]),
    "mach.int.Int64.(<)": comparison("<", ["result <-> to_int a < to_int b"], ["%1 <= %2"]),
    "mach.int.Int64.(>=)": comparison(">=", ["result <-> to_int a >= to_int b"], ["%1 > %2"]),
    "mach.int.Int64.(>)": comparison(
        ">", ["result <-> to_int a > to_int b"], ["%1 >= %2", "(uint64_t) (%1) > (uint64_t) (%2)"]
    ),
    "c.trusted.Memory.size_at": Contract(
        [AT, "result = s.values[k]"],
        """
        int64_t n = 1 + below(9), k = below(n), *v = numbers(n);
        const int64_t *s = v;
        expect((@(s, k)) == v[k]);
        free(v);""",
        ["%1[%2 + 1]", "%1[0]", "-%1[%2]"],
    ),
    "c.trusted.Memory.put": Contract(
        [
            "0 <= k < d.capacity",
            "forall i. d.found i = if i = k then to_int v else (old d).found i",
        ],
        """
        int64_t n = 1 + below(9), k = below(n), v = any(), *d = numbers(n);
        int64_t *old = (int64_t *) copied((uint8_t *) d, 8 * n);
        @(d, k, v);
        old[k] = v;
        expect(memcmp(d, old, 8 * (size_t) n) == 0);
        free(d), free(old);""",
        ["%1[%2 + 1] = %3", "%1[%2] = %2", "%1[0] = %3", "%1[%2] += %3"],
    ),
    "c.trusted.Memory.read_only": Contract(
        [
            "0 <= n <= d.capacity",
            "forall k. 0 <= k < n -> in_bounds (d.found k)",
            "length result.values = n",
            "forall k. 0 <= k < n -> result.values[k] = d.found k",
        ],
        """
        int64_t capacity = 1 + below(9), n = below(capacity + 1), *d = numbers(capacity);
        int64_t *old = (int64_t *) copied((uint8_t *) d, 8 * capacity);
        const int64_t *result = @(d, n);
        for (int64_t k = 0; k < n; k++) expect(result[k] == old[k]);
        expect(memcmp(d, old, 8 * (size_t) capacity) == 0);
        free(d), free(old);""",
        ["%1 + 1", "%1 + %2"],
    ),
    "c.trusted.Memory.copy_input": Contract(
        [
            "1 <= n /\\ 0 <= target /\\ target + n <= z.room",
            "0 <= source /\\ source + n <= x.extent",
            "forall i. z.data i = if target <= i < target + n "
            "then x.bytes (source + (i - target)) else (old z).data i",
        ],
        """
        int64_t room = 1 + below(40), extent = 1 + below(40);
        int64_t n = 1 + below(room < extent ? room : extent);
        int64_t target = below(room - n + 1), source = below(extent - n + 1);
        uint8_t *z = bytes(room), *old = copied(z, room), *in = bytes(extent);
        const uint8_t *x = in;
        @(z, target, x, source, n);
        for (int64_t i = 0; i < room; i++)
            expect(z[i] == (target <= i && i < target + n ? x[source + (i - target)] : old[i]));
        free(z), free(old), free(in);""",
        [
            "memcpy(%1 + %2, %3 + %4, (size_t) (%5) + 1)",
            "memcpy(%1, %3 + %4, (size_t) (%5))",
            "memcpy(%1 + %2, %3, (size_t) (%5))",
            "(void) 0",
            "memcpy(%1 + %2, %3 + %4, (size_t) (%5) / 2)",
        ],
    ),
    "c.trusted.Memory.copy": Contract(
        [
            "1 <= n /\\ 0 <= source /\\ target + n <= z.room",
            "source + n <= target",
            "forall i. z.data i = if target <= i < target + n "
            "then (old z).data (source + (i - target)) else (old z).data i",
        ],
        """
        int64_t room = 2 + below(60), target = 1 + below(room - 1), source = below(target);
        int64_t gap = target - source, rest = room - target;
        int64_t n = 1 + below(gap < rest ? gap : rest);
        uint8_t *z = bytes(room), *old = copied(z, room);
        @(z, target, source, n);
        for (int64_t i = 0; i < room; i++)
            expect(z[i] == (target <= i && i < target + n ? old[source + (i - target)] : old[i]));
        free(z), free(old);""",
        [
            "memcpy(%1 + %3, %1 + %2, (size_t) (%4))",
            "memcpy(%1 + %2, %1 + %3, (size_t) (%4) + 1)",
            "memcpy(%1 + %2, %1 + %3 + 1, (size_t) (%4))",
            "(void) 0",
        ],
    ),
    **{name: contract for width in (1, 2, 4, 8, 16) for name, contract in word(width).items()},
    "c.trusted.Arrays.shape_at": Contract(
        ["0 <= m < length ss.rows", "result = ss.rows[m]"],
        """
        int64_t n = 1 + below(9), m = below(n), *v = numbers(1);
        const int64_t **ss = malloc((size_t) n * sizeof *ss);
        for (int64_t i = 0; i < n; i++) ss[i] = v + i;
        expect((@(ss, m)) == v + m);
        free(ss), free(v);""",
        ["%1[%2 + 1]", "%1[0]", "*%1"],
    ),
    "c.trusted.Arrays.input_at": Contract(
        ["0 <= m < length xs.items", "result = xs.items[m]"],
        """
        int64_t n = 1 + below(9), m = below(n);
        uint8_t *v = bytes(9);
        const uint8_t **xs = malloc((size_t) n * sizeof *xs);
        for (int64_t i = 0; i < n; i++) xs[i] = v + i;
        expect((@(xs, m)) == v + m);
        free(xs), free(v);""",
        ["%1[%2 + 1]", "%1[0]", "*%1"],
    ),
    "c.trusted.Arrays.lend": Contract(
        [
            "0 <= m < length zs.rooms",
            "zs.loans m = None",
            "forall n. zs.loans n = if n = m then Some result.loan else (old zs).loans n",
            "forall n. (old zs).loans n <> Some result.loan",
            "result.room = zs.rooms[m] /\\ result.written = 0",
        ],
        """
        int64_t n = 1 + below(9), m = below(n);
        uint8_t *v = bytes(9), **zs = malloc((size_t) n * sizeof *zs);
        for (int64_t i = 0; i < n; i++) zs[i] = v + i;
        uint8_t **old = (uint8_t **) copied((uint8_t *) zs, n * (int64_t) sizeof *zs);
        expect((@(zs, m)) == v + m);
        expect(memcmp(zs, old, (size_t) n * sizeof *zs) == 0);
        free(zs), free(v), free(old);""",
        ["%1[%2 + 1]", "%1[0]", "*%1"],
    ),
    "c.trusted.Arrays.give_back": Contract(
        [
            "z.room = 0 /\\ zs.total = (old zs).total + z.written",
            "forall m. zs.loans m = if (old zs).loans m = Some z.loan then None "
            "else (old zs).loans m",
            "forall m i. zs.memory m i = if (old zs).loans m = Some z.loan then z.data i "
            "else (old zs).memory m i",
        ],
        """
        uint8_t *z = bytes(9), *old = copied(z, 9), *zs[1] = {z};
        @(zs, z);
        expect(memcmp(z, old, 9) == 0 && zs[0] == z);
        free(z), free(old);""",
        ["*%2 = 0", "free(%2)", "%1[0] = %2 + 1"],
    ),
    "c.trusted.Arrays.set_tensor": Contract(
        ["p.tensor = m"],
        """
        whycast_place place = {any(), any()}, old = place, *p = &place;
        int64_t m = any();
        @(p, m);
        expect(place.tensor == m && place.axis == old.axis);""",
        ["%1->axis = %2", "%1->tensor = 0", "(void) 0"],
    ),
    "c.trusted.Arrays.set_axis": Contract(
        ["p.axis = i"],
        """
        whycast_place place = {any(), any()}, old = place, *p = &place;
        int64_t i = any();
        @(p, i);
        expect(place.axis == i && place.tensor == old.tensor);""",
        ["%1->tensor = %2", "%1->axis = 0", "(void) 0"],
    ),
}

HARNESS = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct whycast_place { int64_t tensor; int64_t axis; } whycast_place;

static uint64_t state = 88172645463325252u;

static uint64_t drawn(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static int64_t below(int64_t n) { return (int64_t) (drawn() % (uint64_t) n); }

/* Any number, often one at a limit. */
static int64_t any(void)
{
    static const int64_t limits[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN};
    switch (below(4)) {
    case 0: return limits[below(8)];
    case 1: return below(9) - 4;
    case 2: return (int64_t) (int32_t) drawn();
    default: return (int64_t) drawn();
    }
}

static uint8_t *bytes(int64_t n)
{
    uint8_t *made = malloc((size_t) n);
    for (int64_t i = 0; i < n; i++) made[i] = (uint8_t) drawn();
    return made;
}

static int64_t *numbers(int64_t n)
{
    int64_t *made = malloc(8 * (size_t) n);
    for (int64_t i = 0; i < n; i++) made[i] = any();
    return made;
}

static uint8_t *copied(const uint8_t *v, int64_t n)
{
    return memcpy(malloc((size_t) n), v, (size_t) n);
}

#define expect(claim) do { if (!(claim)) { puts(#claim); exit(1); } } while (0)
"""


def arguments(entry: Entry, given: list[str]) -> list[str]:
    """Write arguments that are sums, in the parentheses that Why3 gives them there."""
    pointers = {"s", "d", "z", "x", "ss", "xs", "zs", "p", "r"}
    written = []
    for number, name in enumerate(given, start=1):
        is_word = entry.name.endswith(".store") and name == "v"
        if name in pointers or is_word:
            written.append(name)
        else:
            written.append(f"{name} + 0" if entry.precedence[number] >= 4 else f"({name} + 0)")
    return written


def substituted(entry: Entry, template: str, code: str) -> str:
    """Put an operation into the text that tries it."""

    def operation(match: re.Match[str]) -> str:
        given = arguments(entry, match[1].split(", ") if match[1] else [])
        text = re.sub(r"%(\d)", lambda place: given[int(place[1]) - 1], template)
        # A result stands beside something that binds as tightly as Why3 thinks that it does.
        return text if entry.precedence[0] <= 2 or match[2] == ";" else f"({text})"

    return re.sub(r"@\((.*?)\)(;?)", lambda match: operation(match) + match[2], code)


def trials() -> list[tuple[str, str]]:
    """Give what is tried: each operation by the driver's template, and by wrong ones."""
    return [
        (name, template)
        for name, contract in CONTRACTS.items()
        for template in (VALS[name].template, *contract.wrong)
    ]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile all that is tried."""
    text = f"{HARNESS}\n{PRELUDE}\n"
    for number, (name, template) in enumerate(trials()):
        code = substituted(VALS[name], template, CONTRACTS[name].code)
        text += f"static void try_{number}(void) {{ {code} }}\n"
    listed = ", ".join(f"try_{number}" for number in range(len(trials())))
    text += f"static void (*const all[])(void) = {{ {listed} }};\n"
    text += "int main(int count, char **words)\n{\n    (void) count;\n"
    text += f"    for (int n = 0; n < {TRIALS}; n++) all[atoi(words[1])]();\n    return 0;\n}}\n"
    source = tmp_path_factory.mktemp("trusted") / "trusted.c"
    source.write_text(text, encoding="utf-8")
    binary = source.with_suffix("")
    command = ["gcc", *FLAGS, str(source), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary


def keeps(program: Path, number: int) -> bool:
    """Tell whether a trial ends well."""
    done = subprocess.run([program, str(number)], capture_output=True, text=True, check=False)
    assert (
        done.returncode == 0
        or done.stdout
        or "runtime error" in done.stderr
        or ("AddressSanitizer" in done.stderr)
    ), done.stderr
    return done.returncode == 0


def test_all_that_the_driver_maps_has_a_contract() -> None:
    """[E_Broadcast_any_Derived_550]"""
    assert sorted(VALS) == sorted(CONTRACTS)
    types = {entry.name: entry.template for entry in ENTRIES if entry.kind == "type"}
    assert types == TYPES
    literals = [(entry.name, entry.template) for entry in ENTRIES if entry.kind == "literal"]
    assert literals == [("mach.int.Int64.int64", "INT64_C(%c)")]


def test_what_the_proofs_trust_of_our_own_is_in_the_driver() -> None:
    """[E_Broadcast_any_Derived_550]"""
    facts: Any = Whygate(ROOT).audit([f for f, to in judge.TRUSTED.items() if to == "C"])
    ghost = {(s["module"], s["name"]) for s in facts["symbols"] if s["ghost"]}
    trusted = {
        f"c.trusted.{entry['module']}.{entry['name']}"
        for entry in judge.trusted(facts)
        if (entry["module"], entry["name"]) not in ghost
    }
    mapped = {name for name in VALS if name.startswith("c.trusted.")}
    assert trusted == {name for name in mapped if ".width_" not in name}


@pytest.mark.parametrize(("number", "name", "template"), [(n, *t) for n, t in enumerate(trials())])
def test_contract(program: Path, number: int, name: str, template: str) -> None:
    """[E_Broadcast_any_Derived_550] The driver's operation keeps it, and others do not."""
    assert keeps(program, number) is (template == VALS[name].template)


def plain(text: str) -> str:
    """Write WhyML with single spaces."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_clauses_are_those_of_the_sources(name: str) -> None:
    file = TRUSTED if name.startswith("c.") else INTEGERS
    text = plain(file.read_text(encoding="utf-8"))
    assert [clause for clause in CONTRACTS[name].clauses if plain(clause) not in text] == []
