"""The toolchain: what the lock says, what is refused, and what the user is told."""

import importlib.metadata
import os
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import configuration
import debian
import environment
import install
import machine
import pytest
from lock import ROOT, Lock, Package, Platform, Tool, Wheel, read, sha256_of
from machine import Machine, ToolchainError
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = read()
BOOKWORM = LOCK.platform
BUILDER = Machine("Debian GNU/Linux 12 (bookworm)", "debian", "bookworm", "x86_64", ())
LAPTOP = Machine("Fedora Linux 44", "fedora", "", "aarch64", None)
PACKAGE = Package("solver", "2.0-1", "a" * 64)


def program(path: Path, body: str) -> Path:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def solver(path: Path, *, version: str = "2.0") -> Tool:
    return Tool("Solver", version, path, ("--version",), (PACKAGE,), {})


class Commands:
    """Stands for `run`: remembers the commands and answers some of them."""

    def __init__(self, answers: dict[str, Callable[[Path | None], str]]) -> None:
        self.answers = answers
        self.lines: list[str] = []

    def __call__(self, *command: str | Path, cwd: Path | None = None) -> str:
        line = " ".join(map(str, command))
        self.lines.append(line)
        for part, answer in self.answers.items():
            if part in line:
                return answer(cwd)
        return ""

    def ran(self, part: str) -> bool:
        return any(part in line for line in self.lines)


# The lock


def test_every_package_file_and_wheel_of_the_lock_has_a_sha256() -> None:
    packages = [package for tool in LOCK.tools.values() for package in tool.packages]
    files = [sha256 for tool in LOCK.tools.values() for sha256 in tool.files.values()]
    wheels = [wheel.sha256 for wheel in LOCK.wheels]
    hashes = [*(package.sha256 for package in packages), *files, *wheels]
    assert all(tool.packages and tool.files for tool in LOCK.tools.values())
    assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in hashes)


def test_the_lock_has_the_tools_that_the_proofs_were_made_with() -> None:
    assert {tool.name: tool.version for tool in LOCK.tools.values()} == {
        "Why3": "1.5.1",
        "Why3's OCaml library": "1.5.1",
        "OCaml": "4.13.1",
        "findlib": "1.9.6",
        "Z3": "4.8.12",
        "CVC4": "1.8",
        "CVC5": "1.0.3",
        "Alt-Ergo": "2.0.0",
    }
    assert {prover.name for prover in LOCK.provers} == {"Z3", "CVC4", "CVC5", "Alt-Ergo"}


def test_the_extras_of_the_package_are_the_versions_of_the_lock() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = {f"{wheel.name}=={wheel.version}" for wheel in LOCK.wheels}
    extras = [name for extra in project["optional-dependencies"].values() for name in extra]
    assert extras
    assert set(extras) <= locked


def test_the_lock_has_all_that_its_wheels_require_but_what_reports_home() -> None:
    versions = {wheel.name: wheel.version for wheel in LOCK.wheels}
    missing = []
    for name in versions:
        for text in importlib.metadata.requires(name) or ():
            required = Requirement(text)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                version = versions.get(canonicalize_name(required.name))
                if version is None or version not in required.specifier:
                    missing.append(f"{name} wants {required.name}")
    assert missing == ["openvino wants openvino-telemetry"]


def test_no_file_of_the_project_names_a_registry_or_a_place_on_one_machine() -> None:
    words = ("pypi.~org", "python~hosted", "debian.~org/debian", "snapshot.~debian", "opam.~ocaml")
    places = ("/ro~ot/", "/ho~me/", "/wo~rk/", "/tmp/~plan")
    forbidden = [word.replace("~", "") for word in (*words, *places)]
    kept = ("why3", "proofs", "python", "tests", ".ci")
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    files += [path for name in kept for path in (ROOT / name).rglob("*") if path.is_file()]
    files = [path for path in files if path.suffix not in {".pyc", ".bak"}]
    found = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in files
        for word in forbidden
        if word.encode() in file.read_bytes()
    ]
    assert ROOT / "proofs" / "provers" / "toolchain.toml" in files
    assert found == []


