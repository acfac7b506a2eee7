"""`whycast shape`, `index` and `strides`: a rule's result in one line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from whycast import _kernel
from whycast._command import _arguments
from whycast._rules import RULES, Operands, names_of
from whycast._shapes import source_index
from whycast._types import Strides
from whycast._usage import UsageError, show_sizes
from whycast.symbolic import Answer


def add(subparsers: _arguments.Subparsers) -> None:
    about = "the shape that tensors, or a tensor and its target, are broadcast to"
    more = (
        ", and the condition if sizes have names. If the rule refuses, the exit code is 1, and "
        "standard error, or the JSON object, contains the reason."
    )
    parser = subparsers.add_parser("shape", help=about, description=f"Print {about}{more}")
    parser.set_defaults(run=_run_shape)
    of_tensors = names_of("tensors")
    more = f"Rules {of_tensors} take one or more shapes, others a tensor's shape and a target"
    _arguments.add_shapes(parser, more)

    about = "the multi-index of the tensor's element at an index of the output"
    parser = _add_to_target(subparsers, "index", _run_index, about)
    parser.add_argument(
        "index",
        type=_arguments.integers,
        metavar="INDEX",
        help="one index for each axis of the output, from 0, such as 1,2,3; () for rank 0",
    )

    about = "the strides of the output as a view of the tensor"
    parser = _add_to_target(subparsers, "strides", _run_strides, about)
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument(
        "--itemsize",
        type=_arguments.count(1),
        default=1,
        metavar="BYTES",
        help="bytes of an element of the tensor, which is contiguous in row-major order (C); by "
        "default 1, so that strides count elements",
    )
    layout.add_argument(
        "--strides",
        type=_arguments.integers,
        metavar="S,T,...",
        help="strides of a tensor in another layout, one for each of its axes, in any unit",
    )


def _add_to_target(
    subparsers: _arguments.Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], int],
    about: str,
) -> argparse.ArgumentParser:
    common = f"By the rules {names_of('tensors')}, TARGET is the shape to broadcast the tensor to."
    description = f"Print {about}. {common}"
    parser = subparsers.add_parser(name, help=about, description=description)
    parser.set_defaults(run=run)
    for word, help_ in (("shape", "shape of the tensor"), ("target", "shape to broadcast it to")):
        parser.add_argument(word, type=_arguments.shape, metavar=word.upper(), help=help_)
    _arguments.add_options(parser)
    return parser


def _run_shape(arguments: argparse.Namespace) -> int:
    rule = RULES[arguments.rule]
    asked = _arguments.operands(rule, arguments.shapes, arguments.axes)
    answer = _arguments.answered(rule, asked, arguments.known)
    return _answer(arguments, asked, answer, show_sizes)


def _asked(arguments: argparse.Namespace) -> Operands:
    rule = RULES[arguments.rule]
    return _arguments.placed(rule, arguments.shape, arguments.target, arguments.axes)


def _run_index(arguments: argparse.Namespace) -> int:
    rule, asked = RULES[arguments.rule], _asked(arguments)
    output = rule.shape(asked)
    result: tuple[int, ...] | Exception | None = None
    if output is not None:
        try:
            # This call only checks the index.
            source_index(output, output, arguments.index)
            result = rule.source(asked, arguments.index)
        except ValueError as wrong:
            raise UsageError(str(wrong)) from None
        except IndexError as wrong:
            result = wrong
    return _answer(arguments, asked, result, index=arguments.index)


def _run_strides(arguments: argparse.Namespace) -> int:
    asked, shape = _asked(arguments), arguments.shape
    own: Strides = arguments.strides
    if own is None:
        own = tuple(arguments.itemsize * each for each in _kernel.row_major_strides(shape))
    if len(own) != len(shape):
        expected = f"expected {len(shape)}, one for each axis of the tensor"
        raise UsageError(f"--strides: {expected}, got {len(own)}")
    layout = RULES[arguments.rule].layout(asked, own)
    return _answer(arguments, asked, layout and layout.strides, strides=own)


def _answer(
    arguments: argparse.Namespace,
    asked: Operands,
    result: tuple[int, ...] | Answer | Exception | None,
    show: Callable[[tuple[int, ...]], str] = _arguments.show_integers,
    **more: Any,
) -> int:
    rule = RULES[arguments.rule]
    if result is None:
        result = rule.refusal(asked)
        assert result is not None
    if arguments.json:
        asked_for = _arguments.described(rule, asked, getattr(arguments, "known", ()))
        print(json.dumps(asked_for | more | _arguments.outcome(result)))
    elif isinstance(result, Exception):
        said = str(result).replace("in whycast.numpy_rule", "whycast shape --rule numpy")
        print(said, file=sys.stderr)
    else:
        print(result if isinstance(result, Answer) else show(result))
    return 1 if isinstance(result, Exception) else 0
