"""Extract the verified kernel to Python.

The file is made by Why3 with the printer in gate/extraction, then brought into the format of the
project by ruff. Its first lines give the SHA-256 of the sources that determine it: the programs,
every theory of the project that they use, the driver, the printer and this script, each with its
name. A change of a source therefore shows even where the Python stays the same.
"""

import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from gate import binaries, closed
from gate.closed import ROOT
from gate.theories import all_uses, closure

THEORIES = ROOT / "why3"
PRINTER = ROOT / "proofs" / "gate" / "extraction"
DRIVER = PRINTER / "python.drv"
TARGET = ROOT / "python" / "whycast" / "_kernel.py"
WHY3 = "/usr/bin/why3"
RUFF = ROOT / ".venv" / "bin" / "ruff"

# The programs of the kernel, in the order in which they stand in the extracted file.
MODULES = (
    "kernel.broadcast.COPBroadcast",
    "kernel.numpy.COPNumpyBroadcast",
    "kernel.axes.COPAxes",
    "kernel.axes.COPAxesStrides",
    "kernel.in_dim.COPInDim",
    "kernel.adjoint.COPAdjoint",
    "kernel.expand.COPExpand",
    "kernel.openvino.COPOpenvino",
    "kernel.flat.COPFlatBroadcast",
    "kernel.views.COPViews",
    "kernel.tensors.COPTensors",
)

# As pyproject.toml has it, of which nothing else is to matter.
FORMAT = ("--line-length=100", "--target-version=py310")

# The format of Why3's configuration file that Why3 1.5 reads.
CONFIGURATION_FORMAT = 14

# Of the comment in the header, without its `# `.
LINE_LENGTH = 98


def why3_extract(
    *modules: str,
    drivers: Sequence[Path] = (DRIVER,),
    libraries: Sequence[Path] = (THEORIES,),
    language: str = "python",
) -> str:
    """Give the text that Why3 makes of modules, or files, and of all that they need."""
    # Why3 loads a plug-in by its path without the extension.
    plugin = binaries.built(f"{language}_extraction.cmxs").with_suffix("")
    with tempfile.TemporaryDirectory() as folder:
        # A configuration of its own: that of a user must not have an influence.
        configuration = Path(folder) / "why3.conf"
        configuration.write_text(
            f'[main]\nmagic = {CONFIGURATION_FORMAT}\nplugin = "{plugin}"\n', encoding="utf-8"
        )
        output = Path(folder) / "output"
        options: list[str | Path] = ["-C", configuration, "--flat", "--recursive"]
        for library in libraries:
            options += ["-L", library]
        for driver in drivers:
            options += ["-D", driver]
        said = closed.run(WHY3, "extract", *options, "-o", output, *modules, cwd=ROOT)
        # Why3's printer for C leaves out what it does not know, says so, and ends well.
        if "Could not" in said:
            raise closed.ToolError(said.strip())
        return output.read_text(encoding="utf-8")


def normalise(text: str) -> str:
    """Remove unused imports, sort the others, and format as the project does."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / TARGET.name
        file.write_text(text, encoding="utf-8")
        options = ("--quiet", "--no-cache", "--isolated", *FORMAT, file)
        closed.run(RUFF, "check", "--fix-only", "--select", "F401,I", *options)
        closed.run(RUFF, "format", *options)
        return file.read_text(encoding="utf-8")


def theory_file(name: str) -> Path:
    """Give the file of a theory: `core.shape` stands in core/shape.mlw."""
    return THEORIES.joinpath(*name.split(".")).with_suffix(".mlw")


def program_files() -> list[Path]:
    """List the files with the programs of the kernel, in their order."""
    names = dict.fromkeys(module.rpartition(".")[0] for module in MODULES)
    return [theory_file(name) for name in names]


def used_theories(files: Iterable[Path]) -> set[Path]:
    """Find the project's own files that WhyML files use, themselves included."""
    uses = all_uses(ROOT)
    return {ROOT / name for file in files for name in closure(in_tree(file), uses)}


def in_tree(file: Path) -> str:
    """Give the path of a file from the root of the tree."""
    return file.relative_to(ROOT).as_posix()


def kernel_sources() -> list[Path]:
    """List the files that determine the extracted kernel."""
    printer = binaries.BINARIES["python_extraction.cmxs"].sources()
    return sorted({*used_theories(program_files()), *printer, DRIVER, Path(__file__).resolve()})


def header() -> str:
    """Give the first lines of the extracted kernel."""
    *names, last = map(in_tree, program_files())
    origin = f"Extracted by Why3 from {', '.join(names)} and {last}."
    sources = ((in_tree(file), file.read_bytes()) for file in kernel_sources())
    why3, ruff = (closed.run(tool, "--version").split()[-1] for tool in (WHY3, RUFF))
    return (
        f"{textwrap.indent(textwrap.fill(origin, LINE_LENGTH), '# ')}\n"
        "# The contract of a function stands in why3/, under the name that its docstring gives.\n"
        "# Do not edit: change the sources, then `make extract`.\n"
        "# SPDX-License-Identifier: Apache-2.0\n"
        f"# SHA-256 of the sources that {in_tree(Path(__file__).resolve())} lists:\n"
        f"# {closed.digest(sources)}\n"
        f"# Tools: Why3 {why3}, ruff {ruff}.\n\n"
    )


def extract_kernel() -> str:
    """Give the text of the extracted kernel."""
    return normalise(header() + why3_extract(*MODULES))
