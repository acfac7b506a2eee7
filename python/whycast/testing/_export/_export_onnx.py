"""Cases as backend tests of ONNX: a folder for each, in the format of ONNX's own runner.

A test is a model of one node. An accepted test has data sets for each input; their outputs show
where the input's elements are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whycast._rules import Rule, names_of
from whycast._types import AnyArray
from whycast.testing._cases._case import Case
from whycast.testing._cases._fixed import is_small
from whycast.testing._cases._values import COMPLEX, NUMBERS, STRINGS
from whycast.testing._export._pack import (
    NotPossibleError,
    Test,
    chosen,
    digest,
    pack,
    test_of,
)

if TYPE_CHECKING:
    from onnx import ModelProto

LAYOUT = f"""\
onnx: backend tests, each a folder with model.onnx and test_data_set_0/input_0.pb, output_0.pb and
so on. The nodes are Expand for the rules with a target; Add, Max, Sum and Where for
{names_of("tensors")}; each with all its element types. In each data set the output shows the
elements of one input. ONNX's own runner reads the folder accepted:
onnx.backend.test.loader.load_model_tests(PATH, "accepted"). Tests in the folder refused have no
output: the computation has to fail. Models whose id ends with _open have open sizes. No node of
ONNX broadcasts along axes. This format needs the package onnx: pip install 'whycast[test-data]'."""

# An old opset, so that many implementations support it.
_OPSET = 16
_IR_VERSION = 8

_OPEN = "_open"
_DTYPES = (*NUMBERS, *COMPLEX, "str")
# For types with few values, the number of different elements.
_DISTINCT = {"int8": 127, "uint8": 127, "float16": 2048}


def write(rule: Rule, cases: Iterable[Case], path: Path) -> int:
    if rule.takes == "axes":
        raise NotPossibleError(f"ONNX has no node with axes, which rule {rule.name} takes")
    try:
        import onnx
    except ImportError:
        raise NotPossibleError(
            "it needs the package onnx: pip install 'whycast[test-data]'"
        ) from None
    tests = chosen(_tests(rule, cases))
    with pack(rule, "{}/{}/model.onnx", tests, path) as whole:
        for test in tests:
            folder = whole / ("accepted" if test.accepted else "refused") / test.id
            folder.mkdir(parents=True)
            onnx.save(_model(rule, test), folder / "model.onnx")
            # The runner's default tolerates differences of a thousandth.
            (folder / "data.json").write_text('{"rtol": 0, "atol": 0}\n', encoding="ascii")
            for k, (inputs, output) in enumerate(_data_sets(rule, test)):
                data_set = folder / f"test_data_set_{k}"
                data_set.mkdir()
                for m, array in enumerate(inputs):
                    _write_tensor(data_set / f"input_{m}.pb", f"x{m}", array)
                if output is not None:
                    _write_tensor(data_set / "output_0.pb", "y", output)
    return len(tests)


def _tests(rule: Rule, cases: Iterable[Case]) -> Iterator[Test]:
    types = {operator: _types(operator) for operator in ("Expand", "Add", "Max", "Sum", "Where")}
    for case in cases:
        if not is_small(rule, case):
            continue
        count = len(case.shapes)
        operators = ["Max", "Sum"] + ["Add"] * (count == 2) + ["Where"] * (count == 3)
        if rule.takes == "target":
            operators = ["Expand"]
        dtype = case.dtypes[0] if case.dtypes else None
        if dtype is None:
            operators = [operators[digest(str(case.shapes)) % len(operators)]]
        for operator in operators:
            own = "str" if dtype in STRINGS else dtype
            if own is None:
                own = "int32" if "int32" in types[operator] else "float32"
            if own in types[operator]:
                test = test_of(rule, operator, own, case)
                # The sizes of an open model are known only when it runs.
                is_open = not test.accepted or digest(test.id) % 2
                yield test._replace(id=test.id + _OPEN * is_open)


def _types(operator: str) -> frozenset[str]:
    from onnx import TensorProto
    from onnx.defs import get_schema

    schema = get_schema(operator, _OPSET)
    (allowed,) = [
        each.allowed_type_strs
        for each in schema.type_constraints
        if each.type_param_str == schema.outputs[0].type_str
    ]
    names = {name: TensorProto.DataType.Name(_element(name)).lower() for name in _DTYPES}
    return frozenset(name for name in _DTYPES if f"tensor({names[name]})" in allowed)


def _element(dtype: str) -> int:
    from whycast.testing._peers._onnx import element_type

    return element_type("object" if dtype == "str" else dtype)


def _data_sets(rule: Rule, test: Test) -> Iterator[tuple[list[AnyArray], AnyArray | None]]:
    """Return, for each tensor, inputs and an output that shows where the tensor's elements are."""
    operator, dtype, case = test.operator, test.dtype, test.case
    for k, shape in enumerate(case.shapes):
        is_condition = operator == "Where" and k == 0
        for shown in telling("bool" if is_condition else dtype, math.prod(shape)):
            inputs = [
                _silent(operator, m, shown=k, dtype=dtype, shape=each)
                for m, each in enumerate(case.shapes)
            ]
            inputs[k] = shown.reshape(shape)
            output = np.array(rule.broadcast(inputs, case)[k]) if test.accepted else None
            if is_condition and output is not None:
                output = np.where(output, _constant(dtype, 1), _constant(dtype, 0))
            if operator == "Expand":
                inputs.append(np.array(case.target, np.int64))
            yield inputs, output
            if not test.accepted:
                return


def telling(dtype: str, size: int) -> list[AnyArray]:
    """Return an array with few equal elements, or, for bool, one for each bit of the places."""
    places = np.arange(1, size + 1)
    if dtype == "bool":
        return [(places >> bit & 1).astype(np.bool_) for bit in range(max(1, size.bit_length()))]
    if dtype == "str":
        return [np.array(list(map(str, places.tolist())), np.object_)]
    return [(1 + (places - 1) % _DISTINCT.get(dtype, size + 1)).astype(dtype)]


def _silent(operator: str, m: int, *, shown: int, dtype: str, shape: tuple[int, ...]) -> AnyArray:
    """Make input `m` such that the output shows input `shown`."""
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


def _model(rule: Rule, test: Test) -> ModelProto:
    from onnx import TensorProto, helper

    element = _element(test.dtype)
    shapes: list[Sequence[int | None]] = [*test.case.shapes]
    output: Sequence[int | None] | None = rule.shape(test.case)
    if output is None or test.id.endswith(_OPEN):
        shapes = [(None,) * len(shape) for shape in shapes]
        output = (None,) * max(map(len, test.case.every_shape))
    types = [element] * len(shapes)
    if test.operator == "Where":
        types[0] = TensorProto.BOOL
    if test.operator == "Expand":
        types.append(TensorProto.INT64)
        shapes.append((len(test.case.target or ()),))
    names = [f"x{m}" for m in range(len(types))]
    graph = helper.make_graph(
        [helper.make_node(test.operator, names, ["y"])],
        "broadcast",
        list(map(helper.make_tensor_value_info, names, types, shapes)),
        [helper.make_tensor_value_info("y", element, output)],
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="whycast",
    )


def _write_tensor(path: Path, name: str, array: AnyArray) -> None:
    from onnx import numpy_helper

    path.write_bytes(numpy_helper.from_array(array, name).SerializeToString())
