"""The subcommand plan: the loops that come by all elements of tensors, as tables and as code."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence

from whycast import _kernel
from whycast._command._arguments import (
    SHAPE_HELP,
    Subparsers,
    UsageError,
    add_json,
    both_ends,
    headline,
    integers,
    refuse,
    shape,
)
from whycast._errors import BroadcastError, show_int
from whycast._plans import views
from whycast._rules import Operands, rule_on_tensors
from whycast._types import Shape, Strides


def add(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    about = "the loops by which one computes with broadcast tensors, and copies none of them"
    parser = subparsers.add_parser(
        "plan",
        help=about,
        description=f"Print {about}, by the rule sonnx: which loop each axis went into, how far "
        "each tensor steps in each loop, and the loops as code, with the results in row-major "
        "order. Exit code 1 where the rule refuses; the reason is on standard error.",
    )
    about = f"{SHAPE_HELP}One for each tensor"
    parser.add_argument("shapes", nargs="+", type=shape, metavar="SHAPE", help=about)
    parser.add_argument(
        "--strides",
        type=integers,
        action="append",
        metavar="S,T,...",
        help="strides of a tensor, one for each of its axes, in any unit; once for each SHAPE. By "
        "default tensors lie in row-major order (C), and steps count elements",
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    shapes, strides = tuple(arguments.shapes), arguments.strides
    about = {"shapes": shapes} if strides is None else {"shapes": shapes, "strides": strides}
    try:
        common, own = views(shapes, strides)
    except BroadcastError as error:
        return refuse(error, about, as_json=arguments.json)
    except ValueError as wrong:
        raise UsageError(f"--{wrong}") from None
    sizes, steps = _kernel.loop_plan(common, own)
    if arguments.json:
        try:
            print(json.dumps(about | {"result": common, "sizes": sizes, "steps": steps}))
        except ValueError:
            raise UsageError("--json: a size has more digits than Python writes") from None
        return 0
    tensors = [f"x{m}" for m in range(len(shapes))]
    at = zip(_rows(common, zip(*own, strict=True)), _loops_of_axes(common, sizes), strict=True)
    axes, loops = [[*row, loop] for row, loop in at], _rows(sizes, steps)
    rule = rule_on_tensors(zero_meets_one=False)
    print(headline(rule, Operands(shapes), common), end="\n\n")
    print(_table(["axis", "size", *_columns(f"stride {x}" for x in tensors), "loop"], axes))
    print(_table(["loop", "size", *_columns(f"step {x}" for x in tensors)], loops))
    print(_code(sizes, steps))
    return 0


def _loops_of_axes(shape: Shape, sizes: Shape) -> list[str]:
    """Say for each axis which loop it went into; one of size 1 went into none.

    >>> _loops_of_axes((2, 3, 1, 4, 5), (2, 3, 20)), _loops_of_axes((2, 0, 3), (0,))
    (['0', '1', '-', '2', '2'], ['0', '0', '0'])
    """
    found = []
    loop, taken = 0, 1
    for size in shape:
        if size != 1:
            if taken == sizes[loop] and loop + 1 < len(sizes):
                loop, taken = loop + 1, 1
            taken *= size
        found.append("-" if size == 1 else str(loop))
    return found


def _rows(sizes: Shape, strides: Iterable[Strides]) -> list[list[str]]:
    """Return a row for each axis, or each loop: its number, its size, a stride for each tensor."""
    return [
        [str(k), show_int(size), *_columns(map(show_int, each))]
        for k, (size, each) in enumerate(zip(sizes, strides, strict=True))
    ]


def _columns(cells: Iterable[str]) -> list[str]:
    """Return a cell for each tensor; of many, for the first and last ones."""
    return both_ends([*cells], "...", most=6, at_an_end=2)


def _table(head: list[str], rows: list[list[str]]) -> str:
    """Lay out rows, and an empty line; of many, the first and last ones."""
    shown = [head, *both_ends(rows, ["..."] * len(head))]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + "\n"
        for row in shown
    )


def _code(sizes: Shape, steps: Sequence[Strides]) -> str:
    """Write the loops in C, with the offset of each tensor; v counts a run of the innermost one.

    >>> print(_code((2, 3), ((1, -3), (0, 1))))
    for (int64_t i0 = 0; i0 < 2; i0++)
      for (int64_t v = 0; v < 3; v++)
        *z++ = f(x0[i0],
                 x1[-3 * i0 + v]);
    """
    names = [*(f"i{j}" for j in range(len(sizes) - 1)), "v"]
    lines = both_ends(
        [
            f"for (int64_t {name} = 0; {name} < {show_int(size)}; {name}++)"
            for name, size in zip(names, sizes, strict=True)
        ],
        "...",
    )
    by_tensor = enumerate(zip(*steps, strict=True))
    elements = both_ends([f"x{m}[{_offset(names, own)}]" for m, own in by_tensor], "...")
    call, depth = "*z++ = f(", "  " * len(lines)
    lines.append(call + f",\n{depth}{' ' * len(call)}".join(elements) + ");")
    return "\n".join("  " * level + line for level, line in enumerate(lines))


def _offset(names: Sequence[str], steps: Strides) -> str:
    terms = [
        name if step == 1 else f"{show_int(step)} * {name}"
        for name, step in zip(names, steps, strict=True)
        if step
    ]
    return " + ".join(both_ends(terms, "...", at_an_end=2)) or "0"
