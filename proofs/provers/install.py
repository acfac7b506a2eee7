"""Install the toolchain that toolchain.toml names, or say exactly what is missing.

    python3 proofs/provers/install.py           install what is missing, do nothing else
    python3 proofs/provers/install.py --check   only report
    python3 proofs/provers/install.py --tests   install the programs that only the tests need

Tools come from Debian 12 by apt, and one prover from Debian 11 into build/; Python packages go
into .venv; Why3 gets its configuration in build/why3.conf. Where all tools are present at their
versions, any Linux will do and nobody needs to be root.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which

# This file is what runs before anything is known to be as it should.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("toolchain: Python 3.11 is missing (this is Python {}.{})".format(*sys.version_info))

import configuration
import debian
import environment
from lock import LOCK, ROOT, Lock, Package, Tool, located, read, sha256_of
from machine import Machine, ToolchainError, run, this_machine

BUILD = ROOT / "build"


@dataclass(frozen=True)
class Finding:
    """A tool as it was found, and what is wrong with it (nothing, if `fault` is empty).

    `altered` are those of its files that are not the lock's, with the SHA-256 that they have.
    """

    tool: Tool
    fault: str
    altered: tuple[tuple[Path, str], ...] = ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Install the toolchain of whycast.")
    parser.add_argument("--check", action="store_true", help="only report, install nothing")
    parser.add_argument("--tests", action="store_true", help="only what only the tests need")
    options = parser.parse_args(arguments)
    try:
        lock = read()
        if options.check:
            return check(lock, this_machine())
        if options.tests:
            install_test_programs(lock, this_machine())
            return 0
        install(lock, this_machine())
    except (ToolchainError, OSError) as error:
        print(f"toolchain: {error}", file=sys.stderr)
        return 1
    return 0


def check(lock: Lock, machine: Machine) -> int:
    """Report every tool; return 0 if all is as the lock wants it."""
    findings = inspect_all(lock, machine)
    complete = environment.is_complete(lock, ROOT)
    print(table(findings.values()))
    state = "right" if complete else "not as locked"
    print(f"\n.venv and its {len(lock.wheels)} packages: {state}")
    return 0 if complete and not faulty(findings.values()) else 1


def install(lock: Lock, machine: Machine) -> None:
    """Bring the machine, .venv and build/ to what the lock says; touch nothing that is right."""
    BUILD.mkdir(exist_ok=True)
    findings = inspect_all(lock, machine)
    refuse_replaced(findings.values())
    wrong = faulty(findings.values())
    helpers = environment.missing_packages(lock, machine, ROOT)
    if wrong or helpers:
        try:
            provide([finding.tool for finding in wrong], helpers, lock, machine)
        except ToolchainError as error:
            wrong = faulty(inspect_all(lock, machine).values())
            raise ToolchainError(missing_report(wrong, helpers, str(error))) from error
        findings = inspect_all(lock, machine)
        wrong = faulty(findings.values())
        if wrong:
            raise ToolchainError(missing_report(wrong, (), "apt says that they are installed"))
    environment.prepare(lock, machine, ROOT)
    configuration.write({key: finding.tool for key, finding in findings.items()}, BUILD)


def install_test_programs(lock: Lock, machine: Machine) -> None:
    """Install the programs that only the tests need, those of them that are nowhere on the path."""
    missing = {name: lock.test_programs[name] for name in lock.test_programs if not which(name)}
    if not missing:
        return
    try:
        provide([], sorted(missing.values()), lock, machine)
    except ToolchainError as error:
        programs = ", ".join(f"{name} (Debian: {package})" for name, package in missing.items())
        raise ToolchainError(f"the tests need {programs}: {error}") from error


def inspect_all(lock: Lock, machine: Machine) -> dict[str, Finding]:
    """Look at every tool of the lock."""
    same_builds = machine.has_builds_of(lock.platform)
    return {key: inspect(tool, compare_files=same_builds) for key, tool in lock.tools.items()}


def inspect(tool: Tool, *, compare_files: bool) -> Finding:
    """Find a tool, ask for its version and compare its files with the lock."""
    there = located(tool)
    if there is None:
        return Finding(tool, "not found")
    # What is elsewhere than the lock says is the work of somebody else, and so another build.
    compare_files = compare_files and there == tool
    tool = there
    own = {file: sha256_of(file) for file in tool.files if compare_files and file.exists()}
    altered = tuple((file, sha256) for file, sha256 in own.items() if sha256 != tool.files[file])
    try:
        answer = run(tool.path, *tool.ask)
    except ToolchainError:
        return Finding(tool, f"`{' '.join((str(tool.path), *tool.ask))}` fails", altered)
    if tool.version not in answer.split():
        return Finding(tool, f"{tool.path} says {answer.partition(chr(10))[0]!r}", altered)
    missing = [file for file in tool.files if compare_files and file not in own]
    if missing:
        return Finding(tool, f"{missing[0]} is missing", altered)
    return Finding(tool, f"{altered[0][0]} is another build" if altered else "", altered)


def refuse_replaced(findings: Iterable[Finding]) -> None:
    """Refuse files whose packages are there at the lock's versions and that yet are other files.

    Another version is no more than that, and brought to the lock's. But what is not the file of
    its own package was put there by somebody, and must be noticed rather than papered over.
    """
    refused = [
        f"{file} is not what package {package.name} {package.version} installs: its SHA-256 is "
        f"{sha256}, the lock has {finding.tool.files[file]}; remove it or reinstall the package"
        for finding in findings
        for file, sha256 in finding.altered
        if (package := package_of(finding.tool, file)) is not None
    ]
    if refused:
        raise ToolchainError("\n".join(refused))


def package_of(tool: Tool, file: Path) -> Package | None:
    """Return the package of the tool that a file is of, if it is there at the lock's version."""
    if tool.release:
        (package,) = tool.packages
        versions = debian.unpacked_versions(package, BUILD / "provers" / package.name)
        return package if package.version in versions else None
    name = debian.owner(file)
    for package in tool.packages:
        if package.name == name and debian.installed_version(name) == package.version:
            return package
    return None


