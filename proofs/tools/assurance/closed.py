"""Start tools in a closed environment; build OCaml programs, and notice when one was replaced."""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

OCAMLFIND = "/usr/bin/ocamlfind"
LOCK = Path(__file__).with_name("toolchain.toml")

# All warnings are errors but those about style: fragile matching, fields left out of a record
# pattern, names found by their type (40 to 45), module interfaces that are not written.
WARNINGS = "+a-4-9-40-41-42-44-45-70"

# Most provers run for some hundredths of a second, in which collecting garbage (Alt-Ergo is an
# OCaml program) and getting memory by the small page cost more than they save. Both settings
# together took 14 % of the processor time off a replay, in four interleaved rounds.
PROVING = {"OCAMLRUNPARAM": "o=1000", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
FIXED = {"PATH": PATH, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}

# What decides which theories, libraries and modules are found where.
STEERING = ("WHY3", "OCAML", "PYTHON", "LD_")


class ToolError(Exception):
    """Something that the user has to know and can act on; shown without a traceback."""


def environment(*, proving: bool = False) -> dict[str, str]:
    """Give all that a tool may see of our environment; whygate gets what makes `proving` fast."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return kept | FIXED | (PROVING if proving else {})


def network_environment() -> dict[str, str]:
    """Give apt and pip the caller's proxies, certificates and settings, but nothing that steers."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
    return kept | FIXED


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a tool, closed off, and return what it printed; if it fails, raise with the end of it."""
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
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(contents: Iterable[tuple[str, bytes]]) -> str:
    """Hash contents together with their names, so that neither can change or move unseen."""
    total = hashlib.sha256()
    for name, content in contents:
        total.update(os.fsencode(f"{name}\0{len(content)}\0") + content)
    return total.hexdigest()


def build(sources: Sequence[Path], target: Path, *, packages: str, options: Sequence[str]) -> None:
    """Compile `target` with `packages`, unless it is what was compiled from these very sources."""
    how = " ".join([WARNINGS, packages, *options]).encode()
    wanted = digest([("", how), *((path.name, path.read_bytes()) for path in (LOCK, *sources))])
    target.parent.mkdir(parents=True, exist_ok=True)
    stamp = target.with_suffix(".sha256")
    with stamp.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Who comes second finds it built.
        made = stamp.read_text(encoding="utf-8") if stamp.exists() else ""
        if target.exists() and made.startswith(wanted):
            if made != f"{wanted} {(actual := sha256_of(target))}\n":
                raise ToolError(
                    f"{target} is not the program that was built here: its SHA-256 is {actual}, "
                    f"{made.split()[-1]} was built; `make clean` removes it"
                )
            return
        stamp.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            objects = Path(folder)
            for source in sources:
                shutil.copy(source, objects)
            sort = (OCAMLFIND, "ocamldep", "-package", packages, "-sort")
            order = run(*sort, *(source.name for source in sources), cwd=objects).split()
            compiler = (OCAMLFIND, "ocamlopt", "-w", WARNINGS, "-warn-error", "+a")
            run(*compiler, "-package", packages, *options, *order, "-o", target.name, cwd=objects)
            (objects / target.name).replace(target)  # Whoever runs the former one keeps it.
        stamp.write_text(f"{wanted} {sha256_of(target)}\n", encoding="utf-8")