# Looking at tools


def test_a_tool_that_answers_with_its_version_is_right(tmp_path: Path) -> None:
    tool = solver(program(tmp_path / "solver", "echo Solver version 2.0"))
    assert install.inspect(tool, compare_files=True) == install.Finding(tool, "")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("echo Solver version 2.0.1", "solver says 'Solver version 2.0.1'"),
        ("echo Solver version 12.0", "solver says 'Solver version 12.0'"),
        ("echo version 2.0; exit 1", "solver --version` fails"),
    ],
)
def test_a_tool_that_does_not_answer_with_its_version_is_wrong(
    tmp_path: Path, body: str, fault: str
) -> None:
    tool = solver(program(tmp_path / "solver", body))
    assert fault in install.inspect(tool, compare_files=False).fault


def test_a_tool_that_is_nowhere_is_not_found(tmp_path: Path) -> None:
    assert install.inspect(solver(tmp_path / "solver"), compare_files=True).fault == "not found"


def test_a_tool_elsewhere_on_the_path_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = program(tmp_path / "solver", "echo 2.0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    tool = replace(solver(Path("/nowhere/solver")), files={Path("/nowhere/solver"): "0" * 64})
    finding = install.inspect(tool, compare_files=True)
    assert finding.fault == ""
    assert finding.tool.path == here


def test_another_build_of_the_right_version_is_refused_only_where_builds_are_compared(
    tmp_path: Path,
) -> None:
    path = program(tmp_path / "solver", "echo 2.0")
    right = replace(solver(path), files={path: sha256_of(path)})
    wrong = replace(solver(path), files={path: "0" * 64})
    absent = replace(solver(path), files={tmp_path / "libsolver.so": "0" * 64})
    assert install.inspect(right, compare_files=True).fault == ""
    assert install.inspect(wrong, compare_files=True).fault == f"{path} is another build"
    assert install.inspect(absent, compare_files=True).fault.endswith("libsolver.so is missing")
    assert install.inspect(wrong, compare_files=False).fault == ""


# Where nothing can be installed


def test_only_root_on_debian_12_has_no_obstacle() -> None:
    assert BUILDER.obstacles(BOOKWORM, need_root=True) == []
    assert replace(BUILDER, as_root=None).obstacles(BOOKWORM, need_root=False) == []
    (reason,) = replace(BUILDER, as_root=None).obstacles(BOOKWORM, need_root=True)
    assert "root" in reason
    for other in (
        replace(BUILDER, codename="trixie"),
        replace(BUILDER, distribution="ubuntu"),
        replace(BUILDER, processor="aarch64"),
    ):
        (reason,) = other.obstacles(BOOKWORM, need_root=True)
        assert "not debian bookworm on x86_64" in reason


def test_root_is_asked_for_by_sudo_only_when_that_needs_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.this_machine().as_root is None
    program(tmp_path / "sudo", "exit 1")
    assert machine.this_machine().as_root is None
    program(tmp_path / "sudo", '[ "$*" = "-n true" ]')
    assert machine.this_machine().as_root == ("sudo", "-n")


@pytest.mark.parametrize("here", [LAPTOP, replace(BUILDER, as_root=None)])
def test_what_is_missing_is_named_and_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Machine
) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    monkeypatch.setattr(install, "BUILD", tmp_path / "build")
    broken = replace(LOCK, tools={"solver": solver(tmp_path / "solver"), **LOCK.tools})
    with pytest.raises(ToolchainError) as caught:
        install.install(broken, here)
    message = str(caught.value)
    assert re.search(r"^Solver +2\.0 +solver 2\.0-1 +not found$", message, re.MULTILINE)
    assert "proofs/provers/toolchain.toml" in message
    assert len(message.splitlines()) < 24
    assert "Z3" not in message
    assert commands.lines == []


