"""Extract the Python and the C; write the files or compare them.

Why3 extracts the programs with the printers in gate/extraction. Python's own parser and printer and
ruff format the Python. Why3's printer for C writes definitions; from these this module makes the C
file, and the codes and prototypes of the header.
"""

import argparse
import ast
import builtins
import difflib
import inspect
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType

from gate import binaries, closed
from gate.closed import ROOT, ToolError
from gate.theories import doc_comments

THEORIES = ROOT / "why3"
PRINTER = ROOT / "proofs" / "gate" / "extraction"
DRIVER, C_DRIVER = PRINTER / "python.drv", PRINTER / "c.drv"
WHY3 = "/usr/bin/why3"
RUFF = ROOT / ".venv" / "bin" / "ruff"

KERNEL, SOURCE, HEADER = ("python/whycast/_kernel.py", "c/whycast.c", "c/whycast.h")

# The modules of the Python and of the C, in the order of the extracted files.
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
    "kernel.plan.COPPlan",
    "kernel.tensors.COPTensors",
    "kernel.symbolic.COPSymbolic",
    "kernel.known.COPKnown",
)
C_MODULES = (
    "c.codes.Codes",
    "c.shapes.COPShape",
    "c.numpy_shape.COPNumpyShape",
    "c.strides.COPStrides",
    "c.sizes.COPSize",
    "c.broadcast.COPBroadcast",
    "c.broadcast_all.COPBroadcastAll",
    "c.plan.COPPlan",
    "c.steps.COPSteps",
)

LINE_LENGTH = 100

# These two settings equal those of pyproject.toml, whose other settings have no effect here.
FORMAT = (f"--line-length={LINE_LENGTH}", "--target-version=py310")


def why3_extract(*modules: str, drivers: Sequence[Path]) -> str:
    """Return the text that Why3 extracts from modules, or files, and all that they need."""
    # Why3 loads a plug-in by its path without the extension.
    plugin = binaries.built("extraction.cmxs").with_suffix("")
    with tempfile.TemporaryDirectory() as folder:
        # The user's configuration must have no effect.
        configuration = Path(folder) / "why3.conf"
        configuration.write_text(f'[main]\nmagic = 14\nplugin = "{plugin}"\n', encoding="utf-8")
        output = Path(folder) / "output"
        options: list[str | Path] = ["-C", configuration, "-L", THEORIES, "-o", output]
        options += ["--flat", "--recursive", *(word for d in drivers for word in ("-D", d))]
        said = closed.run(WHY3, "extract", *options, *modules, cwd=ROOT)
        # Why3's printer for C skips unknown constructs with a message, and exits with 0.
        if "Could not" in said:
            raise ToolError(said.strip())
        return output.read_text(encoding="utf-8")


def origin(modules: Sequence[str]) -> list[str]:
    """Return the first lines of an extracted file."""
    files = dict.fromkeys(module.rpartition(".")[0].replace(".", "/") for module in modules)
    *names, last = (f"why3/{file}.mlw" for file in files)
    text = f"Extracted by Why3 from {', '.join(names)} and {last}."
    return [
        *textwrap.wrap(text, LINE_LENGTH - 6),
        "Do not edit: change the sources, then `make extract`.",
        "SPDX-License-Identifier: Apache-2.0",
    ]


def comment(place: str) -> str:
    """Return the doc comment of the item at a place: file, line and column."""
    file, line, _ = place.rsplit(":", 2)
    found = doc_comments(Path(file).read_text(encoding="utf-8"))
    return next((inspect.cleandoc(t).rstrip() for owner, _, t in found if owner == int(line)), "")


