"""Small trees, which tests change, with the real tools and provers."""

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from evidence import review
from gate import binaries, claims, toolchain
from gate.closed import FACTS, ROOT
from gate.program import Program

ISOLATED = ("-I", "-S", "-B", "-X", "pycache_prefix=/dev/null")

PROOFS = 10


def files(text: str) -> dict[str, str]:
    """Split a text into files: each file's content follows a line `== NAME`."""
    parts = (part.partition("\n") for part in re.split("(?m)^== ", text)[1:])
    return {name: body for name, _, body in parts}


FILES = files('''
== why3/small.mlw
(** Numbers, doubled. Supports [E_Small_any_Derived_010]. *) module Small

  use int.Int

  function double (x: int) : int = x + x

  (** A number is positive exactly if its double is. [E_Small_any_Derived_010] *)
  lemma double_positive: forall x. 0 < x <-> 0 < double x

  (** Numbers are equal exactly if their doubles are. *)
  lemma double_injective: forall x y. double x = double y <-> x = y

  (** The program computes the double. [E_Small_any_Derived_010] *)
  let twice (x: int) : int
    ensures { result = double x }
  = x + x

  (** Some number is a third of 21, as Alt-Ergo cannot tell. *)
  goal multiple: exists x. 3 * x = 21
end
== why3/room/calls.mlw
(** Ones. Supports [E_Small_any_Derived_010]. *) module Calls
  use int.Int
  use kernel.trusted.Tuple
  (** Every number is the same as itself, so the result is positive. *)
  let sized (x: int) : int
    ensures { 0 < result }
  = if same x x then 1 else 0
end
== why3/kernel/trusted.mlw
module Tuple
  use int.Int
  val same (x y: int) : bool
    ensures { result <-> x = y }
end
== why3/trace.toml
[derived]
title = "Claimed, and in no text"

[derived.E_Small_any_Derived_010]
says = "Twice a number is its double."
why = "The smallest of trees has a claim too."
== python/whycast/__init__.py
"""Small."""

__version__ = "1"
''')


def write(tree: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")


def install(tree: Path, files: Mapping[str, str]) -> Path:
    write(tree, files)
    # Do not copy the records of the real theories.
    ignored = shutil.ignore_patterns("__pycache__", "sessions", "claims.lock")
    shutil.copytree(ROOT / "proofs", tree / "proofs", ignore=ignored, dirs_exist_ok=True)
    build = tree / "build"
    (build / "binaries").mkdir(parents=True)
    for name in ("whygate", "whysearch", "whycontract"):
        shutil.copy2(binaries.built(name), build / "binaries")
    for name in ("provers", "wheels"):
        (build / name).symlink_to(ROOT / "build" / name)
    (tree / ".venv").symlink_to(ROOT / ".venv")
    configuration = toolchain.configuration(toolchain.read())
    write(tree, {"build/why3.conf": configuration.replace(str(ROOT), str(tree))})
    return tree


def run(
    tree: Path,
    *words: str,
    options: tuple[str, ...] = ISOLATED,
    environment: Mapping[str, str] = os.environ,
    cwd: Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, str(tree / "proofs" / "run.py"), *words]
    env = {**os.environ, "COLUMNS": "200", **environment}
    return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=300)


def seal_unproved(tree: Path) -> None:
    claims.seal(tree, claims.claims(review.stated(Program(tree), tree), tree), "2020-02-29")


def passes(tree: Path, *words: str, kept: int | None = None) -> str:
    """Expect the gate to pass with `kept` answers; return its output."""
    done = run(tree, "gate", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gate: passed, all proved, by two families each" in done.stdout
    if kept is not None:
        assert f"proofs: {PROOFS - kept} run now, {kept} kept from earlier runs" in done.stdout
    return done.stdout


def failures(tree: Path, *, options: tuple[str, ...] = ISOLATED) -> list[str]:
    """Expect the gate to fail without writing evidence; return the failures."""
    done = run(tree, "gate", options=options)
    assert done.returncode == 1, done.stdout + done.stderr
    *_, printed = done.stdout.partition("\ntrusted, without a body: ")
    _, *found, last = printed.splitlines()
    assert last.startswith(f"gate: FAILED, {len(found)} failures; ")
    assert not (tree / FACTS).exists()
    assert not (tree / "build" / "evidence").exists()
    return found


def same(found: list[str], expected: list[str]) -> None:
    """Expect failures that contain these texts, one for each text, in this order."""
    assert len(found) == len(expected), "\n".join(found)
    for failure, part in zip(found, expected, strict=True):
        assert part in failure, failure


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new), encoding="utf-8")


@functools.cache
def proved(base: Path) -> Path:
    """Make the small tree where its copies will be, and move it aside."""
    tree = install(base / "small", FILES)
    updated = run(tree, "update")
    assert updated.returncode == 0, updated.stdout + updated.stderr
    seal_unproved(tree)
    passes(tree, kept=0)
    return tree.rename(base / "proved")


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the small tree to the place that its build/why3.conf names."""
    aside = proved(tmp_path_factory.getbasetemp())
    tree = aside.with_name("small")
    shutil.rmtree(tree, ignore_errors=True)
    return Path(shutil.copytree(aside, tree, symlinks=True))
