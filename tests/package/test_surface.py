"""What a user sees of the package without reading it: names, homes, help, signatures."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pydoc
import re
from types import ModuleType

import pytest

import whycast
import whycast.testing
from whycast.testing import strategies

MODULES: list[ModuleType] = [
    whycast,
    *[value for value in vars(whycast).values() if isinstance(value, ModuleType)],
    strategies,
]
MODULES = [module for module in MODULES if not module.__name__.rpartition(".")[2].startswith("_")]
PUBLIC = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in MODULES
    for name in module.__all__
    if callable(getattr(module, name))
]


def test_modules() -> None:
    assert {module.__name__ for module in MODULES} == {
        "whycast",
        *(f"whycast.{name}" for name in ("lax", "ngraph", "numpy_rule", "onnx", "openvino")),
        *(f"whycast.{name}" for name in ("reference", "testing", "testing.strategies")),
    }
    assert len(PUBLIC) == 32


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_dir_shows_what_is_public(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_names_are_at_home_where_they_are_called(module: ModuleType, name: str) -> None:
    value = getattr(module, name)
    assert value.__module__ == module.__name__
    assert getattr(importlib.import_module(value.__module__), value.__qualname__) is value
    assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_help(module: ModuleType, name: str) -> None:
    """It has sections and an example, and no tags: these stand in the source, for the evidence."""
    shown = pydoc.plain(pydoc.render_doc(getattr(module, name)))
    assert shown.partition("\n")[0].endswith(f" {name} in module {module.__name__}")
    assert "[E_" not in shown
    sections = re.findall(r"(?m)^ +(?:\| +)?(\w+)\n +(?:\| +)?-{5,}$", shown)
    wanted = ["Parameters", "Notes"]
    if inspect.isfunction(getattr(module, name)):
        wanted = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
        assert ">>> " in shown
    assert [section for section in sections if section in wanted] == wanted


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_help_of_a_module_shows_what_is_public(module: ModuleType) -> None:
    shown = pydoc.plain(pydoc.render_doc(module))
    assert "[E_" not in shown
    assert "TypeVar" not in shown
    assert all(name in shown for name in module.__all__ if not name.startswith("_"))
