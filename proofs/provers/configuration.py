"""Why3's configuration, and the proof that every prover works under it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from lock import PROVERS, Tool, sha256_of
from machine import ToolchainError, run, say

HERE = Path(__file__).resolve().parent
GOALS = HERE / "check.mlw"


def write(tools: Mapping[str, Tool], build: Path) -> None:
    """Write why3.conf into `build`; when it or a prover is new, try every prover."""
    why3 = tools["why3"].path
    link(build / "why3", Path(run(why3, "--print-datadir").strip()))
    text = (HERE / "why3.conf.in").read_text(encoding="utf-8").format(provers=HERE, **tools)
    wanted = state(text)
    stamp = build / "provers.tried"
    if has_text(build / "why3.conf", text) and has_text(stamp, wanted):
        return
    (build / "why3.conf").write_text(text, encoding="utf-8")
    for key in PROVERS:
        say(f"trying {tools[key].name} {tools[key].version}")
        try_prover(tools[key], why3, build / "why3.conf")
    stamp.write_text(wanted, encoding="utf-8")


def try_prover(prover: Tool, why3: Path, configuration: Path) -> None:
    """Demand that a prover proves the goal that is true, and does not prove the one that is not."""
    name = f"{prover.name},{prover.version}"
    prove = (why3, "-C", configuration, "prove", "-P", name, "-t", "10", GOALS, "-T", "Check", "-G")
    run(*prove, "provable")
    try:
        run(*prove, "refutable")
    except ToolchainError:
        return
    raise ToolchainError(f"{prover.name} {prover.version} proves a goal that is false")


def state(configuration: str) -> str:
    """Return a hash of all that decides how the provers are run."""
    files = (HERE / "toolchain.toml", HERE / "cvc5.drv", GOALS)
    text = "\n".join([configuration, *map(sha256_of, files)])
    return hashlib.sha256(text.encode()).hexdigest()


def link(name: Path, target: Path) -> None:
    """Make the symbolic link `name`, or turn it to `target`."""
    if name.is_symlink() and name.readlink() == target:
        return
    name.unlink(missing_ok=True)
    name.symlink_to(target)


def has_text(path: Path, text: str) -> bool:
    """Tell whether a file holds exactly `text`."""
    return path.exists() and path.read_text(encoding="utf-8") == text
