"""`archive FILE` packs sources, tools, evidence, site and the script `replay` into FILE.

The sources are a git bundle: `replay` checks out the commit that IDENTITY names. `replay`
installs missing packages without a network, and takes no prover's answer from the archive.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path

from evidence import pack, records
from gate import closed, toolchain
from gate.closed import GIT, ROOT, ToolError, run

EVIDENCE = ROOT / pack.PACK
REPLAY = Path(__file__).with_name("replay")

# Packages that `replay` needs besides the tools'.
BESIDE = ("git", "make", "python3", "python3-venv", "ca-certificates")
CARRIED = ("wheels", "provers")


def packages(into: Path) -> None:
    """Fetch the tools' packages with all their dependencies."""
    into.mkdir()
    (into / "status").touch()
    (into / "partial").mkdir()
    wanted = {package for tool in toolchain.read().values() for package in tool.packages}
    options = [f"Dir::State::status={into / 'status'}", f"Dir::Cache::archives={into}"]
    options += ["APT::Sandbox::User=root", "Debug::NoLocking=1"]
    words = [word for option in options for word in ("-o", option)]
    words += ["-q", "-y", "--no-install-recommends", "--download-only", "install"]
    run("/usr/bin/apt-get", *words, *sorted(wanted), *BESIDE, env=closed.network_environment())
    shutil.rmtree(into / "partial")
    for name in ("status", "lock"):
        (into / name).unlink(missing_ok=True)


def main(argv: list[str]) -> int:
    """Pack the tree, if all is committed and the evidence belongs to these sources."""
    parser = argparse.ArgumentParser(prog="archive", description=main.__doc__)
    parser.add_argument("file", type=Path, help="a new tar file")
    file = parser.parse_args(argv).file.absolute()
    if file.exists():
        raise ToolError(f"{file}: exists; expected the name of a new file")
    commit = records.commit(ROOT)
    if not commit or " " in commit:
        raise ToolError("expected a tree of git with everything committed")
    listed = EVIDENCE / "SOURCES.sha256"
    if not listed.is_file() or listed.read_text(encoding="utf-8") != closed.sources(ROOT):
        raise ToolError("expected the evidence of these sources: run make")
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "whycast"
        (made / "build").mkdir(parents=True)
        run(*GIT, "bundle", "create", "-q", made / "whycast.bundle", "HEAD", cwd=ROOT)
        for folder in CARRIED:
            shutil.copytree(ROOT / "build" / folder, made / "build" / folder, symlinks=True)
        shutil.copytree(EVIDENCE, made / "evidence")
        shutil.copytree(ROOT / "build" / "doc", made / "site")
        shutil.copy(REPLAY, made)
        packages(made / "packages")
        (made / "IDENTITY").write_text(f"{toolchain.system()} {commit}\n", encoding="utf-8")
        files = {p.relative_to(made).as_posix(): p for p in made.rglob("*") if p.is_file()}
        hashes = closed.hashes({path: each.read_bytes() for path, each in files.items()})
        (made / "MANIFEST.sha256").write_text(hashes, encoding="utf-8")
        with tarfile.open(file, "x") as tar:
            tar.add(made, made.name)
    size = file.stat().st_size / 2**20
    print(f"{file.name}: {size:.0f} MiB, {len(files)} files, commit {commit}")
    print(f"SHA-256 of its MANIFEST.sha256: {hashlib.sha256(hashes.encode()).hexdigest()}")
    return 0
