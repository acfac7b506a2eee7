"""The toolchain: pins, refusals, installation."""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from small_tree import run, write

import install
from gate import closed, toml, toolchain
from gate.closed import ROOT, ToolError
from gate.toolchain import Tool
from whycast.testing._peers import PEERS

TOOLS, WHEELS = toolchain.read(), toolchain.REQUIREMENTS
OTHER = "0" * 64


def test_every_prover_and_why3_is_pinned_for_each_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pins have SHA-256, which pip and the gate check; commands refuse other systems."""

    def be(system: str, machine: str = "x86_64") -> None:
        release = dict(zip(("ID", "VERSION_ID"), system.split("-"), strict=False))
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
        monkeypatch.setattr(platform, "machine", lambda: machine)

    known = {"debian-12": "1.5.1", "debian-13": "1.8.0", "ubuntu-24.04": "1.6.0"}
    for system, why3 in known.items():
        be(system)
        tools = toolchain.read()
        pinned = {tool.name for tool in tools.values() if tool.files}
        assert pinned >= {"Alt-Ergo", "CVC4", "CVC5", "Z3", "Why3", "Ruff"}
        assert tools["Why3"].version == why3
    for system, machine in (("ubuntu-22.04", "x86_64"), ("debian-12", "aarch64"), ("arch", "")):
        be(system, machine)
        expected = r"expected debian-12 or debian-13 or ubuntu-24\.04 on x86_64"
        with pytest.raises(ToolError, match=f"^this is {system} on {machine}: {expected}$"):
            toolchain.read()


# x = y = 2 is a counterexample.
DIVIDED = """\
module Divided
  use int.Int  use int.EuclideanDivision
  goal wrong: forall x y. 2 <= x -> (y = div 1 x \\/ y = 2) -> not x <= y
