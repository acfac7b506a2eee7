"""The toolchain: what is pinned, what is refused, what tools see of our environment."""

import importlib.metadata
import importlib.util
import marshal
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import install
from gate import closed, toolchain
from gate.closed import ROOT, ToolError
from gate.toolchain import Package, Tool
from whycast.testing._peers._register import register

TOOLS, WHEELS = toolchain.read(), toolchain.REQUIREMENTS
PACKAGE = Package("solver", "2.0-1", "a" * 64)
UNPACKED = Package("old", "1.0-1", "a" * 64, "pool/old.deb")
OTHER = "0" * 64
SHOWN = f"Package: solver\nVersion: 2.0-1\nSize: 1\nSHA256: {PACKAGE.sha256}\n"

IMPORTED = ("toolchain", "closed", "facts", "tree")


class Commands:
    """Stands for `run`: remembers the commands and answers some of them."""

    def __init__(self, answers: dict[str, str | Callable[[], str]]) -> None:
        self.answers = answers
        self.lines: list[str] = []

    def __call__(
        self, *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> str:
        line = " ".join(map(str, words))
        self.lines.append(line)
        for part, answer in self.answers.items():
            if part in line:
                return answer if isinstance(answer, str) else answer()
        return ""

    def ran(self, part: str) -> bool:
        return any(part in line for line in self.lines)


def refuse() -> str:
    raise ToolError("refused")


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """A machine with one tool and one package for it, in a tree of its own."""
    answers: dict[str, str | Callable[[], str]] = {"indextargets": "http://a.invalid/\nfile:/b/\n"}
    commands = Commands(answers | {"apt-cache show": SHOWN})
    (tmp_path / "solver").write_text("a program", encoding="utf-8")
    files = {"solver": closed.sha256_of(tmp_path / "solver")}
    solver = Tool("Solver", "2.0", tmp_path / "solver", (PACKAGE,), files)
    monkeypatch.setattr(toolchain, "ROOT", tmp_path)
    monkeypatch.setattr(toolchain, "read", lambda: {"solver": solver})
    monkeypatch.setattr(toolchain, "configuration", lambda _: "[main]")
    monkeypatch.setattr(toolchain, "CONFIGURATION", tmp_path / "build" / "why3.conf")
    monkeypatch.setattr(install, "PROVERS", tmp_path / "build" / "provers")
    monkeypatch.setattr(install, "missing_helpers", lambda *_: [])
    monkeypatch.setattr(install, "prepare", lambda *_, tests: None)
    monkeypatch.setattr(install, "run", commands)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return commands


# What is pinned


def test_every_package_file_and_wheel_has_a_sha256() -> None:
    hashes = [package.sha256 for tool in TOOLS.values() for package in tool.packages]
    hashes += [sha256 for tool in TOOLS.values() for sha256 in tool.files.values()]
    assert all(tool.files for tool in TOOLS.values())
    assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in hashes)
    for file in WHEELS:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert len(toolchain.requirements(file)) == sum(not line.startswith("#") for line in lines)


def test_the_groups_of_the_project_are_the_pinned_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    pinned = [
        {f"{name}=={version}" for name, version, _ in toolchain.requirements(file)}
        for file in WHEELS
    ]
    assert groups["evidence"]
    assert set(groups["evidence"]) <= pinned[0]
    assert set(groups["test"]) <= pinned[0] | pinned[1]
    assert set(groups["validate"]) <= set(groups["test"])
    assert not pinned[0] & pinned[1]
    assert f"ruff=={TOOLS['ruff'].version}" in pinned[0]
    # What a user gets by an extra is what the tests ran with, or newer.
    versions = {name: version for name, version, _ in toolchain.requirements(*WHEELS)}
    # torch is not among them: the register says with which it was tried.
    versions |= {entry.peer: entry.version for entry in register() if entry.peer == "torch"}
    for extra in project["project"]["optional-dependencies"].values():
        for required in map(Requirement, extra):
            assert versions[required.name] in required.specifier


