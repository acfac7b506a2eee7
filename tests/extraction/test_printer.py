"""The extraction printer: what it accepts, what it refuses, and what its Python looks like.

The programs in printer/accept have conditions in comments at their top, `python: f(1) == 2`, with
what Why3's own interpreter makes of the calls. Those in printer/refused.mlw have above them the
message, and the line that it points to. The form of the Python is to be seen in the committed
kernel, which `extract --check` compares.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gate import binaries, closed, extraction

PROGRAMS = Path(__file__).with_name("printer")
ACCEPTED = sorted((PROGRAMS / "accept").glob("*.mlw"))
REFUSED = (PROGRAMS / "refused.mlw").read_text(encoding="utf-8").split("\n\n")[1:]
BIN = closed.ROOT / ".venv" / "bin"


def stem(path: Path) -> str:
    return path.stem


def conditions(program: Path) -> list[str]:
    """Give the conditions in the comments at the top of a program."""
    text = program.read_text(encoding="utf-8")
    return re.findall(r"^\(\* python: (.*) \*\)$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Extract all accepted programs: their names and the Python files."""
    folder = tmp_path_factory.mktemp("extracted")
    files = {program.stem: folder / f"accepted_{program.stem}.py" for program in ACCEPTED}
    for program in ACCEPTED:
        text = extraction.normalise(extraction.why3_extract(str(program)))
        files[program.stem].write_text(text, encoding="utf-8")
    return files


def raised(function: Callable[..., object], *arguments: object) -> tuple[str, object] | None:
    """Give the name and the value of the exception that a call raises."""
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, getattr(error, "value", None)
    return None


def load(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Run an extracted file and give its names."""
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.delitem(sys.modules, path.stem, raising=False)
    return {**vars(__import__(path.stem)), "raised": raised}


# What the programs compute


@pytest.mark.parametrize("program", ACCEPTED, ids=stem)
def test_conditions_hold(
    program: Path, extracted: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = load(extracted[program.stem], monkeypatch)
    assert conditions(program)
    for condition in conditions(program):
        assert eval(condition, names), condition


# The form of the Python


def test_types_are_complete(extracted: dict[str, Path]) -> None:
    cache = closed.ROOT / "build" / "cache" / "mypy"
    options: list[str | Path] = ["--strict", "--config-file=", "--cache-dir", cache]
    command = [BIN / "mypy", *options, *extracted.values()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_lint_finds_nothing(extracted: dict[str, Path]) -> None:
    rules = ["--select", "B,E,F,I,UP,W", "--ignore", "B002,E501,E741", "--line-length", "100"]
    options = ["check", "--isolated", "--target-version", "py310", *rules]
    command: list[str | Path] = [BIN / "ruff", *options, *extracted.values()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def docstrings(path: Path) -> Iterator[tuple[str, str | None]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.get_docstring(node)


NUMBERS = ("One", "Two", "Three", "Four")


def test_docstrings_are_comments_with_exceptions_and_whyml_names(
    extracted: dict[str, Path],
) -> None:
    assert dict(docstrings(extracted["documented"])) == {
        "Plain": None,
        "Pair": "Two numbers.",
        "Nothing": "nothing",
        "Some": None,
        "Reason": 'Raised for "no reason"',
        "Silent": None,
        "sum": 'The sum; a backslash \\ and three quotes """ stay what they are.\n\n'
        "Examples:\n  sum 1 2 = 3\n(* a comment inside *)\n\nThe end.\n\n"
        "WhyML: Documented.sum",
        "bare": "WhyML: Documented.bare",
        "many": "Clauses of every kind.\n\nRaises: Reason, Silent\nWhyML: Documented.many",
        **dict.fromkeys(f"{number}OfFourLongNamesOfExceptions" for number in NUMBERS),
        "long": "Raises: OneOfFourLongNamesOfExceptions, TwoOfFourLongNamesOfExceptions,\n"
        "    ThreeOfFourLongNamesOfExceptions, FourOfFourLongNamesOfExceptions\n"
        "WhyML: Documented.long",
        "twice": "The second of two.\n\nWhyML: Documented.twice",
        "even": "WhyML: Documented.even",
        "odd": "Documented too.\n\nWhyML: Documented.odd",
    }


