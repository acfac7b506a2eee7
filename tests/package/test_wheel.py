"""The wheel: its contents, its use with NumPy alone, and its types."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whycast

ROOT = Path(__file__).parents[2]

SCRIPT = Path(__file__).with_name("new_user.py")

# Runs the script; prints the package's place, `native`, and the package's imports besides NumPy.
PROGRAM = """
import runpy, sys
import numpy
numpy_alone = set(sys.modules)
import whycast
foreign = {name.partition(".")[0] for name in set(sys.modules) - numpy_alone}
runpy.run_path(sys.argv[1], run_name="__main__")
foreign -= set(sys.stdlib_module_names)
print(whycast.__file__, whycast.native, sorted(foreign))
"""

# The Python versions and the machine that an accelerator fits.
ACCELERATED = f"cp310-abi3-{sysconfig.get_platform().replace('-', '_')}"


@pytest.fixture(scope="module", autouse=True)
def nothing_asked() -> Iterator[None]:
    """Let the package choose whether it uses the accelerator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WHYCAST_NATIVE", raising=False)
        yield


def run(*command: str | Path, folder: Path | None = None, code: int = 0, **more: str | None) -> str:
    """Run a command, with more variables in the environment; return its output."""
    env = {name: value for name, value in {**os.environ, **more}.items() if value is not None}
    out: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, cwd=folder, env=env, check=False, **out)
    assert done.returncode == code, (command, done.stdout)
    return str(done.stdout)


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a source distribution in a copy of the tree: builds leave files."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    for name in ("proofs/FINDINGS.md", "proofs/gate/toml.py", "why3/trace.toml"):
        (folder / name).parent.mkdir()
        shutil.copy(ROOT / name, folder / name)
    for name in ("python", "c", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    # A source distribution does not depend on the accelerator.
    program = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    run(sys.executable, "-I", "-c", program, folder=folder, WHYCAST_NATIVE="0")
    (built,) = (folder / "dist").iterdir()
    return built


def wheel_of(source: Path, target: Path, native: str | None, compiler: str = "cc") -> Path:
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", target)
    said = run(*PIP[:-1], "wheel", "-v", *options, source, CC=compiler, WHYCAST_NATIVE=native)
    (built,) = target.iterdir()
    assert said.count("whycast is built without its accelerator: ") == (native != "1")
    return built


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(source, tmp_path_factory.mktemp("wheel"), "1")


def test_contents(source: Path, wheel: Path) -> None:
    version = whycast.__version__
    assert wheel.name == f"whycast-{version}-{ACCELERATED}.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = archive.read(f"whycast-{version}.dist-info/METADATA").decode().splitlines()
    with tarfile.open(source) as archive_of_source:
        built_of = set(archive_of_source.getnames())
    files = (path for path in (ROOT / "python/whycast").rglob("*") if path.is_file())
    sources = {
        str(path.relative_to(ROOT / "python"))
        for path in files
        if path.suffix not in (".pyc", ".so")
    }
    # The wheel contains the built accelerator, not its source.
    sources ^= {"whycast/_native.c", "whycast/_native.abi3.so"}
    about_it = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
    about_it |= {"top_level.txt", "entry_points.txt"}
    assert "whycast/__init__.py" in sources
    assert names == sources | {f"whycast-{version}.dist-info/{name}" for name in about_it}
    needed = ["setup.py", "c/whycast.c", "c/whycast.h", "python/whycast/_native.c"]
    for folder in ("dialects", "oracle", "package", "peers", "support"):
        needed += [str(path.relative_to(ROOT)) for path in ROOT.glob(f"tests/{folder}/*.py")]
    assert {f"whycast-{version}/{name}" for name in needed} < built_of
    required = [line for line in about if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=2.0"]
    assert {"License-Expression: Apache-2.0", "Requires-Python: >=3.10"} < {*about}
    # The links of the readme work on a package index, too.
    end = about.index("")
    links = re.findall(r"\]\((.*?)\)", "\n".join(about[end:]))
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    assert "Description-Content-Type: text/markdown" in about


# The first build has no compiler, the second must not use its compiler.
@pytest.mark.parametrize(("native", "compiler"), [(None, "/no/compiler"), ("0", "cc")])
def test_no_accelerator(source: Path, tmp_path: Path, native: str | None, compiler: str) -> None:
    wheel, version = wheel_of(source, tmp_path / "wheel", native, compiler), whycast.__version__
    assert wheel.name == f"whycast-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]
        about = archive.read(f"whycast-{version}.dist-info/WHEEL")
        assert b"Root-Is-Purelib: true" in about
        archive.extractall(tmp_path / "site")
    site = [str(tmp_path / "site"), str(Path(np.__file__).parents[1])]
    program = f"import sys; sys.path[:0] = {site!r}\n{PROGRAM}"
    where = tmp_path / "site/whycast/__init__.py"
    said = run(sys.executable, "-I", "-S", "-c", program, SCRIPT)
    assert said == f"0 0 0 1\n{where} False ['whycast']\n"


def test_a_build_takes_0_and_1() -> None:
    said = run(sys.executable, "setup.py", "--name", folder=ROOT, code=1, WHYCAST_NATIVE="no")
    assert said == "WHYCAST_NATIVE: expected 0, 1 or no value, got 'no'\n"


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment that has the wheel and NumPy alone."""
    environment = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    run(*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel)
    (site,) = environment.glob("lib/python*/site-packages")
    for path in Path(np.__file__).parents[1].glob("numpy*"):
        (site / path.name).symlink_to(path)
    return python


def test_a_new_users_script_runs_next_to_numpy_alone(python: Path, tmp_path: Path) -> None:
    said = run(python, "-I", "-c", PROGRAM, SCRIPT, folder=tmp_path)
    (where,) = python.parents[1].glob("lib/python*/site-packages/whycast/__init__.py")
    assert said == f"0 0 0 1\n{where} True ['whycast']\n"


# A command, its exit code, and a part of its output.
COMMANDS = (
    ("shape 3x1 1x4", 0, "3x4"),
    ("explain 2x0 1", 1, "SONNX: 2x0, 1 -> refused"),
    ("index 3x1 2x3x4 1,2,3", 0, "2,0"),
    ("strides 3x1 2x3x4 --itemsize 4", 0, "0,4,0"),
    ("cases --rule expand --format jsonl --level shape --out cases.jsonl", 0, ""),
    ("check numpy --rule numpy --seconds all --every 20", 0, "nothing deviates"),
    ("check wrong.py:f --seconds all --every 20 --junit report.xml", 1, "2 kinds of deviation"),
    ("check --level shape --seconds all --every 50 -- whycast serve", 0, "nothing deviates"),
    ("check torch", 2, "torch is not installed: pip install 'whycast[torch]'"),
)


def test_the_command_runs_next_to_numpy_alone(python: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def f(*arrays):\n    return None\n", encoding="utf-8")
    path = f"{python.parent}:/usr/bin:/bin"
    for words, code, line in COMMANDS:
        said = run(*f"whycast {words}".split(), folder=tmp_path, code=code, PATH=path)
        assert line in said, words
    for name in ("cases.jsonl", "report.xml"):
        assert (tmp_path / name).stat().st_size > 500, name


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types_of_a_new_users_script(checker: str, python: Path, tmp_path: Path) -> None:
    """In strict mode the checkers accept all right lines, and reject each wrong line."""
    shutil.copy(SCRIPT, tmp_path / "user.py")
    settings = '{"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": true}'
    (tmp_path / "pyrightconfig.json").write_text(settings, encoding="utf-8")
    words: dict[str, tuple[str | Path, ...]] = {
        "mypy": ("--strict", "--config-file=", "--cache-dir=cache", "--python-executable", python),
        "pyright": ("--pythonpath", python),
    }
    file = ("user.py",) if checker == "mypy" else ()
    run(sys.executable, "-I", "-m", checker, *words[checker], *file, folder=tmp_path)
