"""What this machine is, and running programs on it."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lock import Platform


class ToolchainError(Exception):
    """Something that the user has to know and can act on; shown without a traceback."""


@dataclass(frozen=True)
class Machine:
    """The facts that decide what can be installed here.

    `as_root` is what comes before a command that root must run: nothing for root, `sudo -n` for
    a user who needs no password for it, and None for everybody else.
    """

    system: str
    distribution: str
    codename: str
    processor: str
    as_root: tuple[str, ...] | None

    def has_builds_of(self, target: Platform) -> bool:
        """Tell whether the lock's builds, and not only its versions, are meant for this machine."""
        return (self.distribution, self.codename, self.processor) == (
            target.distribution,
            target.codename,
            target.processor,
        )

    def obstacles(self, target: Platform, *, need_root: bool) -> list[str]:
        """Say what keeps apt from installing the lock's packages here."""
        reasons = []
        if not self.has_builds_of(target):
            reasons.append(
                f"this is {self.system} on {self.processor}, "
                f"and not {target.distribution} {target.codename} on {target.processor}"
            )
        if need_root and self.as_root is None:
            reasons.append("it takes root, or sudo without a password")
        return reasons


def this_machine() -> Machine:
    """Look at the machine that this runs on."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    return Machine(
        system=release.get("PRETTY_NAME", platform.system()),
        distribution=release.get("ID", "unknown"),
        codename=release.get("VERSION_CODENAME", "unknown"),
        processor=platform.machine(),
        as_root=_root_prefix(),
    )


def _root_prefix() -> tuple[str, ...] | None:
    if os.geteuid() == 0:
        return ()
    sudo = ("sudo", "-n")
    if (
        shutil.which("sudo")
        and subprocess.run((*sudo, "true"), capture_output=True).returncode == 0
    ):
        return sudo
    return None


def say(message: str) -> None:
    """Tell the user what is being done; it may take a while."""
    print(f"toolchain: {message}", file=sys.stderr, flush=True)


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command and return what it printed; if it fails, raise with the end of that."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise ToolchainError(f"cannot run {words[0]}: {error.strerror}") from error
    if done.returncode:
        end = "".join(f"\n    {line}" for line in done.stdout.splitlines()[-15:])
        raise ToolchainError(f"{shlex.join(words)}\n  ended with code {done.returncode}:{end}")
    return done.stdout
