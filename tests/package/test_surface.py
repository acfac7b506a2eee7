"""What a user sees of the package without reading it: names, homes, help, signatures."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys
from types import ModuleType

import pytest

import whycast
from whycast import testing

# `import whycast` brings the first ones; those for tests have to be asked for.
BROUGHT = [
    "whycast",
    *(f"whycast.{name}" for name in ("lax", "ngraph", "numpy_rule", "onnx", "openvino")),
    *("whycast.reference", "whycast.torch"),
]
MODULES = [
    importlib.import_module(name)
    for name in (*BROUGHT, "whycast.testing", "whycast.testing.strategies")
]
PUBLIC = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in MODULES
    for name in module.__all__
    if callable(getattr(module, name))
]


def test_modules() -> None:
    """No other is public; a file of tests is for pytest alone."""
    found = pkgutil.walk_packages(whycast.__path__, "whycast.")
    public = {each.name for each in found if not re.search(r"\._|\.test_", each.name)}
    assert {"whycast", *public} == {module.__name__ for module in MODULES}
    assert len(PUBLIC) == 33


def test_what_an_import_of_the_package_brings() -> None:
    program = "import sys, whycast; print(*[name for name in sys.modules if 'whycast' in name])"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    public = [name for name in done.stdout.split() if "._" not in name]
    assert sorted(public) == sorted(BROUGHT)
    assert not [name for name in done.stdout.split() if name.startswith("whycast._command")]


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


def test_a_report_can_be_sent_to_another_process() -> None:
    case = testing.Case(((0,),), target=())
    deviation = testing.Deviation("data", {"small": 1}, "refuses", "", case, "f()", "", "", "")
    report = testing.Report("f", "expand", {}, {}, (deviation,), (), {}, (), True, 0, 0.1)
    assert pickle.loads(pickle.dumps(report)) == report


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
