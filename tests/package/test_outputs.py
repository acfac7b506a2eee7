"""The command line writes files completely, or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from command_line import Run

OUTPUTS = {
    "check numpy --rule numpy --level verdict --every 999 --seconds all --junit": b"<?xml",
    "cases --rule expand --level verdict --format jsonl --out": b'{"rule"',
}


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("words", OUTPUTS)
def test_what_is_there_is_kept_or_written_through(run: Run, tmp_path: Path, words: str) -> None:
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to("file")
    assert run(f"{words} {link}").code == 0
    assert link.is_symlink()
    assert file.read_bytes().startswith(OUTPUTS[words])
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    for owner, name, change, code in (
        (Path, "replace", interrupted, 130),
        (os, "access", lambda *_: False, 2),
    ):
        file.write_bytes(b"old")
        with pytest.MonkeyPatch.context() as changed:
            changed.setattr(owner, name, change)
            assert run(f"{words} {file}").code == code
        assert file.read_bytes() == b"old"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    assert run(f"{words} {pipe}").code == 0
    reader.join()
    assert heard[0].startswith(OUTPUTS[words])
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    for name, said in (("", "expected the name of a file, got the folder"), ("no/f", "No such")):
        done = run(f"{words} {tmp_path}/{name}")
        assert (done.code, said in done.err) == (2, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "link", "pipe"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_devices_stay_and_a_full_one_is_named(tmp_path: Path) -> None:
    for device, code in (("/dev/null", 0), ("/dev/full", 74), ("/dev/stdout", 0)):
        before = Path(device).stat().st_mode
        with (tmp_path / "printed").open("wb") as printed:
            words = [sys.executable, "-m", "whycast", "cases", "--format", "jsonl", "--out", device]
            done = subprocess.run(words, stdout=printed, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, f"device: '{device}'" in done.stderr) == (code, code == 74)
        assert stat.S_IFMT(Path(device).stat().st_mode) == stat.S_IFMT(before)
    text = (tmp_path / "printed").read_text(encoding="utf-8")
    assert text.startswith("{")
