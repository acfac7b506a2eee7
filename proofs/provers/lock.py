"""Read the lock file: which tools, which versions, which hashes."""

import hashlib
import shutil
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = Path(__file__).with_name("toolchain.toml")

PROVERS = ("alt_ergo", "cvc5", "z3", "cvc4")
"""The tools that discharge goals, by their keys in the lock file, strongest first."""


@dataclass(frozen=True)
class Platform:
    """The machine for which the lock names builds, and not only versions."""

    distribution: str
    codename: str
    processor: str
    python: str


@dataclass(frozen=True)
class Package:
    """A Debian package; `sha256` is that of its .deb file."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Tool:
    """A program or library; `path ask...` makes it say its `version`."""

    name: str
    version: str
    path: Path
    ask: tuple[str, ...]
    packages: tuple[Package, ...]
    files: dict[Path, str]
    release: str | None = None


@dataclass(frozen=True)
class Wheel:
    """A Python package; `sha256` is that of its wheel."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Lock:
    """The contents of toolchain.toml; `test_programs` are the Debian packages by program."""

    platform: Platform
    tools: dict[str, Tool]
    wheels: tuple[Wheel, ...]
    test_programs: dict[str, str] = field(default_factory=dict)

    @property
    def provers(self) -> tuple[Tool, ...]:
        """The tools that discharge goals."""
        return tuple(self.tools[key] for key in PROVERS)


def read(path: Path = LOCK, root: Path = ROOT) -> Lock:
    """Read the lock file at `path`; its relative paths are meant from `root`."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Lock(
        platform=Platform(**data["platform"]),
        tools={
            key: Tool(
                name=entry["name"],
                version=entry["version"],
                path=root / entry["path"],
                ask=tuple(entry["ask"]),
                packages=tuple(Package(**package) for package in entry["packages"]),
                files={root / file: sha256 for file, sha256 in entry["files"].items()},
                release=entry.get("release"),
            )
            for key, entry in data["tools"].items()
        },
        wheels=tuple(Wheel(name, **entry) for name, entry in data["wheels"].items()),
        test_programs=data["test_programs"],
    )


def located(tool: Tool) -> Tool | None:
    """Return the tool with the path at which this machine has it, of whatever version that is."""
    if tool.path.exists():
        return tool
    elsewhere = shutil.which(tool.path.name)
    return replace(tool, path=Path(elsewhere)) if elsewhere else None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
