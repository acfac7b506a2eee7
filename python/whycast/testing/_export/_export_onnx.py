"""Cases as backend tests of ONNX: a folder for each, which ONNX's own runner reads.

A test is a model of one node that broadcasts, with a data set for each tensor: its elements show
their places, and the other tensors leave them visible.
"""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from whycast._rules import Rule, names_of
from whycast._types import AnyArray
from whycast.testing._cases._case import Case
from whycast.testing._cases._values import STRINGS

if TYPE_CHECKING:
    from onnx import ModelProto

LAYOUT = f"""\
onnx: a folder of backend tests, NAME/model.onnx and NAME/test_data_set_0/input_0.pb, output_0.pb
and so on, for ONNX's own runner: onnx.backend.test.loader.load_model_tests(FOLDER, KIND) for
--out FOLDER/KIND. The nodes are Expand for the rules with a target; for {names_of("tensors")}
Add, Max, Sum and Where, whose inputs have the shapes of the case. In each data set the output
shows every element of one of the inputs where it is placed. There are 900 tests at most, spread
over the accepted cases, with each dtype that the operator has.
A backend test cannot demand an error: nothing is written for refused cases. No node of ONNX takes
axes. This needs the package onnx: pip install 'whycast[test-data]'."""

MOST_TESTS = 900
_MOST_ELEMENTS = 4096
# Any implementation in use supports it.
_OPSET = 16
_IR_VERSION = 8

_NUMBERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64")
# ONNX's reference and ONNX Runtime both compute with these; the first is for cases without dtypes.
_TYPES = {
    "Expand": ("int32", "bool", "int16", "uint16", "float16", *_NUMBERS, "str"),
    "Add": ("int32", "int16", "uint16", "float16", *_NUMBERS),
    "Max": ("int32", "float16", *_NUMBERS),
    "Sum": ("float32", "float16", "float64"),
    "Where": ("int32", "uint8", "int64", "float32", "float64", "str"),
}
# Types with too few values: so many places have numbers of their own.
_DISTINCT = {"int8": 127, "uint8": 127, "float16": 2048}


class NotPossibleError(Exception):
    """There are no backend tests of this rule, or not without the package onnx."""


class _Test(NamedTuple):
    operator: str
    dtype: str
    case: Case


def write(rule: Rule, cases: Iterable[Case], path: Path) -> int:
    if rule.takes == "axes":
        raise NotPossibleError(f"ONNX has no node with axes, which rule {rule.name} takes")
    try:
        import onnx
    except ImportError:
        raise NotPossibleError(
            "it needs the package onnx: pip install 'whycast[test-data]'"
        ) from None
    tests = _chosen(list(_tests(rule, cases)))
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "expected the name of a new folder", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".whycast-") as made:
        whole = Path(made, "tests")
        whole.mkdir()
        for number, test in enumerate(tests):
            folder = whole / _name(rule, number, test)
            folder.mkdir()
            onnx.save(_model(rule, test), folder / "model.onnx")
            # The runner's default tolerates differences of a thousandth.
            (folder / "data.json").write_text('{"rtol": 0, "atol": 0}\n', encoding="ascii")
            for k, (inputs, output) in enumerate(_data_sets(rule, test)):
                data_set = folder / f"test_data_set_{k}"
                data_set.mkdir()
                for m, array in enumerate(inputs):
                    _write_tensor(data_set / f"input_{m}.pb", f"x{m}", array)
                _write_tensor(data_set / "output_0.pb", "y", output)
        whole.replace(path)
    return len(tests)


def _tests(rule: Rule, cases: Iterable[Case]) -> Iterator[_Test]:
    """Return tests of accepted cases: of all operators for a dtype, else of each in turn."""
    seen: set[tuple[object, ...]] = set()
    for number, case in enumerate(case for case in cases if _is_small(rule, case)):
        count = len(case.shapes)
        operators = ["Max", "Sum"] + ["Add"] * (count == 2) + ["Where"] * (count == 3)
        if rule.takes == "target":
            operators = ["Expand"]
        dtype = case.dtypes[0] if case.dtypes else None
        if dtype is None:
            operators = [operators[number % len(operators)]]
        for operator in operators:
            types = _TYPES[operator]
            own = types[0] if dtype is None else "str" if dtype in STRINGS else dtype
            key = (operator, own, case.shapes, case.target)
            if own in types and key not in seen:
                seen.add(key)
                yield _Test(operator, own, case)


