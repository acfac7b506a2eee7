"""What tools see of our environment, and programs that were replaced after they were built."""

import os
from pathlib import Path

import pytest

from assurance import closed
from assurance.closed import ToolError


def test_nothing_that_steers_reaches_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    steering = ("WHY3LIB", "WHY3CONFIG", "LD_PRELOAD", "PYTHONPATH", "OCAMLPATH", "OCAMLRUNPARAM")
    for name in (*steering, "CAMLLIB", "https_proxy", "PIP_CERT"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere", prepend=os.pathsep)
    seen = dict(line.split("=", 1) for line in closed.run("/usr/bin/env").splitlines())
    assert seen.keys() <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL"}
    assert seen["PATH"] == "/usr/sbin:/usr/bin:/sbin:/bin"
    assert closed.environment(proving=True) == seen | closed.PROVING
    network = closed.network_environment()
    assert not network.keys() & set(steering)
    assert network.items() >= {("https_proxy", "/nowhere"), ("PIP_CERT", "/nowhere")}
    assert network["PATH"] == seen["PATH"]


def test_a_tool_that_fails_or_is_missing_is_named() -> None:
    with pytest.raises(
        ToolError, match=r"^/bin/sh -c 'echo why; exit 3'\n  ended with code 3:\n +why"
    ):
        closed.run("/bin/sh", "-c", "echo why; exit 3")
    with pytest.raises(ToolError, match=r"^cannot run /nowhere/tool: No such file"):
        closed.run("/nowhere/tool")


def test_a_program_is_built_by_the_pinned_compiler_and_refused_when_it_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, program = tmp_path / "hello.ml", tmp_path / "build" / "hello"
    (tmp_path / "ocamlfind").write_text("#!/bin/sh\ntouch build/hello\n", encoding="utf-8")
    (tmp_path / "ocamlfind").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    def built(text: str) -> str:
        source.write_text(f'let () = print_string "{text}"\n', encoding="utf-8")
        closed.build([source], program, packages="unix", options=["-linkpkg"])
        return closed.run(program)

    assert built("one") == "one"
    assert built("two") == "two"
    right, made = closed.sha256_of(program), program.stat().st_mtime_ns
    assert built("two") == "two"
    assert program.stat().st_mtime_ns == made
    program.write_text("#!/bin/sh\necho two\n", encoding="utf-8")
    with pytest.raises(ToolError) as caught:
        built("two")
    assert str(caught.value) == (
        f"{program} is not the program that was built here: its SHA-256 is "
        f"{closed.sha256_of(program)}, {right} was built; `make clean` removes it"
    )
    with pytest.raises(ToolError, match="Error"):
        built('two" + 1 "')
