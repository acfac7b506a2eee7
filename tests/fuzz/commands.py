"""The command line and the lines of `whycast serve` as targets: wild words, wild bytes."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, TypeVar

from calls import Call, Check
from hypothesis import strategies as st

from whycast import _command
from whycast._rules import RULES
from whycast.testing import strategies
from whycast.testing._cases._case import LEVELS, Case
from whycast.testing._lines import request
from whycast.testing._lines._elements import left_out

_T = TypeVar("_T")


def _over(data: bytes = b"", errors: str = "strict") -> tuple[io.BytesIO, io.TextIOWrapper]:
    raw = io.BytesIO(data)
    return raw, io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)


def serve(data: bytes) -> list[Any]:
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


def command(words: list[str]) -> tuple[int, str, str]:
    """Run the command line; return the code, what it printed and what it complained of."""
    (raw, output), (raw_error, error) = _over(), _over(errors="backslashreplace")
    with redirect_stdout(output), redirect_stderr(error):
        code = _command.main(words)
    return code, raw.getvalue().decode(), raw_error.getvalue().decode()


_ANSWERS = {"accepted", "shape", "index", "strides", "array", "arrays", "refused", "error"}
_ODD = (2, -1, 0, 2**31, 2**63, 2**64, 10**30, 1.5, True, None, "", "int32", "\ud800")
_VALUES = st.recursive(
    st.sampled_from(_ODD),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("dtype", "shape", "elements", "")), inner)
    ),
    max_leaves=6,
)
_FIELDS = st.sampled_from(("id", "other", "expected", "rule", "level", "target", "axes", "index"))
_BYTES = st.sampled_from((b"", b"\xff", b"[" * 2000, b"NaN", b"1e999", b"1" * 5000, b"\0"))
_RULES = st.sampled_from(tuple(RULES))
_LEVELS = st.sampled_from(LEVELS)


def _cases(rule: str, level: str) -> st.SearchStrategy[Case]:
    """Draw what lines can say."""
    drawn = strategies.cases(rule, level, max_dims=3, max_side=3)  # type: ignore[arg-type]
    return drawn.filter(lambda case: left_out(RULES[rule], case) is None)


def _seldom(draw: st.DrawFn, times: int) -> bool:
    return draw(st.integers(1, times)) == times


@st.composite
def _line(draw: st.DrawFn) -> bytes:
    if _seldom(draw, 8):
        return draw(st.binary()).replace(b"\n", b"").replace(b"\r", b"")
    rule, level = draw(_RULES), draw(_LEVELS)
    message: dict[str, Any] = request(RULES[rule], level, draw(_cases(rule, level)))
    if _seldom(draw, 3):
        message[draw(_FIELDS | st.sampled_from(tuple(message)))] = draw(_VALUES)
    if _seldom(draw, 4) and isinstance(message.get("array"), dict):
        message["array"][draw(st.sampled_from(("dtype", "shape", "elements")))] = draw(_VALUES)
    if _seldom(draw, 8):
        message.pop(draw(st.sampled_from(tuple(message))))
    line = json.dumps(message).encode()
    if _seldom(draw, 8):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(_BYTES) + line[at:]
    return line


@st.composite
def lines(draw: st.DrawFn) -> Call:
    """Draw lines, most of them requests."""
    return Call((b"\n".join(draw(st.lists(_line(), min_size=1, max_size=3))),), {}, tame=True)


def answers(call: Call) -> Check:
    """Demand an answer to each line that is not blank."""
    asked = [line for line in call.args[0].split(b"\n") if line.strip()]

    def check(found: Any) -> None:
        for answer, line in zip(found, asked, strict=True):
            assert isinstance(answer, dict)
            assert len(answer.keys() & _ANSWERS) == 1
            assert not answer.keys() - {*_ANSWERS, "id", "axis", "tensor", "line"}
            assert ("id" in answer) <= (b'"id"' in line)

    return check


_COMMANDS = st.sampled_from(("shape", "explain", "index", "strides", "plan"))
_OPTIONS = ("json", "rule", "axes", "itemsize", "strides", "help", "version", "ru", "svg", "")
_WORDS = st.one_of(
    st.sampled_from(("2x3", "3x1", "1", "()", "scalar", "0", "0x2", "1x1x1x1x1", "0,1", "-1,2")),
    st.lists(st.integers(0, 3), max_size=4).map(lambda sizes: "x".join(map(str, sizes)) or "()"),
    st.sampled_from(_OPTIONS).map(lambda name: f"--{name}"),
    st.sampled_from((*RULES, "--rule=in-dim", "--axes=1,0", "--axes=()", "figure.svg", "shape")),
    st.sampled_from(("", " ", "-", "x", "3xx1", "3X1", "1e3", "-0", "\uff11x2", "2x\n3", "\0")),
    st.sampled_from(("9" * 30 + "x2", "9" * 3000, "1," * 3000 + "1", "\ud800", "é", "@file")),
)


@st.composite
def words(draw: st.DrawFn) -> Call:
    """Draw words, most of them after that of a subcommand."""
    command = [] if _seldom(draw, 8) else [draw(_COMMANDS)]
    return Call(([*command, *draw(st.lists(_WORDS, min_size=1, max_size=6))],), {}, tame=True)


def printed(call: Call) -> Check:
    """Demand an exit code, a result or a complaint, and JSON where that is asked for."""
    (asked,) = call.args

    def check(result: Any) -> None:
        code, out, complaint = result
        assert code in (0, 1, 2)
        assert bool(complaint) <= (code > 0)
        assert out or complaint
        if code == 0 and "--json" in asked and not {"--", "--help", "--version"} & {*asked}:
            for line in out.splitlines():
                json.loads(line)

    return check
