"""The C as compilers leave it, measured for an assessor: `make object`.

- The tests of the requirements, exhaustive.c, cover all statements, decisions and conditions of
  the C, and each condition decides alone (MC/DC; decisions.py).
- They find the same answers on objects, each compiled once, by two compilers and several flags; and
  Callgrind counts how often each conditional jump of the object was taken, and was not. A jump
  beyond one for each condition of the source, or at a line that decides nothing, is one that the
  compiler has added. Functions that are inlined have jumps, and conditions, in each place.
- The stack that a call takes, and the size of the code (stack.py).
- The turns of the loops, and the instructions of a call, `memcpy` of the C library apart, beside
  the rounds that whycast.h tells.

All is written to build/object.json. What is not covered in the source, or in the objects
that are compiled for certification, has to stand in GAPS with the reason, and nothing else may.
"""

from __future__ import annotations

import ast
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
import stack
from c_library import EXHAUSTIVE, FOLDER, HERE, ROOT, SOURCE, compiled, run, sections

COUNTED = HERE / "counted.c"
FACTS = ROOT / "build" / "object.json"

# For certification no function is inlined, no test of a loop is doubled and no loop vectorised, as
# far as the compiler can be told (LLVM by options of its own): an assessor finds each branch in the
# source.
CERTIFICATION = {
    "gcc": "-O1 -fno-inline -fno-tree-ch -fno-if-conversion -fno-if-conversion2",
    "clang": "-O1 -fno-inline -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-jump-tables "
    "-mllvm -rotation-max-header-size=0 -mllvm -tail-dup-placement=0",
}
FLAGS = {
    compiler: (tuple(flags.split()), ("-O2",), ("-O3",))
    for compiler, flags in CERTIFICATION.items()
}

# The gaps that are known, with the reasons.
GAPS: dict[str, str] = {}

CALLGRIND = (
    *("valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes"),
    *("--combine-dumps=yes", "--compress-pos=no", "--compress-strings=no"),
)
SECONDS = 900

INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\S+) *(.*)$", re.MULTILINE)
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$", re.MULTILINE)
CALLED = ("bytes of the output", "bytes of all outputs")


class Jump(NamedTuple):
    """A conditional jump, and the places in the source that it is of: that of the outermost last.

    A place is a function, and a line.
    """

    function: str
    text: str
    places: tuple[tuple[str, int], ...]


# Addresses, and how often each was executed; and how often each jump was taken.
Counts = tuple[Counter[int], Counter[int]]


# --- the source ----------------------------------------------------------------------------------


def covered(source: decisions.Source, folder: Path, tests: Path = EXHAUSTIVE) -> dict[str, Any]:
    """Run the tests on the copy that keeps count: how many of each kind there are, and the gaps."""
    copy = counting(source, folder)
    binary = compiled(folder / "counting", "-O2", copy, tests)
    done = run(binary, seconds=SECONDS)
    assert done.returncode == 0, done.stdout
    ran: Counter[int] = Counter()
    taken: dict[int, Counter[decisions.Vector]] = {}
    decisions.read(folder / "counts", source, ran, taken)
    found = [*decisions.gaps(source, ran, taken)]
    missing = Counter(kind for kind, _ in {(gap.kind, gap.item) for gap in found})
    conditions = sum(len(each.conditions) for each in source.decisions)
    numbers = {"statement": len(source.statements), "decision": len(source.decisions)}
    numbers |= {"condition": conditions, "mc/dc": conditions}
    return {
        **{kind: {"all": n, "covered": n - missing[kind]} for kind, n in numbers.items()},
        "gaps": [{"kind": gap.kind, "gap": gap.name, "line": gap.line} for gap in found],
    }


def counting(source: decisions.Source, folder: Path) -> Path:
    """Compile the copy of the C that keeps count, to the file `counts` of a folder."""
    (folder / "counting.c").write_text(source.counting, encoding="utf-8")
    where = f'-DOBJECT_COUNTS="{folder / "counts"}"'
    words = ("-O2", where, "-c", folder / "counting.c")
    return compiled(folder / "counting.o", *words, strict=("-std=c99",))


# --- an object -----------------------------------------------------------------------------------


def disassembly(binary: Path) -> str:
    """Give the code of an object with its relocations, without the object's name."""
    return run("objdump", "-dr", "--no-show-raw-insn", binary).stdout.partition("\n\n")[2]


