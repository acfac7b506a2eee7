"""Runtimes for run_pack.py: each takes an ONNX file or a StableHLO text, and inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

Arrays: TypeAlias = list[Any]
FLAGS = ("--iree-llvmcpu-target-cpu=generic", "--iree-input-demote-f64-to-f32=false")


def by_onnxruntime(model: str, inputs: Arrays) -> Arrays:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {f"x{m}": x for m, x in enumerate(inputs)}))


def by_reference(model: str, inputs: Arrays) -> Arrays:
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(model).run(None, {f"x{m}": x for m, x in enumerate(inputs)}))


def by_stablehlo(model: str, _: Arrays) -> Arrays:
    """Run StableHLO's interpreter, which JAX contains."""
    import numpy as np
    from jax.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context():
        return list(map(np.array, stablehlo.eval_module(ir.Module.parse(model), [])))


def by_iree(model: str, inputs: Arrays) -> Arrays:
    run, dtypes = compiled(model)
    found = run(*inputs)
    arrays = [each.to_host() for each in (found if isinstance(found, tuple) else (found,))]
    # IREE's integers are neither signed nor unsigned.
    return [x.view(dtype) for x, dtype in zip(arrays, dtypes, strict=True)] if dtypes else arrays


@lru_cache(1)
def compiled(model: str) -> tuple[Callable[..., Any], list[Any]]:
    from iree import compiler, runtime

    text, dtypes, kind = model, [], "stablehlo"
    if model.endswith(".onnx"):
        import onnx
        from iree.compiler.extras.onnx_importer import ModelInfo, NodeImporter

        # These lines do the same as iree-import-onnx.
        info = ModelInfo(onnx.shape_inference.infer_shapes(onnx.load(model)))
        module = info.create_module(context=compiler.ir.Context()).operation
        NodeImporter.define_function(info.main_graph, module).import_all()
        types = [each.type.tensor_type.elem_type for each in info.model_proto.graph.output]
        dtypes = list(map(onnx.helper.tensor_dtype_to_np_dtype, types))
        text, kind = module.get_asm(), "onnx"
    options = {"target_backends": ["llvm-cpu"], "input_type": kind, "extra_args": FLAGS}
    loaded = runtime.load_vm_flatbuffer(compiler.compile_str(text, **options), driver="local-sync")
    return loaded[re.findall(r"@(\w+)\(", text)[0]], dtypes


RUNTIMES = {
    **{"onnxruntime": by_onnxruntime, "reference": by_reference},
    **{"stablehlo": by_stablehlo, "iree": by_iree},
}
