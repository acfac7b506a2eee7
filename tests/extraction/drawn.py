"""Drawn WhyML programs: the extracted Python or C must agree with this file's evaluation.

The evaluation follows WhyML, with operands from right to left; it does not use the extraction.
Why3 or a printer may refuse a program. `make validate` draws more programs than the tests.
"""

from __future__ import annotations

import itertools
import operator
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "proofs"))

from gate import closed, extraction

INPUTS = ((0, 3), (2, 1), (5, 5))
MEMORY = (4, 0, 7, 2)

# Declarations before the programs. INT is the type of numbers, MEM the type of memory.
HEADS = {
    "python": """module Drawn  use int.Int  use array.Array as A  use ref.Ref
  exception Stop  exception Found int  type case = First int | Second int int
  let get (m: MEM) (k: INT) : INT = A.(m[k])
  let put (m: MEM) (k v: INT) : unit = A.(m[k] <- v)""",
    "c": """module Drawn  use mach.int.Int64  use c.trusted.Memory  use ref.Ref
  let get (m: MEM) (k: INT) : INT = found_at m k""",
}
BOTH = """
  let change (m: MEM) (x: INT) : INT = let y = get m (1: INT) in put m (1: INT) (y + x); x - y
  let call (x y: INT) : INT = if x < y then y - x else x + y
"""
TYPES = {"python": ("int", "A.array int"), "c": ("int64", "result")}


class LeaveError(Exception):
    """The program raises an exception, or returns."""


class State:
    def __init__(self, x: int, y: int) -> None:
        self.memory, self.variables, self.steps = [*MEMORY], {"x": [x], "y": [y]}, 0

    def checked(self, value: int) -> int:
        self.steps += 1
        if abs(value) >= 2**31 or self.steps > 3000:
            raise OverflowError  # This input is skipped.
        return value

    def bound(self, run: Run, name: str, value: int) -> Any:
        before = self.variables
        self.variables = before | {name: [value]}
        try:
            return run(self)
        finally:
            self.variables = before

    def put(self, k: int, value: int) -> None:
        self.memory[k] = self.checked(value)

    def change(self, x: int) -> int:
        y = self.memory[1]
        self.put(1, y + x)
        return x - y

    def set(self, name: str, value: int) -> None:
        self.variables[name][0] = self.checked(value)


Run = Callable[[State], Any]


def leave(*what: object) -> Any:
    raise LeaveError(*what)


def caught(s: State, what: str, run: Run, handler: Run) -> Any:
    try:
        return run(s)
    except LeaveError as left:
        if left.args != (what,):
            raise
    return handler(s)


def right(f: Callable[[Any, Any], Any]) -> Callable[[State, Run, Run], Any]:
    return lambda s, a, b: (lambda y: s.checked(f(a(s), y)))(b(s))


def if_(s: State, test: Run, yes: Run, no: Run = lambda s: None) -> Any:
    return yes(s) if test(s) else no(s)


def first(s: State, *runs: Run) -> Any:
    return [run(s) for run in runs][-1]


def let(s: State, name: str, value: Run, rest: Run, *, last: bool = False) -> Any:
    own = [lambda s: s.variables[name][0], rest]
    pair = own[::-1] if last else own
    return s.bound(lambda s: right(operator.sub)(s, *pair), name, value(s))


def pair(s: State, name: str, a: Run, b: Run, rest: Run) -> Any:
    b(s)
    return let(s, name, a, rest)


def case(s: State, test: Run, x: Run, y: Run, z: Run, a: str, one: Run, b: str, two: Run) -> Any:
    return let(s, a, x, one) if test(s) else pair(s, b, y, z, two)


def while_(s: State, name: str, test: Run, body: Run) -> None:
    def run(s: State) -> None:
        while s.variables[name][0] > 0 and test(s):
            s.set(name, s.variables[name][0] - 1)
            body(s)

    s.bound(run, name, 3)


def for_(s: State, name: str, first: Run, last: Run, body: Run, step: int = 1) -> None:
    stop = last(s)
    for i in range(first(s), stop + step, step):
        s.bound(body, name, s.checked(i))


