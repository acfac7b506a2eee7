"""The extracted files: an edit is told, a comment is found, and what has no C here is refused.

That compilers take the C, and that it does what it should, is for tests/c.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gate import closed, extraction
from gate.closed import ROOT
from gate.extraction import HEADER, KERNEL, SOURCE

# What is edited in each file, a name of something public and a number among it.
EDITS = {
    KERNEL: ("if b == c", "if b != c"),
    SOURCE: ("return", " return"),
    HEADER: ("int64_t count)", "int64_t counts)"),
}


def test_an_edited_file_is_told_and_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in EDITS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert extraction.main(["--check"], tmp_path) == 0
    assert capsys.readouterr().err == ""
    for name, (old, new) in EDITS.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert extraction.main(["--check"], tmp_path) == 1
    said = capsys.readouterr().err
    assert "-    return a if b != c else 0\n+    return a if b == c else 0\n" in said
    for name in EDITS:
        assert f"{name} is not what Why3 extracts: run `make extract`\n" in said
    (tmp_path / KERNEL).unlink()
    assert extraction.main([], tmp_path) == 0
    for name in EDITS:
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    (tmp_path / SOURCE).write_bytes((ROOT / SOURCE).read_bytes().replace(b"\n", b"\r\n"))
    assert extraction.main(["--check"], tmp_path) == 1


def test_no_file_names_a_path_of_this_machine() -> None:
    for name in EDITS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert str(ROOT) not in text
        assert "Apache-2.0" in text.partition("\n\n")[0]


def test_a_comment_is_the_one_right_before_the_name(tmp_path: Path) -> None:
    file = tmp_path / "comments.mlw"
    lines = ["(** {2 A heading} *)", "exception A", "  (** Two", "      lines. *)", "  let f = 1"]
    file.write_text("\n".join([*lines, "  let g = 2"]), encoding="utf-8")
    assert extraction.comment(f"{file}:2:10") == ""
    assert extraction.comment(f"{file}:5:6") == "Two\nlines."
    assert extraction.comment(f"{file}:6:6") == ""


# What is refused of the C


@pytest.mark.parametrize(
    "line", ["syntax val copy  ", "syntax val (/)", "syntax type buffer", "syntax literal"]
)
def test_what_has_no_syntax_is_refused(line: str, tmp_path: Path) -> None:
    lines = extraction.C_DRIVER.read_text(encoding="utf-8").splitlines(keepends=True)
    driver = tmp_path / "without.drv"
    driver.write_text("".join(each for each in lines if line not in each), encoding="utf-8")
    with pytest.raises(closed.ToolError):
        extraction.why3_extract(*extraction.C_MODULES, drivers=[driver])


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
    "let f (x: int64) : int64 = let g (y: int64) : int64 = y in g x": "a local function",
    "let constant c : int64 = 1  let f (_x: int64) : int64 = c": "neither a code nor a function",
    "use c.words.Words  let f (_x: int64) : int64 = width": "width has no C here",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_has_no_c_here_is_refused(program: str, tmp_path: Path) -> None:
    (tmp_path / "program.mlw").write_text(PROGRAM.format(program), encoding="utf-8")
    libraries, drivers = [tmp_path, extraction.THEORIES], [extraction.C_DRIVER]
    modules = (*extraction.C_MODULES, "program.Program")
    header = (ROOT / HEADER).read_text(encoding="utf-8")
    with pytest.raises(closed.ToolError, match=PROGRAMS[program]):
        extraction.c_files(
            extraction.why3_extract(*modules, drivers=drivers, libraries=libraries), header
        )


def test_what_is_public_has_one_place_in_the_header() -> None:
    header = (ROOT / HEADER).read_text(encoding="utf-8")
    printed = extraction.why3_extract(*extraction.C_MODULES, drivers=[extraction.C_DRIVER])
    for wrong in (header.replace("byte_size(", "bytes("), header.replace("whycast_code", "codes")):
        with pytest.raises(closed.ToolError, match="are public"):
            extraction.c_files(printed, wrong)
    with pytest.raises(closed.ToolError, match="would end too early"):
        extraction.c_comment("a */ b")
