"""The extracted files: edits, comments, and programs without C. tests/c tests the C itself."""

from pathlib import Path

import pytest

from gate import closed, extraction
from gate.closed import ROOT
from gate.extraction import HEADER, KERNEL, SOURCE

# One edit of each file; that of SOURCE only changes the line ends.
EDITS = {KERNEL: (b"if b == c", b"if b != c"), SOURCE: (b"\n", b"\r\n")}
EDITS[HEADER] = (b"int64_t count)", b"int64_t counts)")


def test_edited_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, (old, new) in EDITS.items():
        text = (ROOT / name).read_bytes()
        assert old in text
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.replace(old, new))
    assert extraction.main(["--check"], tmp_path) == 1
    said = capsys.readouterr().err
    assert "-    return a if b != c else 0\n+    return a if b == c else 0\n" in said
    for name in EDITS:
        assert f"{name} is not what Why3 extracts: run `make extract`\n" in said
    (tmp_path / KERNEL).unlink()
    assert extraction.main([], tmp_path) == 0
    for name in EDITS:
        text = (ROOT / name).read_bytes()
        assert (tmp_path / name).read_bytes() == text
        assert str(ROOT).encode() not in text
        assert b"Apache-2.0" in text.partition(b"\n\n")[0]


def test_a_comment_is_the_one_right_before_the_name(tmp_path: Path) -> None:
    file = tmp_path / "comments.mlw"
    lines = ["(** {2 A heading} *)", "exception A", "  (** Two", "      lines. *)", "  let f = 1"]
    file.write_text("\n".join([*lines, "  let g = 2"]), encoding="utf-8")
    assert extraction.comment(f"{file}:2:10") == ""
    assert extraction.comment(f"{file}:5:6") == "Two\nlines."
    assert extraction.comment(f"{file}:6:6") == ""


@pytest.mark.parametrize(
    "line", ["syntax val copy  ", "syntax val (/)", "syntax type buffer", "syntax literal"]
)
def test_what_has_no_syntax_is_refused(line: str, tmp_path: Path) -> None:
    lines = extraction.C_DRIVER.read_text(encoding="utf-8").splitlines(keepends=True)
    driver = tmp_path / "without.drv"
    driver.write_text("".join(each for each in lines if line not in each), encoding="utf-8")
    with pytest.raises(closed.ToolError):
        extraction.why3_extract(*extraction.C_MODULES, drivers=[driver])


def test_what_is_public_has_one_place_in_the_header() -> None:
    header = (ROOT / HEADER).read_text(encoding="utf-8")
    printed = extraction.why3_extract(*extraction.C_MODULES, drivers=[extraction.C_DRIVER])
    for wrong in (header.replace("byte_size(", "bytes("), header.replace("whycast_code", "codes")):
        with pytest.raises(closed.ToolError, match="are public"):
            extraction.c_files(printed, wrong)
    variable = f"/*@ c.A.b {ROOT / 'why3/core/shape.mlw'}:1:1 @*/\nint64_t b = 1;"
    with pytest.raises(closed.ToolError, match="neither a code nor a function"):
        extraction.c_files(printed + variable, header)
    with pytest.raises(closed.ToolError, match="would end too early"):
        extraction.c_comment("a */ b")
