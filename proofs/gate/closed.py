"""Start tools in a closed environment, and hash files."""

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Most prover runs take hundredths of a second. Without these settings, garbage collection and
# small pages of memory cost 14 % of a replay's processor time (measured in four rounds).
PROVING = {"OCAMLRUNPARAM": "o=1000", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
FIXED = {"PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}

GIT = ("/usr/bin/git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false")

FOLDERS = ("why3", "proofs", "python", "c", "tests")

# The inputs of a verdict, without the records of the benchmark and the lanes.
SOURCES = ("Makefile", "pyproject.toml", *(f"{folder}/**/*" for folder in FOLDERS))
RECORDED = r"^(python/BENCHMARKS\.md|proofs/lanes\.json)$"
NOT_SOURCES = re.compile(rf"(^|/)(__pycache__|[^/]*\.egg-info)/|\.so$|{RECORDED}")

# A passing gate writes its facts, the sentences and the hashes of the sources here.
FACTS = "build/facts.json"

# Variables with these prefixes choose theories, libraries, modules, and how to compile C.
STEERING = ("WHY3", "OCAML", "PYTHON", "LD", "CC", "CFLAGS", "CPPFLAGS")


class ToolError(Exception):
    """An error that the user can mend; shown without a traceback."""


def environment(*, proving: bool = False) -> dict[str, str]:
    """Return the environment of tools; `proving` adds the settings of whygate."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return kept | FIXED | (PROVING if proving else {})


def network_environment() -> dict[str, str]:
    """Return the caller's environment for apt and pip, without steering variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
    return kept | FIXED


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a tool, by default in a closed environment; return its output; raise if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=env or environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ToolError(f"cannot run {words[0]}: {error.strerror}") from error
    if done.returncode:
        end = "".join(f"\n    {line}" for line in done.stdout.splitlines()[-15:])
        raise ToolError(f"{shlex.join(words)}\n  ended with code {done.returncode}:{end}")
    return done.stdout


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def hashes(contents: Mapping[str, bytes]) -> str:
    """List hashes as `sha256sum --check` reads them."""
    found = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return "".join(f"{found[name]}  {name}\n" for name in sorted(found))


def sources(root: Path) -> str:
    """List the hashes of a verdict's inputs."""
    paths = {path for pattern in SOURCES for path in root.glob(pattern) if path.is_file()}
    named = {path.relative_to(root).as_posix(): path for path in paths}
    return hashes({n: p.read_bytes() for n, p in named.items() if not NOT_SOURCES.search(n)})


def digest(contents: Iterable[tuple[str, bytes]]) -> str:
    """Hash contents with their names, so that each change, renaming and move shows."""
    total = hashlib.sha256()
    for name, content in contents:
        total.update(os.fsencode(f"{name}\0{len(content)}\0") + content)
    return total.hexdigest()


def has_git(root: Path) -> bool:
    """Decide whether the tree is a checkout of git; an unpacked archive is not."""
    return (root / ".git").exists()