@pytest.mark.parametrize("files", [1, 2])
def test_all_is_pinned_that_the_wheels_require_but_what_reports_home(files: int) -> None:
    wheels = toolchain.requirements(*WHEELS[:files])
    versions = {name: version for name, version, _ in wheels}
    missing = []
    for name in versions:
        for text in importlib.metadata.requires(name) or ():
            required = Requirement(text)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                version = versions.get(canonicalize_name(required.name))
                if version is None or version not in required.specifier:
                    missing.append(f"{name} wants {required.name}")
    left_out = ["openvino wants openvino-telemetry"]
    assert sorted(missing) == (left_out if files == 2 else [])


def test_no_file_of_the_project_names_a_registry_or_a_place_on_one_machine() -> None:
    words = ("pypi.~org", "python~hosted", "debian.~org/debian", "snapshot.~debian", "opam.~ocaml")
    places = ("/ro~ot/", "/ho~me/", "/wo~rk/", "/tmp/~plan")
    forbidden = [word.replace("~", "").encode() for word in (*words, *places)]
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for name in ("why3", "proofs", "python", "tests", ".ci", "c"):
        files += [path for path in (ROOT / name).rglob("*") if path.is_file()]
    files = [path for path in files if path.suffix not in {".pyc", ".bak", ".so"}]
    assert toolchain.LOCK in files
    assert not [(path, word) for path in files for word in forbidden if word in path.read_bytes()]


def test_whatever_is_relative_is_in_the_tree_and_why3_gets_absolute_paths() -> None:
    text = toolchain.configuration(TOOLS)
    for key in ("alt_ergo", "z3", "cvc4", "cvc5"):
        assert f"'{TOOLS[key].path}'" in text
        assert TOOLS[key].path.is_absolute()
    assert f'driver = "{ROOT}/proofs/gate/cvc5.drv"' in text


# Files that are not the pinned ones


def test_all_files_here_are_the_pinned_ones() -> None:
    assert toolchain.verify() == []


def test_a_file_that_was_replaced_or_removed_is_named(commands: Commands, tmp_path: Path) -> None:
    path, tool = tmp_path / "solver", toolchain.read()["solver"]
    right = tool.files["solver"]
    path.write_text("another", encoding="utf-8")
    assert list(map(str, toolchain.altered(tool))) == [
        f"solver: Solver is not the pinned build: its SHA-256 is {closed.sha256_of(path)}, "
        f"the lock has {right}"
    ]
    path.unlink()
    (failure,) = toolchain.altered(tool)
    assert failure.what == f"is missing: the lock has SHA-256 {right}"


def test_an_edited_configuration_is_named(commands: Commands, tmp_path: Path) -> None:
    install.install(tests=False)
    assert toolchain.verify() == []
    toolchain.CONFIGURATION.write_text("[prover]", encoding="utf-8")
    (failure,) = toolchain.verify()
    assert str(failure).startswith("build/why3.conf: Why3 is not the pinned build: its SHA-256 is ")


def test_a_changed_standard_library_is_named_with_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stdlib"
    (folder / "deep").mkdir(parents=True)
    names = [f"{folder}/{name}.mlw" for name in ("array", "deep/list", "int", "seq")]
    for name in names:
        Path(name).write_text(f"module {name}", encoding="utf-8")
    sums = subprocess.check_output(("md5sum", *(name[1:] for name in names)), cwd="/")
    (tmp_path / "solver.md5sums").write_bytes(sums)
    monkeypatch.setattr(toolchain, "DEBIAN_SUMS", tmp_path)
    right = toolchain.tree_digest(folder)
    tool = Tool("Why3", "1", folder, (PACKAGE,), {f"{folder}/": right})
    assert toolchain.altered(tool) == []
    (folder / "array.mlw").write_text("axiom", encoding="utf-8")
    (folder / "deep" / "list.mlw").unlink()
    (folder / "int.mlw").rename(folder / "new.mlw")
    (failure,) = toolchain.altered(tool)
    assert str(failure) == (
        f"{folder}/: Why3 is not the pinned build: its SHA-256 is {toolchain.tree_digest(folder)}, "
        f"the lock has {right}\n  {names[0]}\n  {names[1]}\n  {names[2]}\n  {folder}/new.mlw"
    )


