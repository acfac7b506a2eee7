"""The object code of the C, measured for an assessor: `make object`.

- The tests of the requirements, exhaustive.c, cover all statements, decisions and conditions of
  the C, and each condition decides alone (MC/DC; decisions.py).
- These tests get the same answers from the objects of two compilers with several flags. Callgrind
  counts how often each conditional jump was taken, and was not. If a decision has more jumps than
  conditions, or a line without a decision has a jump, the compiler has added jumps. Each inlined
  copy of a function counts separately.
- This program measures the size of the code and, without the library's `memcpy`, the stack of a
  call (no function recurses) and the instructions of calls (counted.c).

A gap in the source, or in the objects for certification, fails the run. Results: build/object.json.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import decisions
from c_library import EXHAUSTIVE, HERE, ROOT, SOURCE, compiled, run, sections

COUNTED = HERE / "counted.c"
FACTS = ROOT / "build" / "object.json"

# With these options (some are LLVM's) an assessor finds each branch of the object in the source: no
# function is inlined, no loop is vectorised, no loop condition is copied, no jump reads a table.
CERTIFICATION = {
    "gcc": "-O1 -fno-inline -fno-tree-ch -fno-jump-tables -fno-if-conversion -fno-if-conversion2",
    "clang": "-O1 -fno-inline -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-jump-tables "
    "-mllvm -rotation-max-header-size=0 -mllvm -tail-dup-placement=0",
}
FLAGS = {
    compiler: (tuple(flags.split()), ("-O2",), ("-O3",))
    for compiler, flags in CERTIFICATION.items()
}

CALLGRIND = (
    *("valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes"),
    *("--combine-dumps=yes", "--compress-pos=no", "--compress-strings=no"),
)
SECONDS = 900

INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\S+) *(.*)$", re.MULTILINE)
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$", re.MULTILINE)
NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(([^)]*)\)')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


class Jump(NamedTuple):
    """A conditional jump, and its places in the source, the outermost last: function and line."""

    function: str
    text: str
    places: tuple[tuple[str, int], ...]


# How often each address was executed, and how often each jump was taken.
Counts = tuple[Counter[int], Counter[int]]


# --- the source ----------------------------------------------------------------------------------


def covered(source: decisions.Source, folder: Path, tests: Path = EXHAUSTIVE) -> dict[str, Any]:
    """Run the tests on the copy that counts; return counts of each kind, and the gaps."""
    (folder / "counting.c").write_text(source.counting, encoding="utf-8")
    where = f'-DOBJECT_COUNTS="{folder / "counts"}"'
    words = ("-O2", where, "-c", folder / "counting.c")
    copy = compiled(folder / "counting.o", *words, strict=("-std=c99",))
    done = run(compiled(folder / "counting", "-O2", copy, tests), seconds=SECONDS)
    assert done.returncode == 0, done.stdout
    found = [*decisions.gaps(source, *decisions.read(folder / "counts", source))]
    missing = Counter(kind for kind, _ in {(gap.kind, gap.item) for gap in found})
    conditions = sum(len(each.conditions) for each in source.decisions)
    numbers = {"statement": len(source.statements), "decision": len(source.decisions)}
    numbers |= {"condition": conditions, "mc/dc": conditions}
    return {
        **{kind: {"all": n, "covered": n - missing[kind]} for kind, n in numbers.items()},
        "gaps": [{"kind": gap.kind, "gap": gap.name, "line": gap.line} for gap in found],
    }


# --- an object -----------------------------------------------------------------------------------


def disassembly(binary: Path) -> str:
    """Return the code of an object with its relocations, without the object's name."""
    return run("objdump", "-dr", "--no-show-raw-insn", binary).stdout.partition("\n\n")[2]


def jumps_of(text: str, twin: Path) -> dict[int, Jump]:
    """Return an object's conditional jumps by address; `twin` contains the source lines."""
    found = {}
    for part in re.split(r"(?m)^(?=[0-9a-f]+ <)", text):
        name = FUNCTION.match(part)
        for place, what, where in INSTRUCTION.findall(part):
            if name and re.match("j(?!mp)|loop", what):
                found[int(place, 16)] = (name[1], f"{what} {where}")
    said = run("addr2line", "-aife", twin, *map(hex, found)).stdout
    places: dict[int, list[tuple[str, int]]] = {}
    address = 0
    lines = iter(said.splitlines())
    for line in lines:
        if line.startswith("0x"):
            address = int(line, 16)
        else:
            number = re.search(r":(\d+)", next(lines))
            places.setdefault(address, []).append((line, int(number[1]) if number else 0))
    return {place: Jump(*each, tuple(places[place])) for place, each in found.items()}


