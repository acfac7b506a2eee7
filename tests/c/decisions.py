"""The coverage of a run of c/whycast.c: statements, decisions, conditions, MC/DC.

The extracted C has few constructs: `if`, `while`, conditions under `!`, `&&`, `||`. This module
makes a copy that counts runs of statements, and values of decisions and conditions. It refuses
other constructs that may decide: a comparison outside a decision, `?`, `for`, `switch`, a macro.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

BLANK = re.compile(r"/\*.*?\*/|^#.*?$", re.DOTALL | re.MULTILINE)
DIRECTIVE = re.compile(r'#(include ["<].*|(ifdef|define) WHYCAST_MEMCPY( memcpy)?|else|endif)')
# The end of a block, the head of a decision, a statement, or the beginning of a block.
PIECE = re.compile(
    r"\s*(?:(?P<close>\}(?:\s*(?P<other>else)\s*\{)?)|(?P<kind>if|while)\s*\("
    r"|(?P<text>(?:= \{[^{}]*\}|[^;{}])*)(?P<end>[;{]))"
)
COMPARISON = re.compile(r"(?<![<>-])[<>](?![<>])=?|[=!]=")
DECIDING = re.compile(
    COMPARISON.pattern + r"|&&|\|\||!|\?|\b(?:for|do|switch|case|default|goto|break|continue|asm|if"
    r"|while|else)\b"
)

# Each condition is a digit in base 3: 0 if not evaluated, 1 if false, 2 if true. Decisions nest:
# a condition may call a function.
RECORDER = """\
#include <stdio.h>
#include <stdlib.h>
static unsigned long long object_runs[{statements}], object_taken[{decisions}][{vectors}][2];
static unsigned object_open[16];
static int object_depth;
__attribute__((destructor)) static void object_write(void) {{
    FILE *file = fopen(OBJECT_COUNTS, "w");
    if (file == NULL) {{
        abort();
    }}
    for (int n = 0; n < {statements}; n++) {{
        fprintf(file, "ran %d %llu\\n", n, object_runs[n]);
    }}
    for (int n = 0; n < {decisions} * {vectors} * 2; n++) {{
        const int d = n / 2 / {vectors}, v = n / 2 % {vectors};
        fprintf(file, "took %d %d %d %llu\\n", d, v, n % 2, object_taken[d][v][n % 2]);
    }}
    fclose(file);
}}
static int object_begin(void) {{
    if (object_depth == 16) {{
        abort();
    }}
    object_open[object_depth++] = 0;
    return 1;
}}
static int object_is(unsigned digit, int value) {{
    object_open[object_depth - 1] += digit * (value ? 2 : 1);
    return value;
}}
static int object_end(int decision, int value) {{
    object_taken[decision][object_open[--object_depth]][value]++;
    return value;
}}
"""


class UnknownError(ValueError):
    """The C has an unknown construct."""


class Statement(NamedTuple):
    function: str
    line: int


class Decision(NamedTuple):
    function: str
    line: int
    last_line: int
    conditions: tuple[str, ...]


# The digit of each condition, and the outcome of the decision.
Vector = tuple[tuple[int, ...], bool]


class Source:
    """The statements and decisions of the C, and the counting copy."""

    def __init__(self, text: str) -> None:
        self.text, self.function = text, ""
        self.plain = BLANK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self.statements: list[Statement] = []
        self.decisions: list[Decision] = []
        self.inserted: list[tuple[int, str]] = []
        for line in re.findall("(?m)^ *#.*", text):
            if not DIRECTIVE.fullmatch(line):
                raise UnknownError(line)
        at, blocks = 0, list[str]()
        while piece := PIECE.match(self.plain, at):
            at = self._piece(piece, blocks)
        if blocks or self.plain[at:].strip():
            raise UnknownError(f"line {self._line(at)}")

    @property
    def counting(self) -> str:
        parts, end = [], 0
        for place, text in sorted(self.inserted, key=lambda each: each[0]):
            parts += [self.text[end:place], text]
            end = place
        sizes = {"statements": len(self.statements), "decisions": len(self.decisions)}
        vectors = 3 ** max(len(each.conditions) for each in self.decisions)
        return RECORDER.format(vectors=vectors, **sizes) + "".join(parts) + self.text[end:]

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _piece(self, piece: re.Match[str], blocks: list[str]) -> int:
        """Read a piece inside `blocks`; return the start of the next piece."""
        text = (piece["text"] or "").strip()
        unknown = UnknownError(f"line {self._line(piece.end())}")
        if piece["close"]:
            if not blocks or (blocks.pop() != "if" and piece["other"]):
                raise unknown
            blocks += ["else"] * bool(piece["other"])
        elif piece["kind"] and blocks:
            self._begin(piece.start("kind"))
            end = self._closing(piece.end())
            self._decision(piece.start("kind"), piece.end(), end)
            at = re.compile(r"\)\s*\{").match(self.plain, end)
            if not at:
                raise unknown
            blocks.append(piece["kind"])
            return at.end()
        elif DECIDING.search(text) or (blocks and piece["end"] == "{") or piece["kind"]:
            raise unknown
        elif piece["end"] == "{":
            blocks.append("function")
            self.function = re.findall(r"\w+(?=\()|$", text)[0]
        elif blocks and text and not is_declaration(text):
            self._begin(piece.start("text"))
        return piece.end()

    def _begin(self, at: int) -> None:
        self.inserted.append((at, f"object_runs[{len(self.statements)}]++; "))
        self.statements.append(Statement(self.function, self._line(at)))

    def _closing(self, start: int) -> int:
        depth = 1
        for found in re.compile("[()]").finditer(self.plain, start):
            depth += 1 if found[0] == "(" else -1
            if depth == 0:
                return found.start()
        raise UnknownError(f"line {self._line(start)}: (")

    def _decision(self, head: int, start: int, end: int) -> None:
        """Split a decision into its conditions; the copy keeps C's precedence of && and ||."""
        conditions: list[str] = []
        number = len(self.decisions)
        self.inserted.append((start, f"object_end({number}, object_begin() && ("))
        joins = [join.span() for join in re.compile(r"&&|\|\|").finditer(self.plain, start, end)]
        places = [start, *(place for join in joins for place in join), end]
        for part in zip(places[::2], places[1::2], strict=True):
            first, last = self._condition(*part)
            self.inserted += [(first, f"object_is({3 ** len(conditions)}u, "), (last, ")")]
            conditions.append(" ".join(self.text[first:last].split()))
        self.inserted.append((end, "))"))
        lines = self._line(head), self._line(end)
        self.decisions.append(Decision(self.function, *lines, tuple(conditions)))

    def _condition(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a comparison, without surrounding `!` and parentheses."""
        text = self.plain[start:end]
        while opening := re.match(r"\s*!?\s*\(", text):
            closing = self._closing(start + opening.end())
            if closing < end and self.plain[closing + 1 : end].strip(" \n)"):
                break
            start, end = start + opening.end(), min(closing, end)
            text = self.plain[start:end]
        while text.count(")") > text.count("("):
            end = start + text.rindex(")")
            text = self.plain[start:end]
        outside = re.sub(r"\([^()]*\)", "", text)
        if len(DECIDING.findall(text)) != 1 or not COMPARISON.search(outside):
            raise UnknownError(f"line {self._line(start)}: {text}")
        return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def is_declaration(text: str) -> bool:
    name = [word for word in re.findall(r"\w+|[^\w\s]", text) if word not in ("const", "*")][:2]
    words = len(name) == 2 and name[0] != "return" and all(word.isidentifier() for word in name)
    return words and "=" not in text


def read(path: Path, source: Source) -> tuple[Counter[int], dict[int, set[Vector]]]:
    ran: Counter[int] = Counter()
    taken: dict[int, set[Vector]] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        kind, *numbers = line.split()
        number, *vector, count = map(int, numbers)
        if kind == "ran":
            ran[number] = count
        elif count:
            length = len(source.decisions[number].conditions)
            values = tuple(vector[0] // 3**place % 3 for place in range(length))
            taken.setdefault(number, set()).add((values, bool(vector[1])))
    return ran, taken


def is_independent(place: int, vectors: Collection[Vector]) -> bool:
    """Return whether a condition decides alone: two vectors differ in it and in the outcome, and
    every other condition is equal in both, or not evaluated in one.
    """
    return any(
        v[place] + w[place] == 3
        and one != other
        and all(v[k] == w[k] or 0 in (v[k], w[k]) for k in range(len(v)) if k != place)
        for (v, one), (w, other) in product(vectors, repeat=2)
    )


class Gap(NamedTuple):
    kind: str
    item: tuple[int, ...]
    name: str
    line: int


def gaps(source: Source, ran: Counter[int], taken: dict[int, set[Vector]]) -> Iterator[Gap]:
    lines = source.text.splitlines()
    for number, (function, line) in enumerate(source.statements):
        if not ran[number]:
            yield Gap("statement", (number,), f"{function}: {lines[line - 1].strip()}", line)
    for number, (function, line, _, conditions) in enumerate(source.decisions):
        vectors, text = taken.get(number, set()), lines[line - 1].strip()
        for value in {False, True} - {outcome for _, outcome in vectors}:
            yield Gap("decision", (number,), f"{function}: never {value}: {text}", line)
        for place, text in enumerate(conditions):
            item = number, place
            for digit in {1, 2} - {values[place] for values, _ in vectors}:
                yield Gap("condition", item, f"{function}: never {digit == 2}: {text}", line)
            if not is_independent(place, vectors):
                yield Gap("mc/dc", item, f"{function}: never decides alone: {text}", line)
