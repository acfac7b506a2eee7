"""Cases as one archive of NumPy's, which loads without pickles."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np

from whycast._rules import Operands, Rule
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import Case
from whycast.testing._lines._elements import dtype_name
from whycast.testing._lines._json import Message
from whycast.testing._report._judge import expected

LAYOUT = """\
npz: an archive for numpy.load of the cases of level data, those aside whose strings NumPy would
pickle (dtypes object and StringDType). Arrays "000017_input_0", "000017_output_0" and so on are
the tensors of case 000017 and what they become. "index" is a text, JSON: a list of objects with
"name" ("000017"), "shapes", "target" and "axes" where the rule takes them, "dtypes", "layouts"
(how the tensors lay in memory; in the archive all are in C order), and either "refused" (why), or
"shape" of the outputs and "strides" (for each tensor, in bytes, those of its view, the tensor
being in C order)."""

_PICKLED = ("object", "StringDType")


def write(rule: Rule, cases: Iterable[Case], path: Path) -> int:
    """Write cases; return how many."""
    arrays: dict[str, AnyArray] = {}
    index: list[Message] = []
    for case in cases:
        inputs = case.arrays()
        dtypes = list(map(dtype_name, inputs))
        if not set(dtypes).isdisjoint(_PICKLED):
            continue
        name = f"{len(index):06}"
        # NumPy would keep the order of Fortran.
        arrays |= {f"{name}_input_{m}": np.array(x, order="C") for m, x in enumerate(inputs)}
        entry: Message = {"name": name, "shapes": case.shapes}
        if rule.takes != "tensors":
            entry["target"] = case.target
        if rule.takes == "axes":
            entry["axes"] = case.axes
        entry |= {"dtypes": dtypes, "layouts": case.layouts or ["C"] * len(inputs)}
        right = expected(rule, "data", case)
        if isinstance(right, ValueError):
            entry["refused"] = str(right)
        else:
            found = right if rule.takes == "tensors" else (right,)
            outputs = cast("tuple[AnyArray, ...]", found)
            shape = outputs[0].shape
            arrays |= {f"{name}_output_{m}": np.array(z, order="C") for m, z in enumerate(outputs)}
            entry["shape"] = shape
            entry["strides"] = [_strides(rule, case, shape, array) for array in inputs]
        index.append(entry)
    # By a file, for NumPy would end another name in .npz.
    with path.open("wb") as file:
        np.savez(file, index=np.array(json.dumps(index)), **arrays)  # type: ignore[arg-type]
    return len(index)


def _strides(rule: Rule, case: Case, output: Shape, array: AnyArray) -> Shape | None:
    target = output if case.target is None else case.target
    strides = np.empty(array.shape, array.dtype).strides
    layout = rule.layout(Operands((array.shape,), target, case.axes), strides)
    return None if layout is None else layout.strides
