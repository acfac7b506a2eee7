"""The C that is extracted: the same every time, and nothing unknown in it.

That compilers take it, and that it does what it should, is for tests/c; here it is compared with
what Why3 printed.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from random import Random

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
        "proofs/gate/c_text.py",
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

# Programs of which there is no C here, or that take something for granted.
PROGRAMS = {
    "parameter": "val unknown (x: int64) : int64  let f (x: int64) : int64 = unknown x",
    "negation": "let f (x: int64) : int64 requires { 0 <= x } = - x",
    "any": "let f (_x: int64) : int64 = any int64  let g (x: int64) : int64 = f x",
    "recursion": "let rec f (x: int64) : int64 requires { 0 <= x } variant { x }"
    " = if x = 0 then 0 else f (x - 1)",
    "integer": "let f (x: int) : int = x + 1",
    "record": "type r = { a: int64; b: int64 }  let f (x: int64) : r = { a = x; b = x }",
    "boolean": "let f (x: int64) : bool = x = 1",
    "exception": "exception E  let f (x: int64) : int64 raises { E } = if x = 0 then raise E; x",
    "template": "use c.words.Words  let f (_x: int64) : int64 = width",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_has_no_c_here_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.mlw").write_text(PROGRAM.format(PROGRAMS[name]), encoding="utf-8")
    libraries = [tmp_path, extraction.THEORIES]
    with pytest.raises(closed.ToolError):
        c_extraction.extract("program.Program", libraries=libraries)


def test_names_are_not_shared_and_nothing_is_left_out(printed: str) -> None:
    prelude, found = c_extraction.definitions(printed)
    with pytest.raises(closed.ToolError, match="not extracted: "):
        c_extraction.files(prelude, found[:-1], "")
    with pytest.raises(closed.ToolError, match="is the name of another one"):
        c_extraction.files(prelude, [*found, found[-1]], "")
    with pytest.raises(closed.ToolError, match="expected a scope as W2"):
        print(found[-1]._replace(name="c.a.A.Scope.f").c_name)
    with pytest.raises(closed.ToolError, match="would end too early"):
        c_extraction.comment(["a */ b"])


# What Why3 printed


def raw(printed: str) -> str:
    """Give a compilable text of what Why3 printed, with its own names."""
    prelude, found = c_extraction.definitions(printed)
    text = "#include <stdint.h>\n#include <string.h>\n"
    text += f"typedef struct whycast_place {{ int64_t tensor, axis; }} whycast_place;\n{prelude}\n"
    for each in found:
        constant = c_extraction.CONSTANT.fullmatch(each.text)
        static = "" if each.name in c_extraction.PUBLIC else "static "
        made = f"{static}{each.text}"
        if constant:
            made = f"#define {constant['name']} INT64_C({constant['value']})"
        text += f"{made}\n"
    return text


def test_it_does_what_why3_printed(printed: str, written: dict[str, str], tmp_path: Path) -> None:
    """Drawn calls of the operator: code, place, and every byte."""
    for name, text in {**written, "raw.c": raw(printed)}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for stem in ("raw", "whycast"):
        command = ["gcc", "-O1", "-shared", "-fPIC", f"{stem}.c", "-o", f"{stem}.so"]
        subprocess.run(command, cwd=tmp_path, check=True)
    one = ctypes.CDLL(str(tmp_path / "raw.so")).broadcast
    other = ctypes.CDLL(str(tmp_path / "whycast.so")).whycast_broadcast
    one.restype = other.restype = ctypes.c_int64
    draw = Random(0)
    codes = set()
    number = ctypes.c_int64
    for _ in range(20_000):
        target = [draw.choice((0, 1, 2, 3, 4, 8, 70, -1, 2**62)) for _ in range(draw.randint(0, 3))]
        kept = target[draw.randint(0, len(target)) :]
        shape = [draw.choice((size, size, 1, 2)) for size in kept]
        width = draw.choice((1, 2, 3, 4, 8, 12, 16, 33, 0))
        outcomes = []
        memory = bytes(draw.randrange(256) for _ in range(64)) * 150
        room = draw.choice((len(memory), 40))
        for function in (one, other):
            output, place = ctypes.create_string_buffer(memory, len(memory)), (number * 2)(7, 7)
            code = function(
                output, number(room), place, memory, number(len(memory)),
                (number * len(shape))(*shape), number(len(shape)),
                (number * len(target))(*target), number(len(target)), number(width),
            )  # fmt: skip
            outcomes.append((code, list(place), output.raw))
        assert outcomes[0] == outcomes[1], (shape, target, width)
        codes.add(outcomes[0][0])
    assert {0, -1, -3, -7, -8, -9} <= codes