end
"""


def test_alt_ergo_is_not_told_of_the_division_that_it_gets_wrong(tmp_path: Path) -> None:
    write(tmp_path, {"divided.mlw": DIVIDED})
    configured = re.search(r'"Alt-Ergo"\n(?:.+\n)*driver = "(.+)"', toolchain.configuration(TOOLS))
    assert configured

    def answer(driver: str) -> str:
        prove = ("/usr/bin/why3", "prove", "-C", toolchain.CONFIGURATION, "-D", driver)
        write(tmp_path, {"task.why": closed.run(*prove, "divided.mlw", cwd=tmp_path)})
        return closed.run(TOOLS["Alt-Ergo"].path, "-steps-bound", "100", tmp_path / "task.why")

    assert ":Valid (" in answer("/usr/share/why3/drivers/alt_ergo_2_2_0.drv")
    assert "I don't know" in answer(configured[1])


def test_pins_of_each_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, more = (hashlib.sha256(bytes([n])).hexdigest() for n in range(3))
    pins = tmp_path / "requirements.txt"
    later = 'python_version >= "3.11" and python_version < "3.14"'
    text = f'# a==9\na==1 ; python_version < "3.11" --hash=sha256:{one}\n'
    text += f"a==2 ; {later} --hash=sha256:{other}\nb==3 --hash=sha256:{one} --hash=sha256:{more}\n"
    write(tmp_path, {pins.name: text})
    for minor, a in ((10, [("a", "1", [one])]), (13, [("a", "2", [other])]), (14, [])):
        monkeypatch.setattr(sys, "version_info", (3, minor))
        assert toolchain.requirements(pins) == [*a, ("b", "3", [one, more])]
    monkeypatch.setattr(toolchain, "REQUIREMENTS", (pins,))
    monkeypatch.setattr(toolchain, "WHEELS", tmp_path / "wheels")
    toolchain.WHEELS.mkdir()
    with pytest.raises(ToolError, match=r"wheels has no b: `make tools`$"):
        toolchain.wheels()
    wheel = toolchain.WHEELS / "b.whl"
    for content in (b"\0", b"\2"):
        wheel.write_bytes(content)
        assert toolchain.wheels() == [str(wheel)]
    wheel.write_bytes(b"\1")
    with pytest.raises(ToolError, match=r"b\.whl is no pinned wheel\n.*has no b"):
        toolchain.wheels()


def test_the_groups_of_the_project_are_the_pinned_versions() -> None:
    project = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    # If a name has several lines, the last line is for newer Pythons.
    of_the_gate, more = (
        re.findall(r"(?m)^([\w-]+)==(\S+)", path.read_text(encoding="utf-8")) for path in WHEELS
    )
    versions = dict([*of_the_gate, *more])
    assert of_the_gate == [("ruff", TOOLS["Ruff"].version)]
    pinned = {"==".join(each) for each in (*of_the_gate, *more)}
    assert {*groups["validate"]} <= {*groups["test"]} <= pinned
    # Extras accept the versions that the tests, or the register of peers, use.
    register = ROOT / "tests/peers/deviations.json"
    tried = json.loads(register.read_text(encoding="utf-8"))["versions"]
    versions = {PEERS[name].distribution: tried[name] for name in tried} | versions
    for extra in project["project"]["optional-dependencies"].values():
        for required in map(Requirement, extra):
            assert versions[required.name] in required.specifier


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
    tool = Tool("Why3", "1", {f"{folder}/": OTHER, f"{tmp_path}/gone": OTHER})
    said = "{}: Why3 is not the pinned build: its SHA-256 is {}, the lock has " + OTHER
    expected = [said.format(f"{folder}/", toolchain.tree_digest(folder))]
    expected.append(said.format(f"{tmp_path}/gone", "missing"))
    assert list(map(str, toolchain.altered(tool))) == expected


def test_missing_or_other_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, there, ran = tmp_path / "solver", [install.TESTS.replace("clang ", "")], set[str]()
    path.write_text("another", encoding="utf-8")
    solver = Tool("Solver", "2.0", {str(path): OTHER}, ("solver=2.0-1",))

    def answer(*words: object, **_: object) -> str:
        ran.add(str(words[0]))
        return f"installed {' '.join(there)} git ca-certificates\n"

    monkeypatch.setattr(install, "run", answer)
    monkeypatch.setattr(install, "prepare", lambda *_, tests: None)
    monkeypatch.setattr(toolchain, "read", lambda: {"solver": solver})
    monkeypatch.setattr(toolchain, "configuration", lambda _: "[main]")
    monkeypatch.setattr(toolchain, "CONFIGURATION", tmp_path / "why3.conf")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(ToolError, match=r"^only root can install missing tools") as told:
        install.main(["--tests"])
    wanted = "apt-get install --no-install-recommends --no-remove solver=2.0-1 clang"
    command = f"sudo apt-get update && sudo {wanted} {install.HEADERS}"
    assert str(told.value).partition("Run\n  ")[2] == command
    # If Python's C headers are there, no package has to install them.
    (tmp_path / "Python.h").touch()
    there += ["solver solver=2.0-1 clang"]
    with pytest.raises(ToolError, match="solver: Solver is not the pinned build") as refused:
        install.main(["--tests"])
    assert "Nothing replaces it silently: reinstall its Debian package" in str(refused.value)
    assert path.read_text(encoding="utf-8") == "another"
    assert ran == {"/usr/bin/dpkg-query"}


def test_installing_needs_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list[str]()
    monkeypatch.setattr(install, "run", lambda *words, **_: lines.append(" ".join(map(str, words))))
    (tmp_path / "venv").mkdir()
    monkeypatch.setattr(install, "VENV", tmp_path / "venv")
    for module in (install, toolchain):
        monkeypatch.setattr(module, "WHEELS", tmp_path / "wheels")
    install.prepare(WHEELS, tests=True)
    made, fetched, filled, more, itself = lines
    assert made.startswith(f"{sys.base_prefix}/bin/{toolchain.PYTHON} -I -m venv --clear ")
    for line in (fetched, filled, more):
        assert " --no-deps --require-hashes --only-binary=:all: " in line
    assert f" --dest={tmp_path}/wheels --requirement=" in fetched
    assert f" --no-index --find-links={tmp_path}/wheels --requirement=" in filled
    assert itself.endswith(f" --no-build-isolation --editable {ROOT}")


def test_strange_files_in_venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv, site = tmp_path / ".venv", tmp_path / ".venv/lib" / toolchain.PYTHON / "site-packages"
    monkeypatch.setattr(install, "ROOT", tmp_path)
    right = next((ROOT / ".venv").glob("lib/*/site-packages/distutils-precedence.pth")).read_text()
    editable = "__editable__.whycast-1.pth"
    starting = {"distutils-precedence.pth": right, editable: f"{tmp_path}/python\n"}
    own = f"mdurl/text.py a.pth {' '.join(starting)} ../../../bin/pip"
    own += " mdurl-1.dist-info/METADATA mdurl-1.dist-info/RECORD"
    records = {"mdurl": own, "other": "other.py"}
    files = dict.fromkeys(["mdurl/more.py", "sitecustomize.py", "../../../bin/z"], "")
    files |= {"mdurl/__pycache__/a.pyc": "", "mdurl/text.py": "", "a.pth": right, **starting}
    for name, record in records.items():
        files[f"{name}-1.dist-info/METADATA"] = f"Name: {name}\n"
        files[f"{name}-1.dist-info/RECORD"] = record.replace(" ", ",,\n") + ",,\n"
    write(site, files)
    (venv / "bin/python").symlink_to("/usr/bin/python3")
    (venv / "bin/python3").symlink_to("z")
    of_other = ("other-1.dist-info/METADATA", "other-1.dist-info/RECORD")
    strange = [f"{site}/{name}" for name in ("a.pth", "mdurl/more.py", *of_other)]
    strange = [f"{venv}/bin/python3", f"{venv}/bin/z", *strange, f"{site}/sitecustomize.py"]
    assert install.strange_files(venv) == strange
    for name in starting:
        (site / name).write_text(f"{right}\nimport evil\n", encoding="utf-8")
    assert len(install.strange_files(venv)) == len(strange) + 2
    monkeypatch.setattr(install, "VENV", venv)
    monkeypatch.setattr(install, "is_usable", lambda _: True)
    with pytest.raises(ToolError, match=r"(?s)no pinned package has .* remove .venv/:.*a\.pth"):
        install.prepare(WHEELS, tests=False)


def test_installing_again_does_nothing() -> None:
    made = [toolchain.CONFIGURATION, toolchain.VENV / "pyvenv.cfg"]
    before = [path.stat().st_mtime_ns for path in made]
    done = run(ROOT, "install", "--tests")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.stat().st_mtime_ns for path in made] == before


def test_another_python_is_refused() -> None:
    trick = "import sys, runpy; sys.version_info = (3, 9); runpy.run_path(sys.argv[1])['main']()"
    script = ROOT / "proofs" / "run.py"
    done = subprocess.run([sys.executable, "-c", trick, script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "toolchain: Python 3.10 is the oldest (this is 3.9)\n"


def test_nothing_that_steers_reaches_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    steering = ("WHY3LIB", "WHY3CONFIG", "LD_PRELOAD", "PYTHONPATH", "OCAMLRUNPARAM", "CC")
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
    failed = r"^/bin/sh -c 'echo why; exit 3'\n  ended with code 3:\n +why"
    with pytest.raises(ToolError, match=failed):
        closed.run("/bin/sh", "-c", "echo why; exit 3")
    with pytest.raises(ToolError, match=r"^cannot run /nowhere/tool: No such file"):
        closed.run("/nowhere/tool")
