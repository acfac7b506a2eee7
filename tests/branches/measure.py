"""Branch coverage of the package by its tests: `make coverage`.

tests/package and tests/dialects, the tests of the requirements, cover the extracted kernel; all
tests of the package cover the rest. Coverage includes the processes that `whycast.testing` and the
command line start, unless they are killed. pyproject.toml lists the unreachable lines with reasons.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "coverage"
KERNEL = "*/whycast/_kernel.py"
# `make test` does not install these packages.
PEERS = {name: f"*/whycast/testing/_peers/_{name}.py" for name in ("torch", "pyrefly")}

# For each part: its tests, and "1" if the accelerator runs, "0" if the kernel runs.
ACCELERATED = [f"tests/package/test_{name}.py" for name in ("accelerator", "copies", "limits")]
OTHERS = [f"tests/{name}" for name in ("fuzz", "laws", "models", "oracle", "peers")]
PARTS = {
    "requirements": (["tests/package", "tests/dialects"], "0"),
    "accelerated": (ACCELERATED, "1"),
    "others": ([*OTHERS, "python/whycast"], "1"),
}


def coverage(*words: str, **environment: str) -> int:
    command = [sys.executable, "-m", "coverage", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode


def main() -> int:
    """Run the tests of all parts, then name each missing line and branch."""
    shutil.rmtree(OUT, ignore_errors=True)
    for name, (tests, native) in PARTS.items():
        folder = OUT / name
        folder.mkdir(parents=True)
        # coverage.py, in .venv, measures every Python process with COVERAGE_PROCESS_START.
        start = {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"), "WHYCAST_NATIVE": native}
        workers = ("-n", "auto", "--dist", "worksteal", "-q")
        words = ("run", "-m", "pytest", *workers, *tests)
        if coverage(*words, COVERAGE_FILE=str(folder / "data"), **start):
            return 1
        files = sorted(map(str, folder.iterdir()))
        if coverage("combine", "--quiet", f"--data-file={OUT / name}.data", *files):
            return 1
    data = [f"{OUT / part}.data" for part in PARTS]
    coverage("combine", "--quiet", "--keep", f"--data-file={OUT / 'package'}.data", *data)
    absent = [file for name, file in PEERS.items() if not importlib.util.find_spec(name)]
    others = ",".join([KERNEL, *absent])
    words = ("report", "--fail-under=100", "--show-missing", "--skip-covered")
    kernel = coverage(*words, f"--data-file={OUT / 'requirements'}.data", f"--include={KERNEL}")
    return kernel | coverage(*words, f"--data-file={OUT / 'package'}.data", f"--omit={others}")


if __name__ == "__main__":
    sys.exit(main())
