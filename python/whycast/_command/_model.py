"""The subcommand model: the broadcasts in an ONNX model, and a model in which they are explicit."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whycast._command._arguments import Subparsers, add_json, path, shape
from whycast._command._output import output
from whycast._kernel import padded_size
from whycast._model._operators import FORMS, OPERATORS
from whycast._types import Shape
from whycast._usage import UsageError, show_named

if TYPE_CHECKING:
    from whycast._model._explicit import Explicit
    from whycast._model._infer import Read
    from whycast._model._names import Names
    from whycast._model._places import Place


def add(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    about = "the broadcasts in an ONNX model, which can be made explicit"
    parser = subparsers.add_parser(
        "model",
        help=about,
        description=f"List {about}: which nodes broadcast, by the rule of NumPy that ONNX follows, "
        "under which condition where sizes have names, and what SONNX refuses. Exit code 1 where "
        "shapes never broadcast, or where --check finds a difference; 3 where --explicit changes "
        "nothing, though nodes may broadcast. It needs whycast[onnx].",
    )
    parser.add_argument("file", type=path, metavar="FILE", help="an ONNX model")
    parser.add_argument(
        "--sizes",
        type=_sizes,
        action="append",
        default=[],
        metavar="NAME=SIZES",
        help="the number of a named size, such as N=2, or the shape of an input, such as x=2x3x48; "
        "it may be given again",
    )
    add_json(parser)
    parser.add_argument("--html", type=path, metavar="PAGE", help="write a page, too")
    parser.add_argument(
        "--explicit",
        type=path,
        metavar="OUT",
        help="write a model in which nodes that broadcast are in front of those that did; it "
        "computes the same for all inputs that FILE runs with. What is left is listed",
    )
    parser.add_argument(
        "--as",
        choices=FORMS,
        dest="form",
        help="which nodes to put in OUT; by default expand",
    )
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="compute in OUT the shapes that only the running model knows; otherwise such nodes "
        "are left, and named",
    )
    parser.add_argument(
        "--constants", action="store_true", help="repeat the elements of constants in OUT itself"
    )
    parser.add_argument(
        "--leave",
        action="append",
        default=[],
        metavar="OPERATOR",
        help="leave the nodes of an operator in OUT as they are; it may be given again. ONNX "
        "Runtime computes a Pow with one exponent otherwise than with many: the last bits differ",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run FILE and OUT on random inputs, in ONNX Runtime or ONNX's reference evaluator, "
        "and compare the outputs bit by bit; names of sizes that --sizes lacks are 2, or what the "
        "conditions ask. It takes the memory of one model, and of the outputs of both",
    )
    parser.add_argument(
        "--input",
        type=_number,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="for --check: all that an input holds; it may be given again",
    )
    parser.set_defaults(run=_run)


def _sizes(text: str) -> tuple[str, Shape | int]:
    """Read a name and its number, or an input and its shape.

    >>> _sizes("N=2"), _sizes("x=2x3"), _sizes("x=(2,)")
    (('N', 2), ('x', (2, 3)), ('x', (2,)))
    """
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBER or INPUT=SHAPE, got {text!r}")
    sizes = shape(value)
    return name, int(value) if re.fullmatch("[0-9]+", value) else sizes


def _number(text: str) -> tuple[str, float]:
    """Read an input and a number.

    >>> _number("sr=16000")
    ('sr', 16000.0)
    """
    name, _, value = text.rpartition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected NAME=NUMBER, got {text!r}") from None


def _run(arguments: argparse.Namespace) -> int:
    try:
        from whycast._model._explicit import explicit
        from whycast._model._infer import scopes
        from whycast._model._names import Names
        from whycast._model._places import left_out, places
        from whycast._model._read import data_files, opset, read
    except ImportError as missing:
        raise UsageError(f"it needs {missing.name}: pip install 'whycast[onnx]'") from None
    _demand_company(arguments)
    model, names = read(arguments.file), Names()
    known = scopes(model, names, arguments.sizes)
    found = list(places(known.scopes, model))
    about: dict[str, Any] = {"file": str(arguments.file), "opset": opset(model)}
    about |= _about(found, left_out(known.scopes, model), names, known)
    code = 1 if any(place.verdict == "never" for place in found) else 0
    if arguments.explicit is not None:
        made = explicit(
            model,
            known.scopes,
            found,
            arguments.form or "expand",
            dynamic=arguments.dynamic,
            constants=arguments.constants,
            leave=arguments.leave,
        )
        _write_model(arguments.explicit, made, known, arguments.file)
        left = any(place.node.op_type not in arguments.leave for place, _ in made.left)
        code = code or (3 if left and not made.changed else 0)
        about["explicit"] = {
            "file": str(arguments.explicit),
            "nodes added": made.added,
            "made explicit": made.changed,
            "left": [{"node": _called(place), "reason": reason} for place, reason in made.left],
        }
    if arguments.check:
        import numpy as np

        from whycast._model._runs import differences, feeds, numbers_for

        sizes = numbers_for(names, found, known.given)
        for chosen in (sizes, dict.fromkeys(sizes, 1)):
            inputs = feeds(known.inputs, chosen, dict(arguments.input))
            try:
                by, differ = differences(arguments.file, arguments.explicit, inputs)
                break
            except UsageError:
                # Sizes that only the running model knows may ask more; a size 1 meets any.
                if chosen is not sizes:
                    raise
        shapes = {name: [*np.shape(each)] for name, each in inputs.items() if np.ndim(each)}
        about["check"] = {"by": by, "inputs": shapes, "differences": differ}
        about["check"]["chosen"] = sorted(shapes.keys() - known.given.keys())
        code = 1 if differ else code
    if arguments.html is not None:
        from whycast._model._page import page

        data = (arguments.file.parent / name for name in data_files(model))
        with output(arguments.html, "--html", arguments.file, *data) as file:
            file.write(page(about, text(about)).encode())
    print(json.dumps(about) if arguments.json else text(about))
    return code


def _demand_company(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    if arguments.explicit is None:
        for name in ("form", "dynamic", "constants", "leave", "check"):
            if getattr(arguments, name):
                raise UsageError(f"--{'as' if name == 'form' else name}: add --explicit OUT")
    elif arguments.html is not None and os.path.realpath(arguments.html) == os.path.realpath(
        arguments.explicit
    ):
        raise UsageError(f"--html and --explicit: expected two files, got {arguments.html} twice")
    if arguments.check and arguments.explicit.exists() and not arguments.explicit.is_file():
        raise UsageError(f"--check: expected a regular file as OUT, got {arguments.explicit}")
    if arguments.input and not arguments.check:
        raise UsageError("--input: add --check, which draws the inputs")
    if arguments.form == "sonnx" and (arguments.dynamic or arguments.constants):
        option = "--dynamic" if arguments.dynamic else "--constants"
        raise UsageError(f"{option}: expected none with --as sonnx, whose Broadcast takes no shape")
    for name in arguments.leave:
        if name not in OPERATORS:
            raise UsageError(
                f"--leave: expected an operator of {', '.join(OPERATORS)}, got {name!r}"
            )
    for name, number in arguments.input:
        if dict(arguments.input)[name] != number:
            raise UsageError(f"--input: {name} has two numbers, {number:g} and another")


def _about(found: list[Place], out: Mapping[str, int], names: Names, known: Read) -> dict[str, Any]:
    """Return for JSON the report of which the text and the page are made."""
    groups: dict[str, list[Place]] = {"element-wise": [], "Gemm": [], "MatMul": [], "Expand": []}
    for place in found:
        name = {"stacked": "MatMul", "explicit": "Expand"}.get(place.direction, "element-wise")
        groups["Gemm" if place.node.op_type == "Gemm" else name].append(place)
    nodes = [_row(place, names) for place in found]
    used = {
        each
        for row in nodes
        for shape in row["shapes"]
        for size in shape or ()
        for each in str(size).split("|")
    }
    notes = [f"{name} is {text}" for name, text in known.open.items() if name in used]
    if any(size.startswith("?") for size in used):
        notes.append("a size with a question mark is known to the running model alone")
    return {
        "attention": known.notes,
        "sizes": notes,
        "summary": {name: _summary(group) for name, group in groups.items() if group},
        "not looked into": dict(out),
        "nodes": nodes,
    }


def _summary(found: list[Place]) -> dict[str, Any]:
    """Count nodes by verdict, and those that broadcast by operator and kind."""
    hidden = [place for place in found if place.verdict == "always"]
    return {
        "nodes": len(found),
        "broadcast": len(hidden),
        **{
            verdict: count
            for verdict in ("equal", "depends", "never", "unknown")
            if (count := sum(place.verdict == verdict for place in found))
        },
        "kinds": _counts(kind for place in hidden for kind in place.kinds()),
        "operators": _counts(place.node.op_type for place in hidden),
    }


def _counts(found: Iterable[str]) -> dict[str, int]:
    """Count, the most frequent ones first."""
    return dict(sorted(Counter(found).items(), key=lambda each: (-each[1], each[0])))


def _called(place: Place) -> str:
    """Return what a node is called: its name, or that of its output, with its graph."""
    name = place.node.name or f"-> {place.node.output[0]}"
    return f"{place.scope.place}: {name}" if place.scope.place else name


def _row(place: Place, names: Names) -> dict[str, Any]:
    """Return for JSON the report on one node."""
    from whycast._model._places import UNKNOWN, condition, filled, growth, zero_condition

    row: dict[str, Any] = {
        "node": _called(place),
        "graph": place.scope.place,
        "output": place.node.output[0],
        "operator": place.node.op_type,
        "verdict": place.verdict,
        "inputs": list(place.inputs),
        "shapes": [None if own is None else names.sizes(own) for own in place.shapes],
        "kinds": list(place.kinds()),
    }
    if place.direction == "stacked":
        row["axes"] = "before the last two"
    attention = [place.note] if place.note else []
    if place.target is not None:
        row["result"] = [
            symbols[0] if symbols[0] >= 0 else names.joined(symbols)
            for symbols in filled(place.target)
        ]
        row["elements"] = _elements(place)
        row["condition"] = condition(place.conditions, names)
        row["condition of SONNX"] = zero_condition(place.zeros, names)
        if place.verdict == "depends":
            row["broadcasts if"] = growth(place, names)
        if "0 meets 1" in row["condition of SONNX"]:
            attention.append("a size 0 meets a size 1: SONNX refuses it (E1), NumPy's rule gives 0")
        if len(place.target) > 32:
            attention.append(f"rank {len(place.target)}: many libraries stop at 32")
    elif place.verdict == "unknown" and place.conditions:
        # No size 1 helps where an operator does not broadcast yet.
        row["condition"] = [f"{names.text(a)} = {names.text(b)}" for _, a, b in place.conditions]
    if place.clash is not None:
        first, second, axis = place.clash
        rank = max(len(own) for own in place.shapes if own is not None)
        one, other = (padded_size(place.shapes[m] or (), rank, axis) for m in (first, second))
        both = f"inputs {first} and {second} have sizes"
        if place.direction == "explicit":
            both = "its input and its shape have sizes"
        attention.append(f"never broadcasts: on axis {axis} {both} {one} and {other}")
    elif place.verdict == "never" and not place.note:
        attention.append("never broadcasts: its last input does not fit the shape of the others")
    if place.verdict == "unknown" and not place.note:
        attention.append(UNKNOWN)
    return row | {"attention": attention}


def _elements(place: Place) -> dict[str, int] | None:
    """Count the elements of the inputs and of the result; None where sizes are open."""
    sizes = [size for own in (*place.shapes, place.common or (-1,)) for size in own or ()]
    if min(sizes, default=0) < 0:
        return None
    return {
        "read": sum(math.prod(own or ()) for own in place.shapes),
        "written": math.prod(place.common or ()),
    }


def text(about: Mapping[str, Any]) -> str:
    """Lay out the report: a summary, what needs attention, then each node that broadcasts."""
    lines = [f"{about['file']}, opset {about['opset']}"]
    for name, summary in about["summary"].items():
        verdicts = [
            f"{summary[key]} {text}"
            for key, text in (
                ("equal", "do not"),
                ("depends", "depend on sizes"),
                ("never", "never can"),
                ("unknown", "unknown"),
            )
            if key in summary
        ]
        lines.append(
            f"{name}: of {summary['nodes']} nodes {summary['broadcast']} broadcast"
            + "".join(f", {text}" for text in verdicts)
        )
        for key in ("kinds", "operators"):
            if summary[key]:
                counts = ", ".join(f"{what} {count}" for what, count in summary[key].items())
                lines.append(f"  {key}: {counts}")
    lines += [f"not looked into: {n} of {what}" for what, n in about["not looked into"].items()]
    for key, title in (("condition", "condition"), ("condition of SONNX", "SONNX asks besides")):
        found = Counter(text for row in about["nodes"] for text in row.get(key, ()))
        found.pop("0 meets 1", None)
        some = [f"{text} ({count})" for text, count in found.most_common(4)]
        if some:
            more = f"; {len(found) - len(some)} more" if len(found) > len(some) else ""
            lines.append(f"{title}: {'; '.join(some)}{more}")
    lines += [f"sizes: {each}" for each in about["sizes"]]
    lines += [f"attention: {each}" for each in about["attention"]]
    for row in about["nodes"]:
        head = "unclear" if row["verdict"] == "unknown" else "attention"
        lines += [f"{head}: {row['operator']} {row['node']}: {each}" for each in row["attention"]]
    lines += _written(about)
    lines.append("")
    for row in about["nodes"]:
        if row["verdict"] in ("always", "depends"):
            kinds = [*row["kinds"]]
            if "broadcasts if" in row:
                kinds.append(f"if {' or '.join(row['broadcasts if'])}")
            lines.append(
                f"{row['operator']} {row['node']}: {'stacks ' if 'axes' in row else ''}"
                f"{', '.join(map(show_named, row['shapes']))} -> {show_named(row['result'])}"
                f"  {', '.join(kinds)}"
            )
    return "\n".join(lines)


def _written(about: Mapping[str, Any]) -> list[str]:
    """Lay out what became of the model that was written."""
    lines = []
    if "explicit" in about:
        made = about["explicit"]
        if made["made explicit"] or not made["left"]:
            changed = (
                f"{made['made explicit']} nodes made explicit, by {made['nodes added']} new ones"
            )
        else:
            changed = "nothing was changed"
        lines.append(f"{made['file']}: {changed}; {len(made['left'])} left")
        lines += [f"left: {each['node']}: {each['reason']}" for each in made["left"]]
    if "check" in about:
        differ = about["check"]["differences"]
        lines += differ or [f"the same bits before and after, by {about['check']['by']}"]
        if chosen := about["check"]["chosen"]:
            sizes = (f"{name} {show_named(about['check']['inputs'][name])}" for name in chosen)
            lines.append(f"drawn inputs: {', '.join(sizes)}")
    return lines


def _write_model(target: Path, made: Explicit, known: Read, source: Path) -> None:
    """Write a model that ONNX's checker accepts, if it did before, with the data that it names."""
    from google.protobuf.message import EncodeError

    from whycast._model._read import complaint, data_files

    files = data_files(made.model)
    data = [source.parent / name for name in files]
    if known.complaint is None and (reason := complaint(made.model)) is not None:
        raise AssertionError(f"ONNX's checker refuses the model that would be written: {reason}")
    try:
        content = made.model.SerializeToString()
    except EncodeError:
        raise UsageError(
            f"--explicit: {target} would have 2 GiB or more, as protobuf cannot"
        ) from None
    beside = [target.parent / name for name in files]
    copied = [k for k, each in enumerate(beside) if not _same(each, data[k])]
    for k in copied:
        if beside[k].exists():
            raise UsageError(f"{beside[k]} is there already: choose another folder for {target}")
    with output(target, "--explicit", source, *data) as file:
        for k in copied:
            beside[k].parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(data[k], beside[k])
        file.write(content)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)