def test_a_tool_that_apt_does_not_put_right_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands({"apt-cache show": lambda _: f"SHA256: {PACKAGE.sha256}\n"})
    monkeypatch.setattr(debian, "run", commands)
    monkeypatch.setattr(install, "BUILD", tmp_path / "build")
    broken = replace(LOCK, tools={"solver": solver(tmp_path / "solver")})
    with pytest.raises(ToolchainError, match=r"(?s)apt says that they are installed.*Solver +2\.0"):
        install.install(broken, BUILDER)
    assert commands.ran("install")


def test_the_command_ends_with_1_and_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = replace(LOCK, tools={"solver": solver(tmp_path / "solver")})
    monkeypatch.setattr(install, "BUILD", tmp_path / "build")
    monkeypatch.setattr(install, "read", lambda: broken)
    monkeypatch.setattr(install, "this_machine", lambda: LAPTOP)
    assert install.main([]) == 1
    assert capsys.readouterr().err.startswith("toolchain: cannot install what is missing: ")
    assert install.main(["--check"]) == 1
    assert "not found" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_a_message_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "BUILD", tmp_path / "absent" / "build")
    assert install.main([]) == 1
    assert capsys.readouterr().err.startswith("toolchain: [Errno 2] No such file or directory")


def test_an_older_python_is_told_which_one_is_needed() -> None:
    trick = "import sys, runpy; sys.version_info = (3, 9); runpy.run_path(sys.argv[1])"
    script = ROOT / "proofs" / "provers" / "install.py"
    command = (sys.executable, "-c", trick, str(script))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "toolchain: Python 3.11 is missing (this is Python 3.9)\n"


# Debian packages


def test_a_package_is_installed_only_when_the_index_has_its_hash() -> None:
    debian.check_index(PACKAGE, {PACKAGE.sha256})
    with pytest.raises(ToolchainError, match=r"solver 2\.0-1 is not in the index"):
        debian.check_index(PACKAGE, set())
    with pytest.raises(ToolchainError, match=f"SHA-256 {'b' * 64}, the lock wants {'a' * 64}"):
        debian.check_index(PACKAGE, {"b" * 64})
    with pytest.raises(ToolchainError, match="the lock wants"):
        debian.check_index(PACKAGE, {"b" * 64, PACKAGE.sha256})


