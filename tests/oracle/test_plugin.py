"""The plugin of pytest, as a user has it: in a process and a folder of its own."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / "python"

TARGETS = """\
import numpy as np
import whycast

def right(*arrays):
    return whycast.numpy_rule.broadcast_arrays(*arrays)

def last_instead_of_first(*arrays):
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return [np.broadcast_to(x[-1:] if x.ndim else x, shape) for x in arrays]

def wrong_on_bytes(data, target):
    return whycast.onnx.expand(data[::-1] if data.dtype == "int8" and data.ndim else data, target)

class Both:
    verdict = staticmethod(whycast.broadcast_shapes)

    @staticmethod
    def shape(*shapes):
        return max(np.broadcast_shapes(*shapes), (), key=len)[::-1]
"""

XFAILS = """\
# What expand does not do yet.
some/where/test_target.py::test_stage[expand-data-dtypes]  # issue 3

test_stage[expand-data-sizes]
test_stage[sonnx-shape-small]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a user who has some functions."""
    made = tmp_path_factory.mktemp("user")
    (made / "mine.py").write_text(TARGETS, encoding="utf-8")
    (made / "xfails.txt").write_text(XFAILS, encoding="utf-8")
    return made


def run(folder: Path, *arguments: str | Path, code: int = 0) -> str:
    """Run pytest with this plugin and no other; give all that it says."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "_whycast_pytest", "-p", "no:cacheprovider"]
        + [str(each) for each in arguments],
        cwd=folder,
        # Whether pytest finds the plugin by itself is a matter of what is installed.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(PYTHON)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


PASSED = [
    f"test_target.py::test_stage[numpy-data-{stage}] PASSED"
    for stage in ("small", "many", "ranks", "sizes", "dtypes", "layouts")
]


@pytest.mark.parametrize(
    ("target", "options", "code", "texts"),
    [
        (
            *("right", "rule=numpy", 0),
            [*PASSED, "[numpy-data-random] SKIPPED", "= 7 passed, 1 skipped in "],
        ),
        # Even where all of Python is slowed down, as when it is measured.
        ("Both.verdict", "level=verdict seconds=4", 0, ["test_stage[sonnx-verdict-random] PASSED"]),
        (
            *("last_instead_of_first", "rule=numpy", 1),
            [
                "_ test_stage[numpy-data-small] _",
                "call      f(*Case(((), (2,))).arrays())",
                "clause    E_NumpyBroadcast_any_Functions_030",
                # NumPy has at most 32 axes.
                "data: refuses what is accepted RuntimeError: 40 cases",
                "= 6 failed, 1 passed, 1 skipped in ",
            ],
        ),
        # Failures that are expected have to occur.
        (
            *("wrong_on_bytes", "rule=expand xfails=xfails.txt", 1),
            [
                "test_stage[expand-data-dtypes] XFAIL (listed in ",
                "test_stage[expand-data-sizes] FAILED",
                "[XPASS(strict)] listed in ",
                "= 1 failed, 4 passed, 2 skipped, 1 xfailed in ",
            ],
        ),
        (
            *("Both", "up-to level=strides", 1),
            [
                "test_stage[sonnx-verdict-small] PASSED",
                "test_stage[sonnx-shape-small] FAILED",
                "test_stage[sonnx-strides-small] SKIPPED",
                # Of those levels none has dtypes.
                "= 4 failed, 5 passed, 12 skipped in ",
            ],
        ),
        (
            *("nothing", "rule=sonnx", 1),
            ["\ntarget mine.py:nothing: cannot be imported: AttributeError: ", "= 8 errors in "],
        ),
        ("right", "rule=numpi", 4, ["ERROR: rule: expected one of 'sonnx', "]),
        ("right", "level=all", 4, ["ERROR: level: expected one of 'verdict', "]),
        ("right", "xfails=nowhere.txt", 4, ["No such file or directory: 'nowhere.txt'"]),
        ("right", "xfails=mine.py", 4, ["mine.py, line 1: there is no test 'import numpy as"]),
        ("right", "target=mine", 4, ["ERROR: target 'mine': expected one of "]),
        (None, "", 4, ["needs a function to test: --whycast-target="]),
    ],
)
def test_a_target(
    folder: Path, target: str | None, options: str, code: int, texts: list[str]
) -> None:
    named = (
        [] if target is None else [f"--whycast-target=mine.py:{target}", "--whycast-seconds=all"]
    )
    words = [f"--whycast-{option}" for option in options.split()]
    said = run(folder, "--pyargs", "whycast.testing", "-v", *named, *words, code=code)
    assert [text for text in texts if text not in said] == [], said
    assert (code == pytest.ExitCode.USAGE_ERROR) <= ("Traceback" not in said)


def test_a_test_by_its_name_needs_a_target_too(folder: Path) -> None:
    named = "whycast.testing.test_target::test_stage"
    assert "needs a function to test" in run(folder, "--pyargs", named, code=4)


def test_the_options_are_in_the_help(folder: Path) -> None:
    said = run(folder, "--help")
    for option in ("target=MODULE:FUNCTION", "rule=RULE", "level=LEVEL", "up-to", "seconds=S"):
        assert f"  --whycast-{option}" in said
    assert "  --whycast-xfails=FILE" in said


def test_who_collects_all_tests_does_not_get_these(folder: Path) -> None:
    where = PYTHON / "whycast" / "testing"
    # The settings of this checkout are not looked for where the tests are.
    (folder / "empty.ini").touch()
    collect = ["--collect-only", "-c", "empty.ini"]
    assert "no tests collected" in run(
        folder, *collect, where, code=pytest.ExitCode.NO_TESTS_COLLECTED
    )
    # Nor does who has no plugin, and so cannot name a target.
    done = run(
        folder, "-c", "empty.ini", "-p", "no:_whycast_pytest", "-v", where / "test_target.py"
    )
    assert "test_run SKIPPED (no --whycast-target)" in done
    assert "= 2 skipped in " in done


def test_pytest_loads_the_plugin_and_that_imports_next_to_nothing() -> None:
    (found,) = importlib.metadata.entry_points(group="pytest11", name="whycast")
    assert found.value == "_whycast_pytest"
    program = "import sys, _whycast_pytest; print({'whycast', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(PYTHON)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "set()\n", done.stderr
