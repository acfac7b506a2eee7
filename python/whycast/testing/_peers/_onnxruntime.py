"""ONNX Runtime on the CPU as a peer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whycast._rules import Rule
from whycast.testing._peers import Function
from whycast.testing._peers._onnx import computed

if TYPE_CHECKING:
    from onnx import ModelProto
    from onnxruntime import InferenceSession


def functions(rule: Rule) -> dict[str, Function]:
    """Give what ONNX Runtime has for a rule."""
    return {"data": computed(rule, _session)}


def _session(model: ModelProto) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # What it refuses it also logs as an error; that it raises says so already.
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
