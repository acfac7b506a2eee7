"""The wheel: what it contains, and that it works with NumPy alone."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import whycast

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "whycast"

PROGRAM = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import numpy
numpy_alone = set(sys.modules)
import whycast
print(json.dumps({
    "file": whycast.__file__,
    "version": whycast.__version__,
    "shape": whycast.broadcast_shapes((3, 1), (1, 4), (4,)),
    "data": [z.tolist() for z in whycast.broadcast(numpy.array([[1], [2]]), numpy.array([3, 4]))],
    "strided": whycast.broadcast(numpy.arange(4)[::-2], numpy.zeros((2, 1)))[0].tolist(),
    "numpy_rule": whycast.numpy_rule.broadcast_to(7, (2, 0)).shape,
    "onnx": whycast.onnx.expand(numpy.arange(2), (2, 1)).tolist(),
    "openvino": whycast.openvino.broadcast(numpy.arange(2), (2, 2)).tolist(),
    "ngraph": whycast.ngraph.broadcast_adjoint(numpy.ones((2, 3)), {0}).tolist(),
    "lax": whycast.lax.broadcast_in_dim(numpy.arange(2), (2, 2), (0,)).tolist(),
    "reference": whycast.reference.broadcast([3, 4], (2,), (2, 2)),
    "foreign": sorted(
        {name.partition(".")[0] for name in set(sys.modules) - numpy_alone}
        - set(sys.stdlib_module_names)
    ),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel built from a copy of the checkout: a build leaves files where it runs."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "python",
        source / "python",
        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"),
    )
    target = tmp_path_factory.mktemp("wheel")
    pip(
        *("wheel", "--no-build-isolation", "--no-deps", "--no-index"),
        *("--wheel-dir", str(target), str(source)),
    )
    (built,) = target.iterdir()
    return built


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_contents(wheel: Path) -> None:
    version = whycast.__version__
    assert wheel.name == f"whycast-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        license_text = archive.read(f"whycast-{version}.dist-info/licenses/LICENSE")
        kernel = archive.read("whycast/_kernel.py")
    sources = {f"whycast/{path.name}" for path in [*PACKAGE.glob("*.py"), PACKAGE / "py.typed"]}
    metadata = {
        f"whycast-{version}.dist-info/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "top_level.txt", "licenses/LICENSE")
    }
    assert "whycast/__init__.py" in sources
    assert names == sources | metadata
    assert license_text == (ROOT / "LICENSE").read_bytes()
    assert kernel == (PACKAGE / "_kernel.py").read_bytes()


def test_needs_numpy_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"whycast-{whycast.__version__}.dist-info/METADATA").decode()
    required = [line for line in text.splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=2.0"]
    assert "License-Expression: Apache-2.0" in text.splitlines()
    assert "Requires-Python: >=3.10" in text.splitlines()


def test_works_next_to_numpy_alone(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip("install", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    numpy_home = Path(np.__file__).parents[1]
    for path in [numpy_home / "numpy", *numpy_home.glob("numpy.libs")]:
        (site / path.name).symlink_to(path)
    # Isolated and without site-packages: neither the checkout nor the editable install is found.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, json.dumps([str(site)])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "file": str(site / "whycast" / "__init__.py"),
        "version": whycast.__version__,
        "shape": [3, 4],
        "data": [[[1, 1], [2, 2]], [[3, 4], [3, 4]]],
        "strided": [[3, 1], [3, 1]],
        "numpy_rule": [2, 0],
        "onnx": [[0, 1], [0, 1]],
        "openvino": [[0, 1], [0, 1]],
        "ngraph": [2.0, 2.0, 2.0],
        "lax": [[0, 0], [1, 1]],
        "reference": [3, 4, 3, 4],
        "foreign": ["whycast"],
    }


def test_version_is_that_of_the_project() -> None:
    assert importlib.metadata.version("whycast") == whycast.__version__
