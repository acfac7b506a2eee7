"""`whycast shape`, `index` and `strides`: a rule's result in one line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from whycast import _kernel
from whycast._command._arguments import (
    SHAPE_HELP,
    Subparsers,
    add_known,
    add_options,
    answered,
    count,
    described,
    integers,
    named_shape,
    operands,
    outcome,
    placed,
    shape,
    show_integers,
)
from whycast._rules import RULES, Operands, names_of
from whycast._shapes import source_index
from whycast._types import Strides
from whycast._usage import UsageError, show_sizes
from whycast.symbolic import Answer


def add(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "shape",
        _run_shape,
        "the shape that tensors, or a tensor and its target, are broadcast to",
        ", and the condition where sizes have names. Exit code 1 where the rule refuses; the "
        "reason is on standard error.",
    )
    parser.add_argument(
        "shapes",
        nargs="+",
        type=named_shape,
        metavar="SHAPE",
        help=f"{SHAPE_HELP}Rules {names_of('tensors')} take one or more, the others that "
        "of the tensor and the target",
    )
    add_known(parser)
    add_options(parser)

    common = (
        f"By the rules {names_of('tensors')}, TARGET is the shape that the tensor is broadcast to."
    )
    about = "which element of the tensor stands at an index of the output"
    parser = _add(subparsers, "index", _run_index, about, f": its multi-index. {common}")
    _add_shape_and_target(parser)
    parser.add_argument(
        "index",
        type=integers,
        metavar="INDEX",
        help="one index for each axis of the output, from 0, such as 1,2,3; () for rank 0",
    )
    add_options(parser)

    about = "the strides of the output as a view of the tensor"
    parser = _add(subparsers, "strides", _run_strides, about, f". {common}")
    _add_shape_and_target(parser)
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument(
        "--itemsize",
        type=count(1),
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
    add_options(parser)


def _add(
    subparsers: Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], int],
    about: str,
    more: str,
) -> argparse.ArgumentParser:
    parser = subparsers.add_parser(name, help=about, description=f"Print {about}{more}")
    parser.set_defaults(run=run)
    return parser


def _add_shape_and_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shape", type=shape, metavar="SHAPE", help="shape of the tensor")
    parser.add_argument("target", type=shape, metavar="TARGET", help="shape to broadcast it to")


def _run_shape(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = operands(rule, arguments.shapes, arguments.axes)
    answer = answered(rule, asked, arguments.known)
    return _answer(arguments, asked, answer, show_sizes)


def _run_index(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = placed(rule, arguments.shape, arguments.target, arguments.axes)
    output = rule.shape(asked)
    result: tuple[int, ...] | Exception | None = None
    if output is not None:
        try:
            # Checks the index: the same question by every rule.
            source_index(output, output, arguments.index)
            result = rule.source(asked, arguments.index)
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
        except IndexError as wrong:
            result = wrong
    return _answer(arguments, asked, result, show_integers, index=arguments.index)


def _run_strides(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = placed(rule, arguments.shape, arguments.target, arguments.axes)
    own: Strides = arguments.strides
    if own is None:
        strides = _kernel.row_major_strides(arguments.shape)
        own = tuple(arguments.itemsize * stride for stride in strides)
    if len(own) != len(arguments.shape):
        raise UsageError(
            f"--strides: expected {len(arguments.shape)}, one for each axis of the tensor, "
            f"got {len(own)}"
        )
    layout = rule.layout(asked, own)
    return _answer(arguments, asked, layout and layout.strides, show_integers, strides=own)


def _answer(
    arguments: argparse.Namespace,
    asked: Operands,
    result: tuple[int, ...] | Answer | Exception | None,
    show: Callable[[tuple[int, ...]], str],
    **more: tuple[int, ...],
) -> int:
    rule = RULES[arguments.rule]
    if result is None:
        result = rule.refusal(asked)
        assert result is not None
    if arguments.json:
        facts = getattr(arguments, "known", ())
        print(json.dumps(described(rule, asked, facts) | more | outcome(result)))
    elif isinstance(result, Exception):
        # The command line has its own name for the rule.
        said = str(result).replace("in whycast.numpy_rule", "whycast shape --rule numpy")
        print(said, file=sys.stderr)
    else:
        print(result if isinstance(result, Answer) else show(result))
    return 1 if isinstance(result, Exception) else 0