# The rules: kind, languages, text, evaluation. In a text {n}, {t}, {u} are a number, a truth value,
# a statement; {n0} is a number without operands, {n'} a number in the new variable's scope. {k} is
# a digit, {x} a variable, {w} a mutable variable. {v}, {r}, {c} name a new variable, mutable
# variable or counter; {!} repeats the name. One program in four may use one rule of kind N or
# U, which printers mostly refuse.
# fmt: off
RULES: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("n0", "python c", "({k}: INT)", lambda s, k: k),
    ("n0", "python c", "{x}", lambda s, x: s.variables[x][0]),
    ("n0", "python c", "(get m ({k}: INT))", lambda s, k: s.memory[k]),
    *2 * [("n", "python c", "({n} + {n})", right(operator.add))],
    ("n", "python c", "({n} - {n})", right(operator.sub)),
    ("n", "python", "(- {n})", lambda s, x: -x(s)),
    ("n", "python c", "({n0} * {n})", right(operator.mul)),
    ("n", "python c", "(call {n} {n})", right(lambda x, y: y - x if x < y else x + y)),
    ("n", "python c", "(change m {n})", lambda s, x: s.change(x(s))),
    ("n", "python c", "(if {t} then {n} else {n})", if_),
    ("n", "python c", "(let {v} = {n} in ({!} - {n'}))", let),
    *2 * [("n", "python c", "(let ref {r} = {n} in ({!} - {n'}))", let)],
    *2 * [("n", "python c", "(let ref {r} = {n} in ({n'} - {!}))",
           lambda s, r, x, e: let(s, r, x, e, last=True))],
    *3 * [("n", "python c", "begin {u}; {n} end", first)],
    ("n", "python", "(if {t} then return {n} else {n})",
     lambda s, t, x, y: leave("return", x(s)) if t(s) else y(s)),
    ("n", "python", "(if {t} then raise Stop else {n})",
     lambda s, t, x: leave("Stop") if t(s) else x(s)),
    ("n", "python", "(try {n} with Stop -> {n} end)", lambda s, x, y: caught(s, "Stop", x, y)),
    ("n", "python", "(try begin {u}; raise (Found {n0}) end with Found _ -> {n} end)",
     lambda s, u, x, y: caught(s, "Found", lambda s: (u(s), x(s), leave("Found")), y)),
    ("n", "python", "(let q = if {t} then First {n} else Second {n} {n0} in match q with"
     " First {v} -> ({!} - {n'}) | Second {v} w -> ({!} - {n'}) end)", case),
    ("t0", "python c", "({n0} < {n0})", right(operator.lt)),
    ("t", "python c", "({n0} <= {n0})", right(operator.le)),
    ("t", "python c", "({n0} = {n0})", right(operator.eq)),
    ("t", "python c", "({n} > {n})", right(operator.gt)),
    ("t", "python c", "({n0} >= {n0})", right(operator.ge)),
    ("t", "c", "({n} <> {n})", right(operator.ne)),
    ("t", "python c", "(not {t})", lambda s, t: not t(s)),
    ("t", "python c", "({t} && {t})", lambda s, a, b: a(s) and b(s)),
    ("t", "python c", "({t} || {t})", lambda s, a, b: a(s) or b(s)),
    ("t", "c", "begin {u}; {t} end", first),
    ("u0", "python c", "(put m ({k}: INT) {n0})", lambda s, k, x: s.put(k, x(s))),
    ("u0", "python c", "({w} <- {n0})", lambda s, w, x: s.set(w, x(s))),
    *3 * [("u", "python c", "({w} <- {n})", lambda s, w, x: s.set(w, x(s)))],
    ("u", "python c", "(put m ({k}: INT) {n})", lambda s, k, x: s.put(k, x(s))),
    ("u", "python c", "begin {u}; {u} end", first),
    ("u", "python c", "(if {t} then {u} else {u})", if_),
    ("u", "python c", "(if {t} then return {n})",
     lambda s, t, x: leave("return", x(s)) if t(s) else None),
    ("u", "python c", "(let ref {c} = (3: INT) in"
     " while {!} > (0: INT) && {t0'} do {!} <- {!} - (1: INT); {u'} done)", while_),
    ("u", "python", "for {v} = {n} to {n} do {u'} done", for_),
    *3 * [("u", "python", "for {v} = {n} downto {n0} do {u'} done",
           lambda s, v, x, y, u: for_(s, v, x, y, u, -1))],
    ("U", "c", "for {v} = {n} to {n} do {u'} done", for_),
    ("U", "python c", "(let _ = {n} in {u})", first),
    ("U", "python c", "(let ghost g = {n} in ghost (call g g))", first),
    ("U", "python c", "(let ghost ref g = {n0} in begin ghost (g <- {n0}); {u} end)", first),
    ("U", "python c", "(if {t} then {u} else ghost (call {n0} {n0}))",
     lambda s, t, u, x, y: if_(s, t, u)),
    ("N", "python c", "(let ({v}, _), _ = ({n}, {n}), (ghost (0: int)) in ({!} - {n'}))", pair),
    ("N", "python c", "(let ({v}, ghost _g) = ({n}, {n}) in ({!} - {n'}))", pair),
    ("N", "python c", "(match ghost true with False -> absurd | True -> {n} end)", first),
    ("N", "python c", "(if (ghost true) then {n} else absurd)", first),
    ("N", "python c", "(let ghost _g = (exception Out in begin {u}; ghost (0: int) end) in {n})",
     first),
    ("N", "python c", "(let ghost _g = {n} in {n})", first),
    ("N", "python c", "(let {v} = {n} in let ghost _g = {!} in ({!} - {n'}))", let),
    ("N", "python c", "(let {v} = ref {n} in let s = {!} in begin s.contents <- {n};"
     " {!}.contents end)", lambda s, v, x, y: first(s, x, y)),
]
# fmt: on


