"""The subcommands shape, index and strides: what a rule makes of shapes, in one line."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from whycast import _kernel
from whycast._command._arguments import (
    Subparsers,
    UsageError,
    add_rule_and_axes,
    described,
    integers,
    operands,
    placed,
    refused,
    shape,
    show_integers,
    show_sizes,
)
from whycast._rules import RULES, Operands, Rule
from whycast._shapes import source_index
from whycast._types import Strides


def add(subparsers: Subparsers) -> None:
    """Add the three subcommands."""
    about = "the shape that tensors, or a tensor and its target, are broadcast to"
    parser = subparsers.add_parser(
        "shape",
        help=about,
        description=f"Print {about}. Exit code 1 where the rule refuses; the reason is on "
        "standard error.",
    )
    parser.add_argument(
        "shapes",
        nargs="+",
        type=shape,
        metavar="SHAPE",
        help="sizes with x between them, such as 3x1; () or scalar for rank 0. Rules sonnx and "
        "numpy take one or more, the others that of the tensor and the target",
    )
    parser.set_defaults(run=_run_shape)
    _add_options(parser)

    about = "which element of the tensor stands at an index of the output"
    parser = subparsers.add_parser(
        "index",
        help=about,
        description=f"Print {about}: its multi-index. By the rules sonnx and numpy, TARGET is the "
        "shape that the tensor is broadcast to.",
    )
    _add_shape_and_target(parser)
    parser.add_argument(
        "index",
        type=integers,
        metavar="INDEX",
        help="one index for each axis of the output, from 0, such as 1,2,3; () for rank 0",
    )
    parser.set_defaults(run=_run_index)
    _add_options(parser)

    about = "the strides of the output as a view of the tensor"
    parser = subparsers.add_parser(
        "strides",
        help=about,
        description=f"Print {about}. By the rules sonnx and numpy, TARGET is the shape that the "
        "tensor is broadcast to.",
    )
    _add_shape_and_target(parser)
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument(
        "--itemsize",
        type=_itemsize,
        default=1,
        metavar="BYTES",
        help="bytes of an element of the tensor, which is contiguous in row-major order (C); by "
        "default 1, so that strides count elements",
    )
    layout.add_argument(
        "--strides",
        type=integers,
        metavar="S,T,...",
        help="strides of a tensor in another layout, one for each of its axes, in any unit",
    )
    parser.set_defaults(run=_run_strides)
    _add_options(parser)


def _add_shape_and_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shape", type=shape, metavar="SHAPE", help="shape of the tensor")
    parser.add_argument("target", type=shape, metavar="TARGET", help="shape to broadcast it to")


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_rule_and_axes(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def _itemsize(text: str) -> int:
    (number,) = numbers if len(numbers := integers(text)) == 1 else (0,)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text!r}")
    return number


def _run_shape(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = operands(rule, arguments.shapes, arguments.axes)
    about = described(rule, asked)
    if (error := rule.refusal(asked)) is not None:
        return _refuse(arguments, about, error)
    result = _shape_of(rule, asked)
    return _answer(arguments, about, result, show_sizes(result))


def _run_index(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = placed(rule, arguments.shape, arguments.target, arguments.axes)
    about = described(rule, asked) | {"index": arguments.index}
    error: ValueError | IndexError | None = rule.refusal(asked)
    if error is not None:
        return _refuse(arguments, about, error)
    output = _shape_of(rule, asked)
    try:
        # Whether it is an index of the output is the same question by every rule.
        source_index(output, output, arguments.index)
    except ValueError as wrong:
        raise UsageError(str(wrong)) from None
    except IndexError as wrong:
        return _refuse(arguments, about, wrong)
    result = rule.source(asked, arguments.index)
    return _answer(arguments, about, result, show_integers(result))


def _run_strides(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = placed(rule, arguments.shape, arguments.target, arguments.axes)
    own: Strides = tuple(
        arguments.itemsize * stride for stride in _kernel.row_major_strides(arguments.shape)
    )
    if arguments.strides is not None:
        own = arguments.strides
    if len(own) != len(arguments.shape):
        raise UsageError(
            f"--strides: expected {len(arguments.shape)}, one for each axis of the tensor, "
            f"got {len(own)}"
        )
    about = described(rule, asked) | {"strides": own}
    layout = rule.layout(asked, own)
    if layout is None:
        error = rule.refusal(asked)
        assert error is not None
        return _refuse(arguments, about, error)
    return _answer(arguments, about, layout.strides, show_integers(layout.strides))


def _shape_of(rule: Rule, asked: Operands) -> tuple[int, ...]:
    result = rule.shape(asked)
    assert result is not None
    return result


def _answer(
    arguments: argparse.Namespace, about: dict[str, Any], result: tuple[int, ...], text: str
) -> int:
    print(json.dumps(about | {"result": result}) if arguments.json else text)
    return 0


def _refuse(
    arguments: argparse.Namespace, about: dict[str, Any], error: ValueError | IndexError
) -> int:
    if arguments.json:
        print(json.dumps(about | refused(error)))
    else:
        print(error, file=sys.stderr)
    return 1
