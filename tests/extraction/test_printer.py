"""The extraction printer: what it accepts, what it refuses, and what its Python looks like.

The programs in printer/accepted.mlw have conditions in comments at the top, `python: f(1) == 2`,
with what Why3's own interpreter makes of the calls. Those in printer/refused.mlw have above them
the message, and the line that it points to. The form of the Python is to be seen in the committed
kernel, which `extract --check` compares.
"""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate import binaries, closed, extraction

PROGRAMS = Path(__file__).with_name("printer")
ACCEPTED = PROGRAMS / "accepted.mlw"
CONDITIONS = re.findall(r"\(\* python: (.*) \*\)", ACCEPTED.read_text(encoding="utf-8"))
REFUSED = (PROGRAMS / "refused.mlw").read_text(encoding="utf-8").split("\n\n")[1:]
BIN = closed.ROOT / ".venv" / "bin"


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Extract the accepted programs."""
    file = tmp_path_factory.mktemp("extracted") / "accepted.py"
    text = extraction.normalise(extraction.why3_extract(str(ACCEPTED)))
    file.write_text(text, encoding="utf-8")
    return file


def raised(function: Callable[..., object], *arguments: object) -> tuple[str, object] | None:
    """Give the name and the value of the exception that a call raises."""
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, getattr(error, "value", None)
    return None


# What the programs compute


@pytest.fixture(scope="module")
def names(extracted: Path) -> dict[str, Any]:
    return {**runpy.run_path(str(extracted)), "raised": raised}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_hold(condition: str, names: dict[str, Any]) -> None:
    assert eval(condition, names), condition


# The form of the Python


def test_types_are_complete(extracted: Path) -> None:
    cache = closed.ROOT / "build" / "cache" / "mypy"
    options: list[str | Path] = ["--strict", "--config-file=", "--cache-dir", cache]
    command = [BIN / "mypy", *options, extracted]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_lint_finds_nothing(extracted: Path) -> None:
    rules = ["--select", "B,E,F,I,UP,W", "--ignore", "B002,E501,E741", "--line-length", "100"]
    options = ["check", "--isolated", "--target-version", "py310", *rules]
    command: list[str | Path] = [BIN / "ruff", *options, extracted]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_docstrings_are_comments_with_exceptions_and_whyml_names(names: dict[str, Any]) -> None:
    said = {
        "Stop": None,
        "return_from_handler": "A comment.\n\nIndented:\n  once more (* a comment inside *)\n\n"
        "The end.\n\nWhyML: Accepted.return_from_handler",
        "verify": "Raises: BadPair\nWhyML: Accepted.verify",
        "replaced": "Raises another one.\n\nRaises: BadPair\nWhyML: Accepted.replaced",
        "Point": "Two numbers.",
        "Red": "a color",
    }
    assert {name: inspect.cleandoc(names[name].__doc__ or "") or None for name in said} == said


# Driver syntax

SYNTAXES = [
    ("-%1 * %2 - %3", "op (a + b) b c - op a b c", "-(a + b) * b - c - (-a * b - c)"),
    ("%1 - %2 - %3", "op a (b - c) (op c b a)", "a - (b - c) - (c - b - a)"),
    ("[%1][%2:][%3]", "op (a + 1) b c", "[a + 1][b:][c]"),
    ("min(%1, %2, %3)", "op a (if b = c then 1 else 2) c", "min(a, 1 if b == c else 2, c)"),
    ("max(%1 < %2, %2 + %3 <= 2)", "op a b c", "max(a < b, b + c <= 2)"),
]  # fmt: skip


def driver(folder: Path, syntaxes: list[str]) -> Path:
    """Write a module Syntax with an operation of three arguments for each syntax, and a driver."""
    operations = range(len(syntaxes))
    vals = [f"  val op{i} (a b c: int) : int" for i in operations]
    module = ["module Syntax", "  use int.Int", *vals, "end"]
    (folder / "syntax.mlw").write_text("\n".join(module), encoding="utf-8")
    rules = [f'  syntax val op{i} "{syntax}"' for i, syntax in enumerate(syntaxes)]
    path = folder / "syntax.drv"
    path.write_text("\n".join(["module syntax.Syntax", *rules, "end"]), encoding="utf-8")
    return path


def extract_with(folder: Path, path: Path, program: str) -> str:
    """Extract a program that may use what is in a folder with an additional driver."""
    file = folder / "program.mlw"
    file.write_text(f"module Program\n  use int.Int\n{program}\nend\n", encoding="utf-8")
    libraries = [extraction.THEORIES, folder]
    return extraction.why3_extract(
        str(file), drivers=[extraction.DRIVER, path], libraries=libraries
    )


def test_arguments_get_their_parentheses(tmp_path: Path) -> None:
    path = driver(tmp_path, [syntax for syntax, _, _ in SYNTAXES])
    lets = [
        f"  let f{i} (a b c: int) : int = {re.sub('op', f'op{i}', body)}"
        for i, (_, body, _) in enumerate(SYNTAXES)
    ]
    text = extract_with(tmp_path, path, "\n".join(["  use syntax.Syntax", *lets]))
    expected = [f"    return {python}" for _, _, python in SYNTAXES]
    assert re.findall(r"^    return .*", text, re.MULTILINE) == expected


NOT_UNDERSTOOD = ("%1 + %2 +", "%1 %2 %3", "f(%1, %2, %3", "(*%1)", "%1[]", "%1 ? %2", "[:%1", "",
                  "%1 < %2 < %3", "%1 and %2", "(%1 + %2) * %3")  # fmt: skip
HOLES = "the holes in the driver's syntax for syntax.Syntax.op0 do not fit its parameters"
MALFORMED = {
    **{each: f'"{each}" for syntax.Syntax.op0 is not understood' for each in NOT_UNDERSTOOD},
    "%1 + %1 * %2 - %3": "repeats has to be a variable",
    **dict.fromkeys(("%1 + %2", "%1 + %2 + %3 + %4", "%1 + %2 + %0 + %3"), HOLES),
}


@pytest.mark.parametrize("syntax", MALFORMED)
def test_malformed_syntax_is_refused(syntax: str, tmp_path: Path) -> None:
    path = driver(tmp_path, [syntax])
    program = "  use syntax.Syntax\n  let f (a b c: int) : int = op0 (a + b) b c"
    with pytest.raises(closed.ToolError, match=re.escape(MALFORMED[syntax])):
        extract_with(tmp_path, path, program)


DRIVER_REFUSALS = {
    "a pattern with syntax.Syntax.Full is not supported": (
        "type t = Empty | Full int int",
        'syntax val Full "full(%1, %2)"',
        "let f (x: t) : int = match x with Empty -> 0 | Full a b -> a + b end",
    ),
    "syntax.Syntax.E has neither a definition": (
        "exception E",
        'syntax exception E "ValueError"',
        "let f (n: int) : int raises { E -> true } = if n = 0 then raise E; n",
    ),
    "a literal of a type other than int is not supported": (
        "type small = <range 0 9>",
        'syntax type small "int"',
        "let f (n: small) : small = (5: small)",
    ),
    "the driver's syntax for type syntax.Syntax.t is a statement": (
        "type t 'a",
        'syntax type t "%1 = 1"',
        "let f (x: t int) : int = let _ = x in 1",
    ),
    "syntax.Syntax.value is not a local variable": (
        "val value : int",
        'syntax val value "%1 + 1"',
        "let f (n: int) : int = value + n",
    ),
    "the driver's syntax for syntax.Syntax.size is a statement, but its result is not ()": (
        "val constant size : int",
        'syntax val size "a = 1"',
        "let f (n: int) : int = size + n",
    ),
}


@pytest.mark.parametrize("message", DRIVER_REFUSALS)
def test_drivers_that_go_too_far_are_refused(message: str, tmp_path: Path) -> None:
    declaration, rule, function = DRIVER_REFUSALS[message]
    module = f"module Syntax\n  use int.Int\n  {declaration}\nend\n"
    (tmp_path / "syntax.mlw").write_text(module, encoding="utf-8")
    path = tmp_path / "syntax.drv"
    path.write_text(f"module syntax.Syntax\n  {rule}\nend\n", encoding="utf-8")
    with pytest.raises(closed.ToolError, match=re.escape(message)):
        extract_with(tmp_path, path, f"  use syntax.Syntax\n  {function}")


# What is refused


@pytest.mark.parametrize("program", REFUSED, ids=lambda text: text.splitlines()[-1])
def test_refusals_say_what_and_where(program: str, tmp_path: Path) -> None:
    heads = re.findall(r"^\(\* (?:line (\d+): )?(.*) \*\)\n", program, re.MULTILINE)
    (line, message), body = heads[-1], program[program.rindex(" *)\n") + 4 :]
    file = tmp_path / "refused.mlw"
    file.write_text(f"module M use int.Int\n{body}\nend\n", encoding="utf-8")
    with pytest.raises(closed.ToolError) as refusal:
        extraction.why3_extract(str(file))
    said = str(refusal.value)
    assert message in said
    assert re.search(r'File ".*\.mlw", line \d+, characters \d+-\d+:', said)
    if line:
        assert f'refused.mlw", line {int(line) + 1},' in said


def test_modular_extraction_is_refused(tmp_path: Path) -> None:
    plugin = binaries.built("python_extraction.cmxs").with_suffix("")
    configuration = tmp_path / "why3.conf"
    configuration.write_text(f'[main]\nmagic = 14\nplugin = "{plugin}"\n', encoding="utf-8")
    options: list[str | Path] = ["-C", configuration, "-L", extraction.THEORIES, "-o", tmp_path]
    options += ["--modular", "-D", extraction.DRIVER]
    with pytest.raises(closed.ToolError, match="use the option --flat"):
        closed.run(extraction.WHY3, "extract", *options, ACCEPTED)
