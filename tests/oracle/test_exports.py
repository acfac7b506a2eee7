"""`whycast cases` for ONNX: ONNX Runtime fails only listed tests; planted faults are noticed."""

from __future__ import annotations

import io
import shutil
import unittest
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.base import Backend
from onnx.backend.test import runner
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.loader import load_model_tests

from whycast._rules import rule_named
from whycast.testing._cases import cases
from whycast.testing._cases._case import Case
from whycast.testing._export import _export_onnx, _pack
from whycast.testing._peers._onnx import runtime_session

PEERS = Path(__file__).parents[1] / "peers"


class Runtime(Backend):
    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **_: Any) -> Any:
        names, session = [each.name for each in model.graph.input], runtime_session(model)
        run = lambda inputs: session.run(None, dict(zip(names, inputs, strict=True)))  # noqa: E731
        return SimpleNamespace(run=run)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write backend tests of two rules: some cases, among them most cases of layouts."""
    found = {}
    for name in ("numpy", "expand"):
        found[name] = tmp_path_factory.mktemp("onnx") / name
        every = list(cases(name, random=20))
        chosen = every[:-340:24] + every[-340:]
        count = _export_onnx.write(rule_named(name), chosen, found[name])
        assert count == len(list(found[name].glob("*/test_*")))
        found[name] /= "accepted"
        assert 150 < len(list(found[name].iterdir())) < 420
    return found


def failed(folder: Path) -> list[str]:
    """Run a folder's tests by ONNX's own runner; return the names of failed tests."""

    def load(kind: str) -> list[TestCase]:
        # Load the folder's tests instead of ONNX's own of kind `simple`, and no others.
        return load_model_tests(str(folder.parent), folder.name) if kind == "simple" else []

    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("ORT_DISABLE_TELEMETRY", "1")
        changed.setattr(runner, "load_model_tests", load)
        suite = runner.Runner(Runtime, __name__).include("_cpu$").test_suite
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert result.testsRun - len(result.skipped) == len(list(folder.iterdir()))
    return sorted(test.id().split(".")[-1] for test, _ in result.failures + result.errors)


@pytest.mark.parametrize("name", ["numpy", "expand"])
def test_backend_tests(name: str, folders: dict[str, Path]) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_010] [E_Expand_any_Data_010]"""
    lines = (PEERS / "onnxruntime.txt").read_text("utf-8").splitlines()
    known = [line.split()[0] for line in lines if not line.startswith("#")]
    for test in failed(folders[name]):
        assert any(fnmatchcase(test, f"{pattern}_cpu") for pattern in known)


def test_a_planted_fault_is_noticed(folders: dict[str, Path], tmp_path: Path) -> None:
    """The fault changes one element, by as little as 1/2000 of its value."""
    chosen = tmp_path / "chosen"
    _export_onnx.write(rule_named("numpy"), [Case(((2000,), (1,)))], tmp_path / "pack")
    shutil.copytree(tmp_path / "pack" / "accepted", chosen)
    for test in sorted(folders["numpy"].glob("*_[if]*32_*"))[:40]:
        shutil.copytree(test, chosen / test.name)
    faulty = []
    for test in sorted(chosen.iterdir())[::4]:
        path = test / "test_data_set_0" / "output_0.pb"
        array = np.array(tensor(path))
        if array.size:
            array.ravel()[-1] += 1
            path.write_bytes(numpy_helper.from_array(array, "y").SerializeToString())
            faulty.append(f"{test.name}_cpu")
    assert failed(chosen) == faulty
    assert any("_2000_1" in name for name in faulty)


def test_models(folders: dict[str, Path]) -> None:
    """Models need at most IR version 11 and opset 26; Add and Sum show each input's elements."""
    operators: dict[str, set[str]] = {}
    for name, folder in folders.items():
        operators[name] = set()
        for test in sorted(folder.iterdir())[::3]:
            model = onnx.load(test / "model.onnx")
            assert model.ir_version <= 11
            (opset,) = model.opset_import
            assert opset.version <= 26
            (node,) = model.graph.node
            sizes = model.graph.input[0].type.tensor_type.shape.dim
            is_open = test.name.endswith("_open")
            assert [size.HasField("dim_value") for size in sizes] == [not is_open] * len(sizes)
            operators[name].add(node.op_type)
            if node.op_type in ("Add", "Sum"):
                sets = [test / f"test_data_set_{k}" for k in range(len(node.input))]
                assert sorted(test.glob("test_data_set_*")) == sorted(sets)
                for k, data_set in enumerate(sets):
                    inputs = [tensor(data_set / f"input_{m}.pb") for m in range(len(sets))]
                    assert [m for m, x in enumerate(inputs) if x.any()] in ([k], [])
                    assert len(np.unique(inputs[k])) == inputs[k].size
                    shape = np.broadcast_shapes(*[x.shape for x in inputs])
                    wanted = np.broadcast_to(inputs[k], shape)
                    np.testing.assert_array_equal(tensor(data_set / "output_0.pb"), wanted)
    tensors = {"Add", "Max", "Sum", "Where"}
    assert operators == {"numpy": tensors, "expand": {"Expand"}}


def test_no_more_than_some() -> None:
    """A pack contains some tests of each kind; a case's test does not depend on other cases."""
    every = list(cases("sonnx"))
    tests, fewer = (
        [*_export_onnx._tests(rule_named("sonnx"), some)] for some in (every, every[1:])
    )
    assert set(fewer) < set(tests)
    chosen = set(_pack.chosen(tests))
    assert len(chosen) == 600 < len(tests)
    kinds = [
        {(x[1:3], x.accepted, max(map(len, x.case.shapes))) for x in each}
        for each in (chosen, tests)
    ]
    assert kinds[0] == kinds[1]
    assert len({x.case.shapes for x in chosen} & {x.case.shapes for x in tests[:600]}) < 300
    assert len(chosen - set(_pack.chosen(fewer))) < 3


def tensor(path: Path) -> np.ndarray[Any, Any]:
    return numpy_helper.to_array(TensorProto.FromString(path.read_bytes()))
