"""Read toolchain.toml, and find the files here that differ from it."""

import hashlib
import platform
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from gate import toml
from gate.closed import ROOT, ToolError, digest, sha256_of
from gate.facts import Failure

HERE = ROOT / "proofs" / "gate"
LOCK = HERE / "toolchain.toml"
REQUIREMENTS = (HERE / "requirements.txt", ROOT / "tests" / "requirements.txt")
CONFIGURATION = ROOT / "build" / "why3.conf"
VENV = ROOT / ".venv"
PYTHON = "python{}.{}".format(*sys.version_info)
SITE = VENV / "lib" / PYTHON / "site-packages"

# The tools load packages from here; only commands that use whycast load from .venv.
WHEELS = ROOT / "build" / "wheels"
PACKAGE = [str(ROOT / "python"), str(SITE)]


@dataclass(frozen=True)
class Tool:
    """A tool of the lock; its first file, if any, is the program."""

    name: str
    version: str
    files: dict[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    deb: tuple[str, ...] = ()
    driver: str = ""

    @property
    def path(self) -> Path:
        """Return the file that runs."""
        return ROOT / next(iter(self.files))


def system() -> str:
    """Name this system as the tables of locks do."""
    release = platform.freedesktop_os_release()
    return "-".join(release[key] for key in ("ID", "VERSION_ID") if key in release)


def read() -> dict[str, Tool]:
    """Read the tools of this system, and shared tools that it does not replace."""
    tables = toml.loads(LOCK.read_text(encoding="utf-8"))
    here, machine = system(), platform.machine()
    shared = tables.pop("any")
    if here not in tables or machine != "x86_64":
        raise ToolError(f"this is {here} on {machine}: expected {' or '.join(tables)} on x86_64")
    return {name: Tool(name, **entry) for name, entry in (shared | tables[here]).items()}


def systems() -> dict[str, str]:
    """Map each version of Why3 to its system."""
    tables = toml.loads(LOCK.read_text(encoding="utf-8"))
    return {table["Why3"]["version"]: name for name, table in tables.items() if "Why3" in table}


def requirements(*files: Path) -> list[tuple[str, str, list[str]]]:
    """Read the packages for this Python: name, version, SHA-256s of the wheels."""
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    line = r"(?m)^(\S+)==(\S+)((?: (?:;|and) python_version \S+ \S+)*)((?: --hash=sha256:\w+)+)$"
    return [
        (name, version, re.findall(r"sha256:(\w+)", hashes))
        for name, version, marker, hashes in re.findall(line, text)
        if all(
            (sys.version_info < (3, int(minor))) == (sign == "<")
            for sign, minor in re.findall(r'(<|>=) "3\.(\d+)"', marker)
        )
    ]


def wheels() -> list[str]:
    """List the pinned wheels of the tools; raise if one is missing, or there is any other."""
    pinned = {sha256: name for name, _, some in requirements(REQUIREMENTS[0]) for sha256 in some}
    found = {sha256_of(path): str(path) for path in sorted(WHEELS.glob("*"))}
    faults = [f"{found[each]} is no pinned wheel" for each in found.keys() - pinned.keys()]
    missing = {*pinned.values()} - {pinned.get(each) for each in found}
    faults += [f"{WHEELS} has no {name}: `make tools`" for name in sorted(missing)]
    if faults:
        raise ToolError("\n".join(faults))
    return [*found.values()]


def configuration(tools: dict[str, Tool]) -> str:
    """Write Why3's configuration: absolute paths of the pinned provers and drivers."""
    template = (HERE / "why3.conf.in").read_text(encoding="utf-8")
    return template.format(here=HERE, tools=tools)


def verify(tools: dict[str, Tool] | None = None) -> list[Failure]:
    """List every file that differs from the pinned one, Why3's configuration included."""
    tools = tools or read()
    wanted = hashlib.sha256(configuration(tools).encode()).hexdigest()
    configured = Tool("Why3", "", {"build/why3.conf": wanted})
    return [failure for tool in (*tools.values(), configured) for failure in altered(tool)]


def altered(tool: Tool) -> list[Failure]:
    """List the files of a tool that differ from the pinned ones."""
    failures = []
    for name, expected in tool.files.items():
        path, is_folder = ROOT / name, name.endswith("/")
        there = path.is_dir() if is_folder else path.is_file()
        actual = (tree_digest if is_folder else sha256_of)(path) if there else "missing"
        if actual != expected:
            what = f"is not the pinned build: its SHA-256 is {actual}, the lock has {expected}"
            failures.append(Failure(name, tool.name, what))
    return failures


def tree_digest(folder: Path) -> str:
    """Hash the names and contents of all files in a folder, and the targets of links."""
    return digest(
        (
            path.relative_to(folder).as_posix(),
            f"link to {path.readlink()}".encode() if path.is_symlink() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    )
