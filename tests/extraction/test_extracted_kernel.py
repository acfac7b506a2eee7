"""The kernel that is extracted: the same every time, and no file but the one that Why3 makes."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gate import extraction
from gate.closed import ROOT


@pytest.fixture(scope="module")
def kernel() -> str:
    return extraction.extract_kernel()


KERNEL = "python/whycast/_kernel.py"


def place(tmp_path: Path) -> Path:
    """Give the place of the kernel in a tree, and its folder."""
    target = tmp_path / "tree" / KERNEL
    target.parent.mkdir(parents=True)
    return target


def run(
    *arguments: str | Path, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run the command as `make` does."""
    tools = ROOT / "proofs" / "run.py"
    command = [sys.executable, "-I", "-S", "-B", str(tools), "extract", *arguments, KERNEL]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_kernel_is_extracted_alike_every_time(kernel: str, tmp_path: Path) -> None:
    target = place(tmp_path)
    assert run("--root", tmp_path / "tree").returncode == 0
    assert target.read_text(encoding="utf-8") == kernel
    assert run("--check", "--root", tmp_path / "tree").returncode == 0


def test_an_edited_kernel_is_told(kernel: str, tmp_path: Path) -> None:
    target = place(tmp_path)
    target.write_text(kernel.replace("if b == c", "if b != c"), encoding="utf-8")
    result = run("--check", "--root", tmp_path / "tree")
    assert result.returncode == 1
    assert "-    return a if b != c else 0\n+    return a if b == c else 0\n" in result.stderr
    assert "Run `make extract`; the file is never edited by hand." in result.stderr


@pytest.mark.parametrize("content", [None, b""])
def test_a_missing_kernel_is_told(content: bytes | None, tmp_path: Path) -> None:
    target = place(tmp_path)
    if content is not None:
        target.write_bytes(content)
    result = run("--check", "--root", tmp_path / "tree")
    assert result.returncode == 1
    assert re.search(r"^\.\.\. and \d+ more lines$", result.stderr, re.MULTILINE)


def test_even_the_ends_of_lines_are_compared(kernel: str, tmp_path: Path) -> None:
    target = place(tmp_path)
    target.write_bytes(kernel.replace("\n", "\r\n").encode())
    result = run("--check", "--root", tmp_path / "tree")
    assert result.returncode == 1
    assert "only the ends of lines differ" in result.stderr


def test_the_header_tells_licence_sources_and_tools(kernel: str) -> None:
    header = kernel.split("\n\n")[0]
    assert "Do not edit" in header
    assert "SPDX-License-Identifier: Apache-2.0" in header
    total = hashlib.sha256()
    for path in extraction.kernel_sources():
        content = path.read_bytes()
        name = path.relative_to(ROOT).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    assert f"proofs/gate/extraction.py lists:\n# {total.hexdigest()}\n" in header
    assert re.search(r"Why3 1\.5\.1, ruff \d+\.\d+\.\d+", header)


def test_the_kernel_names_no_path_of_this_machine(kernel: str) -> None:
    assert str(ROOT) not in kernel
    assert str(Path.home()) not in kernel


def test_the_hash_is_over_everything_that_determines_the_kernel() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in extraction.kernel_sources()}
    assert {
        "why3/kernel/broadcast.mlw",
        "why3/kernel/numpy.mlw",
        "why3/core/shape.mlw",
        "why3/kernel/trusted.mlw",
        "proofs/gate/extraction/python.drv",
        "proofs/gate/extraction/python_print.ml",
        "proofs/gate/extraction.py",
    } <= names


# A closed environment


FORGER = """\
import pathlib, sys
if "--version" in sys.argv:
    print("Why3 platform, version 1.5.1")
else:
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text({text!r})
"""


def programs_first_on_the_path(folder: Path, text: str) -> dict[str, str]:
    """Put there a Why3 whose extraction is a text of its own, and others that do nothing."""
    for name, code in (("why3", FORGER.format(text=text)), ("ocamlfind", ""), ("ruff", "")):
        (folder / name).write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def another_library(folder: Path, text: str) -> dict[str, str]:
    """Lead Why3 and OCaml to a folder that has nothing of what they look for."""
    names = ("WHY3CONFIG", "WHY3DATA", "WHY3LIB", "WHY3LOADPATH", "OCAMLPATH", "OCAMLFIND_CONF")
    return dict.fromkeys(names, str(folder / "nothing"))


def another_module(folder: Path, text: str) -> dict[str, str]:
    """Let Python find a module that ends it, content."""
    (folder / "argparse.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("forge", [programs_first_on_the_path, another_library, another_module])
def test_nothing_in_the_environment_forges_an_extraction(
    forge: Callable[[Path, str], dict[str, str]], kernel: str, tmp_path: Path
) -> None:
    forged = kernel.replace("if b == c", "if b != c")
    environment = {**os.environ, **forge(tmp_path, forged.partition("\n\n")[2])}
    target = place(tmp_path)
    target.write_text(forged, encoding="utf-8")
    result = run("--check", "--root", tmp_path / "tree", environment=environment)
    assert result.returncode == 1
    assert "-    return a if b != c else 0\n+    return a if b == c else 0\n" in result.stderr
    target.write_text(kernel, encoding="utf-8")
    assert run("--check", "--root", tmp_path / "tree", environment=environment).returncode == 0