class Draw:
    """Draws one program. A scope maps each variable to its kind: v, r or c, as in the rules."""

    def __init__(self, seed: int, language: str) -> None:
        self.random, self.count = random.Random(seed), itertools.count()
        self.rules = [rule for rule in RULES if language in rule[1]]
        self.rare = seed % 4 == 0

    def part(self, kind: str, scope: dict[str, str], depth: int) -> tuple[str, Run]:
        if kind in "ntu" and (depth <= 0 or self.random.random() < 0.2):
            kind += "0"
        elif kind in "nu" and self.rare and self.random.random() < 0.2:
            kind, self.rare = kind.upper(), False
        usable = [rule for rule in self.rules if rule[0] == kind]
        if "r" not in scope.values():
            usable = [rule for rule in usable if "{w}" not in rule[2]]
        _, _, text, meaning = self.random.choice(usable)
        bound, inner, parts = "", scope, list[Any]()

        def piece(match: re.Match[str]) -> str:
            nonlocal bound, inner
            mark = match[1]
            if mark == "!":
                return bound
            if mark == "k":
                parts.append(self.random.randrange(4))
            elif mark in "xw":
                made_by = "vrc" if mark == "x" else "r"
                parts.append(self.random.choice([x for x, by in scope.items() if by in made_by]))
            elif mark in "vrc":  # A name may hide another.
                bound = self.random.choice(["a", "b", f"v{next(self.count)}"])
                inner = scope | {bound: mark}
                parts.append(bound)
            else:
                seen = inner if mark.endswith("'") else scope
                written, run = self.part(mark.rstrip("'"), seen, depth - 1)
                parts.append(run)
                return written
            return str(parts[-1])

        written = re.sub(r"\{([ntu]0?'?|[kxwvrc!])\}", piece, text)
        return written, lambda s: meaning(s, *parts)


class Program(NamedTuple):
    """A program, and for each input the expected value and the memory afterwards."""

    name: str
    text: str
    expected: dict[tuple[int, int], list[int]]