def test_a_folder_has_another_digest_when_anything_in_it_is_changed(tmp_path: Path) -> None:
    folder, digests = tmp_path / "stdlib", set()
    folder.mkdir()
    changes: list[Callable[[], object]] = [
        lambda: (folder / "a").write_text("bc"),
        lambda: (folder / "a").write_text("b"),
        lambda: (folder / "a").rename(folder / "ab"),
        lambda: (folder / "c").touch(),
        lambda: (folder / "ab").rename(tmp_path / "ab"),
        lambda: (folder / "ab").symlink_to(tmp_path / "ab"),
    ]
    for change in changes:
        change()
        digests.add(toolchain.tree_digest(folder))
    assert len(digests) == len(changes)


# Installing


def test_another_machine_is_refused_and_told_what_it_would_need(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "OS_RELEASE", tmp_path / "os-release")
    for release, machine in (
        ("ID=debian\nVERSION_CODENAME=trixie\n", "x86_64"),
        ("ID=ubuntu\nVERSION_CODENAME=bookworm\n", "x86_64"),
        ("ID=debian\nVERSION_CODENAME=bookworm\n", "aarch64"),
        ("", "x86_64"),
    ):
        install.OS_RELEASE.write_text(release, encoding="utf-8")
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        with pytest.raises(ToolError) as caught:
            install.install(tests=False)
        first, tool, last = str(caught.value).splitlines()
        assert first.startswith("cannot install what is missing: this is ")
        assert first.endswith(", not Debian 12 (bookworm) on x86_64")
        assert tool == "  Solver 2.0 (Debian: solver=2.0-1)"
        assert last == "Every hash is in proofs/gate/toolchain.toml."
    assert not commands.ran("apt")


def test_without_root_what_is_missing_is_named_and_nothing_is_tried(
    commands: Commands, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(install, "missing_helpers", lambda *_: ["python3-venv"])
    commands.answers["sudo -n /usr/bin/true"] = refuse
    assert install.main([]) == 1
    assert capsys.readouterr().err == (
        "toolchain: cannot install what is missing: it takes root, or sudo without a password\n"
        "  Solver 2.0 (Debian: solver=2.0-1)\n"
        "  python3-venv of any version\n"
        "Every hash is in proofs/gate/toolchain.toml.\n"
    )
    assert not commands.ran("apt-get")


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (SHOWN.replace("2.0-1", "2.0-2"), "none"),
        (SHOWN.replace("Size: 1", "\nPackage: x"), "none"),
        (f"{SHOWN}\n{SHOWN.replace('a' * 64, OTHER)}", f"{OTHER} {PACKAGE.sha256}"),
    ],
)
def test_a_package_that_the_index_has_not_with_the_hash_is_not_installed(
    commands: Commands, shown: str, said: str
) -> None:
    commands.answers["apt-cache show"] = shown
    expected = f"solver 2.0-1: apt's index has SHA-256 {said}, the lock wants {PACKAGE.sha256}\n"
    with pytest.raises(ToolError, match=re.escape(expected)):
        install.install(tests=False)
    assert not commands.ran(" install ")


def test_a_replaced_file_of_an_installed_package_stays_and_is_refused(
    commands: Commands, tmp_path: Path
) -> None:
    commands.answers["dpkg-query"] = "installed solver 2.0-1\n"
    (tmp_path / "solver").write_text("another", encoding="utf-8")
    with pytest.raises(ToolError, match="solver: Solver is not the pinned build") as caught:
        install.install(tests=False)
    assert "Nothing replaces it silently: reinstall its Debian package" in str(caught.value)
    assert not commands.ran("apt")
    assert (tmp_path / "solver").read_text(encoding="utf-8") == "another"


