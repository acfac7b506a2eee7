"""`whycast model`: the broadcasts in an ONNX model, and a model with explicit ones."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycast._command._arguments import Subparsers, add_json, path, shape
from whycast._command._output import output
from whycast._model._operators import FORMS, OPERATORS, Form
from whycast._types import Shape
from whycast._usage import UsageError

if TYPE_CHECKING:
    from whycast._model._explicit import Explicit
    from whycast._model._infer import Read


def add(subparsers: Subparsers) -> None:
    about = "the broadcasts in an ONNX model, or make them explicit"
    parser = subparsers.add_parser(
        "model",
        help=f"list {about}",
        description=f"List {about}. The list has the nodes that broadcast by ONNX's rule, which is "
        "NumPy's, the conditions if sizes have names, and the nodes that SONNX refuses. Exit code "
        "1 if shapes never broadcast, or --check finds a difference; 3 if nodes outside --leave "
        "may broadcast, but --explicit changes none. Needs whycast[onnx].",
    )
    again: Any = {"action": "append", "default": []}
    yes: Any = {"action": "store_true"}
    parser.add_argument("file", type=path, metavar="FILE", help="an ONNX model")
    parser.add_argument(
        "--sizes",
        type=_sizes,
        metavar="NAME=SIZES",
        help="a named size, such as N=2, or an input's shape, such as x=2x3x48; repeatable",
        **again,
    )
    add_json(parser)
    parser.add_argument("--html", type=path, metavar="PAGE", help="write a page, too")
    parser.add_argument(
        "--explicit",
        type=path,
        metavar="OUT",
        help="write a model in which new nodes broadcast the inputs of others. On inputs that FILE "
        "accepts, OUT computes the same by ONNX's definition. The report lists unchanged nodes",
    )
    parser.add_argument("--as", choices=FORMS, help="the new nodes in OUT; by default expand")
    parser.add_argument(
        "--dynamic",
        help="compute in OUT the shapes that only the running model knows; by default leave their "
        "nodes",
        **yes,
    )
    parser.add_argument("--constants", help="repeat the elements of constants in OUT itself", **yes)
    parser.add_argument(
        "--leave",
        metavar="OPERATOR",
        help="leave the nodes of an operator in OUT; repeatable. In ONNX Runtime the last bits of "
        "a Pow with one exponent and a Pow with many differ",
        **again,
    )
    parser.add_argument(
        "--check",
        help="run FILE and OUT on random inputs, in ONNX Runtime, ONNX's reference evaluator or "
        "both, and compare the outputs bit by bit; sizes without --sizes are 2, or 1 to meet the "
        "conditions. Memory holds one model, and the outputs of both",
        **yes,
    )
    parser.add_argument(
        "--input",
        type=_number,
        metavar="NAME=NUMBER",
        help="for --check: the value of all elements of an input; repeatable",
        **again,
    )
    parser.set_defaults(run=_run)


def _sizes(text: str) -> tuple[str, Shape | int]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBER or INPUT=SHAPE, got {text!r}")
    sizes = shape(value)
    return name, int(value) if re.fullmatch("[0-9]+", value) else sizes


def _number(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBER, got {text!r}") from None


def _run(arguments: argparse.Namespace) -> int:
    try:
        from whycast._model import _explicit, _infer, _names, _page, _places, _read, _report, _runs
    except ImportError as missing:
        raise UsageError(f"it needs {missing.name}: pip install 'whycast[onnx]'") from None
    _demand_company(arguments)
    model, names = _read.read(arguments.file), _names.Names()
    known = _infer.scopes(model, names, arguments.sizes)
    found = list(_places.places(known.scopes, model, names))
    about: dict[str, Any] = {"file": str(arguments.file), "opset": _read.opset(model)}
    about |= _report.report(found, _places.left_out(known.scopes, model), names, known)
    code = 1 if any(place.verdict == "never" for place in found) else 0
    if arguments.explicit is not None:
        form: Form = getattr(arguments, "as") or "expand"
        options = {name: getattr(arguments, name) for name in ("dynamic", "constants", "leave")}
        made = _explicit.explicit(model, known.scopes, found, form, **options)
        _write_model(arguments.explicit, made, known, arguments.file)
        left = any(place.node.op_type not in arguments.leave for place, _ in made.left)
        code = code or (3 if left and not made.changed else 0)
        about["explicit"] = {
            "file": str(arguments.explicit),
            "nodes added": made.added,
            "made explicit": made.changed,
            "left": [{"node": _report.called(p), "reason": reason} for p, reason in made.left],
        }
    if arguments.check:
        files, numbers = (arguments.file, arguments.explicit), dict(arguments.input)
        about["check"] = _runs.check(*files, names, found, known, numbers)
        code = 1 if about["check"]["differences"] else code
    if arguments.html is not None:
        data = (arguments.file.parent / name for name in _read.data_files(model))
        with output(arguments.html, "--html", arguments.file, *data) as file:
            file.write(_page.page(about).encode())
    print(json.dumps(about) if arguments.json else _report.text_of(about))
    return code


def _demand_company(arguments: argparse.Namespace) -> None:
    html, out = arguments.html, arguments.explicit
    for name in ("as", "dynamic", "constants", "leave", "check"):
        if out is None and getattr(arguments, name):
            raise UsageError(f"--{name}: add --explicit OUT")
    if out and html and os.path.realpath(html) == os.path.realpath(out):
        raise UsageError(f"--html and --explicit: expected two files, got {html} twice")
    if arguments.check and out.exists() and not out.is_file():
        raise UsageError(f"--check: expected a regular file as OUT, got {out}")
    if arguments.input and not arguments.check:
        raise UsageError("--input: add --check, which draws the inputs")
    if getattr(arguments, "as") == "sonnx" and (arguments.dynamic or arguments.constants):
        option = "--dynamic" if arguments.dynamic else "--constants"
        raise UsageError(f"{option}: expected none with --as sonnx, whose Broadcast takes no shape")
    if unknown := [name for name in arguments.leave if name not in OPERATORS]:
        expected = f"expected an operator of {', '.join(OPERATORS)}"
        raise UsageError(f"--leave: {expected}, got {unknown[0]!r}")
    for name, number in arguments.input:
        if dict(arguments.input)[name] != number:
            raise UsageError(f"--input: {name} has two numbers, {number:g} and another")


def _write_model(target: Path, made: Explicit, known: Read, source: Path) -> None:
    """Write a model and its external data; fail if ONNX's checker accepts only the source."""
    from google.protobuf.message import EncodeError

    from whycast._model._read import complaint, data_files

    files = data_files(made.model)
    data = [source.parent / name for name in files]
    if known.complaint is None and (reason := complaint(made.model)) is not None:
        raise AssertionError(f"ONNX's checker refuses the model that would be written: {reason}")
    try:
        content = made.model.SerializeToString()
    except EncodeError:
        said = f"{target} would have 2 GiB or more, expected less, for protobuf"
        raise UsageError(f"--explicit: {said}") from None
    copies = [(target.parent / name, source.parent / name) for name in files]
    copies = [(copy, own) for copy, own in copies if not (copy.exists() and copy.samefile(own))]
    for copy, _ in copies:
        if copy.exists():
            raise UsageError(f"{copy} exists: choose another folder for {target}")
    with output(target, "--explicit", source, *data) as file:
        for copy, own in copies:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(own, copy)
        file.write(content)
