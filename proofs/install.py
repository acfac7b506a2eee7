"""Install the toolchain of toolchain.toml.

As root, apt installs tools; otherwise the error contains the command. Alt-Ergo, of an older
release, goes to build/, Python packages to .venv, the tools' own wheels to build/wheels. `install`
never reinstalls a tool at the right version, so that the gate notices changed files.
"""

import argparse
import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from gate import toolchain
from gate.closed import ROOT, ToolError, digest, has_git, network_environment, run, sha256_of
from gate.toolchain import PYTHON, REQUIREMENTS, VENV, WHEELS, Tool

PROVERS = ROOT / "build" / "provers"

# Packages for tests, Python's headers, and packages for single targets of the Makefile. No proof
# needs them, and their versions are not pinned: Debian replaces its Chromium every few weeks.
TESTS = "chromium clang cmake g++ gcc lld pkg-config valgrind"
HEADERS = f"lib{PYTHON}-dev"
OTHERS = {
    "verify-c": "frama-c-base",
    "models": "",
    "certify": "",
    "cross": "gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-s390x-linux-gnu "
    "libc6-dev-s390x-cross qemu-user",
}

# Wheels outside .venv: ESBMC, models for the tests and for `make models`, cvc5.
# tests/requirements-NAME.txt pins what build/NAME contains.
APART = ("verify-c", "test-models", "models", "certify")

BY_HASH = ("--require-hashes", "--only-binary=:all:")

# `venv` and this module put these files, and Python, into .venv; packages own all others.
OF_VENV = (
    *(".gitignore", "pyvenv.cfg", "lib64", "package.sha256"),
    *(f"bin/{name}" for name in ("activate", "activate.csh", "activate.fish", "Activate.ps1")),
)

# The SHA-256 of packages' .pth files, whose lines Python runs at its start.
RUN_AT_START = {
    "a1_coverage.pth": "ef2ed06d19867ec669c09a804060666a9cd5e383af0a9d11aa2de79b77d448e8",
    "distutils-precedence.pth": "2638ce9e2500e572a5e0de7faed6661eb569d1b696fcba07b0dd223da5f5d224",
}

BUILT_OF = ("pyproject.toml", "setup.py", "python/whycast/_native.c", "c/whycast.c", "c/whycast.h")


def main(arguments: Sequence[str]) -> int:
    """Install missing parts of the machine, .venv, build/ and, for the tests, the package."""
    parser = argparse.ArgumentParser(prog="install", description="Install the toolchain.")
    parser.add_argument("--tests", action="store_true", help="also what the tests need")
    parser.add_argument("--also", choices=OTHERS, help="also what this target needs")
    options = parser.parse_args(arguments)
    tools = toolchain.read()
    wheels = REQUIREMENTS if options.tests else REQUIREMENTS[:1]
    helpers = f"{TESTS * options.tests} {OTHERS.get(options.also, '')}".split()
    if toolchain.system().startswith("ubuntu"):  # Ubuntu has Chromium only as a snap.
        helpers = [name for name in helpers if name != "chromium"]
    packages = missing_packages(tools, wheels, helpers)
    debs = [tool for tool in tools.values() if tool.deb and not tool.path.exists()]
    if packages or (debs and not mirrors()):
        provide(packages)
    for tool in debs:
        unpack(tool)
    prepare(wheels, tests=options.tests)
    for name in ("test-models" if options.tests else "", options.also):
        if name in APART:
            prepare_apart(name)
    toolchain.CONFIGURATION.parent.mkdir(exist_ok=True)
    if text_of(toolchain.CONFIGURATION) != (text := toolchain.configuration(tools)):
        toolchain.CONFIGURATION.write_text(text, encoding="utf-8")
    if replaced := toolchain.verify(tools):
        remedy = (
            "reinstall its Debian package (`dpkg -S FILE` names it, `dpkg --verify` what changed), "
            "or remove build/ or .venv/"
        )
        raise ToolError("\n".join([*map(str, replaced), f"Nothing replaces it silently: {remedy}"]))
    return 0


def missing_packages(
    tools: dict[str, Tool], wheels: Sequence[Path], helpers: Sequence[str]
) -> list[str]:
    """List the missing packages: tools at their pinned versions, others at any version."""
    show = "--showformat=${db:Status-Status} ${Package} ${Package}=${Version}\n"
    dpkg_query = Path("/usr/bin/dpkg-query")
    listed = run(dpkg_query, "--show", show).splitlines() if dpkg_query.exists() else []
    there = {word for line in listed if line.startswith("installed ") for word in line.split()}
    wanted = [*(package for tool in tools.values() for package in tool.packages), *helpers]
    if helpers and not Path(sysconfig.get_path("include"), "Python.h").exists():
        wanted.append(HEADERS)
    if has_git(ROOT):
        wanted.append("git")
    if not is_usable(VENV) and importlib.util.find_spec("ensurepip") is None:
        wanted.append("python3-venv")
    if outdated(VENV, wheels):
        wanted.append("ca-certificates")
    return [package for package in wanted if package not in there]


def provide(packages: Sequence[str]) -> None:
    """Update apt and install packages as root; as another user, raise with the command."""
    commands = [["update"]]
    if packages:
        commands.append(["install", "--no-install-recommends", "--no-remove", *packages])
    if os.geteuid() != 0:
        told = " && ".join(shlex.join(["sudo", "apt-get", *words]) for words in commands)
        raise ToolError(f"only root can install missing tools; nothing was done. Run\n  {told}")
    for words in commands:
        say(f"apt-get {' '.join(words)}")
        options = ("-q", "-y", "-o", "DPkg::Lock::Timeout=300")
        silent = network_environment() | {"DEBIAN_FRONTEND": "noninteractive"}
        run("/usr/bin/apt-get", *options, *words, env=silent)


