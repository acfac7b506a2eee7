"""The child process in which a runtime broadcasts: `python runtime_worker.py RUNTIME`.

It reads cases from standard input, one line of JSON each, and answers each with a line at once, so
that after a crash the number of answers tells which case it was. (JAX answers all of them at the
end: to compile each alone would take minutes.) Only `runtimes.py` starts it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"


class Case(NamedTuple):
    """A broadcast that a runtime is asked for: what to do, of what element type, on which input."""

    operator: str
    dtype: str
    shape: tuple[int, ...]
    target: tuple[int, ...]
    axes: tuple[int, ...] | None = None


def sample(dtype: str, shape: Sequence[int]) -> Array:
    """Give an array whose elements tell their place and fill all their bytes.

    Floating-point numbers are thirds, but for a negative zero and a NaN with a payload.
    """
    kind = np.dtype(dtype)
    places = np.arange(1, 1 + math.prod(shape))
    if kind.kind == "f":
        x = (places / 3).astype(kind)
        if x.size > 1:
            bits = x.view(f"u{kind.itemsize}")
            bits[0] = np.array(-0.0, kind).view(bits.dtype)
            bits[-1] = np.array(np.nan, kind).view(bits.dtype) + np.array(5, bits.dtype)
    elif kind == np.bool_:
        x = (places % 2).astype(kind)
    else:
        x = places.astype(kind) * np.frombuffer(b"\1" * kind.itemsize, kind)
    return x.reshape(shape)


# A runtime: what it does with a case, and the errors by which it refuses one.
Runtime: TypeAlias = "tuple[Callable[[Case], Array], tuple[type[Exception], ...]]"


@cache
def expand_model(dtype: str) -> ModelProto:
    """Make a model of one Expand whose two inputs come at run time, of any rank."""
    from onnx import TensorProto, helper

    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("Expand", ["input", "shape"], ["output"])],
        "expand",
        [
            helper.make_tensor_value_info("input", kind, None),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [None]),
        ],
        [helper.make_tensor_value_info("output", kind, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)


def expand_inputs(case: Case) -> dict[str, Array]:
    """Give the inputs of the model of Expand."""
    return {
        "input": sample(case.dtype, case.shape),
        "shape": np.array(case.target, np.int64),
    }


def onnx_reference() -> Runtime:
    """Prepare the reference implementation in the onnx package."""
    from onnx.reference import ReferenceEvaluator

    @cache
    def evaluator(dtype: str) -> ReferenceEvaluator:
        return ReferenceEvaluator(expand_model(dtype))

    def run(case: Case) -> Array:
        (output,) = evaluator(case.dtype).run(None, expand_inputs(case))
        return np.asarray(output)

    return run, (ValueError,)


def onnx_runtime() -> Runtime:
    """Prepare ONNX Runtime on the CPU."""
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument

    options = onnxruntime.SessionOptions()
    # What it refuses it also logs as an error; the answer says so already.
    options.log_severity_level = 4
    options.intra_op_num_threads = 1

    @cache
    def session(dtype: str) -> onnxruntime.InferenceSession:
        model = expand_model(dtype).SerializeToString()
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(case: Case) -> Array:
        (output,) = session(case.dtype).run(None, expand_inputs(case))
        return np.asarray(output)

    return run, (Fail, InvalidArgument)


def openvino() -> Runtime:
    """Prepare OpenVINO on the CPU; an operator is its opset and its mode, as "1 numpy"."""
    # To import OpenVINO would otherwise send a report and leave files in the user's home.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    import openvino as ov

    opsets = {"1": ov.opset1, "3": ov.opset3}
    core = ov.Core()

    # A compiled model must live on: after it is freed, the next one of the same kind may crash.
    @cache
    def request(case: Case) -> ov.InferRequest:
        """Compile a model of one Broadcast, the sizes of its data and all of the rest open.

        Of the case only the ranks matter, and the number of axes. With another first word, as in
        "constant 1 numpy", the data's shape is fixed and the target a constant of the model.
        """
        *constant, opset, mode = case.operator.split()
        data = ov.opset1.parameter(
            list(case.shape) if constant else [-1] * len(case.shape), np.dtype(case.dtype)
        )
        target = ov.opset1.parameter([len(case.target)], np.int64)
        inputs = [data] if constant else [data, target]
        if constant:
            target = ov.opset1.constant(np.array(case.target, np.int64))
        axes = None
        if case.axes is not None:
            axes = ov.opset1.parameter([len(case.axes)], np.int64)
            inputs.append(axes)
        node = opsets[opset].broadcast(data, target, axes, mode)
        # A processor that has instructions for it may else compute in a shorter type; and of
        # more threads than one these sizes would only have the cost.
        options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        return core.compile_model(ov.Model([node], inputs), "CPU", options).create_infer_request()

    def run(case: Case) -> Array:
        inputs = [sample(case.dtype, case.shape)]
        if case.operator.startswith("constant "):
            model = case
        else:
            model = case._replace(
                shape=(0,) * len(case.shape),
                target=(0,) * len(case.target),
                axes=None if case.axes is None else (0,) * len(case.axes),
            )
            inputs.append(np.array(case.target, np.int64))
        if case.axes is not None:
            inputs.append(np.array(case.axes, np.int64))
        inference = request(model)
        # With one thread `infer` drops every error and returns what was there before.
        inference.start_async(dict(enumerate(inputs)))
        inference.wait()
        return np.array(inference.get_output_tensor(0).data)

    return run, (RuntimeError,)


RUNTIMES = {"onnx reference": onnx_reference, "onnxruntime": onnx_runtime, "openvino": openvino}


def jax(cases: Sequence[Case]) -> list[Array | str]:
    """Let JAX do all cases on the CPU in one compiled function; of a refusal, give its text.

    An operator is "broadcast_in_dim", or "shapes": the shape that two shapes broadcast to.
    """
    import jax
    import jax.numpy as jnp

    answers: list[Array | str] = []
    accepted: list[int] = []

    def results(arrays: Iterable[jax.Array]) -> list[jax.Array]:
        """Do what is accepted. Nothing is left of a refused operation in what is traced."""
        found = []
        for number, (case, x) in enumerate(zip(cases, arrays, strict=True)):
            try:
                if case.operator == "shapes":
                    shape = jnp.broadcast_shapes(case.shape, case.target)
                    answers.append(np.array(shape, np.int64))
                    continue
                z = jax.lax.broadcast_in_dim(x, case.target, case.axes or ())
            except (TypeError, ValueError) as error:
                answers.append(str(error).strip().rpartition("\n")[2])
            else:
                answers.append("")
                accepted.append(number)
                found.append(z)
        return found

    samples = [sample(case.dtype, case.shape) for case in cases]
    for number, z in zip(accepted, jax.jit(results)(samples), strict=True):
        answers[number] = np.asarray(z)
    return answers


# The runtimes that answer at the end.
AT_ONCE = {"jax": jax}


def read_case(line: str) -> Case:
    """Read a case."""
    operator, dtype, shape, target, axes = json.loads(line)
    axes = None if axes is None else tuple(axes)
    return Case(operator, dtype, tuple(shape), tuple(target), axes)


def write_answer(output: Array | str) -> None:
    """Write an array, or the text of a refusal."""
    answer: dict[str, object] = {"refused": output}
    if not isinstance(output, str):
        answer = {
            "shape": output.shape,
            "dtype": output.dtype.name,
            "elements": output.tobytes().hex(),
        }
    print(json.dumps(answer), flush=True)


def main(name: str) -> None:
    """Answer the cases on standard input; an error that is no refusal ends the process."""
    cases = map(read_case, sys.stdin)
    if name in AT_ONCE:
        for answer in AT_ONCE[name](list(cases)):
            write_answer(answer)
        return
    run, refusals = RUNTIMES[name]()
    for case in cases:
        try:
            output = run(case)
        except refusals as error:
            write_answer(str(error).strip().rpartition("\n")[2])
        else:
            write_answer(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
