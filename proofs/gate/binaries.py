"""Build the OCaml programs, and pin what each is made of and what is made.

A program is run if it is the pinned one, built of the pinned sources. Otherwise it is built again,
and refused unless the pinned one comes out. The pinned compiler and libraries make the same in any
folder, as names of the linker and the version of the C compiler are taken out.
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

# All warnings are errors but those about style: fragile matching, fields left out of a record
# pattern, names found by their type (40 to 45), module interfaces that are not written.
WARNINGS = "+a-4-9-40-41-42-44-45-70"


class Binary(NamedTuple):
    """What a program is built of: files below proofs/, packages of OCaml, how it is linked."""

    files: tuple[str, ...]
    packages: str
    option: str = "-linkpkg"

    def sources(self) -> dict[str, Path]:
        """Give the files by their names; of several programs that share some, each has its main."""
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
    """Give the pinned program, in the tree that is to have it."""
    program, target = BINARIES[name], root / FOLDER / name
    pinned = pins().get(toolchain.system(), {}).get(name, {})
    if pinned.get("sources") != made_of(program):
        raise ToolError(
            f"{name} is not built of the sources that {PINS.relative_to(ROOT)} pins: "
            "`make pin` writes there what they are now, and the program"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Who comes second finds it built.
        if not target.is_file() or sha256_of(target) != pinned["program"]:
            with compiled(name, program, target.parent) as made:
                if (found := sha256_of(made)) != pinned["program"]:
                    raise ToolError(
                        f"{name} is not the pinned program when it is built here: its SHA-256 is "
                        f"{found}, {pinned['program']} is pinned; a compiler or library is another"
                    )
                made.replace(target)  # Whoever runs the former one keeps it.
    return target


def made_of(program: Binary) -> str:
    """Hash what decides what a program is."""
    how = " ".join([WARNINGS, *STRIP, program.packages, program.option]).encode()
    sources = ((name, path.read_bytes()) for name, path in program.sources().items())
    return digest([("", how), *sources])


@contextmanager
def compiled(name: str, program: Binary, folder: Path) -> Iterator[Path]:
    """Compile a program, in a folder that is gone afterwards."""
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
    """Read the pins: of each system, for each program."""
    return toml.loads(PINS.read_text(encoding="utf-8"))


def pin(arguments: Sequence[str]) -> int:
    """Pin what the sources of all programs are now, and what this system builds of them."""
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
