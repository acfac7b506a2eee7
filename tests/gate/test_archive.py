"""The script of an archive: it replays, refuses changes, and warns without a hash."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from small_tree import write

from evidence import archive
from gate import closed, toolchain

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")

# Here `make prove` lists the files in build/ instead of running the gate.
MAKEFILE = """\
prove:
\t@mkdir build/evidence build/proved
\t@find build -name evidence -prune -o -type f -print | sort > build/evidence/evidence.json
all:
\t@rmdir build/proved
"""
FACTS = "build/provers/z3\nbuild/wheels/w.whl\n"

NO_HASH = "no SHA-256 of MANIFEST.sha256 was given: whoever changed this archive could have changed"


def call(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=100)


def listed(made: Path) -> str:
    """Write the manifest as `make evidence` does; return its hash."""
    files = [path for path in made.rglob("*") if path.is_file() and path.parent != made / "whycast"]
    contents = {path.relative_to(made).as_posix(): path.read_bytes() for path in files}
    contents.pop("MANIFEST.sha256", None)
    write(made, {"MANIFEST.sha256": (text := closed.hashes(contents))})
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Make an unpacked archive: a source, a prover, a wheel, an installed package."""
    source, deb, found = tmp_path / "source", tmp_path / "deb", tmp_path / "archive"
    write(source, {"Makefile": MAKEFILE})
    control = "Package: dpkg\nVersion: 0\nArchitecture: all\nMaintainer: a\nDescription: a\n"
    write(deb, {"DEBIAN/control": control})
    files = dict.fromkeys(FACTS.splitlines(), "")
    write(found, {**files, "evidence/evidence.json": FACTS})
    (found / "packages").mkdir()
    (found / "replay").write_bytes(archive.REPLAY.read_bytes())
    for words in (
        (*GIT, "init", "-q"),
        (*GIT, "add", "Makefile"),
        (*GIT, "commit", "-qm", "a"),
        (*GIT, "bundle", "create", "-q", found / "whycast.bundle", "HEAD"),
        ("dpkg-deb", "--build", deb, found / "packages" / "a.deb"),
    ):
        done = call(*words, cwd=source)
        assert done.returncode == 0, done.stderr
    commit = call(*GIT, "rev-parse", "HEAD", cwd=source).stdout
    write(found, {"IDENTITY": f"{toolchain.system()} {commit}"})
    return found


def replayed(made: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return call("bash", made / "replay", *words, cwd=made.parent)


def test_an_archive_is_replayed(made: Path) -> None:
    known = listed(made)
    done = replayed(made, "clone", known)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("replayed: commit ")
    assert NO_HASH not in done.stderr
    assert not (made / "clone" / "build" / "proved").exists()


def test_kept_answers_have_no_effect_and_a_missing_hash_is_told(made: Path) -> None:
    kept = ("build/gate/key", "build/binaries/whygate", "build/why3.conf")
    write(made, dict.fromkeys(kept, "valid"))
    listed(made)
    done = replayed(made)
    assert done.returncode == 0, done.stdout + done.stderr
    assert NO_HASH in done.stderr
    there = {path.name for path in (made / "whycast" / "build").iterdir()}
    assert there == {"evidence", "provers", "wheels"}


def test_what_changed_is_refused_and_another_manifest_and_other_facts(made: Path) -> None:
    known = listed(made)
    write(made, {"build/provers/z3": "another"})
    done = replayed(made)
    assert (done.returncode, done.stdout) == (1, "build/provers/z3: FAILED\n")
    listed(made)
    done = replayed(made, "clone", known)
    assert done.returncode == 1
    assert done.stdout == "MANIFEST.sha256: FAILED\n"
    assert not (made / "clone").exists()
    write(made, {"evidence/evidence.json": FACTS + "more\n"})
    listed(made)
    assert replayed(made).returncode == 1


@pytest.mark.parametrize("name", ["packages/b.deb", "build/gate/key", "link"])
def test_what_the_manifest_does_not_list_is_refused(made: Path, name: str) -> None:
    listed(made)
    if name == "link":
        (made / name).symlink_to("/")
    else:
        write(made, {name: ""})
    done = replayed(made)
    assert done.returncode == 1
    assert done.stderr.endswith(f"MANIFEST.sha256 does not list these files:\n{name}\n")
    assert not (made / "whycast").exists()
