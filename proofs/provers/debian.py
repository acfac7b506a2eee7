"""Install Debian packages, each checked against the lock.

apt checks the signatures of what it downloads. The lock adds that it is the very file that was
meant: before apt installs a package, its index must list the lock's SHA-256 for it.
"""

import gzip
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from lock import Package, Platform, sha256_of
from machine import Machine, ToolchainError, run, say

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def install(packages: Sequence[Package], helpers: Sequence[str], machine: Machine) -> None:
    """Install `packages` at their exact versions, and `helpers` at whatever version there is."""
    if not all(_index_hashes(package) for package in packages):
        update(machine)
    for package in packages:
        check_index(package, _index_hashes(package))
    wanted = [f"{package.name}={package.version}" for package in packages] + list(helpers)
    say(f"apt-get install {' '.join(wanted)}")
    # A file of an installed package that is not the lock's is put right by installing it again.
    options = ("--no-install-recommends", "--no-remove", "--reinstall")
    command = ("install", *options, *wanted)
    try:
        _apt_get(machine, *command)
    except ToolchainError:
        # An index that is some days old names files that the archive no longer has.
        update(machine)
        _apt_get(machine, *command)


def owner(file: Path) -> str | None:
    """Return the name of the installed package that a file belongs to, if it does to one."""
    try:
        answer = run("dpkg-query", "--search", file)
    except ToolchainError:
        return None
    return answer.partition(":")[0]


def installed_version(name: str) -> str | None:
    """Return the version at which a package is installed, if it is."""
    try:
        answer = run("dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", name)
    except ToolchainError:
        return None
    status, _, version = answer.strip().partition(" ")
    return version if status == "installed" else None


def unpacked_versions(package: Package, into: Path) -> set[str]:
    """Return the newest version of each Debian changelog of an unpacked package.

    A build that follows another without a change of the sources has a changelog of its own.
    """
    versions = set()
    for changelog in (into / "usr/share/doc" / package.name).glob("changelog.Debian*.gz"):
        with gzip.open(changelog, "rt", encoding="utf-8") as lines:
            versions.add(lines.readline().partition("(")[2].partition(")")[0])
    return versions


def update(machine: Machine) -> None:
    """Refresh the machine's package lists."""
    say("apt-get update")
    _apt_get(machine, "update")


def has_lists(target: Platform) -> bool:
    """Tell whether apt has the package lists of Debian's main archive."""
    return bool(archives(run("apt-get", "indextargets"), target))


def check_index(package: Package, listed: set[str]) -> None:
    """Refuse a package that apt's index does not list with the lock's hash, and with no other."""
    if not listed:
        raise ToolchainError(
            f"{package.name} {package.version} is not in the index of this machine's apt sources"
        )
    if listed != {package.sha256}:
        raise ToolchainError(
            f"{package.name} {package.version}: apt's index has SHA-256 "
            f"{', '.join(sorted(listed))}, the lock wants {package.sha256}"
        )


def unpack(package: Package, release: str, target: Platform, work: Path, into: Path) -> None:
    """Unpack `package` of another Debian release into the directory `into`, installing nothing.

    It comes from the mirrors that this machine uses already. apt gets sources, lists and caches
    of its own below `work`: those of the machine stay as they are.
    """
    mirrors = archives(run("apt-get", "indextargets"), target)
    if not mirrors:
        raise ToolchainError(
            f"{package.name} {package.version} comes from where this machine gets Debian "
            f"{target.codename}, and apt knows no such place"
        )
    say(f"unpacking {package.name} {package.version} of Debian {release} into {into}")
    shutil.rmtree(work, ignore_errors=True)
    for directory in ("lists/partial", "cache/archives/partial"):
        (work / directory).mkdir(parents=True)
    sources = work / "release.sources"
    sources.write_text(source_stanza(mirrors, release), encoding="utf-8")
    apt_get = ("apt-get", "-q", *_private_options(sources, work))
    run(*apt_get, "update")
    run(*apt_get, "download", f"{package.name}={package.version}", cwd=work)
    (archive,) = work.glob("*.deb")
    check_file(archive, package.sha256)
    run("dpkg", "-x", archive, work / "unpacked")
    shutil.rmtree(into, ignore_errors=True)
    into.parent.mkdir(parents=True, exist_ok=True)
    (work / "unpacked").rename(into)
    shutil.rmtree(work)


def archives(targets: str, target: Platform) -> list[str]:
    """Return where this machine gets Debian's main archive, from `apt-get indextargets`.

    apt has read its sources in either format and knows from the signed Release files who speaks:
    security, updates, backports and third parties are other releases or other origins.
    """
    wanted = {
        "Created-By": "Packages",
        "Origin": "Debian",
        "Codename": target.codename,
        "Component": "main",
    }
    found = []
    for stanza in targets.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
        if wanted.items() <= fields.items():
            found.append(fields["Repo-URI"])
    return sorted(set(found))


def source_stanza(mirrors: Iterable[str], release: str) -> str:
    """Write the apt source of another release of Debian at the same mirrors."""
    return (
        f"Types: deb\nURIs: {' '.join(mirrors)}\nSuites: {release}\nComponents: main\n"
        f"Signed-By: {KEYRING}\n"
    )


def check_file(path: Path, sha256: str) -> None:
    """Refuse a file that has not the hash that the lock names."""
    actual = sha256_of(path)
    if actual != sha256:
        raise ToolchainError(f"{path.name} has SHA-256 {actual}, the lock wants {sha256}")


def _private_options(sources: Path, work: Path) -> list[str]:
    settings = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Acquire::Languages": "none",
        # apt's own user need not be able to reach this checkout.
        "APT::Sandbox::User": "root",
    }
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]


def _index_hashes(package: Package) -> set[str]:
    try:
        shown = run("apt-cache", "show", f"{package.name}={package.version}")
    except ToolchainError:
        return set()
    return {
        line.removeprefix("SHA256: ") for line in shown.splitlines() if line.startswith("SHA256: ")
    }


def _apt_get(machine: Machine, *arguments: str) -> None:
    assert machine.as_root is not None
    run(
        *machine.as_root,
        *("env", "DEBIAN_FRONTEND=noninteractive"),
        *("apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300"),
        *arguments,
    )