def jumps_of(text: str, twin: Path) -> dict[int, Jump]:
    """Give the conditional jumps of a code, by their places in it; `twin` knows the lines."""
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
    """Read what Callgrind counted: of each part, what was executed, and which jumps were taken."""
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
    """Run a program, and give what was executed of it."""
    out = folder / "callgrind.out"
    done = run(*CALLGRIND, *more, f"--callgrind-out-file={out}", binary, seconds=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return [*counts_of(out.read_text(encoding="utf-8"))]


def base(binary: Path, library: Path) -> int:
    """Give where the linker has put the code of an object."""

    def places(file: Path) -> dict[str, int]:
        rows = map(str.split, run("nm", file).stdout.splitlines())
        return {row[2]: int(row[0], 16) for row in rows if row[1:2] == ["T"]}

    there, own = places(binary), places(library)
    (found,) = {there[name] - own[name] for name in own}
    return found


def missed(jumps: dict[int, Jump], counts: Counts, start: int) -> Iterator[tuple[Jump, str]]:
    """Give the jumps that did not go both ways, and which they did not."""
    executed, taken = counts
    for place, jump in jumps.items():
        times = taken[start + place]
        if not 0 < times < executed[start + place]:
            way = "not taken" if times else "taken" if executed[start + place] else "executed"
            yield jump, f"never {way}"


def added(jumps: Sequence[Jump], source: decisions.Source) -> Counter[str]:
    """Count the jumps of each function that the conditions of the source do not account for."""
    decided = {
        line: number
        for number, each in enumerate(source.decisions)
        for line in range(each.line, each.last_line + 1)
    }
    found: Counter[str] = Counter()

    def copy(jump: Jump) -> tuple[str, str, int]:
        """A decision where it was put: a line that decides nothing is a copy of -1."""
        return jump.function, str(jump.places[1:]), decided.get(jump.places[0][1], -1)

    for (function, _, number), of_copy in groupby(sorted(jumps, key=copy), copy):
        conditions = len(source.decisions[number].conditions) if number >= 0 else 0
        found[function] += max(0, len([*of_copy]) - conditions)
    return +found


class Object(NamedTuple):
    """The C compiled once, and the same with the lines of the source, which changes no code."""

    compiler: str
    flags: tuple[str, ...]
    library: Path
    jumps: dict[int, Jump]
    code: str


def built(folder: Path, compiler: str, flags: tuple[str, ...], source: Path = SOURCE) -> Object:
    """Compile the C, once to be run and once more to be read."""
    words: tuple[str | Path, ...] = (*flags, "-c", source)
    library = compiled(folder / "whycast.o", *words, compiler=compiler)
    twin = compiled(folder / "twin.o", "-g", *words, compiler=compiler)
    code = disassembly(library)
    assert code == disassembly(twin), "with -g the code is another one"
    assert code.count("Disassembly of section") == 1, "there is code in several sections"
    return Object(compiler, flags, library, jumps_of(code, twin), code)


def program(folder: Path, made: Object, *words: str | Path) -> Path:
    """Link an object to a program that asks it; it lies where its code says."""
    return compiled(folder / "program", "-no-pie", "-O2", *words, made.library)


def measured(folder: Path, source: decisions.Source, made: Object) -> dict[str, Any]:
    """Compare all answers of an object, and tell which of its jumps went which way."""
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
            "in": jump.places[0][0],
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
        "conditional moves": len(re.findall(r"\t(?:cmov|set)[a-z]+ ", made.code)),
        "gaps": gaps,
    }


# --- time ----------------------------------------------------------------------------------------


def promises(header: str) -> dict[str, str]:
    """Read how many rounds a call of each function has, by the comments of the header."""
    sys.path.append(str(ROOT / "proofs"))
    from gate.c_files import PROTOTYPE

    found = {}
    for comment, function in PROTOTYPE.findall(header):
        text = " ".join(comment.split()).partition("Rounds: ")[2]
        for name in CALLED:
            text = text.replace(name, "bytes")
        found[function] = re.split(r"[.;]", text)[0]
    return found


