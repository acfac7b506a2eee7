"""Branch coverage of the package by its tests: `make coverage`.

Of the extracted kernel by the tests of tests/package and tests/dialects, which are those of the
requirements; of the rest of the package by all tests but those of the proofs' tools. The processes
that `whycast.testing` and the command line start are measured too, as far as they end by
themselves: one that is killed leaves nothing, so what a child does last is tested where it is let
go on to its end. What is not reached, and why, stands in pyproject.toml; all else has to be.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "coverage"
KERNEL = "*/whycast/_kernel.py"
# The tests do not install torch; its lines are the calls of it.
TORCH = "*/whycast/testing/_peers/_torch.py"

REQUIREMENTS = ("tests/package", "tests/dialects")
ACCELERATED = tuple(
    [f"tests/package/test_{name}.py" for name in ("accelerator", "copies", "limits")]
)
OTHERS = ("tests/fuzz", "tests/laws", "tests/oracle", "tests/peers", "python/whycast")


def coverage(*words: str, **environment: str) -> int:
    command = [sys.executable, "-m", "coverage", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode


def measure(name: str, tests: Sequence[str], native: str) -> int:
    """Run tests, and put together what all their processes have reached.

    The accelerator does what the kernel would do: of that is measured what runs without it.
    """
    data = OUT / name / "data"
    data.parent.mkdir(parents=True)
    workers = ("-n", "auto", "--dist", "worksteal", "-q")
    # By this variable what coverage.py has put into .venv measures every Python that is started.
    start = {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"), "COVERAGE_FILE": str(data)}
    start["WHYCAST_NATIVE"] = native
    failed = coverage("run", "-m", "pytest", *workers, *tests, **start)
    files = sorted(map(str, data.parent.iterdir()))
    return failed or coverage("combine", "--quiet", f"--data-file={OUT / name}.data", *files)


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    parts = {"requirements": (REQUIREMENTS, "0"), "accelerated": (ACCELERATED, "1")}
    parts |= {"others": (OTHERS, "1")}
    if any(measure(name, tests, native) for name, (tests, native) in parts.items()):
        return 1
    data = [f"{OUT / part}.data" for part in parts]
    coverage("combine", "--quiet", "--keep", f"--data-file={OUT / 'package'}.data", *data)
    others = KERNEL if importlib.util.find_spec("torch") else f"{KERNEL},{TORCH}"
    words = ("report", "--fail-under=100", "--show-missing", "--skip-covered")
    kernel = coverage(*words, f"--data-file={OUT / 'requirements'}.data", f"--include={KERNEL}")
    return kernel | coverage(*words, f"--data-file={OUT / 'package'}.data", f"--omit={others}")


if __name__ == "__main__":
    sys.exit(main())