def counts_of(text: str) -> Iterator[Counts]:
    for part in re.split(r"(?m)^part: ", text)[1:]:
        executed: Counter[int] = Counter()
        taken: Counter[int] = Counter()
        lines = iter(part.splitlines())
        for line in lines:
            if line.startswith("0x"):
                address, _, cost = line.split()
                executed[int(address, 16)] += int(cost)
            elif line.startswith("jcnd="):
                times = int(line[5:].split("/")[0])
                taken[int(next(lines).split()[0], 16)] += times
            elif line.startswith(("calls=", "jump=")):
                next(lines)
        yield executed, taken


def callgrind(folder: Path, binary: Path, *more: str) -> list[Counts]:
    out = folder / "callgrind.out"
    done = run(*CALLGRIND, *more, f"--callgrind-out-file={out}", binary, seconds=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return [*counts_of(out.read_text(encoding="utf-8"))]


def base(binary: Path, library: Path) -> int:
    """Return the address at which the linker places an object's code."""

    def places(file: Path) -> dict[str, int]:
        rows = map(str.split, run("nm", file).stdout.splitlines())
        return {row[2]: int(row[0], 16) for row in rows if row[1:2] == ["T"]}

    there, own = places(binary), places(library)
    (found,) = {there[name] - own[name] for name in own}
    return found


def missed(jumps: dict[int, Jump], counts: Counts, start: int) -> Iterator[tuple[Jump, str]]:
    """Yield each jump that did not go both ways, with a text."""
    executed, taken = counts
    for place, jump in jumps.items():
        times = taken[start + place]
        if not 0 < times < executed[start + place]:
            way = "not taken" if times else "taken" if executed[start + place] else "executed"
            yield jump, f"never {way}"


def added(jumps: Sequence[Jump], source: decisions.Source) -> Counter[str]:
    """Count each function's jumps beyond the conditions of its decisions."""
    decided = {
        line: number
        for number, each in enumerate(source.decisions)
        for line in range(each.line, each.last_line + 1)
    }
    found: Counter[str] = Counter()

    def copy(jump: Jump) -> tuple[str, str, int]:
        """Return a jump's function, callers and decision (-1 if its line has no decision)."""
        return jump.function, str(jump.places[1:]), decided.get(jump.places[0][1], -1)

    for (function, _, number), of_copy in groupby(sorted(jumps, key=copy), copy):
        conditions = len(source.decisions[number].conditions) if number >= 0 else 0
        found[function] += max(0, len([*of_copy]) - conditions)
    return +found


class Object(NamedTuple):
    """The C compiled once, with its jumps and its disassembly."""

    compiler: str
    flags: tuple[str, ...]
    library: Path
    jumps: dict[int, Jump]
    code: str


def built(folder: Path, compiler: str, flags: tuple[str, ...], source: Path = SOURCE) -> Object:
    """Compile the C, and again with -g for the lines; -g must not change the code."""
    words: tuple[str | Path, ...] = (*flags, "-c", source)
    library = compiled(folder / "whycast.o", *words, compiler=compiler)
    twin = compiled(folder / "twin.o", "-g", *words, compiler=compiler)
    code = disassembly(library)
    assert code == disassembly(twin), "-g changes the code"
    assert code.count("Disassembly of section") == 1, "there is code in several sections"
    return Object(compiler, flags, library, jumps_of(code, twin), code)


def program(folder: Path, made: Object, *words: str | Path) -> Path:
    """Link an object with a program that calls it, at a fixed address."""
    return compiled(folder / "program", "-no-pie", "-O2", *words, made.library)


def measured(folder: Path, source: decisions.Source, made: Object) -> dict[str, Any]:
    """Compare an object with plain.c in all calls; return jumps not taken both ways, and counts."""
    done = run(program(folder, made, EXHAUSTIVE), seconds=SECONDS)
    assert done.returncode == 0, done.stdout
    calls = sum(int(line.split()[1]) for line in done.stdout.splitlines())
    binary = program(folder, made, "-DEXACT", "-DROUNDS=500", EXHAUSTIVE)
    (counts,) = callgrind(folder, binary)
    lines = source.text.splitlines()
    decided = {n for each in source.decisions for n in range(each.line, each.last_line + 1)}
    jumping = {each.places[0][1] for each in made.jumps.values()}
    gaps = [
        {
            "function": jump.function,
            "line": jump.places[0][1],
            "source": ["", *lines][jump.places[0][1]].strip(),
            "jump": jump.text,
            "gap": gap,
            "decides": jump.places[0][1] in decided,
        }
        for jump, gap in missed(made.jumps, counts, base(binary, made.library))
    ]
    return {
        "compiler": run(made.compiler, "--version").stdout.splitlines()[0],
        "flags": " ".join(made.flags),
        "sha256": sha256(made.library.read_bytes()).hexdigest(),
        "code": sections(made.library)[0],
        "calls": calls,
        "jumps": len(made.jumps),
        "both ways": len(made.jumps) - len(gaps),
        "added": dict(added([*made.jumps.values()], source)),
        "decisions without a jump": sum(
            jumping.isdisjoint(range(each.line, each.last_line + 1)) for each in source.decisions
        ),
        "indirect jumps": len(re.findall(r"\bjmp +\*", made.code)),
        "gaps": gaps,
    }


# --- the stack -----------------------------------------------------------------------------------


def depth(name: str, frames: dict[str, int], called: dict[str, set[str]], *above: str) -> int:
    """Return the bytes of stack of a call, including the calls that it makes in whycast.c."""
    assert name not in above, f"recursion: {' '.join((*above, name))}"
    below = [depth(each, frames, called, *above, name) for each in called.get(name, ())]
    return frames.get(name, 0) + max(below, default=0)


def stack(folder: Path, compiler: str, *flags: str) -> dict[str, Any]:
    """Return the most stack that each public function uses, from the frames that GCC reports."""
    words: tuple[str | Path, ...] = (*flags, "-fstack-usage", "-fcallgraph-info=su", "-c", SOURCE)
    binary = compiled(folder / "whycast.o", *words, compiler=compiler)
    text = (folder / "whycast.ci").read_text(encoding="utf-8")
    nodes = NODE.findall(text)
    assert {kind for _, _, kind in nodes} <= {"static", "dynamic,bounded"}
    frames = {name: int(size) for name, size, _ in nodes}
    called: dict[str, set[str]] = {}
    for source, target in EDGE.findall(text):
        called.setdefault(source, set()).add(target)
    deepest = {name: depth(name, frames, called) for name in frames if name.startswith("whycast_")}
    code, _ = sections(binary, compiler.replace("gcc", "size"))
    told = {"compiler": compiler, "flags": " ".join(flags), "code": code}
    return {**told, "most": max(deepest.values()), "functions": deepest}


# --- time ----------------------------------------------------------------------------------------


def instructions(folder: Path, made: Object) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the calls of counted.c, and how many instructions of the library each call takes."""
    binary = program(folder, made, COUNTED)
    done = run(binary)
    assert done.returncode == 0
    start = base(binary, made.library)
    *parts, _ = callgrind(folder, binary, "--collect-atstart=no")
    code = {start + int(place, 16) for place, _, _ in INSTRUCTION.findall(made.code)}
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    return calls, [sum(executed[place] for place in code) for executed, _ in parts]


# --- together ------------------------------------------------------------------------------------


def main() -> int:
    begin = time.monotonic()
    source = decisions.Source(SOURCE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        found = covered(source, Path(name))

    def of(setting: tuple[str, tuple[str, ...]]) -> tuple[dict[str, Any], Any]:
        with tempfile.TemporaryDirectory() as name:
            made = built(Path(name), *setting)
            return measured(Path(name), source, made), instructions(Path(name), made)

    settings = [(compiler, flags) for compiler in FLAGS for flags in FLAGS[compiler]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [*pool.map(of, settings)]

    gaps = [f"source: {gap['kind']}: {gap['gap']}" for gap in found["gaps"]]
    print("source:", found)
    for (compiler, flags), (told, _) in zip(settings, objects, strict=True):
        if flags == FLAGS[compiler][0]:
            gaps += [
                f"{compiler}: {gap['function']}: {gap['source']}: {gap['gap']}"
                for gap in told["gaps"]
            ]
            gaps += [f"{compiler}: a jump by a table"] * told["indirect jumps"]
        print({key: told[key] if key != "gaps" else len(told[key]) for key in told})
    calls = objects[0][1][0]
    counts = (counted for _, (_, counted) in objects)
    for call, *numbers in zip(calls, *counts, strict=True):
        call["instructions"] = numbers
    with tempfile.TemporaryDirectory() as name:
        frames = [
            stack(Path(name), compiler, *flags)
            for compiler in ("gcc", "arm-linux-gnueabihf-gcc")
            for flags in (("-O0",), ("-O1",), *FLAGS["gcc"])
        ]
    data = {"source": found, "objects": [told for told, _ in objects], "stack": frames}
    FACTS.write_text(json.dumps({**data, "calls": calls}, indent=1) + "\n", encoding="utf-8")
    print(*gaps, sep="\n")
    print(f"{len(gaps)} gaps; {time.monotonic() - begin:.0f} s")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
