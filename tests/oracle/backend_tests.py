"""The child process in which ONNX's own runner runs a folder of backend tests.

`python backend_tests.py reference|onnxruntime FOLDER` prints, as JSON, how many tests ran and the
names of those that failed. Only `test_export_onnx.py` starts it.
"""

from __future__ import annotations

import io
import json
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep
from onnx.backend.test import runner
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator


class Prepared(BackendRep):
    """A model that ONNX's reference implementation runs."""

    def __init__(self, model: ModelProto) -> None:
        self.evaluator = ReferenceEvaluator(model)

    def run(self, inputs: Sequence[Any], **_: Any) -> Any:
        """Run the model on inputs in their order."""
        return self.evaluator.run(None, dict(zip(self.evaluator.input_names, inputs, strict=True)))


class Reference(Backend):
    """ONNX's reference implementation, as its runner wants a backend."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **_: Any) -> Prepared:
        """Make a model ready."""
        return Prepared(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Tell whether a device is that of the machine itself."""
        return device == "CPU"


def backend(name: str) -> type[Backend]:
    """Return the backend of a name."""
    if name == "reference":
        return Reference
    from onnxruntime.backend.backend import OnnxRuntimeBackend

    return OnnxRuntimeBackend  # type: ignore[no-any-return]


def main(name: str, folder: Path) -> None:
    """Run the tests of a folder, and print what came of them."""

    def load(kind: str) -> list[TestCase]:
        # The runner asks for each kind of ONNX's own tests; these take the place of one.
        return load_model_tests(str(folder.parent), folder.name) if kind == "simple" else []

    vars(runner)["load_model_tests"] = load
    # It makes a test for each device.
    suite = runner.Runner(backend(name), __name__).include("_cpu$").test_suite
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    failed = [test.id().split(".")[-1] for test, _ in result.failures + result.errors]
    print(json.dumps({"ran": result.testsRun - len(result.skipped), "failed": failed}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
