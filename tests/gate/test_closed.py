"""What tools see of our environment."""

import os

import pytest

from gate import closed
from gate.closed import ToolError


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
