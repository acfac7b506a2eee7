"""What a run takes of the decisions of c/whycast.c: statements, decisions, conditions, MC/DC.

The C is extracted, and has few constructs: `if`, `while`, conditions under `!`, `&&`, `||`. Each
statement, decision and condition of a copy gets a call that keeps what it was; the copy is run in
the place of the C. Whatever else may decide something is refused, so that nothing is left out: a
comparison outside of a decision, `?`, `for`, `switch`, a macro.
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
TOKEN = re.compile(r"\w+|->|[<>=!+*/%&|^-]=|\+\+|--|&&|\|\||<<|>>|[^\w\s]")
COMPARISONS = {"<", ">", "<=", ">=", "==", "!="}
WORDS = {
    "for",
    "do",
    "switch",
    "case",
    "default",
    "goto",
    "break",
    "continue",
    "asm",
    "if",
    "while",
}
DECIDING = {*COMPARISONS, *WORDS, "&&", "||", "!", "?", "else"}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}

# A condition is 0 where it was not asked, 1 where it was false and 2 where it was true: digits of
# base 3. Decisions nest, as a condition may call a function.
RECORDER = """\
#include <stdio.h>
#include <stdlib.h>
static unsigned long long object_runs[{statements}], object_taken[{decisions}][{vectors}][2];
static unsigned object_open[16];
static int object_depth;
unsigned long long object_turns;
static void object_write(void) {{
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
static void object_ran(int statement) {{
    static int begun;
    if (!begun) {{
        begun = 1;
        atexit(object_write);
    }}
    object_runs[statement]++;
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
static int object_end(int decision, int loop, int value) {{
    object_taken[decision][object_open[--object_depth]][value]++;
    object_turns += loop && value;
    return value;
}}
"""


class UnknownError(ValueError):
    """The C has what is not known here."""


class Statement(NamedTuple):
    """A statement, by its function and line."""

    function: str
    line: int


class Decision(NamedTuple):
    """A decision: its lines, whether it is that of a loop, and the texts of its conditions."""

    function: str
    line: int
    last_line: int
    loop: bool
    conditions: tuple[str, ...]


# The digits of the conditions and the outcome.
Vector = tuple[tuple[int, ...], bool]


class Source:
    """The C, taken to pieces: its statements and decisions, and the copy that keeps count."""

    def __init__(self, text: str) -> None:
        self.text = text
        plain = BLANK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self.tokens = [(match[0], match.start()) for match in TOKEN.finditer(plain)]
        self.tokens.append(("", len(text)))
        for line in re.findall("(?m)^ *#.*", text):
            if not DIRECTIVE.fullmatch(line):
                raise UnknownError(line)
        self.at, self.function = 0, ""
        self.statements: list[Statement] = []
        self.decisions: list[Decision] = []
        self.inserted: list[tuple[int, str]] = []
        self._file()

    @property
    def counting(self) -> str:
        """The copy that keeps count."""
        parts, end = [], 0
        for place, text in sorted(self.inserted, key=lambda each: each[0]):
            parts += [self.text[end:place], text]
            end = place
        sizes = {"statements": len(self.statements), "decisions": len(self.decisions)}
        vectors = 3 ** max(len(each.conditions) for each in self.decisions)
        return RECORDER.format(vectors=vectors, **sizes) + "".join(parts) + self.text[end:]

    def _next(self, *wanted: str) -> str:
        token = self.tokens[self.at][0]
        if not token or (wanted and token not in wanted):
            line = self._line(self.at)
            raise UnknownError(f"line {line}: {token or 'the end'}, not {' or '.join(wanted)}")
        self.at += 1
        return token

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, self.tokens[at][1]) + 1

    def _insert(self, at: int, text: str) -> None:
        self.inserted.append((self.tokens[at][1], text))

    def _skip(self, *ends: str) -> list[str]:
        """Go to one of some tokens outside of parentheses, past nothing that decides."""
        start, pending = self.at, [""]
        while pending[-1] or self.tokens[self.at][0] not in ends:
            token = self._next()
            if token in OPEN:
                pending.append(OPEN[token])
            elif token in CLOSE and token != pending.pop():
                raise UnknownError(f"line {self._line(self.at - 1)}: {token}")
            elif token in DECIDING:
                raise UnknownError(f"line {self._line(self.at - 1)}: {token} outside of a decision")
        return [token for token, _ in self.tokens[start : self.at]]

    def _file(self) -> None:
        while self.tokens[self.at][0]:
            head = self._skip("{", ";")
            if "typedef" in head:
                self._skip(";")
            if self._next("{", ";") == "{":
                self.at -= 1
                self.function = head[head.index("(") - 1]
                self._block()

    def _block(self) -> None:
        self._next("{")
        while self.tokens[self.at][0] != "}":
            self._statement()
        self._next("}")

    def _statement(self) -> None:
        start, kind = self.at, self.tokens[self.at][0]
        if kind not in ("if", "while"):
            words = self._skip(";", "")
            self._next(";")
            if is_declaration(words) and "=" not in words:
                return
        self.statements.append(Statement(self.function, self._line(start)))
        self._insert(start, f"object_ran({len(self.statements) - 1}); ")
        if kind in ("if", "while"):
            self._next()
            self._decision(kind == "while")
            self._block()
            if kind == "if" and self.tokens[self.at][0] == "else":
                self._next()
                self._block()

    def _decision(self, loop: bool) -> None:
        start = self.at
        self._next("(")
        conditions: list[str] = []
        self._insert(self.at, f"object_end({len(self.decisions)}, {int(loop)}, object_begin() && (")
        self._alternatives(conditions)
        self._insert(self.at, "))")
        self._next(")")
        lines = self._line(start), self._line(self.at - 1)
        self.decisions.append(Decision(self.function, *lines, loop, tuple(conditions)))

    def _alternatives(self, conditions: list[str]) -> None:
        """A condition, or several, joined by && and ||: C's precedence is that of the copy too."""
        self._condition(conditions)
        while self.tokens[self.at][0] in ("&&", "||"):
            self._next()
            self._condition(conditions)

    def _condition(self, conditions: list[str]) -> None:
        if self.tokens[self.at][0] == "!":
            self._next()
            if self.tokens[self.at][0] != "(":
                raise UnknownError(f"line {self._line(self.at)}: ! without parentheses")
        if self._groups():
            self._next()
            self._alternatives(conditions)
            self._next(")")
            return
        start = self.at
        self._skip(*COMPARISONS)
        self._next()
        self._skip("&&", "||", ")")
        begin, end = self.tokens[start][1], self.tokens[self.at][1]
        self._insert(start, f"object_is({3 ** len(conditions)}u, ")
        self._insert(self.at, ")")
        conditions.append(" ".join(self.text[begin:end].split()))

    def _groups(self) -> bool:
        """Tell whether parentheses open here that hold conditions, and not numbers."""
        if self.tokens[self.at][0] != "(":
            return False
        pending, at = 1, self.at + 1
        while pending and self.tokens[at][0]:
            pending += {"(": 1, ")": -1}.get(self.tokens[at][0], 0)
            at += 1
        return self.tokens[at][0] in ("&&", "||", ")")


def is_declaration(words: list[str]) -> bool:
    """Tell whether a statement declares something: a type and a name."""
    name = [word for word in words if word not in ("const", "*")][:2]
    return len(name) == 2 and name[0] != "return" and all(word.isidentifier() for word in name)


def read(path: Path, source: Source, ran: Counter[int], taken: dict[int, Counter[Vector]]) -> None:
    """Add what a run of the copy has left."""
    for line in path.read_text(encoding="ascii").splitlines():
        kind, *numbers = line.split()
        number, *vector, count = map(int, numbers)
        if kind == "ran":
            ran[number] += count
        elif count:
            digits, length = vector[0], len(source.decisions[number].conditions)
            values = tuple(digits // 3**place % 3 for place in range(length))
            taken.setdefault(number, Counter())[values, bool(vector[1])] += count


def is_independent(place: int, vectors: Collection[Vector]) -> bool:
    """Tell whether a condition was seen to decide alone: its value and the outcome differ between
    two vectors, and each other condition is the same in both, or was not asked in one of them.
    """
    return any(
        v[place] + w[place] == 3
        and one != other
        and all(v[k] == w[k] or 0 in (v[k], w[k]) for k in range(len(v)) if k != place)
        for (v, one), (w, other) in product(vectors, repeat=2)
    )


class Gap(NamedTuple):
    """What was not covered: the kind, which of this kind it is, its name, and its line."""

    kind: str
    item: tuple[int, ...]
    name: str
    line: int


def gaps(source: Source, ran: Counter[int], taken: dict[int, Counter[Vector]]) -> Iterator[Gap]:
    """Give what was not covered; a name has the function and the text."""
    lines = source.text.splitlines()
    for number, (function, line) in enumerate(source.statements):
        if not ran[number]:
            yield Gap("statement", (number,), f"{function}: {lines[line - 1].strip()}", line)
    for number, (function, line, _, _, conditions) in enumerate(source.decisions):
        vectors, text = taken.get(number, Counter()), lines[line - 1].strip()
        for value in {False, True} - {outcome for _, outcome in vectors}:
            yield Gap("decision", (number,), f"{function}: never {value}: {text}", line)
        for place, text in enumerate(conditions):
            item = number, place
            for digit in {1, 2} - {values[place] for values, _ in vectors}:
                yield Gap("condition", item, f"{function}: never {digit == 2}: {text}", line)
            if not is_independent(place, vectors):
                yield Gap("mc/dc", item, f"{function}: never decides alone: {text}", line)