def test_packages_are_installed_at_their_exact_version(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = f"Package: solver\nVersion: 2.0-1\nSHA256: {PACKAGE.sha256}\n"
    commands = Commands({"apt-cache show": lambda _: shown})
    monkeypatch.setattr(debian, "run", commands)
    debian.install([PACKAGE], ["helper"], replace(BUILDER, as_root=("sudo", "-n")))
    assert not commands.ran("apt-get -q -y update")
    assert commands.lines[-1].startswith("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get ")
    assert commands.lines[-1].endswith(" solver=2.0-1 helper")


def test_a_package_with_another_hash_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands({"apt-cache show": lambda _: f"SHA256: {'b' * 64}\n"})
    monkeypatch.setattr(debian, "run", commands)
    with pytest.raises(ToolchainError, match="the lock wants"):
        debian.install([PACKAGE], [], BUILDER)
    assert not commands.ran(" install ")


def test_the_index_is_refreshed_when_it_lacks_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    with pytest.raises(ToolchainError, match="not in the index"):
        debian.install([PACKAGE], [], BUILDER)
    assert commands.ran(" update")
    assert not commands.ran(" install ")


def test_the_index_is_fetched_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    with pytest.raises(ToolchainError, match=r"alt-ergo 2.* apt knows no such place"):
        install.provide([LOCK.tools["alt_ergo"]], [], LOCK, BUILDER)
    assert commands.lines[1].endswith(" update")
    commands.lines.clear()
    with pytest.raises(ToolchainError, match=r"alt-ergo 2.* apt knows no such place"):
        install.provide([LOCK.tools["alt_ergo"]], [], LOCK, replace(BUILDER, as_root=None))
    assert not commands.ran("update")


# Debian's other release

ONE_LINE = "deb [arch=amd64] http://mirror.invalid/debian {suite} main contrib\n"
DEB822 = "Types: deb\nURIs: http://mirror.invalid/debian\nSuites: {suite}\nComponents: main\n"
RELEASE = "Origin: {origin}\nLabel: Debian\nSuite: oldstable\nCodename: {suite}\n"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        pytest.param("a.list", ONE_LINE, id="one-line"),
        pytest.param("a.sources", DEB822, id="deb822"),
    ],
)
@pytest.mark.parametrize(
    ("origin", "suite", "expected"),
    [
        ("Debian", "bookworm", ["http://mirror.invalid/debian/"]),
        ("Debian", "bookworm-updates", []),
        ("Debian", "trixie", []),
        ("Somebody", "bookworm", []),
    ],
)
def test_apt_knows_the_main_archive_of_debian_in_either_format(
    tmp_path: Path, name: str, source: str, origin: str, suite: str, expected: list[str]
) -> None:
    lists = tmp_path / "lists"
    (lists / "partial").mkdir(parents=True)
    prefix = f"mirror.invalid_debian_dists_{suite}"
    release = RELEASE.format(origin=origin, suite=suite)
    (lists / f"{prefix}_Release").write_text(release, encoding="utf-8")
    (lists / f"{prefix}_main_binary-amd64_Packages").touch()
    (tmp_path / name).write_text(source.format(suite=suite), encoding="utf-8")
    settings = (
        f"Dir::Etc::SourceList={tmp_path / name}",
        "Dir::Etc::SourceParts=/dev/null",
        f"Dir::State::Lists={lists}",
    )
    options = [word for setting in settings for word in ("-o", setting)]
    targets = subprocess.check_output(("apt-get", *options, "indextargets"), text=True)
    assert "mirror.invalid" in targets
    assert debian.archives(targets, BOOKWORM) == expected


def test_third_parties_and_other_components_are_left_out() -> None:
    def stanza(**fields: str) -> str:
        usual = {"Created-By": "Packages", "Origin": "Debian", "Codename": "bookworm"}
        usual |= {"Component": "main", "Repo-URI": "http://a.invalid/"}
        usual |= {key.replace("_", "-"): value for key, value in fields.items()}
        return "\n".join(f"{key}: {value}" for key, value in usual.items())

    targets = [
        stanza(),
        stanza(Created_By="Translations", Repo_URI="http://b.invalid/"),
        stanza(Component="contrib", Repo_URI="http://c.invalid/"),
        stanza(Codename="bookworm-security", Repo_URI="http://d.invalid/"),
        stanza(Origin="Somebody", Repo_URI="http://e.invalid/"),
        stanza(Repo_URI="file:/media/f/"),
        stanza(),
    ]
    assert debian.archives("\n\n".join(targets), BOOKWORM) == [
        "file:/media/f/",
        "http://a.invalid/",
    ]
    assert debian.archives("", BOOKWORM) == []


