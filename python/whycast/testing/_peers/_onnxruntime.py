"""ONNX Runtime on the CPU as a peer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function
from whycast.testing._peers._onnx import expand_model, where_model

if TYPE_CHECKING:
    from onnx import ModelProto
    from onnxruntime import InferenceSession


def functions(rule: Rule) -> dict[str, Function]:
    """Give what ONNX Runtime has for a rule."""
    return {"data": _expand if rule.takes == "target" else _broadcast}


def _session(model: ModelProto) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # What it refuses it also logs as an error; that it raises says so already.
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


@cache
def _expander(dtype: str) -> InferenceSession:
    return _session(expand_model(dtype))


@cache
def _broadcaster(dtypes: tuple[str, ...]) -> InferenceSession:
    return _session(where_model(dtypes))


def _expand(array: AnyArray, target: Shape) -> Any:
    inputs = {"input": array, "shape": np.array(target, np.int64)}
    return _expander(array.dtype.name).run(None, inputs)[0]


def _broadcast(*arrays: AnyArray) -> Sequence[Any]:
    session = _broadcaster(tuple([array.dtype.name for array in arrays]))
    outputs: Sequence[Any] = session.run(None, {f"x{i}": array for i, array in enumerate(arrays)})
    return outputs
