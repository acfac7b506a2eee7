"""Files and settings beside the sources cannot change the verdict."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_tree import run, same, small, write

import run as tools
from gate import binaries, closed, toolchain
from gate.closed import ROOT, ToolError

__all__ = ["small"]

OTHER = "0" * 64
RAN = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
# Python would load some of these files instead of its own module, this program or a tool; pytest
# would read tests/pytest.toml before pyproject.toml.
STRANGE = [
    *("c/string.h", "python/numpy.py", "python/whycast/_kernel.abi3.so", "tests/pytest.toml"),
    *("proofs/argparse.py", "proofs/gate/judge/__init__.py", "proofs/gate/why3/prover.cmx"),
    *("proofs/gate/judge.cpython-311-x86_64-linux-gnu.so", "proofs/json.so", "proofs/rerun.py"),
    *("why3/extraction/printer.ml", "why3/odd-name.mlw", "why3/room/other.why"),
]


def test_strange_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    right = ("why3/room/a.mlw", "python/whycast/_kernel.py", "proofs/sessions/a/b.bak")
    hiding = ("python/whycast/_kernel/__init__.py", "python/whycast/__pycache__/_kernel.pyc")
    write(tmp_path, dict.fromkeys((*STRANGE, *right, *hiding), ""))
    links = ("why3/b.mlw", "proofs/sessions/more", "c/whycast.c", "python/whycast/sub")
    for name in links:
        (tmp_path / name).symlink_to("../why3")
    expected = [f"{name}: does not belong here: expected what run.py lists" for name in STRANGE]
    expected += [f"{name}: is a symbolic link: expected the file itself" for name in links]
    expected.append("python/whycast/_kernel: hides _kernel.py")
    assert sorted(tools.strange("why3", "c", "python", "proofs", "tests")) == sorted(expected)
    shutil.rmtree(tmp_path / "c")
    (tmp_path / "c").symlink_to("why3")
    assert tools.strange("c")[0] == "c: is a symbolic link: expected the file itself"
    monkeypatch.undo()
    assert tools.strange("why3", "c", "python", "proofs", "tests") == []


def test_nothing_strange_is_run_and_the_tools_start_in_no_other_way(small: Path) -> None:
    for name in ("python/numpy.py", "proofs/argparse.py"):
        write(small, {name: RAN})
        done = run(small, "gate")
        assert done.returncode == 1
        assert f"{name}: does not belong here" in done.stderr
    for options in ((), ("-I",), ("-S",)):
        done = run(small, "gate", options=options)
        assert done.returncode == 1
        assert "other modules may come first: start it with `python3 -I -S -B`" in done.stderr
    assert not list(small.rglob("ran"))


def test_what_is_only_ever_made_or_steers_a_tool_is_not_tracked(small: Path) -> None:
    steering = [".gitattributes", ".ruff.toml", "conftest.py", "mypy.ini", "pytest.ini"]
    made = ["whycast.egg-info/entry_points.txt", "whycast/_native.abi3.so"]
    names = [*steering, "build/gate/answers", *(f"python/{name}" for name in made)]
    write(small, {**dict.fromkeys(names, ""), ".gitignore": "/build/\n/.venv\n"})
    for words in (("init", "-q"), ("add", "why3", "proofs"), ("add", "-f", ".venv", *names)):
        closed.run("/usr/bin/git", *words, cwd=small)
    done = run(small, "gate")
    assert done.returncode == 1
    expected = [f"{name}: is tracked by git" for name in sorted([".venv", *names])]
    same(done.stderr.splitlines(), expected)


def test_changed_tools(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small / "build" / "provers").unlink()
    shutil.copytree(ROOT / "build" / "provers", small / "build" / "provers")
    replaced = {
        "build/provers/alt-ergo/usr/bin/alt-ergo": "Alt-Ergo is not the pinned build: its SHA-256",
        "build/why3.conf": "Why3 is not the pinned build: its SHA-256 is ",
    }
    write(small, dict.fromkeys(replaced, "#!/bin/sh\ntouch ran\n"))
    done = run(small, "gate")
    assert (done.returncode, done.stdout.count("proofs:")) == (1, 0)
    same(done.stderr.splitlines(), [f"{name}: {said}" for name, said in replaced.items()])
    assert not (small / "ran").exists()
    with (small / "proofs/gate/why3/name.ml").open("a", encoding="utf-8") as source:
        source.write("let () = exit 0\n")
    done = run(small, "gate")
    assert done.stderr.startswith("gate: whygate is not built of the sources that proofs/gate/bina")
    assert "`make pin`" in done.stderr
    wheels = small / "build" / "wheels"
    wheels.unlink()
    shutil.copytree(ROOT / "build" / "wheels", wheels)
    (ruff,) = wheels.iterdir()
    ruff.write_bytes(ruff.read_bytes() + b"x")
    done = run(small, "gate")
    assert done.stderr == f"gate: {ruff} is no pinned wheel\n{wheels} has no ruff: `make tools`\n"
    pins, made = tmp_path / "binaries.toml", binaries.built("extraction.cmxs")
    right = closed.sha256_of(made)
    pins.write_text(binaries.PINS.read_text("utf-8").replace(right, OTHER), encoding="utf-8")
    monkeypatch.setattr(binaries, "PINS", pins)
    with pytest.raises(ToolError, match=f"its SHA-256 is {right}, {OTHER} is pinned"):
        binaries.built("extraction.cmxs", tmp_path)
    assert not (tmp_path / binaries.FOLDER / made.name).exists()


def test_a_program_is_the_same_in_any_folder_and_another_one_is_not_run(tmp_path: Path) -> None:
    here = binaries.built("extraction.cmxs")
    there = tmp_path / binaries.FOLDER / here.name
    write(tmp_path, {f"{binaries.FOLDER}/{here.name}": "#!/bin/sh\ntouch ran\n"})
    assert binaries.built("extraction.cmxs", tmp_path) == there
    assert there.read_bytes() == here.read_bytes()
    made = there.stat().st_mtime_ns
    binaries.built("extraction.cmxs", tmp_path)
    assert there.stat().st_mtime_ns == made
    assert [path.name for path in there.parent.iterdir() if path != there] == ["lock"]


def test_pin_keeps_other_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, pins = toolchain.system(), tmp_path / "binaries.toml"
    monkeypatch.setattr(binaries, "PINS", pins)
    pinned = '"extraction.cmxs" = { sources = "a", program = "b" }'
    head = "# Pins.\n# More."
    pins.write_text(f'{head}\n\n["{here}"]\n{pinned}\n\n["debian-0"]\n{pinned}\n', "utf-8")

    @contextmanager
    def compiled(name: str, program: binaries.Binary, folder: Path) -> Iterator[Path]:
        (folder / name).write_text(name, encoding="utf-8")
        yield folder / name

    monkeypatch.setattr(binaries, "compiled", compiled)
    assert binaries.pin([]) == 0
    first, mine, other = pins.read_text(encoding="utf-8").split("\n\n")
    assert (first, other) == (head, f'["debian-0"]\n{pinned}\n')
    assert mine.startswith(f'["{here}"]\n"whygate" = {{ sources = "')
    made = {name: pinned["program"] for name, pinned in binaries.pins()[here].items()}
    assert made == {name: hashlib.sha256(name.encode()).hexdigest() for name in binaries.BINARIES}


def make(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", tree)
    printing = "import sys\nprint(*sys.argv[1:])\n"
    write(tree, {"proofs/run.py": printing, "other.mk": "override TOOLS := true\n"})
    command = ["/usr/bin/env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", *words]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *((f"MAKEFLAGS={flag}", f"-{flag}") for flag in "intqek"),
        *((f"-{flag}", f"-{flag}") for flag in "intqek"),
        *((f"MAKEFLAGS={each}=/bin/true", each) for each in ("SHELL", "CC")),
        ("GNUMAKEFLAGS=-i", "-i"),
        ("MAKEFILES=other.mk", "MAKEFILES"),
        ("PYTEST_ADDOPTS=--collect-only", "PYTEST_ADDOPTS"),
        # These skip recipes, hide their failures, or skip the refusals.
        (".SHELLFLAGS=-nc", r"\.SHELLFLAGS"),
        ("MAKEFLAGS=--eval=.IGNORE:", r"-\*-eval-flags"),
        ("MAKEFLAGS=REFUSED= SHELL=/bin/true", ".*SHELL"),
    ],
)
def test_make_refuses_settings_that_hide_faults(tmp_path: Path, given: str, said: str) -> None:
    done = make(tmp_path, *(("make", given) if given.startswith("-") else (given, "make")))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(rf"\*\*\* {said}.*: such settings can hide failures", done.stderr)


def test_make_accepts_settings_that_change_no_verdict(tmp_path: Path) -> None:
    options = ["-j2", "-s", "--no-print-directory", "THEORY=core/shape x=y"]
    assert make(tmp_path, "make", *options, "update").stdout == "install\nupdate core/shape x=y\n"


def test_a_person_can_read_all_that_could_make_the_gate_pass_wrongly() -> None:
    """Nobody has to read recorded proofs: the gate runs every proof."""
    listed = closed.run(*closed.GIT, "ls-files", "-z", "--", "proofs/gate", cwd=ROOT).split("\0")
    lines = {name: (ROOT / name).read_bytes().count(b"\n") for name in listed if name}
    assert sum(lines.values()) <= 7110, lines