# Driver syntax

SYNTAXES = [
    ("%2 if %1 == 0 else %3", "op a b c * 2", "(b if a == 0 else c) * 2"),
    ("%2 if %1 == 0 else %3", "op (op a b c) c (op c b a)",
     "c if (b if a == 0 else c) == 0 else b if c == 0 else a"),
    ("-%1 * (%2 - %3)", "op (a + b) b c - op a b c", "-(a + b) * (b - c) - -a * (b - c)"),
    ("%1 - %2 - %3", "op a (b - c) (op c b a)", "a - (b - c) - (c - b - a)"),
    ("%1 // %2 % %3", "op (a * b) (b * c) c", "a * b // (b * c) % c"),
    ("(%1, *[%2, %3])[0]", "op a b c", "(a, *[b, c])[0]"),
    ("%1.__add__(%2).real + %3", "op 1 (a + b) c", "(1).__add__(a + b).real + c"),
    ("[%1][%2:][%3]", "op (a + 1) b c", "[a + 1][b:][c]"),
    ("min(%1, %2, %3)", "op a (if b = c then 1 else 2) c", "min(a, 1 if b == c else 2, c)"),
    ("int((%1 < %2) == (%2 < %3))", "op a b c", "int((a < b) == (b < c))"),
    ("int(not %1 == %2 and %3 < 2 or %1 != %3)", "op a b c",
     "int(not a == b and c < 2 or a != c)"),
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


def test_an_argument_used_twice_is_computed_once(tmp_path: Path) -> None:
    path = driver(tmp_path, ["%1 + %1 * %2 - %3"])
    program = "  use syntax.Syntax\n  let f (a b c: int) : int = 1 + op0 (a - b) b c"
    text = extract_with(tmp_path, path, program)
    body = "    value_2 = a - b\n    value = value_2 + value_2 * b - c\n    return 1 + value\n"
    assert text.endswith(body)


NOT_UNDERSTOOD = ("%1 + %2 +", "%1 %2 %3", "f(%1, %2, %3", "(*%1)", "%1[]", "%1 ? %2", "[:%1", "")
HOLES = "the holes in the driver's syntax for syntax.Syntax.op0 do not fit its parameters"
MALFORMED = {
    **{each: f'"{each}" for syntax.Syntax.op0 is not understood' for each in NOT_UNDERSTOOD},
    **dict.fromkeys(("%1 + %2", "%1 + %2 + %3 + %4", "%1 + %2 + %0 + %3"), HOLES),
}


@pytest.mark.parametrize("syntax", MALFORMED)
def test_malformed_syntax_is_refused(syntax: str, tmp_path: Path) -> None:
    path = driver(tmp_path, [syntax])
    program = "  use syntax.Syntax\n  let f (a b c: int) : int = op0 a b c"
    with pytest.raises(closed.ToolError, match=re.escape(MALFORMED[syntax])):
        extract_with(tmp_path, path, program)


DRIVER_REFUSALS = {
    "a pattern with syntax.Syntax.Full, which has a syntax in the driver": (
        "type t = Empty | Full int int",
        'syntax val Full "(%1, %2)"',
        "let f (x: t) : int = match x with Empty -> 0 | Full a b -> a + b end",
    ),
    "a syntax for exceptions is not supported": (
        "exception E",
        'syntax exception E "ValueError"',
        "let f (n: int) : int raises { E -> true } = if n = 0 then raise E; n",
    ),
    "an integer literal of a type other than int is not supported": (
        "type small = <range 0 9>",
        'syntax type small "int"',
        "let f () : small = (5: small)",
    ),
    "the driver's syntax for type syntax.Syntax.t is a statement": (
        "type t 'a",
        'syntax type t "%1 = 1"',
        "let f (x: t int) : int = let _ = x in 1",
    ),
    "the driver's syntax for syntax.Syntax.value is not a value": (
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
        closed.run(extraction.WHY3, "extract", *options, PROGRAMS / "accept" / "order.mlw")
