"""Provers, and proofs, that are not what they say they are."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import debian
import install
import lock
import machine
import provers
import pytest
from facts import Canary, Prover
from gate_tree import (
    ROOT,
    append,
    edit,
    fails,
    proved_tree,
    run_gate,
    session,
    small,
    theorems,
    theory,
)
from machine import Machine, ToolchainError

__all__ = ["proved_tree", "small"]

HERE = machine.this_machine().has_builds_of(lock.read().platform)
BUILDER = Machine("Debian GNU/Linux 12 (bookworm)", "debian", "bookworm", "x86_64", ())
OTHER = "0" * 64


def replace_alt_ergo(tree: Path, body: str) -> None:
    """Give a tree provers of its own, with a shell script in place of Alt-Ergo."""
    build = tree / "build"
    text = (build / "why3.conf").read_text(encoding="utf-8")
    for name in ("why3.conf", "provers"):
        (build / name).unlink()
    old, new = ROOT / "build" / "provers", build / "provers"
    assert str(old) in text
    (build / "why3.conf").write_text(text.replace(str(old), str(new)), encoding="utf-8")
    program = new / "alt-ergo" / "usr" / "bin" / "alt-ergo"
    program.parent.mkdir(parents=True)
    script = f'#!/bin/sh\nif [ "$1" = -version ]; then echo 2.0.0; exit; fi\n{body}\n'
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)


# --- the gate -----------------------------------------------------------------------------------


def test_a_prover_that_always_says_valid(small: Path) -> None:
    replace_alt_ergo(small, "echo 'File \"x\", line 1, characters 1-2: Valid (0.01) (1 steps)'")
    printed = fails(
        small,
        "build/why3.conf: Alt-Ergo says Valid to a goal that is false: it cannot be trusted",
        only=("--quickest",),
    )
    path = r"build/provers/alt-ergo/usr/bin/alt-ergo: Alt-Ergo"
    build = rf"{path} is not the pinned build: its SHA-256 is [0-9a-f]{{64}}, the lock has c52e8192"
    assert bool(re.search(build, printed)) == HERE
    assert "does not replay" not in printed


def test_a_prover_that_proves_nothing() -> None:
    def prover(*answers: tuple[str, str]) -> Prover:
        canary = [Canary(goal=goal, answer=answer) for goal, answer in answers]
        return Prover(name="Z3", version="1", family="Z3", command="z3", driver="z3", canary=canary)

    def what(*answers: tuple[str, str]) -> list[str]:
        return [failure.what for failure in provers.canary_faults(prover(*answers))]

    right, wrong = ("provable", "Valid"), ("refutable", "Timeout")
    assert what(right, wrong) == []
    assert what(("provable", "Unknown ()"), wrong) == [
        "does not prove a goal that is true: it answers Unknown ()"
    ]
    assert what(right, ("refutable", "Valid")) == [
        "says Valid to a goal that is false: it cannot be trusted"
    ]
    assert what() == [
        "does not prove a goal that is true: it answers nothing",
        "was not given the goal that is false",
    ]


def test_a_file_of_a_prover_that_is_not_the_locks(tmp_path: Path) -> None:
    library = tmp_path / "libsolver.so"
    library.write_bytes(b"a library")
    tool = lock.Tool("Solver", "2.0", tmp_path / "solver", (), (), {library: OTHER})
    own = lock.sha256_of(library)
    assert [str(fault) for fault in provers.build_faults(tool)] == [
        f"{library}: Solver is not the pinned build: its SHA-256 is {own}, the lock has {OTHER}"
    ]
    assert provers.build_faults(replace(tool, files={library: own})) == []
    library.unlink()
    assert [fault.what for fault in provers.build_faults(tool)] == ["is missing"]


def test_a_proof_that_is_made_up(small: Path) -> None:
    """It is found by the replay that it belongs to, and by that alone."""
    append(
        theory(small), "\nmodule More\n  use int.Int\n  goal equal: forall x y: int. x = y\nend\n"
    )
    append(theorems(small), "More.equal  All numbers are equal.\n")
    assert run_gate(small, "--update", "--quick", "--only", "More").returncode == 1
    text = session(small).read_text(encoding="utf-8")
    numbers = dict(re.findall(r'<prover id="(\d+)" name="([^"]+)"', text))
    made_up = "".join(
        f'<proof prover="{number}"><result status="valid" time="{seconds}"/></proof>'
        for number, seconds in zip(sorted(numbers), ("0.01", "0.50"), strict=False)
    )
    quick, slow = (numbers[number] for number in sorted(numbers)[:2])
    edit(session(small), '<goal name="equal">', f'<goal name="equal" proved="true">{made_up}')
    for share, prover in (("--quickest", quick), ("--others", slow)):
        what = "More.equal has a recorded proof that does not replay: "
        printed = fails(small, f"{what}{prover} ", only=(share,))
        assert printed.count("does not replay") == 1


def running(word: str) -> bool:
    """Tell whether a process with this word in its command line is there."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def wait_until(word: str, *, runs: bool) -> bool:
    """Wait for a process to come, or to go; tell whether it did."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if running(word) == runs:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_what_is_interrupted_leaves_nothing_running(small: Path, end: signal.Signals) -> None:
    word = f"600.{os.getpid()}{int(end)}"
    replace_alt_ergo(small, f"exec sleep {word}")
    gate = small / "proofs" / "gate" / "gate.py"
    with subprocess.Popen(
        [sys.executable, str(gate), "--quickest"],
        cwd=small,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Where the tests run in the background, SIGINT would be ignored from the start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert wait_until(word, runs=True)
        process.send_signal(end)
        assert process.wait(timeout=60) != 0
    assert wait_until(word, runs=False)
    assert not running(str(small))


# --- installing -----------------------------------------------------------------------------------


def altered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> lock.Lock:
    """Give a lock whose tool has another file than its package, installed at `version`."""
    program = tmp_path / "solver"
    program.write_text("#!/bin/sh\necho 2.0\n", encoding="utf-8")
    program.chmod(0o755)
    package = lock.Package("solver", "2.0-1", "a" * 64)
    tool = lock.Tool("Solver", "2.0", program, ("--version",), (package,), {program: OTHER})

    def run(*command: str | Path, cwd: Path | None = None) -> str:
        words = " ".join(map(str, command))
        if "--search" in words:
            return f"solver:amd64: {program}\n"
        if "--show" in words:
            return f"installed {version}"
        raise ToolchainError(f"would run {words}")

    monkeypatch.setattr(debian, "run", run)
    monkeypatch.setattr(install, "BUILD", tmp_path / "build")
    return replace(lock.read(), tools={"solver": tool})


def test_a_file_that_is_not_its_packages_is_not_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = altered(tmp_path, monkeypatch, "2.0-1")
    with pytest.raises(ToolchainError) as caught:
        install.install(broken, BUILDER)
    own = lock.sha256_of(tmp_path / "solver")
    assert str(caught.value) == (
        f"{tmp_path}/solver is not what package solver 2.0-1 installs: its SHA-256 is {own}, "
        f"the lock has {OTHER}; remove it or reinstall the package"
    )


def test_another_version_of_a_package_is_brought_to_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = altered(tmp_path, monkeypatch, "2.0-2")
    with pytest.raises(ToolchainError, match="would run apt-get"):
        install.install(broken, BUILDER)


@pytest.mark.parametrize(("version", "refused"), [("2.0.0-7+b4", True), ("1.9-1", False)])
def test_an_unpacked_prover_that_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, refused: bool
) -> None:
    monkeypatch.setattr(install, "BUILD", tmp_path)
    documents = tmp_path / "provers" / "alt-ergo" / "usr" / "share" / "doc" / "alt-ergo"
    documents.mkdir(parents=True)
    with gzip.open(documents / "changelog.Debian.amd64.gz", "wt") as changelog:
        changelog.write(f"alt-ergo ({version}) sid; urgency=low\n\n  * A build.\n")
    tool = lock.read().tools["alt_ergo"]
    (file,) = tool.files
    finding = install.Finding(tool, "", ((file, OTHER),))
    if refused:
        with pytest.raises(ToolchainError, match=r"not what package alt-ergo 2\.0\.0-7\+b4"):
            install.refuse_replaced([finding])
    else:
        install.refuse_replaced([finding])
