"""What toolchain.toml says that the toolchain consists of, and which files here are not that."""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from gate.closed import ROOT, ToolError, digest, sha256_of
from gate.facts import Failure

HERE = ROOT / "proofs" / "gate"
LOCK = HERE / "toolchain.toml"
REQUIREMENTS = (HERE / "requirements.txt", HERE / "requirements-test.txt")
CONFIGURATION = ROOT / "build" / "why3.conf"
VENV = ROOT / ".venv"
SITE = VENV / "lib" / "python3.11" / "site-packages"

# From these files the tools load their packages, as they came, and from no other folder.
WHEELS = ROOT / "build" / "wheels"
# Those commands that try the package have it from here, and what it needs.
PACKAGE = [str(ROOT / "python"), str(SITE)]

# Where Debian keeps an MD5 of each file of each package.
DEBIAN_SUMS = Path("/var/lib/dpkg/info")


@dataclass(frozen=True)
class Package:
    """A Debian package; `sha256` is that of its .deb; `pool` is where one not to install is."""

    name: str
    version: str
    sha256: str
    pool: str | None = None


@dataclass(frozen=True)
class Tool:
    """A program or library; `files` has SHA-256 by path, that of a folder if it ends in a slash."""

    name: str
    version: str
    path: Path
    packages: tuple[Package, ...]
    files: dict[str, str]


def read() -> dict[str, Tool]:
    """Read the lock."""
    tools = tomllib.loads(LOCK.read_text(encoding="utf-8"))
    for entry in tools.values():
        entry["path"] = ROOT / entry["path"]
        entry["packages"] = tuple(Package(**package) for package in entry["packages"])
    return {key: Tool(**entry) for key, entry in tools.items()}


def requirements(*files: Path) -> list[tuple[str, str, str]]:
    """Read which packages pip is to install: name, version, SHA-256 of the wheel."""
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return re.findall(r"(?m)^(\S+)==(\S+) --hash=sha256:(\w+)$", text)


def wheels() -> list[str]:
    """Give the pinned wheels that the tools load; refuse any other, and where one is missing."""
    pinned = {sha256: name for name, _, sha256 in requirements(REQUIREMENTS[0])}
    found = {path: sha256_of(path) for path in sorted(WHEELS.glob("*"))}
    faults = [f"{path} is no pinned wheel" for path in found if found[path] not in pinned]
    missing = [pinned[sha256] for sha256 in pinned.keys() - {*found.values()}]
    if faults := [*faults, *(f"{WHEELS} has no {name}: `make tools`" for name in sorted(missing))]:
        raise ToolError("\n".join(faults))
    return [str(path) for path in found]


def configuration(tools: dict[str, Tool]) -> str:
    """Write Why3's configuration: the pinned provers by their absolute paths, and no others."""
    template = (HERE / "why3.conf.in").read_text(encoding="utf-8")
    return template.format(here=HERE, **tools)


def verify(tools: dict[str, Tool] | None = None) -> list[Failure]:
    """List every file that is not the pinned one, and Why3's configuration if it was edited."""
    tools = tools or read()
    wanted = hashlib.sha256(configuration(tools).encode()).hexdigest()
    configured = Tool("Why3", "", CONFIGURATION, (), {"build/why3.conf": wanted})
    return [failure for tool in (*tools.values(), configured) for failure in altered(tool)]


def altered(tool: Tool) -> list[Failure]:
    """List the files of a tool that are not the pinned ones."""
    failures = []
    for name, expected in tool.files.items():
        path, is_folder = ROOT / name, name.endswith("/")
        if not (path.is_dir() if is_folder else path.is_file()):
            what = f"is missing: the lock has SHA-256 {expected}"
        elif (actual := tree_digest(path) if is_folder else sha256_of(path)) != expected:
            what = f"is not the pinned build: its SHA-256 is {actual}, the lock has {expected}"
            what += "".join(f"\n  {file}" for file in (changed(path, tool) if is_folder else ()))
        else:
            continue
        failures.append(Failure(name, tool.name, what))
    return failures


def tree_digest(folder: Path) -> str:
    """Hash the names and contents of all files below a folder; of a link, where it leads."""
    return digest(
        (
            path.relative_to(folder).as_posix(),
            f"link to {path.readlink()}".encode() if path.is_symlink() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    )


def changed(folder: Path, tool: Tool) -> list[str]:
    """Name what is not as in the packages of the tool: changed, added or removed below a folder."""
    lists = [DEBIAN_SUMS / f"{package.name}.md5sums" for package in tool.packages]
    lines = [line for file in lists if file.exists() for line in file.read_text().splitlines()]
    packed = {Path(f"/{line[34:]}"): line[:32] for line in lines}
    files = [path for path in folder.rglob("*") if path.is_file()]
    there = {path: hashlib.md5(path.read_bytes()).hexdigest() for path in files}
    below = {path for path in packed if path.is_relative_to(folder)} | there.keys()
    return sorted(str(path) for path in below if packed.get(path) != there.get(path))