def value(formula: str, names: dict[str, int]) -> int:
    """Compute a formula: names, numbers, sums, differences and products."""

    def of(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return names[name]
            case ast.BinOp(left, ast.Add(), right):
                return of(left) + of(right)
            case ast.BinOp(left, ast.Sub(), right):
                return of(left) - of(right)
            case ast.BinOp(left, ast.Mult(), right):
                return of(left) * of(right)
        raise ValueError(formula)

    return of(ast.parse(formula, mode="eval").body)


def calls_of(said: str) -> list[tuple[str, dict[str, int]]]:
    """Read the lines of counted.c."""
    rows = map(str.split, said.splitlines())
    return [
        (name, dict(zip(words[::2], map(int, words[1::2]), strict=True))) for name, *words in rows
    ]


def exceeding(calls: Sequence[dict[str, Any]]) -> list[str]:
    """Say which calls take more turns than the header tells."""
    return [f"more turns than are told: {call}" for call in calls if call["turns"] > call["rounds"]]


def turns(source: decisions.Source, folder: Path) -> Iterator[dict[str, Any]]:
    """Give calls of each function, with the rounds that are told, and the turns of its loops."""
    words = ("-DTURNS", counting(source, folder), COUNTED)
    done = run(compiled(folder / "turns", *words))
    assert done.returncode == 0
    promised = promises((FOLDER / "whycast.h").read_text(encoding="utf-8"))
    calls = calls_of(done.stdout)
    assert {name for name, _ in calls} == promised.keys()
    for name, numbers in calls:
        yield {"function": name, **numbers, "rounds": value(promised[name], numbers)}


def instructions(folder: Path, made: Object) -> list[int]:
    """Give how many instructions of the library each of these calls takes."""
    binary = program(folder, made, COUNTED)
    start = base(binary, made.library)
    *parts, _ = callgrind(folder, binary, "--collect-atstart=no")
    code = {start + int(place, 16) for place, _, _ in INSTRUCTION.findall(made.code)}
    return [sum(executed[place] for place in code) for executed, _ in parts]


def most(calls: Sequence[dict[str, Any]], counted: Sequence[int], key: str) -> dict[str, float]:
    """Give how many instructions a call of each function takes at most for each round and one more.

    The one more is for what is done outside of loops.
    """
    found: dict[str, float] = {}
    for call, number in zip(calls, counted, strict=True):
        ratio = round(number / (call[key] + 1), 1)
        found[call["function"]] = max(found.get(call["function"], 0), ratio)
    return found


# --- together ------------------------------------------------------------------------------------


def stacks() -> Iterator[dict[str, Any]]:
    """Give the stack and the code by each compiler that tells, also for a machine of 32 bits."""
    for compiler in ("gcc", "arm-linux-gnueabihf-gcc"):
        for flags in (("-O0",), ("-O1",), *FLAGS["gcc"]):
            with tempfile.TemporaryDirectory() as name:
                deepest, code, _ = stack.usage(Path(name), compiler, *flags)
            told = {"compiler": compiler, "flags": " ".join(flags), "code": code}
            yield {**told, "most": max(deepest.values()), "functions": deepest}


def compare(found: Sequence[str], known: Sequence[str]) -> list[str]:
    """Say what is not as it is listed."""
    return [f"not listed: {gap}" for gap in dict.fromkeys(found) if gap not in known] + [
        f"listed, and no gap: {gap}" for gap in known if gap not in found
    ]


def main() -> int:
    """Measure all, print what came out, keep it for the evidence."""
    begin = time.monotonic()
    source = decisions.Source(SOURCE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        found = covered(source, Path(name))
        calls = [*turns(source, Path(name))]

    def of(setting: tuple[str, tuple[str, ...]]) -> tuple[dict[str, Any], list[int]]:
        with tempfile.TemporaryDirectory() as name:
            made = built(Path(name), *setting)
            return measured(Path(name), source, made), instructions(Path(name), made)

    settings = [(compiler, flags) for compiler in FLAGS for flags in FLAGS[compiler]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [*pool.map(of, settings)]

    gaps = [f"source: {gap['kind']}: {gap['gap']}" for gap in found["gaps"]]
    print("source:", found)
    for (compiler, flags), (told, counted) in zip(settings, objects, strict=True):
        if flags == FLAGS[compiler][0]:
            gaps += [
                f"{compiler}: {gap['function']}: {gap['source']}: {gap['gap']}"
                for gap in told["gaps"]
            ]
            gaps += [f"{compiler}: a jump by a table"] * told["indirect jumps"]
        for key in ("rounds", "turns"):
            told[f"instructions by {key}"] = most(calls, counted, key)
        print({key: told[key] if key != "gaps" else len(told[key]) for key in told})
    for call, *numbers in zip(calls, *(counted for _, counted in objects), strict=True):
        call["instructions"] = numbers
    frames = [*stacks()]
    wrong = [*exceeding(calls), *compare(gaps, [*GAPS])]
    data = {"source": found, "objects": [told for told, _ in objects], "stack": frames}
    data |= {"calls": calls, "explained": GAPS, "wrong": wrong}
    FACTS.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print("\n".join(wrong))
    print(f"{len(wrong)} not as they should be; {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