def drawn(seed: int, language: str) -> Program:
    body, run = Draw(seed, language).part("n", {"x": "v", "y": "v"}, 6)
    if language == "python":
        body = f"try {body} with Stop -> 90 | Found _ -> 91 end"
    expected = {}
    for x, y in INPUTS:
        state = State(x, y)
        try:
            value = run(state)
        except OverflowError:
            continue
        except LeaveError as left:
            value = {"Stop": 90, "Found": 91}.get(left.args[0], left.args[-1])
        expected[x, y] = [value, *state.memory]
    return Program(f"f{seed}", body, expected)


def module(definitions: Iterable[str], language: str) -> str:
    number, memory = TYPES[language]
    text = HEADS[language] + BOTH + "".join(f"{each}\n" for each in definitions) + "end\n"
    return re.sub(r"\bMEM\b", memory, re.sub(r"\bINT\b", number, text))


def printed(file: Path, language: str) -> str:
    driver = extraction.C_DRIVER if language == "c" else extraction.DRIVER
    text = extraction.why3_extract(str(file), drivers=[driver])
    return text if language == "c" else extraction.python(text)


def made(programs: Sequence[Program], language: str) -> Iterator[tuple[Sequence[Program], str]]:
    """Print programs in groups, without the refused ones."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.mlw"
        head = "let {} (m: MEM) (x y: INT) : INT = {}".format
        text = module((head(each.name, each.text) for each in programs), language)
        file.write_text(text, encoding="utf-8")
        try:
            yield programs, printed(file, language)
            return
        except closed.ToolError as error:
            place = re.search(r'drawn\.mlw", line (\d+),.*\n.*\Z', str(error))
    if len(programs) == 1:
        return
    # If the error names a line, print its program and the others apart; else print the two halves.
    one = int(place[1]) - module([], language).count("\n") if place else -1
    found = range(one, one + 1) if one in range(len(programs)) else range(len(programs) // 2)
    for side in (True, False):
        yield from made([x for i, x in enumerate(programs) if (i in found) is side], language)


def run_python(programs: Sequence[Program], text: str) -> Iterator[list[object]]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(text, names)
    for each in programs:
        for x, y in each.expected:
            memory = [*MEMORY]
            try:
                value = names[each.name](memory, x, y)
            except Exception as error:
                value = repr(error)
            yield [value, *memory]


C_HEAD = f"""\
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define WHYCAST_MEMCPY memcpy
typedef struct {{ int64_t tensor, axis; }} whycast_place;
#define SHOW(f, x, y) {{ int64_t m[] = {{{", ".join(map(str, MEMORY))}}}; \\
    printf("%" PRId64, f(m, x, y)); \\
    for (int i = 0; i < 4; ++i) printf(" %" PRId64, m[i]); puts(""); }}
"""


def run_c(programs: Sequence[Program], text: str) -> Iterator[list[object]]:
    calls = "".join(
        f"SHOW(wc_{each.name}, {x}, {y})\n" for each in programs for x, y in each.expected
    )
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder) / "drawn.c", Path(folder) / "drawn"
        file.write_text(f"{C_HEAD}{text}\nint main(void) {{\n{calls}}}\n", encoding="utf-8")
        subprocess.run(["cc", "-std=c99", "-w", "-o", program, file], check=True)
        done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60)
    return ([int(word) for word in line.split()] for line in done.stdout.splitlines())


def compare(
    programs: Sequence[Program], language: str, count: Counter[str]
) -> Iterator[tuple[Program, list[list[object]]]]:
    """Count outcomes; yield each program that has wrong results, with the results."""
    count["drawn"] += len(programs)
    for part, text in made(programs, language):
        results = (run_c if language == "c" else run_python)(part, text)
        for each in part:
            count["compared"] += 1
            found = [next(results) for _ in each.expected]
            if found != [*each.expected.values()]:
                count["differ"] += 1
                yield each, found


def main(number: int) -> int:
    total = Counter[str]()
    for language in TYPES:
        count = Counter[str]()
        for start in range(0, number, 50):
            programs = [drawn(seed, language) for seed in range(start, min(start + 50, number))]
            for program, found in compare(programs, language, count):
                print(f"{program.text}\n  gives {found}, expected {program.expected}")
        print(f"drawn programs, {language}: {dict(count)}")
        total += count
    return int(total["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
