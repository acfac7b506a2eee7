"""The command line and the lines of `whycast serve` as targets: wild words, wild bytes."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import wild
from calls import Call
from wild import Choices

from whycast import _command
from whycast._rules import RULES
from whycast.testing._cases._case import LEVELS
from whycast.testing._lines import fields


def _over(data: bytes = b"", errors: str = "strict") -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO(data)
    return raw, io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)


def serve(data: bytes) -> list[object]:
    """Answer lines; return the answers."""
    source, (raw, output) = _over(data)[1], _over()
    before = sys.stdin
    sys.stdin = source
    try:
        with redirect_stdout(output):
            assert _command.main(["serve"]) == 0
    finally:
        sys.stdin = before
    return [json.loads(line) for line in raw.getvalue().splitlines()]


_ANSWERS = ("accepted", "shape", "index", "strides", "array", "arrays", "refused", "error")


def _value(c: Choices, depth: int = 3) -> object:
    """JSON value that is nothing in particular."""
    kind = c.below(12)
    if kind < 3 and depth:
        return [_value(c, depth - 1) for _ in range(c.below(4))]
    if kind < 4 and depth:
        return {c.pick(("dtype", "shape", "id", "")): _value(c, depth - 1)}
    odd = (2, -1, 0, 2**31, 2**63, 2**64, 10**30, 10**400, 1.5, True, None, "", "int32", "\ud800")
    return c.pick(odd)


def _encoded(c: Choices, shape: wild.Shape) -> object:
    dtype, digits = c.pick((("int16", 4), ("bool", 2), ("float32", 8), ("complex128", 32)))
    count = 1
    for size in shape:
        count *= size
    elements: object = ("00" * digits)[:digits] * count
    if c.once_in(4):
        dtype, elements = c.pick(("str", "object", "StringDType")), [c.pick(("a", "\0"))] * count
    if c.once_in(12):
        elements = _value(c)
    return {"dtype": dtype, "shape": list(shape), "elements": elements}


def lines(c: Choices) -> Call:
    """Draw lines, some of them requests."""
    drawn = b"\n".join([_line(c) for _ in range(1 + c.below(3))])

    def right(answers: Any) -> None:
        wanted = [line for line in drawn.split(b"\n") if line.strip()]
        assert len(answers) == len(wanted)
        for answer, line in zip(answers, wanted, strict=True):
            assert isinstance(answer, dict)
            assert sum(name in answer for name in _ANSWERS) == 1
            assert not answer.keys() - {*_ANSWERS, "id", "axis", "tensor", "line"}
            assert ("id" in answer) <= (b'"id"' in line)

    return Call((drawn,), lambda: right, judged=False)


def _line(c: Choices) -> bytes:
    if c.once_in(8):
        return c.rest().replace(b"\n", b"").replace(b"\r", b"")
    rule, level = RULES[c.pick(tuple(RULES))], c.pick(LEVELS)
    target = wild.target(c)
    on = wild.axes_of(c, len(target), any_order=True)
    own = wild.own(c, target, on if rule.takes == "axes" and min(on, default=0) >= 0 else None)
    known = {
        "shapes": [own, target],
        "shape": own,
        "target": target,
        "axes": on,
        "index": [c.below(4) for _ in target],
        "strides": [wild.integer(c) for _ in own],
    }
    message: dict[str, object] = {"rule": rule.name, "level": level}
    for name in fields(rule, level):
        if name == "array":
            message[name] = _encoded(c, own)
        elif name == "arrays":
            message[name] = [_encoded(c, own), _encoded(c, target)]
        else:
            message[name] = known[name]
    if c.once_in(3):
        message["id"] = _value(c)
    if c.once_in(4):
        message[c.pick(tuple(message))] = _value(c)
    if c.once_in(8):
        message[c.pick(("other", "expected", "target", "axes", "index"))] = _value(c)
    if c.once_in(8):
        message.pop(c.pick(tuple(message)))
    try:
        line = json.dumps(message).encode()
    except ValueError:
        # Python writes no integer of so many digits.
        line = b'{"rule": "expand", "level": "shape", "shape": [' + b"1" * 5000 + b"]}"
    if c.once_in(8):
        at = c.below(len(line))
        line = line[:at] + c.pick((b"", b"\xff", b"[" * 2000, b"NaN", b"1e999", b"\0")) + line[at:]
    return line


def command(words: list[str]) -> tuple[int, str, str]:
    """Run the command line; return the code, what it printed and what it complained of."""
    (raw, output), (raw_error, error) = _over(), _over(errors="backslashreplace")
    with redirect_stdout(output), redirect_stderr(error):
        code = _command.main(words)
    return code, raw.getvalue().decode(), raw_error.getvalue().decode()


_COMMANDS = ("shape", "explain", "index", "strides")
_WORDS = (
    *(
        "2x3",
        "3x1",
        "1",
        "()",
        "scalar",
        "0",
        "0x2",
        "4",
        "1x1x1x1x1",
        "0,1",
        "1,2,3",
        "-1",
        "-1,2",
    ),
    *("--json", "--rule", "--axes", "--itemsize", "--strides", "--help", "--version", "--", "-"),
    *(*RULES, "--rule=in-dim", "--axes=1,0", "--axes=()", "--svg", "figure.svg", "serve", "shape"),
    *(
        "",
        " ",
        "x",
        "3x",
        "x3",
        "3xx1",
        "3X1",
        "\uff11x2",
        "2x\n3",
        "1e3",
        "0x",
        "-0",
        "--ru",
        "@file",
    ),
    *("9" * 30 + "x2", "9" * 3000, "1," * 3000 + "1", "18446744073709551616", "\0", "\ud800", "é"),
)


def words(c: Choices) -> Call:
    """Draw words, most of them those of a subcommand."""
    drawn = [c.pick(_COMMANDS)] if not c.once_in(8) else []
    if c.below(2):
        target = wild.target(c)
        shapes = [wild.own(c, target), target]
        drawn += ["x".join(map(str, shape)) or "()" for shape in shapes]
        if drawn[0] == "index":
            drawn.append(",".join(str(c.below(4)) for _ in target) or "()")
        if c.below(2):
            axes = wild.axes_of(c, len(target), any_order=True)
            drawn += ["--rule", c.pick(tuple(RULES))]
            if c.below(2):
                drawn += ["--axes", ",".join(map(str, axes)) or "()"]
    for _ in range(c.below(5)):
        drawn.insert(c.below(len(drawn) + 1), c.pick(_WORDS))
    # Not these: a program of that name would be started, or many files written.
    drawn = [word for word in drawn if word not in ("check", "cases", "serve")] or ["shape"]

    def right(result: Any) -> None:
        code, out, complaint = result
        assert code in (0, 1, 2)
        assert bool(complaint) <= (code > 0)
        assert out or complaint
        if code == 0 and "--json" in drawn and not {"--", "--help", "--version"} & {*drawn}:
            for line in out.splitlines():
                json.loads(line)

    return Call((drawn,), lambda: right, judged=False)