def faulty(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of tools that are not as the lock wants them."""
    return [finding for finding in findings if finding.fault]


def provide(tools: Sequence[Tool], helpers: Sequence[str], lock: Lock, machine: Machine) -> None:
    """Install `tools` and the Debian packages named by `helpers`."""
    packages = [package for tool in tools if not tool.release for package in tool.packages]
    need_root = bool(packages or helpers)
    obstacles = machine.obstacles(lock.platform, need_root=need_root)
    if obstacles:
        raise ToolchainError("; ".join(obstacles))
    if machine.as_root is not None and not debian.has_lists(lock.platform):
        debian.update(machine)
    if need_root:
        debian.install(packages, helpers, machine)
    for tool in tools:
        if tool.release:
            (package,) = tool.packages
            into = BUILD / "provers" / package.name
            debian.unpack(package, tool.release, lock.platform, BUILD / "apt", into)


def missing_report(wrong: Sequence[Finding], helpers: Sequence[str], reason: str) -> str:
    """Say which tools are missing at which versions, and why they were not installed."""
    parts = [f"cannot install what is missing: {reason}"]
    if wrong:
        parts.append(table(wrong))
    if helpers:
        parts.append(f"Debian packages without which .venv cannot be made: {', '.join(helpers)}")
    parts.append(f"Every version and hash is in {LOCK.relative_to(ROOT)}.")
    return "\n\n".join(parts)


def table(findings: Iterable[Finding]) -> str:
    """Lay findings out in columns: tool, version, Debian package, what was found."""
    rows = [("tool", "version", "Debian package", "found")]
    for finding in findings:
        tool = finding.tool
        package = f"{tool.packages[0].name} {tool.packages[0].version}"
        release = f" ({tool.release})" if tool.release else ""
        rows.append((tool.name, tool.version, package + release, finding.fault or f"{tool.path}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
