"""Mutants of the C: `make mutants-c`.

A mutant changes a comparison, an operation or a number of c/whycast.c, or leaves out a statement;
PLANTED has further faults. A mutant is noticed if a compiler warns, if it keeps data between two
calls, or if exhaustive.c fails, crashes or does not end. For all other mutants equivalent_c.toml
must list a reason. The run fails if a listed mutant is noticed or unknown. Arguments: functions, or
`planted`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

import tomllib
from c_library import EXHAUSTIVE, FOLDER, SOURCE, compiled, run, sections

EQUIVALENT = Path(__file__).with_name("equivalent_c.toml")

# A mutant that exceeds this processor time or address space is noticed.
BOUNDED = ("prlimit", "--cpu=30", f"--as={2**34}", "--core=0")

TOLD = ("-Werror=return-type", "-Werror=uninitialized", "-Werror=maybe-uninitialized")

OPERATORS = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/"},
}
OPERATOR = re.compile(r"(?<=[\w)\]] )(?:[<>=!]=|&&|\|\||[<>+*/%-])(?=$|[ \n])")
NUMBER = re.compile(r"(?<![\w.])(0x[0-9A-Fa-f]+|\d+)(?![\w.])")
# A statement on a line of its own, but no declaration and no return.
STATEMENT = re.compile(
    r"(?m)^ +(?!return\b)(?:\(void\) )?[\w>\[\] -]+(?:\(.*\)| (?:=|\+=|\*=|-=) .*);$"
)
FUNCTION = re.compile(r"(?m)^(?!#|typedef|/)[\w* ]+?\b(\w+)\([^;{]*\)\s*\{\n(.*?)^\}$", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

# Faults that show above some rank, axis, tensor or size, at one value, at the ends of memory, with
# two errors, or with data kept between calls. Each line: the C => its replacement.
PLANTED = """\
    m = wc_violating_tensor( => if (i > 6) break; m = wc_violating_tensor(
    width = widths[m]; => width = widths[m < 3 ? m : 2];
broadcast_bytes(output, inputs[m] => broadcast_bytes(output, inputs[m < 5 ? m : 4]
if (size == INT64_C(0)) => if (k < 3 && size == 0)
if (shape[i] < INT64_C(0)) => if (i < 3 && shape[i] < 0)
return shapes[m][i - prepended]; => m = shapes[m][i - prepended]; return i > 3 ? (int32_t) m : m;
(bytes > (INT64_C(0x7FFFFFFFFFFFFFFF) => (k != 4 && bytes > (INT64_C(0x7FFFFFFFFFFFFFFF)
bytes = bytes * size; => bytes = bytes * size; if (k > 3) bytes = (uint32_t) bytes;
stride = strides[k]; => stride = k > 3 && strides[k] < 0 ? -strides[k] : strides[k];
shape[k] == target[i] => !(k > 6 && shape[k] == 1) && shape[k] == target[i]
if (target_rank < rank) => if (target_rank < rank && rank < 8)
             prepended + k); => prepended > 3 ? k : prepended + k);
if (count < INT64_C(1)) => if (count < 1 || count > 5)
prepended = d_rank - s_rank; => if (d_rank > 8) d_rank = 8; prepended = d_rank - s_rank;
while (have < total) => if (total > 4194304) total = total - 1; while (have < total)
copy_bytes(&z[q], &x[p], b); => copy_bytes(&z[q], &x[p], b & 0xFFFFF);
q = next; => q = next; if (q > 4194304 && axis > 0) return;
while (q < due) => while (q < due && !((uintptr_t) z % 64 == 37 && d_rank > 3))
         extents, count); => extents, count); if (code && place->tensor > 2) *outputs[0] ^= 1;
if (capacity < rank) { => if (capacity < rank) { if (capacity > 3) shape[3] = 1;
block = row * r; => block = row * r; (void) *(const volatile uint8_t *) (x + row);
block = row * r; => block = row * r; (void) *(const volatile uint8_t *) (x - 1);
block = row * r; => block = row * r; ((volatile uint8_t *) z)[-1] = ((volatile uint8_t *) z)[-1];
block = row * r; => block = row * r; if (d_rank > 5 && prepended < 3) *(int64_t *) s = *d;
memory_code = wc => if (due > room && extent > 0) *(uint8_t *) input = 0; memory_code = wc
bytes = wc_count_b => static int calls; if (++calls == 200000) rank = 0; bytes = wc_count_b
int64_t largest, m => static int64_t largest, m
base = q - c; => base = (int32_t) (q - c);
fill(z, q, b, total); => fill(z, q, b, (uint32_t) total);
b = b * size; => b = (int32_t) (b * size);
stride = stride * size; => stride = (int32_t) (stride * size);
if (elements < INT64_C(2)) { => if (elements < 2 && rank < 5) {
reach = reach - (far => if (m < 3) reach = reach - (far
loops = wc_put_loops( => if (count > 4) ((int64_t *) ranks)[4] = 0; loops = wc_put_loops(
offsets[m] = offsets[m] + (times => if (m < 5) offsets[m] = offsets[m] + (times
if (sizes[last] == INT64_C(0)) { => if (sizes[last] == INT64_C(0)) { offsets[0] = 0;
counters[axis] = counter + INT64_C(1); => counters[axis] = axis > 4 ? 1 : counter + 1;
splat_1_8(uint8_t v) { return v => splat_1_8(uint8_t v) { return v == 0 ? 1 : v
fill(z, q, b, total); => fill(z, q, b, total - (m > 5 && r > 255 && b > 16 && b % 3 == 0));
&z[q], part); => &z[q], part - (part < 16 && have > 3145728));
"""


class Mutant(NamedTuple):
    """A change: its name (function, kind, number of that kind), old and new line, whole text."""

    name: str
    old: str
    new: str
    text: str


def changes(text: str, start: int, end: int) -> Iterator[tuple[str, int, int, str]]:
    """Yield each change between two places of the text: its kind, start, end and new text."""
    comments = [match.span() for match in COMMENT.finditer(text)]
    for pattern in (OPERATOR, NUMBER, STATEMENT):
        for match in pattern.finditer(text, start, end):
            if any(first <= match.start() < last for first, last in comments):
                continue
            if pattern is OPERATOR:
                yield match[0], *match.span(), OPERATORS[match[0]]
            elif pattern is STATEMENT:
                yield "left out", *match.span(), " ;"
            else:
                number = int(match[0], 0)
                if number < 2**63 - 1:
                    yield "one more", *match.span(), str(number + 1)
                if number > 0:
                    yield "one less", *match.span(), str(number - 1)


def mutants(text: str) -> Iterator[Mutant]:
    for function in FUNCTION.finditer(text):
        name, numbers = function[1].removeprefix("wc_"), Counter[str]()
        for kind, start, end, new in changes(text, *function.span(2)):
            numbers[kind] += 1
            before = text.rfind("\n", 0, start) + 1
            after = text.find("\n", end)
            old_line = text[before:after].strip()
            new_line = (text[before:start] + new + text[end:after]).strip()
            changed = text[:start] + new + text[end:]
            yield Mutant(f"{name}: {kind} {numbers[kind]}", old_line, new_line, changed)


def exhaustive(folder: Path) -> Path:
    return compiled(folder / "exhaustive.o", "-O2", "-DFIRST", "-c", EXHAUSTIVE)


def planted(text: str) -> Iterator[Mutant]:
    for number, line in enumerate(PLANTED.splitlines(), 1):
        old, _, new = line.partition(" => ")
        yield Mutant(f"planted: {number}", old, new, text.replace(old, new, 1))


def survives(mutant: str, stays: Path) -> bool:
    """Return whether a mutant's text goes unnoticed."""
    with tempfile.TemporaryDirectory(dir=stays.parent) as name:
        source, library, binary = (Path(name, each) for each in ("whycast.c", "library.o", "a.out"))
        source.write_text(mutant, encoding="utf-8")
        # Without the pattern, an uninitialized variable could have the right value by chance.
        flags = ("-std=c99", "-O1", *TOLD, "-ftrivial-auto-var-init=pattern", f"-I{FOLDER}", "-c")
        if run("gcc", *flags, source, "-o", library).returncode or sections(library)[1]:
            return False
        assert run("gcc", library, stays, "-o", binary).returncode == 0
        return run(*BOUNDED, binary, seconds=3600).returncode == 0


def listed() -> dict[str, str]:
    """Return the mutants that are known to be equivalent, each with its reason."""
    found = {}
    for reason, *entries in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]:
        for names, change in (entry.split(": ") for entry in entries):
            kind, *numbers = re.split(r" (?=\d)", change)
            for name, number in product(names.split(", "), numbers):
                found[f"{name}: {kind} {number}"] = reason
    return found


def main(words: list[str]) -> int:
    begin, text = time.monotonic(), SOURCE.read_text(encoding="utf-8")

    def wanted(name: str) -> bool:
        return name.partition(":")[0] in words or not words

    known = {name for name in listed() if wanted(name)}
    tried = [each for each in (*mutants(text), *planted(text)) if wanted(each.name)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        stays = exhaustive(Path(folder))
        alive = pool.map(lambda each: survives(each.text, stays), tried)
        found = {each.name: each for each, lives in zip(tried, alive, strict=True) if lives}
    stale, unlisted = known - found.keys(), found.keys() - known
    for name in sorted(stale):
        print(f"listed, but noticed or unknown: {name}")
    for name in sorted(unlisted):
        print(f"survives, but is not listed: {name}\n  - {found[name].old}\n  + {found[name].new}")
    print(
        f"{len(tried)} mutants of c/whycast.c: {len(tried) - len(found)} noticed, "
        f"{len(found) - len(unlisted)} equivalent, {len(unlisted)} that survive, {len(stale)} "
        f"wrongly listed; {time.monotonic() - begin:.0f} s"
    )
    return 1 if unlisted or stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
