"""The public surface of the package: names, modules, help, signatures."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import whycast
from gate import toml
from whycast import _types

# `import whycast` imports these modules, but not whycast.testing.
BROUGHT = [
    "whycast",
    *(f"whycast.{name}" for name in ("lax", "ngraph", "numpy_rule", "onnx", "openvino")),
    *("whycast.reference", "whycast.symbolic", "whycast.torch"),
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
    """No other module is public; only pytest loads the package's file of tests."""
    found = pkgutil.walk_packages(whycast.__path__, "whycast.")
    public = {each.name for each in found if not re.search(r"\._|\.test_", each.name)}
    assert {"whycast", *public} == {module.__name__ for module in MODULES}
    assert len(PUBLIC) == 47


def output_of(program: str) -> str:
    words = [sys.executable, "-c", program]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def test_what_an_import_of_the_package_brings() -> None:
    program = "import sys, whycast; print(*[name for name in sys.modules if 'whycast' in name])"
    found = output_of(program).split()
    assert sorted(name for name in found if "._" not in name) == sorted(BROUGHT)
    assert not [name for name in found if name.startswith("whycast._command")]
    said = "print(whycast.testing.check.__name__, 'whycast._command' in sys.modules)"
    assert output_of(f"import sys, whycast; {said}") == "check False\n"
    with pytest.raises(AttributeError, match=r"^module 'whycast' has no attribute 'strategies'$"):
        getattr(whycast, "strategies")  # noqa: B009 (type checkers know that there is none)


@pytest.mark.parametrize("found", ["1.26.4", "0.9rc1", "2.0.0rc1", "10.1"])
def test_an_older_numpy_gets_a_sentence(found: str) -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (needed,) = toml.loads(project)["project"]["dependencies"]
    assert needed == f"numpy>={_types.NUMPY_NEEDED}"
    program = f"import numpy; numpy.__version__ = {found!r}\ntry:\n    import whycast\n"
    said = output_of(program + "except Exception as error:\n    print(repr(error))\n")
    sentence = f"ImportError('whycast needs NumPy {needed[7:]} or later, found {found}')\n"
    assert said == (sentence if found[:2] in ("1.", "0.") else "")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_dir_shows_what_is_public(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    shown = pydoc.plain(pydoc.render_doc(module))
    assert "[E_" not in shown
    assert "TypeVar" not in shown


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_public_names_are_at_home_where_they_are_called(module: ModuleType, name: str) -> None:
    value = getattr(module, name)
    assert value.__module__ == module.__name__
    assert getattr(importlib.import_module(value.__module__), value.__qualname__) is value
    assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_help(module: ModuleType, name: str) -> None:
    """Help contains sections and an example, but no tags."""
    shown = pydoc.plain(pydoc.render_doc(getattr(module, name)))
    assert shown.partition("\n")[0].endswith(f" {name} in module {module.__name__}")
    assert "[E_" not in shown
    own = shown.partition("Methods defined here")[0]
    sections = re.findall(r"(?m)^ +(?:\| +)?(\w+)\n +(?:\| +)?-{5,}$", own)
    wanted = ["Parameters", "Notes"]
    if inspect.isfunction(getattr(module, name)):
        wanted = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
        assert ">>> " in shown
    assert [section for section in sections if section in wanted] == wanted
