"""The Python environment of the checkout: .venv, with the lock's wheels and the package itself."""

import importlib.metadata
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from lock import Lock, Platform, Wheel, sha256_of
from machine import Machine, ToolchainError, run, say

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def interpreter(target: Platform) -> Path:
    """Return the Python that .venv is made from, also when .venv's own is running this."""
    name = f"python{target.python}"
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running == target.python:
        return Path(sys.base_prefix, "bin", name)
    found = shutil.which(name)
    if found is None:
        raise ToolchainError(f"Python {target.python} is missing (this is Python {running})")
    return Path(found)


def missing_packages(lock: Lock, machine: Machine, root: Path) -> list[str]:
    """Return the Debian packages without which .venv cannot be made or repaired.

    They are not in the lock: python3-venv has to fit the Python that the machine has.
    """
    if is_complete(lock, root):
        return []
    missing = []
    if not is_usable(root / ".venv", lock.platform) and not _has_pip(interpreter(lock.platform)):
        missing.append("python3-venv")
    # Debian's pip trusts what Debian trusts; elsewhere that is no file of this name.
    if machine.has_builds_of(lock.platform) and not CERTIFICATES.exists():
        missing.append("ca-certificates")
    return missing


def is_complete(lock: Lock, root: Path) -> bool:
    """Tell whether .venv is there and holds what it should."""
    venv = root / ".venv"
    return (
        is_usable(venv, lock.platform)
        and not outdated(venv, lock)
        and _project_state(venv) == _wanted_state(root)
    )


def prepare(lock: Lock, machine: Machine, root: Path) -> None:
    """Make .venv, or repair what is wrong with it."""
    venv = root / ".venv"
    wheels = lock.wheels if not is_usable(venv, lock.platform) else outdated(venv, lock)
    names = " ".join(f"{wheel.name}=={wheel.version}" for wheel in wheels)
    if wheels and machine.processor != lock.platform.processor:
        raise ToolchainError(
            f"the lock has wheels for {lock.platform.processor}, and this is {machine.processor}; "
            f"missing are {names}"
        )
    if not is_usable(venv, lock.platform):
        _create(venv, lock.platform)
    if wheels:
        say(f"pip install {names}")
        requirements = root / "build" / "requirements.txt"
        requirements.write_text(requirement_lines(lock.wheels), encoding="utf-8")
        _pip_install(venv, "--require-hashes", "--only-binary", ":all:", "-r", str(requirements))
    if _project_state(venv) != _wanted_state(root):
        say("pip install --editable .")
        _pip_install(venv, "--no-build-isolation", "--editable", str(root))
        _stamp(venv).write_text(_wanted_state(root), encoding="utf-8")


def is_usable(venv: Path, target: Platform) -> bool:
    """Tell whether `venv` was made in this place and has a Python of the right version."""
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    made = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return (
        made.get("version", "").startswith(f"{target.python}.")
        # The scripts of an environment name its place: one that was moved has to be made again.
        and made.get("command", "").endswith(f" {venv}")
        and (venv / "bin" / "python").exists()
        and (venv / "bin" / "pip").exists()
    )


def outdated(venv: Path, lock: Lock) -> tuple[Wheel, ...]:
    """Return the wheels of the lock that `venv` has not got, or has at another version."""
    packages = venv / "lib" / f"python{lock.platform.python}" / "site-packages"
    installed = {
        re.sub(r"[-_.]+", "-", found.name).lower(): found.version
        for found in importlib.metadata.distributions(path=[str(packages)])
    }
    return tuple(wheel for wheel in lock.wheels if installed.get(wheel.name) != wheel.version)


def requirement_lines(wheels: Iterable[Wheel]) -> str:
    """Write the wheels as pip reads them in its hash-checking mode."""
    return "".join(
        f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels
    )


def _has_pip(python: Path) -> bool:
    """Tell whether `python` comes with what an environment gets its pip from."""
    try:
        run(python, "-c", "import ensurepip")
    except ToolchainError:
        return False
    return True


def _create(venv: Path, target: Platform) -> None:
    say(f"making {venv} with Python {target.python}")
    if venv.is_symlink():
        # What a link leads to belongs to another checkout.
        venv.unlink()
    run(interpreter(target), "-m", "venv", "--clear", venv)


def _pip_install(venv: Path, *arguments: str) -> None:
    # Without its cache, pip writes nothing outside of .venv.
    quiet = ("--quiet", "--no-input", "--no-cache-dir", "--disable-pip-version-check")
    run(venv / "bin" / "python", "-m", "pip", "install", *quiet, "--no-deps", *arguments)


def _stamp(venv: Path) -> Path:
    return venv / "pyproject.sha256"


def _project_state(venv: Path) -> str | None:
    try:
        return _stamp(venv).read_text(encoding="utf-8")
    except OSError:
        return None


def _wanted_state(root: Path) -> str:
    return sha256_of(root / "pyproject.toml")