def test_a_download_with_another_hash_is_not_unpacked(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old.deb").write_text("not a package", encoding="utf-8")
    monkeypatch.setattr(install, "run", closed.run)
    monkeypatch.setattr(install, "mirrors", lambda: [f"file:{tmp_path}/"])
    (tmp_path / "pool").mkdir()
    (tmp_path / "old.deb").rename(tmp_path / "pool" / "old.deb")
    with pytest.raises(ToolError, match=f"(?s)apt-helper .*SHA256:{UNPACKED.sha256}"):
        install.provide([UNPACKED], [])
    assert not (install.PROVERS / "old").exists()


ONE_LINE = "deb [arch=amd64] http://a.invalid/debian {} main contrib\n"
DEB822 = "Types: deb\nURIs: http://a.invalid/debian\nSuites: {}\nComponents: main\n"


@pytest.mark.parametrize("source", [ONE_LINE, DEB822], ids=["a.list", "a.sources"])
@pytest.mark.parametrize(
    ("origin", "suite", "found"),
    [("Debian", "bookworm", 1), ("Debian", "trixie", 0), ("Somebody", "bookworm", 0)],
)
def test_the_main_archive_of_debian_is_found_in_either_format_and_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    origin: str,
    suite: str,
    found: int,
) -> None:
    lists, file = tmp_path / "lists", tmp_path / ("a.list" if source == ONE_LINE else "a.sources")
    (lists / "partial").mkdir(parents=True)
    names = (f"{component}_binary-amd64_Packages" for component in ("main", "contrib"))
    for name in ("Release", *names):
        text = f"Origin: {origin}\nCodename: {suite}\nSuite: x\n" if name == "Release" else ""
        (lists / f"a.invalid_debian_dists_{suite}_{name}").write_text(text, encoding="utf-8")
    file.write_text(source.format(suite), encoding="utf-8")
    settings = {"Etc::SourceList": file, "Etc::SourceParts": "/dev/null", "State::Lists": lists}
    text = "".join(f'Dir::{key} "{value}";\n' for key, value in settings.items())
    (tmp_path / "apt.conf").write_text(text, encoding="utf-8")
    env = {"APT_CONFIG": str(tmp_path / "apt.conf")}
    monkeypatch.setattr(install, "run", lambda *words: closed.run(*words, env=env))
    assert install.mirrors() == ["http://a.invalid/debian/"] * found


# Python packages


def test_the_environment_of_another_checkout_is_left_alone_and_hashes_are_demanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, venv = tmp_path / "other", tmp_path / ".venv"
    other.mkdir()
    venv.symlink_to(other)
    commands = Commands({" venv ": lambda: str(shutil.copytree(other, venv))})
    monkeypatch.setattr(install, "run", commands)
    monkeypatch.setattr(install, "VENV", venv)
    monkeypatch.setattr(install, "WHEELS", tmp_path / "wheels")
    install.prepare(WHEELS, tests=True)
    assert not venv.is_symlink()
    made, fetched, filled, more, itself = commands.lines
    assert made == f"{sys.base_prefix}/bin/python3.11 -I -m venv --clear {venv}"
    for line in (fetched, filled, more):
        assert " --no-deps --require-hashes --only-binary=:all: " in line
    assert f" --dest={tmp_path}/wheels --requirement=" in fetched
    assert f" --no-index --find-links={tmp_path}/wheels --requirement=" in filled
    assert itself.endswith(f" --no-build-isolation --editable {ROOT}")