class Plain(ast.NodeTransformer):
    """Makes the printer's Python idiomatic, and adds the comments of the sources."""

    def visit(self, node: ast.AST) -> ast.AST:
        """Rewrite a node's parts, then the node; numbers are integers: `a - 1 + 1` is `a`."""
        match self.generic_visit(node):
            case ast.FunctionDef() | ast.ClassDef() as made:
                return self.documented(made)
            case ast.UnaryOp(ast.Not(), ast.Compare(a, [ast.Eq()], b)):
                return ast.Compare(a, [ast.NotEq()], b)
            case ast.Call(ast.Name("range") as function, [ast.Constant(0), stop]):
                return ast.Call(function, [stop], [])
            case ast.BinOp(ast.BinOp(a, ast.Sub(), ast.Constant(1)), ast.Add(), ast.Constant(1)):
                return a
            case ast.BinOp(ast.Constant(0), ast.Sub(), ast.Constant(1)):
                return ast.UnaryOp(ast.USub(), ast.Constant(1))
            case made:
                return made

    def documented(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        """Replace the place in a docstring by the comment at this place; keep the lines below."""
        if made := ast.get_docstring(node):
            place, _, facts = made.rstrip().partition("\n")
            text = "\n\n".join(part for part in (comment(place), facts) if part)
            lines = textwrap.indent(text, "    ").strip() + ("\n    " if "\n" in text else "")
            first = [ast.Expr(ast.Constant(lines))] if text else []
            node.body = [*first, *node.body[1:]] or [ast.Pass()]
        return node


def hidden(tree: ast.Module) -> Iterator[str]:
    """Yield names that hide a built-in name, an earlier definition or a called function."""
    code = compile(tree, "<extracted>", "exec")
    variables = {c.co_name: {*c.co_varnames} for c in code.co_consts if isinstance(c, CodeType)}
    known, taken = {*dir(builtins)}, {*dir(builtins)}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                made = {name}
            case ast.AnnAssign(ast.Name(name)) | ast.Assign([ast.Name(name)]):
                made = {name}
            case ast.ImportFrom(names=names):
                made = {each.name for each in names}
            case _:
                raise ToolError(f"no definition: {ast.unparse(node)}")
        yield from taken & made
        taken |= made
        if isinstance(node, ast.FunctionDef):
            calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
            called = {each.id for each in calls if isinstance(each, ast.Name)}
            yield from variables[node.name] & (called | known)


def python(printed: str) -> str:
    """Refuse ambiguous names; make the printed Python idiomatic."""
    try:
        tree = ast.parse(printed, feature_version=(3, 10))
        names = sorted({*hidden(tree)})
    except SyntaxError as error:
        raise ToolError(f"no Python: {error}") from error
    if names:
        raise ToolError(f"a name for two things: {', '.join(names)}")
    return ast.unparse(ast.fix_missing_locations(Plain().visit(tree)))


def extract_kernel() -> str:
    """Extract the kernel; sort its imports and format it as the project does."""
    about = "The contract of a function stands in why3/, under the name that its docstring gives."
    header = "".join(f"# {line}\n" for line in (*origin(MODULES), about))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        text = f"{header}\n{python(why3_extract(*MODULES, drivers=[DRIVER]))}"
        file.write_text(text, encoding="utf-8")
        options = ("--quiet", "--no-cache", "--isolated", *FORMAT, file)
        closed.run(RUFF, "check", "--fix-only", "--select", "F401,I", *options)
        closed.run(RUFF, "format", *options)
        return file.read_text(encoding="utf-8")


# The line before a definition: its name and place in WhyML.
HEAD = re.compile(r"/\*@ (\S+) (.*) @\*/\n")
CODE = re.compile(r"int64_t whycast_(\w+) = INT64_C\((-?\d+)\);")
PROTOTYPE = re.compile(r"int64_t (whycast_\w+)\([^()]*\)(?= \{\n)")
# Why3 declares constants and references on lines of their own.
APART = re.compile(r"^(  int64_t [\w, ]+);\n  int64_t (?=[\w, ]+;$)", re.M)

EXTRACTED = re.compile(
    r"^int64_t (?P<name>\w+)\([^()]*\);$|(?<=^enum whycast_code \{\n).*?(?=^\};$)", re.M | re.S
)

INCLUDES = """\
#include "whycast.h"

#ifdef WHYCAST_MEMCPY
#include <stddef.h>
#else
#include <string.h>
#define WHYCAST_MEMCPY memcpy
#endif
"""


TAG = re.compile(r"\s*\[E_\w+\]")


def c_comment(text: str, *more: str) -> str:
    """Format a comment in C; rewrap it if a line is too long."""
    lines = text.splitlines()
    if any(len(line) > LINE_LENGTH - 7 for line in lines):
        lines = textwrap.wrap(text, LINE_LENGTH - 7, break_on_hyphens=False)
    written = "\n   ".join([*lines, *more])
    if "*/" in written:
        raise ToolError(f"a comment would end too early: {written}")
    return f"/* {written} */\n"


def c_files(printed: str, header: str) -> dict[str, str]:
    """Make the two files of C from the printed text and the present header."""
    prelude, *parts = HEAD.split(printed)
    names, places = parts[::3], parts[1::3]
    texts = [part.strip() for part in parts[2::3]]
    codes = "|".join(code[1] for text in texts if (code := CODE.fullmatch(text)))

    def capitals(pattern: str, text: str, cast: str = "") -> str:
        return re.sub(pattern, lambda match: f"{cast}WHYCAST_{match[1].upper()}", text)

    constants, body, public = list[str](), "", dict[str | None, str]()
    for name, place, text in zip(names, places, texts, strict=True):
        said = capitals(rf"\b({codes})\b", comment(place))
        if code := CODE.fullmatch(text):
            constants.append(f"{c_comment(said)}WHYCAST_{code[1].upper()} = {code[2]}")
            continue
        text = capitals(rf"\bwhycast_({codes})\b", text, "(int64_t) ")  # An enumerator is an int.
        text = text.replace("INT64_C(-", "-INT64_C(")  # INT64_C takes a constant without a sign.
        text = APART.sub(r"\1, ", text)
        prototype = PROTOTYPE.match(text)
        if prototype:
            public[prototype[1]] = f"{prototype[0]};"
            said = "For callers: whycast.h."
        elif not text.startswith("static inline "):
            raise ToolError(f"{name}: neither a code nor a function: {text}")
        plain = textwrap.fill(TAG.sub("", said), LINE_LENGTH - 7, break_on_hyphens=False)
        body += f"\n{c_comment(plain, f'WhyML: {name}')}{text}\n"
    public[None] = textwrap.indent(",\n".join(constants), "    ") + "\n"
    if {*public} != (there := {match["name"] for match in EXTRACTED.finditer(header)}):
        raise ToolError(f"{HEADER}: has {[*there]}, and {[*public]} are public")
    # Why3 prints an empty line after each line of the prelude.
    prelude = prelude.strip().replace("\n\n", "\n")
    first = c_comment("\n".join(origin(C_MODULES)))
    return {
        SOURCE: f"{first}\n{INCLUDES}\n{prelude}\n{body}",
        HEADER: EXTRACTED.sub(lambda match: public[match["name"]], header),
    }


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Extract the Python and the C, or compare; return 1 if a file differs."""
    parser = argparse.ArgumentParser(prog="extract", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args(arguments)
    printed = why3_extract(*C_MODULES, drivers=[C_DRIVER])
    files = c_files(printed, (root / HEADER).read_text(encoding="utf-8"))
    result = 0
    for name, wanted in {KERNEL: extract_kernel(), **files}.items():
        if not options.check:
            (root / name).write_bytes(wanted.encode())
        elif (found := (root / name).read_bytes().decode("utf-8", "replace")) != wanted:
            a, b = (text.splitlines(keepends=True) for text in (found, wanted))
            sys.stderr.writelines(difflib.unified_diff(a, b, name, "extracted now", n=1))
            print(f"{name} is not what Why3 extracts: run `make extract`", file=sys.stderr)
            result = 1
    return result
