"""Trees for the tests of the gate: a small one that is proved and sealed, and copies of the real.

The small tree has one theory of three goals, with the real gate, provers and lock.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import prooftool
import pytest
from facts import Facts

ROOT = prooftool.ROOT

THEORY = """\
(** Numbers, doubled. Supports [E_Small_any_Derived_010]. *) module Small

  use int.Int

  function double (x: int) : int = x + x

  (** [E_Small_any_Derived_010] *) lemma double_positive: forall x. 0 < x <-> 0 < double x

  lemma double_injective: forall x y. double x = double y <-> x = y

  let twice (x: int) : int
    ensures { result = double x }
  = x + x

end
"""

TRUSTED = """\
module Tuple
  use int.Int
  val size (x: int) : int
    ensures { 0 <= result }
end
"""

TRACE = """\
[[text]]
name = "derived"
title = "Claimed, and in no text"
clauses = 1

[[clause]]
id = "E_Small_any_Derived_010"
text = "derived"
says = "Twice a number is its double."
why = "The smallest of trees has a claim too."
"""

THEOREMS = """\
# small.mlw
## Doubling
Small.double_positive   A number is positive exactly if its double is.
Small.double_injective  Numbers are equal exactly if their doubles are.
Small.twice'vc          The program computes the double.
"""


def share_build(tree: Path) -> None:
    """Lend a tree the toolchain and the compiled proof tool."""
    prooftool.build()
    (tree / "build" / "gate").mkdir(parents=True)
    for name in ("why3.conf", "provers"):
        (tree / "build" / name).symlink_to(ROOT / "build" / name)
    for path in prooftool.BUILD.glob("whygate*"):
        shutil.copy2(path, tree / "build" / "gate")


def run_gate(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tree's own gate."""
    gate = tree / "proofs" / "gate" / "gate.py"
    # Everything on one line each, as in a terminal that is wide enough.
    environment = {**os.environ, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, str(gate), *arguments],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def passes(tree: Path, *arguments: str) -> str:
    """Demand that the gate passes; give what it prints."""
    result = run_gate(tree, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "gate: passed, all proved" in result.stdout
    return result.stdout


def fails(tree: Path, *messages: str, only: tuple[str, ...] = ()) -> str:
    """Demand that the gate fails with these messages, each within a line of its own."""
    result = run_gate(tree, *only)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "gate: FAILED" in result.stdout
    for message in messages:
        assert message in result.stdout
    return result.stdout


def edit(path: Path, old: str, new: str, count: int = 1) -> None:
    """Replace text that occurs exactly `count` times."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == count, f"{old!r} occurs {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def append(path: Path, text: str) -> None:
    """Add to the end of a file."""
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def copy_tree(source: Path, target: Path) -> Path:
    """Copy a tree as it stands, links as links."""
    ignored = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", "*.egg-info")
    shutil.copytree(source, target, ignore=ignored, symlinks=True)
    return target


def seal(tree: Path, *theories: str) -> str:
    """Say that what the theories state has been reviewed; give what is to be read."""
    result = run_gate(tree, "--seal", *theories)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@functools.cache
def build(tree: Path) -> Path:
    """Make the small tree, its session with the tool's own update, and its seals."""
    for part in ("proofs/gate", "proofs/provers"):
        copy_tree(ROOT / part, tree / part)
    (tree / "why3" / "trusted").mkdir(parents=True)
    (tree / "why3" / "small.mlw").write_text(THEORY, encoding="utf-8")
    (tree / "why3" / "trusted" / "python.mlw").write_text(TRUSTED, encoding="utf-8")
    (tree / "why3" / "trace.toml").write_text(TRACE, encoding="utf-8")
    (tree / "proofs" / "theorems.txt").write_text(THEOREMS, encoding="utf-8")
    share_build(tree)
    result = run_gate(tree, "--update")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "3 goals; parts unproved: 0; parts proved by one family only: 0" in result.stdout
    seal(tree)
    return tree


# A fixture belongs to each module that imports it; the tree is made once for all of them.
@pytest.fixture(scope="session")
def proved_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the small tree, to be copied."""
    return build(tmp_path_factory.getbasetemp() / "proved" / "small")


@pytest.fixture
def small(proved_tree: Path, tmp_path: Path) -> Path:
    """Give a small tree to tamper with."""
    return Path(shutil.copytree(proved_tree, tmp_path / "small", symlinks=True))


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """Give a copy of the real tree to tamper with."""
    tree = copy_tree(ROOT, tmp_path / "real")
    share_build(tree)
    return tree


def theory(tree: Path) -> Path:
    """Give the small theory."""
    return tree / "why3" / "small.mlw"


def session(tree: Path) -> Path:
    """Give the stored session of the small theory."""
    return tree / "proofs" / "small" / "why3session.xml"


def theorems(tree: Path) -> Path:
    """Give the list of theorems."""
    return tree / "proofs" / "theorems.txt"


def reviewed(tree: Path) -> Path:
    """Give the seals."""
    return tree / "proofs" / "reviewed.txt"


def facts_of(tree: Path, *theories: str) -> Facts:
    """Give what the gate sees in some theories, in the order given, without replaying anything."""
    command = [str(prooftool.TOOL), "build/why3.conf", "goals", *theories]
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    return cast(Facts, json.loads(result.stdout))