def mirrors() -> list[str]:
    """List the mirrors of the system's main archive that apt uses."""
    label = toolchain.system().partition("-")[0].capitalize()
    wanted = ("Created-By: Packages", f"Label: {label}", "Component: main")
    return run("/usr/bin/apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted).split()


def unpack(tool: Tool) -> None:
    """Unpack a package of another release, from apt's mirror, without installing it."""
    if not (places := mirrors()):
        raise ToolError(f"{tool.name} comes from a mirror of Debian, and apt knows none")
    (pool, sha256), folder, work = tool.deb, PROVERS / tool.name.lower(), PROVERS / "new"
    say(f"unpacking {tool.name} {tool.version} into {folder}")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # apt compares the hash. apt's own user may be unable to reach this checkout.
    fetch = ("/usr/lib/apt/apt-helper", "-o", "APT::Sandbox::User=root", "download-file")
    archive = work / "deb"
    run(*fetch, places[0] + pool, archive, f"SHA256:{sha256}", env=network_environment())
    run("/usr/bin/dpkg", "-x", archive, work)
    archive.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)


def prepare(wheels: Sequence[Path], *, tests: bool) -> None:
    """Make or repair .venv; for the tests, also install the package itself there."""
    if not is_usable(VENV):
        say(f"making {VENV}")
        if VENV.is_symlink():
            VENV.unlink()  # The target of a link belongs to another checkout.
        run(Path(sys.base_prefix, "bin", PYTHON), "-I", "-m", "venv", "--clear", VENV)
        shutil.rmtree(WHEELS, ignore_errors=True)  # Wheels may be for another Python.
    elif found := strange_files(VENV):
        shown = "\n  ".join(found[:20])
        raise ToolError(f"no pinned package has put these here; remove .venv/:\n  {shown}")
    try:
        toolchain.wheels()
    except ToolError:
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


def prepare_apart(name: str) -> None:
    """Install wheels with pinned hashes into their own folder."""
    folder, requirements = ROOT / "build" / name, ROOT / "tests" / f"requirements-{name}.txt"
    stamp, wanted = folder / "wheels.sha256", sha256_of(requirements)
    if text_of(stamp) != wanted:
        say(f"pip install --target {folder.relative_to(ROOT)}")
        shutil.rmtree(folder, ignore_errors=True)
        options = ("--no-deps", "--ignore-requires-python", "--no-compile")
        pip("install", *BY_HASH, *options, f"--target={folder}", f"--requirement={requirements}")
        stamp.write_text(wanted, encoding="utf-8")


def is_usable(venv: Path) -> bool:
    """Decide whether the right Python made `venv`, and its scripts name this place."""
    made, pip = text_of(venv / "pyvenv.cfg"), text_of(venv / "bin" / "pip")
    here = re.search(rf"""[!'"\s]{re.escape(str(venv))}/bin/python""", pip)
    return (
        f"version = {PYTHON[6:]}." in made
        and here is not None
        and (venv / "bin" / "python").exists()
    )


def strange_files(venv: Path) -> list[str]:
    """List files in `venv` that belong neither to a pinned package nor to `venv` itself."""
    site = venv / "lib" / PYTHON / "site-packages"
    pinned = {name for name, *_ in toolchain.requirements(*REQUIREMENTS)}
    packages = [
        package
        for package in importlib.metadata.distributions(path=[str(site)])
        if normal(package.name) in pinned | {"pip", "setuptools", "whycast"}
    ]
    known = {os.path.normpath(site / file) for each in packages for file in each.files or ()}
    known |= {str(venv / name) for name in OF_VENV}
    for path in site.glob("*.pth"):
        is_ours = path.name.startswith("__editable__.whycast-")
        is_ours = is_ours and text_of(path) == f"{ROOT}/python\n"
        if not (is_ours or sha256_of(path) == RUN_AT_START.get(path.name)):
            known.discard(str(path))
    pythons = (venv / "bin").glob("*thon*")  # Python 3.14 adds a name with the letter pi.
    known |= {str(path) for path in pythons if not path.resolve().is_relative_to(ROOT)}
    # Python reads no __pycache__ here.
    return sorted(
        str(path)
        for path in venv.rglob("*")
        if (path.is_symlink() or not path.is_dir())
        and str(path) not in known
        and path.parent.name != "__pycache__"
    )


def normal(name: str) -> str:
    """Spell the name of a package as the requirements do."""
    return re.sub("[-_.]+", "-", name).lower()


def outdated(venv: Path, wheels: Sequence[Path]) -> list[str]:
    """List the requirements that `venv` lacks, or has at another version."""
    folder = venv / "lib" / PYTHON / "site-packages"
    found = importlib.metadata.distributions(path=[str(folder)])
    installed = {f"{normal(each.name)}=={each.version}" for each in found}
    wanted = [f"{name}=={version}" for name, version, _ in toolchain.requirements(*wheels)]
    return [requirement for requirement in wanted if requirement not in installed]


def pip(command: str, *arguments: str | Path) -> None:
    """Run the pip of .venv, without its cache."""
    program = (VENV / "bin" / "python", "-I", "-m", "pip", "--quiet", "--disable-pip-version-check")
    options = ("--no-input", "--no-cache-dir", "--no-deps")
    run(*program, command, *options, *arguments, env=network_environment())


def text_of(path: Path) -> str:
    """Return the text of a file, "" if there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def say(message: str) -> None:
    """Print the present step."""
    print(f"toolchain: {message}", file=sys.stderr, flush=True)