def test_what_no_pinned_package_has_put_into_the_environment_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv, site = tmp_path / ".venv", tmp_path / ".venv/lib/python3.11/site-packages"
    monkeypatch.setattr(install, "ROOT", tmp_path)
    packages = {"rich": "rich/text.py", "other": "other.py", "setuptools": "../../../bin/pip"}
    files = {f"{name}-1.dist-info/METADATA": f"Name: {name}\n" for name in packages}
    files |= {f"{name}-1.dist-info/RECORD": f"{path},,\n" for name, path in packages.items()}
    right = next((ROOT / ".venv").glob("lib/*/site-packages/distutils-precedence.pth")).read_text()
    files |= dict.fromkeys([*packages.values(), "rich/more.py", "sitecustomize.py"], "")
    files |= {"distutils-precedence.pth": right, "a.pth": right, "../../../bin/z": ""}
    files |= {"__editable__.whycast-1.pth": f"{tmp_path}/python\n", "rich/__pycache__/a.pyc": ""}
    for record in ("setuptools", "rich"):
        kept = f"{record}-1.dist-info"
        files[f"{kept}/RECORD"] += f"{kept}/METADATA,,\n{kept}/RECORD,,\n"
    paths = ("distutils-precedence.pth", "a.pth", "__editable__.whycast-1.pth")
    files["rich-1.dist-info/RECORD"] += "".join(f"{path},,\n" for path in paths)
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    (venv / "bin" / "python").symlink_to("/usr/bin/python3")
    (venv / "bin" / "python3").symlink_to("z")
    of_other = ("other-1.dist-info/METADATA", "other-1.dist-info/RECORD", "other.py")
    strange = [f"{site}/{name}" for name in ("a.pth", *of_other, "rich/more.py")]
    strange = [f"{venv}/bin/python3", f"{venv}/bin/z", *strange, f"{site}/sitecustomize.py"]
    assert install.strange_files(venv) == strange
    for name in ("distutils-precedence.pth", "__editable__.whycast-1.pth"):
        (site / name).write_text(f"{right}\nimport evil\n", encoding="utf-8")
    assert len(install.strange_files(venv)) == len(strange) + 2
    monkeypatch.setattr(install, "VENV", venv)
    monkeypatch.setattr(install, "is_usable", lambda _: True)
    with pytest.raises(ToolError, match=r"(?s)no pinned package has .* remove .venv/:.*a\.pth"):
        install.prepare(WHEELS, tests=False)


# The command


def command(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = (sys.executable, "-I", "-S", "-B", "-X", "pycache_prefix=/dev/null")
    program = root / "proofs" / "run.py"
    return subprocess.run([*line, program, *words], capture_output=True, text=True, cwd="/")


def test_installing_again_does_nothing() -> None:
    made = [toolchain.CONFIGURATION, toolchain.VENV / "pyvenv.cfg"]
    before = [path.stat().st_mtime_ns for path in made]
    done = command(ROOT, "install", "--tests")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.stat().st_mtime_ns for path in made] == before


def test_an_unknown_command_and_another_python_are_refused() -> None:
    done = command(ROOT, "instal")
    assert done.returncode == 1
    assert done.stderr.startswith("usage: ")
    trick = "import sys, runpy; sys.version_info = (3, 9); runpy.run_path(sys.argv[1])['main']()"
    script = ROOT / "proofs" / "run.py"
    done = subprocess.run([sys.executable, "-c", trick, script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "toolchain: Python 3.11 is missing (this is Python 3.9)\n"


@pytest.mark.parametrize("module", ["run", "install", "gate/closed"])
def test_bytecode_that_somebody_left_is_not_believed(tmp_path: Path, module: str) -> None:
    tools = tmp_path / "proofs"
    (tools / "gate").mkdir(parents=True)
    for name in ("run", "install", *(f"gate/{name}" for name in IMPORTED)):
        shutil.copy(ROOT / "proofs" / f"{name}.py", tools / f"{name}.py")
    source = tools / f"{module}.py"
    forged = source.parent / "__pycache__" / f"{source.stem}.cpython-311.pyc"
    forged.parent.mkdir()
    of_source = struct.pack("<III", 0, int(source.stat().st_mtime), source.stat().st_size)
    code = marshal.dumps(compile("raise SystemExit('forged')", str(source), "exec"))
    forged.write_bytes(importlib.util.MAGIC_NUMBER + of_source + code)
    done = command(tmp_path, "install", "--help")
    assert (done.returncode, done.stderr) == (0, "")