def test_the_other_release_is_read_from_the_same_mirrors_with_debians_keys() -> None:
    assert debian.source_stanza(["http://a.invalid/", "file:/b/"], "bullseye") == (
        "Types: deb\n"
        "URIs: http://a.invalid/ file:/b/\n"
        "Suites: bullseye\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )


def unpack(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sha: str) -> Path:
    """Let `debian.unpack` run on a download of the text `archive`."""

    def download(cwd: Path | None) -> str:
        assert cwd is not None
        (cwd / "solver_2.0-1_amd64.deb").write_text("archive", encoding="utf-8")
        return ""

    def extract(_: Path | None) -> str:
        (tmp_path / "apt" / "unpacked").mkdir()
        return ""

    target = "Created-By: Packages\nOrigin: Debian\nCodename: bookworm\nComponent: main\n"
    commands.answers |= {
        "indextargets": lambda _: f"{target}Repo-URI: http://a.invalid/\n",
        " download ": download,
        "dpkg -x": extract,
    }
    monkeypatch.setattr(debian, "run", commands)
    into = tmp_path / "provers" / "solver"
    debian.unpack(replace(PACKAGE, sha256=sha), "bullseye", BOOKWORM, tmp_path / "apt", into)
    return into


def test_a_download_with_another_hash_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands({})
    with pytest.raises(ToolchainError, match=r"solver_2\.0-1_amd64\.deb has SHA-256 .* wants 0000"):
        unpack(commands, tmp_path, monkeypatch, "0" * 64)
    assert commands.ran("download solver=2.0-1")
    assert not commands.ran("dpkg")


def test_a_download_with_the_right_hash_is_unpacked_and_apt_used_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands({})
    (tmp_path / "expected").write_text("archive", encoding="utf-8")
    into = unpack(commands, tmp_path, monkeypatch, sha256_of(tmp_path / "expected"))
    assert into.is_dir()
    assert not (tmp_path / "apt").exists()
    for line in commands.lines:
        if line.startswith("apt-get -q "):
            assert f"Dir::State::Lists={tmp_path}/apt/lists" in line
            assert f"Dir::Etc::SourceList={tmp_path}/apt/release.sources" in line
            assert "Dir::Etc::SourceParts=/dev/null" in line


def test_without_an_archive_of_debian_nothing_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    with pytest.raises(ToolchainError, match="apt knows no such place"):
        debian.unpack(PACKAGE, "bullseye", BOOKWORM, tmp_path / "apt", tmp_path / "into")
    assert not commands.ran("download")


# What only the tests need


def test_programs_of_the_tests_that_are_there_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    install.install_test_programs(Lock(BOOKWORM, {}, (), {"sh": "dash"}), LAPTOP)
    assert commands.lines == []


def test_programs_of_the_tests_that_are_missing_are_installed_at_any_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commands = Commands({})
    monkeypatch.setattr(debian, "run", commands)
    wanted = Lock(BOOKWORM, {}, (), {"sh": "dash", "no-such-viewer": "viewer"})
    install.install_test_programs(wanted, BUILDER)
    (line,) = [line for line in commands.lines if " install " in line]
    assert line.endswith(" viewer")
    with pytest.raises(
        ToolchainError, match=r"^the tests need no-such-viewer \(Debian: viewer\): "
    ):
        install.install_test_programs(wanted, LAPTOP)


# Python packages


def test_wheels_are_asked_for_with_their_hash() -> None:
    wheels = [Wheel("one", "1.0", "a" * 64), Wheel("two", "2.0", "b" * 64)]
    assert environment.requirement_lines(wheels) == (
        f"one==1.0 --hash=sha256:{'a' * 64}\ntwo==2.0 --hash=sha256:{'b' * 64}\n"
    )


def test_wheels_that_are_absent_or_at_another_version_are_outdated(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / f"python{BOOKWORM.python}" / "site-packages"
    for name, version in (("Some.Thing", "1.0"), ("other", "1.9")):
        info = packages / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        info.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
        )
    wheels = tuple(
        Wheel(name, version, "") for name, version in (("some-thing", "1.0"), ("other", "2.0"))
    )
    lock = Lock(BOOKWORM, {}, (*wheels, Wheel("absent", "1.0", "")))
    assert [wheel.name for wheel in environment.outdated(tmp_path, lock)] == ["other", "absent"]


def test_an_environment_that_is_moved_or_of_another_python_or_without_one_is_made_again(
    tmp_path: Path,
) -> None:
    target = Platform("debian", "bookworm", "x86_64", "3.11")
    venv = tmp_path / ".venv"
    assert not environment.is_usable(venv, target)
    (venv / "bin").mkdir(parents=True)
    python = program(venv / "bin" / "python", "true")
    program(venv / "bin" / "pip", "true")

    def made(version: str, place: Path) -> None:
        text = f"home = /usr/bin\nversion = {version}\ncommand = python3 -m venv {place}\n"
        (venv / "pyvenv.cfg").write_text(text, encoding="utf-8")

    made("3.11.2", venv)
    assert environment.is_usable(venv, target)
    made("3.12.1", venv)
    assert not environment.is_usable(venv, target)
    made("3.11.2", tmp_path / "elsewhere" / ".venv")
    assert not environment.is_usable(venv, target)
    made("3.11.2", venv)
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    assert not environment.is_usable(venv, target)


def test_what_an_environment_cannot_be_made_without_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = program(tmp_path / "python3.11", "exit 1")
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(environment, "interpreter", lambda _: bare)
    monkeypatch.setattr(environment, "CERTIFICATES", tmp_path / "absent")
    assert environment.missing_packages(LOCK, BUILDER, tmp_path) == [
        "python3-venv",
        "ca-certificates",
    ]
    assert environment.missing_packages(LOCK, LAPTOP, tmp_path) == ["python3-venv"]
    assert environment.missing_packages(LOCK, BUILDER, ROOT) == []


def test_another_processor_is_told_which_wheels_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"for x86_64, and this is aarch64; .* numpy==2\.4\.6"):
        environment.prepare(LOCK, LAPTOP, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_environment_is_made_from_python_3_11_and_no_other() -> None:
    assert environment.interpreter(BOOKWORM).is_file()
    with pytest.raises(ToolchainError, match=r"Python 3\.1 is missing \(this is Python 3\.11\)"):
        environment.interpreter(replace(BOOKWORM, python="3.1"))


# The provers under Why3


WHY3 = LOCK.tools["why3"].path


def test_why3_has_every_prover_of_the_lock() -> None:
    command = (WHY3, "-C", ROOT / "build" / "why3.conf", "config", "list-provers")
    listed = subprocess.check_output(command, text=True).splitlines()
    assert {f"{prover.name} {prover.version}" for prover in LOCK.provers} <= set(listed)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (
            'File "f", line 1, characters 1-2: Valid (0.0100) (2 steps)',
            "proves a goal that is false",
        ),
        ('File "f", line 1, characters 1-2: I don\'t know (0.0100) (2 steps)', "-G provable"),
        ("", "-G provable"),
    ],
)
def test_a_prover_that_proves_everything_or_nothing_is_refused(
    tmp_path: Path, answer: str, complaint: str
) -> None:
    liar = program(tmp_path / "alt-ergo", f"cat <<'END'\n{answer}\nEND")
    tools = LOCK.tools | {"alt_ergo": replace(LOCK.tools["alt_ergo"], path=liar)}
    with pytest.raises(ToolchainError, match=complaint):
        configuration.write(tools, tmp_path)
    assert not (tmp_path / "provers.tried").exists()


# All of it


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "proofs" / "provers" / "install.py"
    return subprocess.run(
        (sys.executable, str(script), *arguments), capture_output=True, text=True, cwd="/"
    )


def test_the_toolchain_here_is_as_locked() -> None:
    done = command_line("--check")
    assert (done.returncode, done.stderr) == (0, "")
    for tool in LOCK.tools.values():
        assert re.search(rf"^{tool.name} +{re.escape(tool.version)} ", done.stdout, re.MULTILINE)


def test_installing_again_does_nothing() -> None:
    assert command_line().returncode == 0
    made = [ROOT / "build" / "why3.conf", ROOT / ".venv" / "pyvenv.cfg"]
    before = [path.stat().st_mtime_ns for path in made]
    done = command_line()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.stat().st_mtime_ns for path in made] == before
