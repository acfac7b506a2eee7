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
    return np.broadcast_arrays(*arrays)

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a user who has some functions."""
    made = tmp_path_factory.mktemp("user")
    (made / "mine.py").write_text(TARGETS, encoding="utf-8")
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


def of(target: str, *options: str | Path) -> list[str | Path]:
    """Arguments that have a function of the user's tested, without random cases."""
    named = ["--pyargs", "whycast.testing", f"--whycast-target=mine.py:{target}"]
    return [*named, "--whycast-seconds=0", *options]


def test_a_right_function_passes_a_test_for_each_stage(folder: Path) -> None:
    said = run(folder, *of("right", "--whycast-rule=numpy", "-v"))
    for stage in ("small", "many", "ranks", "sizes", "dtypes", "layouts"):
        assert f"test_target.py::test_stage[numpy-data-{stage}] PASSED" in said
    assert "test_stage[numpy-data-random] SKIPPED" in said
    assert "= 7 passed, 1 skipped in " in said


def test_random_cases_follow_where_there_is_time(folder: Path) -> None:
    # Even where all of Python is slowed down, as when it is measured.
    options = ["--whycast-level=verdict", "--whycast-seconds=4", "-v"]
    assert "test_stage[sonnx-verdict-random] PASSED" in run(folder, *of("Both.verdict", *options))


def test_a_wrong_one_fails_with_the_smallest_example(folder: Path) -> None:
    said = run(folder, *of("last_instead_of_first", "--whycast-rule=numpy"), code=1)
    assert "_ test_stage[numpy-data-small] _" in said
    assert "call      f(*Case(((), (2,))).arrays())" in said
    assert "clause    E_NumpyBroadcast_any_Functions_030" in said
    assert "= 1 failed, 6 passed, 1 skipped in " in said


def test_failures_that_are_expected_have_to_occur(folder: Path) -> None:
    listed = folder / "xfails.txt"
    lines = [
        "# What expand does not do yet.",
        "some/where/test_target.py::test_stage[expand-data-dtypes]  # issue 3",
        "",
        "test_stage[expand-data-sizes]",
        "test_stage[sonnx-shape-small]",
    ]
    listed.write_text("\n".join(lines), encoding="utf-8")
    options = ["--whycast-rule=expand", f"--whycast-xfails={listed}", "-v"]
    said = run(folder, *of("wrong_on_bytes", *options), code=1)
    assert "test_stage[expand-data-dtypes] XFAIL (listed in " in said
    assert "test_stage[expand-data-sizes] FAILED" in said
    assert "[XPASS(strict)] listed in " in said
    assert "= 1 failed, 4 passed, 2 skipped, 1 xfailed in " in said


def test_all_levels_up_to_one_that_are_offered(folder: Path) -> None:
    options = ["--whycast-up-to", "--whycast-level=strides", "-v"]
    said = run(folder, *of("Both", *options), code=1)
    assert "test_stage[sonnx-verdict-small] PASSED" in said
    assert "test_stage[sonnx-shape-small] FAILED" in said
    assert "test_stage[sonnx-strides-small] SKIPPED" in said
    assert "-dtypes]" not in said


USAGE = [
    (["--pyargs", "whycast.testing"], "needs a function to test: --whycast-target="),
    (["--pyargs", "whycast.testing.test_target::test_stage"], "needs a function to test"),
    (of("right", "--whycast-rule=numpi"), "ERROR: rule: expected one of 'sonnx', "),
    (of("right", "--whycast-level=all"), "ERROR: level: expected one of 'verdict', "),
    (of("right", "--whycast-xfails=nowhere.txt"), "No such file or directory: 'nowhere.txt'"),
    (of("right", "--whycast-xfails=mine.py"), "mine.py, line 1: there is no test 'import numpy as"),
    (of("right", "--whycast-target=mine"), "ERROR: target 'mine': expected one of "),
]


@pytest.mark.parametrize(("arguments", "text"), USAGE, ids=[text for _, text in USAGE])
def test_what_is_missing_or_wrong_is_a_usage_error(
    folder: Path, arguments: list[str], text: str
) -> None:
    said = run(folder, *arguments, code=pytest.ExitCode.USAGE_ERROR)
    assert text in said
    assert "Traceback" not in said


def test_a_function_that_is_not_there_is_an_error_of_each_test(folder: Path) -> None:
    said = run(folder, *of("nothing"), code=1)
    assert "\ntarget mine.py:nothing: cannot be imported: AttributeError: " in said
    assert "= 8 errors in " in said


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