def _is_small(rule: Rule, case: Case) -> bool:
    output = rule.shape(case)
    if output is None:
        return False
    return max(map(math.prod, (output, *case.shapes))) <= _MOST_ELEMENTS


def _chosen(tests: list[_Test]) -> list[_Test]:
    """Choose tests evenly: some of those with dtypes, the rest of the others."""

    def spread(found: list[_Test], most: int) -> list[_Test]:
        count = min(len(found), most)
        return [found[k * len(found) // count] for k in range(count)]

    typed = spread([test for test in tests if test.case.dtypes], 150)
    return spread([test for test in tests if not test.case.dtypes], MOST_TESTS - len(typed)) + typed


def _name(rule: Rule, number: int, test: _Test) -> str:
    texts = ["x".join(map(str, shape)) or "scalar" for shape in test.case.every_shape]
    described = "_".join(texts)
    stem = f"test_{rule.name.replace('-', '_')}_{number:03}_{test.operator.lower()}_{test.dtype}"
    return f"{stem}_{described}" if len(described) <= 60 else stem


def _data_sets(rule: Rule, test: _Test) -> Iterator[tuple[list[AnyArray], AnyArray]]:
    """Return the node's inputs and output, for each tensor whose places are shown."""
    operator, dtype, case = test
    for k, shape in enumerate(case.shapes):
        is_condition = operator == "Where" and k == 0
        for telling in _telling("bool" if is_condition else dtype, math.prod(shape)):
            inputs = [
                _silent(operator, m, shown=k, dtype=dtype, shape=each)
                for m, each in enumerate(case.shapes)
            ]
            inputs[k] = telling.reshape(shape)
            output = np.array(rule.broadcast(inputs, case)[k])
            if is_condition:
                output = np.where(output, _constant(dtype, 1), _constant(dtype, 0))
            if operator == "Expand":
                inputs.append(np.array(case.target, np.int64))
            yield inputs, output


def _telling(dtype: str, size: int) -> list[AnyArray]:
    """Make arrays of rank 1 whose elements differ: one array, or for booleans one for each bit."""
    places = np.arange(1, size + 1)
    if dtype == "bool":
        return [(places >> bit & 1).astype(np.bool_) for bit in range(max(1, size.bit_length()))]
    if dtype == "str":
        return [np.array(list(map(str, places.tolist())), np.object_)]
    return [(1 + (places - 1) % _DISTINCT.get(dtype, size + 1)).astype(dtype)]


def _silent(operator: str, m: int, *, shown: int, dtype: str, shape: tuple[int, ...]) -> AnyArray:
    """Make an input that leaves another input visible."""
    if operator == "Where" and m == 0:
        return np.full(shape, shown == 1)
    if operator == "Where" and shown == 0:
        return np.full(shape, _constant(dtype, 1 if m == 1 else 0))
    if operator != "Max":
        return np.full(shape, _constant(dtype, 0))
    kind = np.dtype(dtype)
    return np.full(shape, np.iinfo(kind).min if kind.kind in "iu" else np.finfo(kind).min, kind)


def _constant(dtype: str, value: int) -> AnyArray:
    return np.array(str(value), np.object_) if dtype == "str" else np.array(value, dtype)


def _model(rule: Rule, test: _Test) -> ModelProto:
    from onnx import TensorProto, helper

    operator, dtype, case = test
    element = helper.np_dtype_to_tensor_dtype(np.dtype("O" if dtype == "str" else dtype))
    types = [element] * len(case.shapes)
    shapes = list(case.shapes)
    if operator == "Where":
        types[0] = TensorProto.BOOL
    if operator == "Expand":
        types.append(TensorProto.INT64)
        shapes.append((len(case.target or ()),))
    names = [f"x{m}" for m in range(len(types))]
    graph = helper.make_graph(
        [helper.make_node(operator, names, ["y"])],
        "broadcast",
        list(map(helper.make_tensor_value_info, names, types, shapes)),
        [helper.make_tensor_value_info("y", element, rule.shape(case))],
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="whycast",
        doc_string=json.dumps(case.every_shape),
    )


def _write_tensor(path: Path, name: str, array: AnyArray) -> None:
    from onnx import numpy_helper

    path.write_bytes(numpy_helper.from_array(array, name).SerializeToString())
