"""Write C as a person would, of the C that Why3 prints: names, declarations, layout.

Only what Why3's printer makes of the extracted programs is known: functions of declarations,
assignments, calls, `if`, `while` and `return`. All else is refused, and so is every name that is
not a parameter, a variable, or something that stands above. What is changed means the same:

    INT64_C(1)                      1, beside a variable, which has 64 bits
    !(a == b)                       a != b
    a && (b && c)                   a && b && c
    else { if (a) { .. } }          else if (a) { .. }
    return; } at the end            }
    int64_t a; .. a = 1;            int64_t a = 1;
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gate.closed import ToolError

LINE_LENGTH = 100
INDENT = "    "

TOKEN = re.compile(
    r"\s*(?:([A-Za-z_]\w*)|(0[xX][0-9a-fA-F]+|\d+)|(->|==|!=|<=|>=|&&|\|\||[-+*/%<>=!;,(){}\[\]]))"
)
TYPES = {"int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "whycast_place", "word_16"}
QUALIFIERS = {"const", "void", *TYPES}
KEYWORDS = {"if", "else", "while", "return", "INT64_C", "size_t", *QUALIFIERS}
MEMBERS = ("tensor", "axis")
OUTSIDE = {"memcpy"}
ARITHMETIC = {"+", "-", "*", "/", "%"}
BINARY = ARITHMETIC | {"<", ">", "<=", ">=", "==", "!=", "&&", "||", "="}

# Of a number that is no longer than this, a sum or product with another one is an `int` as well.
SHORT = 2**15

Tokens = list[str]


class Known(NamedTuple):
    """What may be named: definitions, each with its name in C, and functions of the prelude."""

    names: Mapping[str, str]
    prelude: set[str]


@dataclass
class Statement:
    """A statement: `tokens` of an expression, of a condition, or of what is returned.

    `kind` is expression, return, if or while; `declares` has the type of the variable that is
    declared there.
    """

    kind: str
    tokens: Tokens
    blocks: list[list[Statement]] = field(default_factory=list)
    declares: str = ""


class Variable(NamedTuple):
    """A parameter or variable, with its type: `const int64_t *`."""

    type: str
    name: str


class Function(NamedTuple):
    """A function as Why3 prints it."""

    type: str
    name: str
    parameters: list[Variable]
    variables: list[Variable]
    body: list[Statement]


class Written(NamedTuple):
    """A function as it is written, and how it is declared."""

    text: str
    prototype: str


# --- reading ------------------------------------------------------------------------------------


def tokens(text: str) -> Tokens:
    """Split a text into words."""
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise ToolError(f"C that is not known: {text[place : place + 60]!r}")
        found.append(match[1] or match[2] or match[3])
        place = match.end()
    return found


class Reader:
    """The words that are still to be read."""

    def __init__(self, found: Tokens, what: str) -> None:
        self.found, self.place, self.what = found, 0, what

    def fail(self, why: str) -> ToolError:
        """Say where it is that something is not known."""
        there = " ".join(self.found[self.place : self.place + 12])
        return ToolError(f"{self.what}: {why}: {there}")

    def peek(self) -> str:
        """Give the next word."""
        return self.found[self.place] if self.place < len(self.found) else ""

    def take(self, *wanted: str) -> str:
        """Read a word."""
        word = self.peek()
        if not word or (wanted and word not in wanted):
            raise self.fail(f"expected {' or '.join(wanted) or 'more'}")
        self.place += 1
        return word

    def until(self, *ends: str) -> Tokens:
        """Read up to a word that is not within parentheses."""
        found, depth = Tokens(), 0
        while depth or self.peek() not in ends:
            word = self.take()
            depth += (word in "([") - (word in ")]")
            if word in ("{", "}") or depth < 0:
                raise self.fail("parentheses")
            found.append(word)
        return found

    def type(self) -> str:
        """Read a type."""
        found = Tokens()
        while self.peek() in QUALIFIERS or self.peek() == "*":
            found.append(self.take())
        if not found or found[0] == "*":
            raise self.fail("expected a type")
        return typed(found)

    def variable(self) -> Variable:
        """Read a type and a name."""
        kind, name = self.type(), self.take()
        if not name.isidentifier() or name in KEYWORDS:
            raise self.fail("expected a name")
        return Variable(kind, name)

    def block(self) -> list[Statement]:
        """Read statements in braces."""
        found = []
        self.take("{")
        while self.peek() != "}":
            found.append(self.statement())
        self.take("}")
        return found

    def statement(self) -> Statement:
        """Read a statement."""
        word = self.peek()
        if word in ("if", "while"):
            self.take()
            self.take("(")
            condition = self.until(")")
            self.take(")")
            made = Statement(word, condition, [self.block()])
            if word == "if" and self.peek() == "else":
                self.take()
                made.blocks.append(self.block())
            return made
        if word == "return":
            self.take()
        found = self.until(";")
        self.take(";")
        return Statement("return" if word == "return" else "expression", found)


def typed(found: Tokens) -> str:
    """Write a type: `const int64_t *const *`."""
    return " ".join(found).replace("* const", "*const").replace("* *", "**")


def parse(text: str, what: str) -> Function:
    """Read a function."""
    reader = Reader(tokens(text), what)
    kind, name = reader.variable()
    parameters = []
    reader.take("(")
    while reader.peek() != ")":
        parameters.append(reader.variable())
        if reader.peek() != ")":
            reader.take(",")
    reader.take(")")
    reader.take("{")
    variables = []
    while reader.peek() in TYPES | {"const"}:
        first = reader.variable()
        variables.append(first)
        while reader.peek() == ",":
            reader.take()
            if first.type.endswith("*"):
                raise reader.fail("expected a type of its own for each pointer")
            variables.append(Variable(first.type, reader.take()))
        reader.take(";")
    reader.place -= 1
    reader.found[reader.place] = "{"
    body = reader.block()
    if reader.peek():
        raise reader.fail("expected one function")
    return Function(kind, name, parameters, variables, body)


def expression(reader: Reader) -> None:
    """Read an expression: operands with operators between them."""
    operand(reader)
    while reader.peek() in BINARY:
        reader.take()
        operand(reader)


def operand(reader: Reader) -> None:
    """Read an operand: signs and casts, a name, a number or parentheses, and what belongs to it."""
    while reader.peek() in ("-", "!"):
        reader.take()
    word = reader.take()
    if word == "(" and reader.peek() in ("size_t", "void"):
        reader.take()
        reader.take(")")
        operand(reader)
        return
    if word == "(":
        expression(reader)
        reader.take(")")
    elif not (word.isidentifier() or word[0].isdigit()):
        raise reader.fail(f"expected an operand instead of {word}")
    while reader.peek() in ("(", "[", "->"):
        opened = reader.take()
        if opened == "->":
            reader.take(*MEMBERS)
        elif opened == "[":
            expression(reader)
            reader.take("]")
        else:
            while reader.peek() != ")":
                expression(reader)
                if reader.peek() != ")":
                    reader.take(",")
            reader.take(")")


# --- what is known ------------------------------------------------------------------------------


def each(body: Sequence[Statement]) -> Iterator[Statement]:
    """Give all statements."""
    for statement in body:
        yield statement
        for block in statement.blocks:
            yield from each(block)


def check(function: Function, known: Known, above: set[str]) -> None:
    """Refuse a name that is not known, or stands for two things."""
    own = [v.name for v in (*function.parameters, *function.variables)]
    free = {*known.names, *known.names.values(), *known.prelude, *KEYWORDS, *OUTSIDE}
    if len({*own}) < len(own) or free & {*own}:
        both = sorted({name for name in own if own.count(name) > 1 or name in free})
        raise ToolError(f"{function.name}: {', '.join(both)} has two meanings")
    allowed = {*own, *above, *known.prelude, *OUTSIDE, "INT64_C", "size_t", "void"}
    for statement in each(function.body):
        if statement.tokens or statement.kind != "return":
            reader = Reader(statement.tokens, function.name)
            expression(reader)
            if reader.peek():
                raise reader.fail("expected the end")
        for before, word in zip(["", *statement.tokens], statement.tokens, strict=False):
            is_member = before == "->"
            if word.isidentifier() and word not in allowed and not is_member:
                raise ToolError(f"{function.name}: {word} is not known there")


# --- what is changed ----------------------------------------------------------------------------


def closing(found: Sequence[str], place: int) -> int:
    """Give the place of the parenthesis that closes the one at a place."""
    depth = 0
    for index in range(place, len(found)):
        depth += (found[index] in "([") - (found[index] in ")]")
        if depth == 0:
            return index
    raise ToolError(f"parentheses: {' '.join(found)}")


def at_top(found: Sequence[str]) -> Tokens:
    """Give the words that are not within parentheses."""
    kept, depth = Tokens(), 0
    for word in found:
        depth -= word in ")]"
        if depth == 0:
            kept.append(word)
        depth += word in "(["
    return kept


def with_numbers(found: Tokens) -> Tokens:
    """Write numbers as such where their type makes no difference."""
    made, place = Tokens(), 0
    while place < len(found):
        if found[place] != "INT64_C":
            made.append(found[place])
            place += 1
            continue
        end = closing(found, place + 1)
        number = found[place + 2 : end]
        value = int("".join(number), 0)
        if value == 2**63 - 1:
            made.append("INT64_MAX")
        elif abs(value) < SHORT:
            made += number
        else:
            made += found[place : end + 1]
        place = end + 1
    for before, operator, after in zip(made, made[1:], made[2:], strict=False):
        if before.isdigit() and operator in ARITHMETIC and after.isdigit():
            raise ToolError(f"numbers alone: {' '.join(found)}")
    return made


def without_negation(found: Tokens) -> Tokens:
    """Write `a != b` for `!(a == b)`."""
    for place, word in enumerate(found[:-1]):
        if word == "!" and found[place + 1] == "(":
            end = closing(found, place + 1)
            inside = found[place + 2 : end]
            top = [
                w
                for w in at_top(inside)
                if w in {"==", "!=", "&&", "||", "=", "<", ">", "<=", ">="}
            ]
            before = found[place - 1] if place else "("
            after = found[end + 1] if end + 1 < len(found) else ")"
            if top == ["=="] and before in ("(", "&&", "||") and after in (")", "&&", "||"):
                level = 0
                for index, inner in enumerate(inside):
                    level += (inner in "([") - (inner in ")]")
                    if level == 0 and inner == "==":
                        inside[index] = "!="
                return without_negation([*found[:place], *inside, *found[end + 1 :]])
    return found


def flat(found: Tokens) -> Tokens:
    """Write `a && b && c` for `a && (b && c)`."""
    for place, word in enumerate(found[:-1]):
        if word in ("&&", "||") and found[place + 1] == "(":
            end = closing(found, place + 1)
            inside = found[place + 2 : end]
            logical = {w for w in at_top(inside) if w in ("&&", "||")}
            after = found[end + 1] if end + 1 < len(found) else ")"
            if logical <= {word} and after in (")", word) and "=" not in at_top(inside):
                return flat([*found[: place + 1], *inside, *found[end + 1 :]])
    return found


def shortened(body: list[Statement], *, at_end: bool) -> list[Statement]:
    """Leave out a `return` where a function that gives nothing ends anyway."""
    if at_end and body and body[-1].kind == "return" and not body[-1].tokens:
        body = body[:-1]
    if body and body[-1].kind == "if":
        blocks = [shortened(block, at_end=at_end) for block in body[-1].blocks]
        body = [*body[:-1], Statement("if", body[-1].tokens, blocks)]
    return body


def mentions(statement: Statement, name: str) -> bool:
    """Tell whether a variable occurs in a statement."""
    return any(name in inner.tokens for inner in each([statement]))


def declare(body: list[Statement], variable: Variable) -> None:
    """Declare a variable where it gets its first value, or right before."""
    places = [index for index, statement in enumerate(body) if mentions(statement, variable.name)]
    if not places:
        raise ToolError(f"{variable.name} is not used")
    first = body[places[0]]
    if len(places) == 1 and variable.name not in first.tokens:
        within = [block for block in first.blocks if any(mentions(s, variable.name) for s in block)]
        if len(within) == 1:
            declare(within[0], variable)
            return
    is_set = first.kind == "expression" and first.tokens[:2] == [variable.name, "="]
    if is_set and variable.name not in first.tokens[1:] and not first.declares:
        first.declares = variable.type
    else:
        body.insert(places[0], Statement("expression", [variable.name], declares=variable.type))


# --- writing ------------------------------------------------------------------------------------


def named(kind: str, text: str) -> str:
    """Write a type before a name: `const int64_t *shape`."""
    return f"{kind}{text}" if kind.endswith("*") else f"{kind} {text}"


def spaced(found: Sequence[str]) -> Tokens:
    """Join words that have no space between them."""
    made = Tokens()
    glue = True
    for index, word in enumerate(found):
        before = found[index - 1] if index else ""
        is_sign = word in ("-", "!") and (
            not before or before in BINARY | {"(", ",", "[", "return"}
        )
        is_call = word == "(" and (before.isidentifier() or before == "]") and before != "return"
        if word in (")", "]", ",", ";", "->", "[") or is_call or glue:
            made = [*made[:-1], (made[-1] if made else "") + word]
        else:
            made.append(word)
        is_cast = word == ")" and before in ("size_t", "void")
        glue = word in ("(", "[", "->") or is_sign or is_cast
    return made


def filled(pieces: Sequence[str], indent: str) -> str:
    """Fill lines; further ones begin below what follows the first parenthesis."""
    line = indent + pieces[0]
    lines = []
    for piece in pieces[1:]:
        if len(line) + 1 + len(piece) > LINE_LENGTH:
            lines.append(line)
            start = lines[0].find("(") + 1
            line = " " * start + piece
        else:
            line += " " + piece
    return "\n".join([*lines, line])


def lines(body: Sequence[Statement], indent: str) -> Iterator[str]:
    """Write statements."""
    for statement in body:
        yield from statement_lines(statement, indent, "")


def statement_lines(statement: Statement, indent: str, before: str) -> Iterator[str]:
    """Write a statement; `before` is what stands on the line already."""
    if statement.kind in ("if", "while"):
        head = [f"{before}{statement.kind}", *spaced(["(", *statement.tokens, ")"]), "{"]
        yield filled(head, indent)
        yield from lines(statement.blocks[0], indent + INDENT)
        rest = statement.blocks[1] if len(statement.blocks) > 1 else []
        if len(rest) == 1 and rest[0].kind == "if":
            yield from statement_lines(rest[0], indent, "} else ")
            return
        if rest:
            yield f"{indent}}} else {{"
            yield from lines(rest, indent + INDENT)
        yield f"{indent}}}"
        return
    found = spaced([*(["return"] if statement.kind == "return" else []), *statement.tokens, ";"])
    if statement.declares:
        found = named(statement.declares, " ".join(found)).split(" ")
    yield filled(found, indent)


def write(function: Function, known: Known, *, static: bool) -> Written:
    """Write a function; what it names has to stand above it."""
    order = [*known.names]
    check(function, known, {*order[: order.index(function.name)]})
    for statement in each(function.body):
        found = flat(without_negation(with_numbers(statement.tokens)))
        statement.tokens = [known.names.get(word, word) for word in found]
    body = shortened(function.body, at_end=function.type == "void")
    for variable in function.variables:
        declare(body, variable)
    head = ["static"] * static + named(function.type, known.names[function.name]).split(" ")
    parameters = [named(v.type, v.name) for v in function.parameters]
    listed = [f"{text}," for text in parameters[:-1]] + [f"{text})" for text in parameters[-1:]]
    pieces = [" ".join(head) + "(" + listed[0], *listed[1:]]
    text = "\n".join([filled(pieces, ""), "{", *lines(body, INDENT), "}"])
    return Written(f"{text}\n", filled([*pieces[:-1], f"{pieces[-1]};"], "") + "\n")
