"""Build the OCaml programs, and pin their sources and the programs.

The gate runs only the pinned program of the pinned sources; it rebuilds a missing or different one.
The pinned compiler and libraries make the same program in any folder, after STRIP removes the
linker's names and the version of the C compiler.
"""

import argparse
import fcntl
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gate import toml, toolchain
from gate.closed import ROOT, ToolError, digest, run, sha256_of

PROOFS = ROOT / "proofs"
PINS = Path(__file__).with_name("binaries.toml")
FOLDER = "build/binaries"

OCAMLFIND = "/usr/bin/ocamlfind"
STRIP = ("/usr/bin/strip", "--strip-all", "-R", ".comment", "-R", ".note.gnu.build-id")

# All warnings are errors, except those of style: fragile matching, missing fields in a record
# pattern, names found by their type (40 to 42), names that `open` hides (44, 45), no interface.
WARNINGS = "+a-4-9-40-41-42-44-45-70"


class Binary(NamedTuple):
    """The inputs of a program: files in proofs/, packages of OCaml, an option for the linker."""

    files: tuple[str, ...]
    packages: str
    option: str = "-linkpkg"

    def sources(self) -> dict[str, Path]:
        """Map names to files, without the mains of other programs."""
        found = sorted(path for name in self.files for path in PROOFS.glob(name))
        mains = {f"{name}.ml" for name, other in BINARIES.items() if other != self}
        api = PROOFS / "gate" / "why3" / "api" / f"{toolchain.read()['Why3'].version}.ml"
        return {path.name: path for path in found if path.name not in mains} | {"api.ml": api}


WHYGATE = "gate/why3/*.ml"
BINARIES = {
    "whygate": Binary((WHYGATE,), "why3,unix"),
    "whysearch": Binary((WHYGATE, "search/*.ml"), "why3,unix"),
    "whycontract": Binary((WHYGATE, "gate/contract/*.ml"), "why3,unix"),
    "extraction.cmxs": Binary(("gate/extraction/*.ml",), "why3", "-shared"),
}


def built(name: str, root: Path = ROOT) -> Path:
    """Return the pinned program in a tree, built if necessary."""
    program, target = BINARIES[name], root / FOLDER / name
    pinned = pins().get(toolchain.system(), {}).get(name, {})
    if pinned.get("sources") != made_of(program):
        raise ToolError(
            f"{name} is not built of the sources that {PINS.relative_to(ROOT)} pins: "
            "`make pin` pins the present sources, and the program"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # A second process waits here.
        if not target.is_file() or sha256_of(target) != pinned["program"]:
            with compiled(name, program, target.parent) as made:
                if (found := sha256_of(made)) != pinned["program"]:
                    raise ToolError(
                        f"{name} is not the pinned program when it is built here: its SHA-256 is "
                        f"{found}, {pinned['program']} is pinned; a compiler or library differs"
                    )
                made.replace(target)  # A running program keeps its file.
    return target


def made_of(program: Binary) -> str:
    """Hash the inputs of a program."""
    how = " ".join([WARNINGS, *STRIP, program.packages, program.option]).encode()
    sources = ((name, path.read_bytes()) for name, path in program.sources().items())
    return digest([("", how), *sources])


@contextmanager
def compiled(name: str, program: Binary, folder: Path) -> Iterator[Path]:
    """Compile a program in a temporary folder."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        objects, sources = Path(place), program.sources()
        for source, path in sources.items():
            shutil.copy(path, objects / source)
        sort = (OCAMLFIND, "ocamldep", "-package", program.packages, "-sort")
        order = run(*sort, *sources, cwd=objects).split()
        compiler = (OCAMLFIND, "ocamlopt", "-w", WARNINGS, "-warn-error", "+a", program.option)
        run(*compiler, "-package", program.packages, *order, "-o", name, cwd=objects)
        run(*STRIP, name, cwd=objects)
        yield objects / name


def pins() -> dict[str, dict[str, dict[str, str]]]:
    """Read the pins of each system and program."""
    return toml.loads(PINS.read_text(encoding="utf-8"))


def pin(arguments: Sequence[str]) -> int:
    """Pin the present sources of all programs, and the programs that this system builds."""
    argparse.ArgumentParser(prog="pin", description=pin.__doc__).parse_args(arguments)
    made_here, tables = dict[str, dict[str, str]](), pins()
    for name, program in BINARIES.items():
        with tempfile.TemporaryDirectory() as folder, compiled(name, program, Path(folder)) as made:
            made_here[name] = {"sources": made_of(program), "program": sha256_of(made)}
    text = PINS.read_text(encoding="utf-8").partition("\n[")[0]
    for system, table in (tables | {toolchain.system(): made_here}).items():
        text += f'\n["{system}"]\n'
        for name, pinned in table.items():
            words = ", ".join(f'{key} = "{sha256}"' for key, sha256 in pinned.items())
            text += f'"{name}" = {{ {words} }}\n'
    PINS.write_text(text, encoding="utf-8")
    return 0
