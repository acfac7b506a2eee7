"""The C that is extracted: the same every time, and nothing unknown in it.

That compilers take it, and that it does what it should, is for tests/c.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gate import binaries, c_extraction, closed, extraction

ROOT = closed.ROOT
FILES = [extraction.in_tree(path) for path in (c_extraction.HEADER, c_extraction.SOURCE)]


@pytest.fixture(scope="module")
def printed() -> str:
    """Give what Why3 prints."""
    return extraction.why3_extract(
        *c_extraction.MODULES, drivers=[c_extraction.DRIVER], language="c"
    )


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """Give the two files."""
    return {path.name: text for path, text in c_extraction.extract().items()}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command as `make` does."""
    tools = ROOT / "proofs" / "run.py"
    command = [sys.executable, "-I", "-S", "-B", str(tools), "extract", *arguments, *FILES]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_files_are_those_that_are_extracted() -> None:
    result = run("--check")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", FILES)
def test_an_edited_file_is_told(written: dict[str, str], name: str, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    for file, text in written.items():
        (tmp_path / "c" / file).write_text(text, encoding="utf-8")
    assert run("--check", "--root", tmp_path).returncode == 0
    edited = tmp_path / name
    text = edited.read_text(encoding="utf-8")
    edited.write_text(text.replace("int64_t whycast_broadcast(", "int whycast_broadcast("), "utf-8")
    result = run("--check", "--root", tmp_path)
    assert result.returncode == 1
    assert f"{edited.name} is not what Why3 extracts" in result.stderr
    assert "+int64_t whycast_broadcast(" in result.stderr


def test_the_first_lines_tell_licence_sources_and_tools(written: dict[str, str]) -> None:
    for text in written.values():
        first = text.partition("*/")[0]
        assert "Do not edit" in first
        assert "SPDX-License-Identifier: Apache-2.0" in first
        named = ((extraction.in_tree(path), path.read_bytes()) for path in c_extraction.sources())
        assert closed.digest(named) in first
        assert "Why3 1.5.1" in first
        assert str(ROOT) not in text
    names = {extraction.in_tree(path) for path in c_extraction.sources()}
    assert {
        "why3/c/trusted.mlw",
        "why3/c/words.mlw",
        "why3/c/broadcast.mlw",
        "why3/core/shape.mlw",
        "proofs/gate/extraction/c.drv",
        "proofs/gate/extraction/c_printer.ml",
        "proofs/gate/extraction/whyml_source.ml",
        "proofs/gate/extraction/whycast.h.in",
        "proofs/gate/c_extraction.py",
    } <= names
    assert not any("python" in name for name in names)


# What is refused


def without(part: str) -> Path:
    """Give the driver's text without a line."""
    text = c_extraction.DRIVER.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines(keepends=True) if part not in line]
    assert len(lines) == len(text.splitlines()) - 1, part
    file = binaries.built("c_extraction.cmxs").with_name("without.drv")
    file.write_text("".join(lines), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "line",
    [
        "syntax val copy  ",
        "syntax val size_at",
        "syntax val lend",
        "syntax val width_2",
        "syntax val (/)",
        "syntax val (<=)",
        "syntax type buffer",
        'syntax type word      "uint16_t"',
        "syntax literal",
    ],
)
def test_what_has_no_syntax_is_refused(line: str) -> None:
    with pytest.raises(closed.ToolError):
        c_extraction.extract(drivers=[without(line)])


PROGRAM = """\
module Program
  use int.Int
  use mach.int.Int64
  {0}
end
"""

# Programs of which there is no C here, or that take something for granted; what is said of each.
PROGRAMS = {
    "val unknown (x: int64) : int64  let f (x: int64) : int64 = unknown x": "unknown has no C here",
    "let f (x: int64) : int64 requires { 0 <= x } = - x": "prefix - has no C here",
    "let f (_x: int64) : int64 = any int64  let g (x: int64) : int64 = f x": "f has no C here",
    "let rec f (x: int64) : int64 requires { 0 <= x } variant { x }"
    " = if x = 0 then 0 else f (x - 1)": "f has no C here",
    "let f (x: int) : int = x + 1": "infix . has no C here",
    "type r = { a: int64; b: int64 }  let f (x: int64) : r = { a = x; b = x }": "r has no C here",
    "let f (x: int64) : bool = x = 1": "Could not print declaration of f",
    "exception E  let f (x: int64) : int64 raises { E } = if x = 0 then raise E; x": "E has no C",
    "scope S let f (x: int64) : int64 = x end  let g (x: int64) : int64 = S.f x": "in a scope",
    "let f (x: int64) : int64 = let g (y: int64) : int64 = y in g x": "g has neither a definition",
    "let constant c : int64 = 1  let f (_x: int64) : int64 = c": "neither a code nor a function",
    "use c.checks.COPChecks  let report (x: int64) : int64 = x": "has the name in C of another",
    "use c.checks.COPChecks  let f (report: int64) : int64 = report": "in C of a definition",
    "use c.words.Words  let f (_x: int64) : int64 = width": "width has no C here",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_has_no_c_here_is_refused(program: str, tmp_path: Path) -> None:
    (tmp_path / "program.mlw").write_text(PROGRAM.format(program), encoding="utf-8")
    libraries = [tmp_path, extraction.THEORIES]
    with pytest.raises(closed.ToolError, match=PROGRAMS[program]):
        c_extraction.extract("program.Program", libraries=libraries)


def test_nothing_is_left_out_and_nothing_else_is_public(printed: str) -> None:
    prelude, found = c_extraction.definitions(printed)
    with pytest.raises(closed.ToolError, match="expected a line for each of"):
        c_extraction.files(prelude, found[:-1], "")
    public = found[-1]._replace(text=found[-1].text.replace("broadcast_all", "more"))
    with pytest.raises(closed.ToolError, match="expected a line for each of"):
        c_extraction.files(prelude, [*found, public], "")
    variable = found[-1]._replace(text="int64_t more = INT64_C(1);")
    with pytest.raises(closed.ToolError, match="neither a code nor a function"):
        c_extraction.files(prelude, [*found, variable], "")
    with pytest.raises(closed.ToolError, match="would end too early"):
        c_extraction.comment(["a */ b"])
