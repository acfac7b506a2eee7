"""What belongs in the folders of a tree that is judged; what else is there, nobody looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assurance.closed import run
from assurance.facts import Failure

GIT = ("/usr/bin/git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false")

# What is made beside the sources, where the package is installed for the tests.
MADE = {"python/whycast.egg-info", "python/whycast/_native.abi3.so"}

# All files of the package and of the C. Of two modules of one name, Python takes the one that is a
# folder or a library; of two headers, a compiler takes the one that is nearer.
FILES = {
    "c": "example.c whycast.c whycast.h",
    "python": "_whycast_pytest.py",
    "python/whycast": """
        __init__.py __main__.py _accelerator.py _adjoints.py _arrays.py _checks.py
        _errors.py _kernel.py _native.c _native.pyi _rules.py _shapes.py _types.py _views.py
        lax.py ngraph.py numpy_rule.py onnx.py openvino.py py.typed reference.py torch.py
    """,
    "python/whycast/_command": """
        __init__.py _alignment.py _arguments.py _explain.py _figure.py _shapes.py _steps.py
        _verdicts.py
    """,
    "python/whycast/testing": """
        __init__.py _check.py _command_cases.py _command_check.py _plugin.py deviations.json
        strategies.py test_target.py
    """,
    "python/whycast/testing/_cases": """
        __init__.py _case.py _drawn.py _fixed.py _hypothesis.py _smaller.py _values.py
    """,
    "python/whycast/testing/_export": """
        __init__.py _export_c.py _export_npz.py _export_onnx.py harness.c
    """,
    "python/whycast/testing/_lines": "__init__.py _elements.py _json.py _program.py _serve.py",
    "python/whycast/testing/_peers": """
        __init__.py _conditions.py _jax.py _numpy.py _onnx.py _onnxruntime.py _openvino.py
        _openvino_constants.py _register.py _torch.py
    """,
    "python/whycast/testing/_report": "__init__.py _compare.py _judge.py _tally.py",
    "python/whycast/testing/_run": "__init__.py _child.py _shrink.py _targets.py _worker.py",
}


def faults(root: Path) -> list[Failure]:
    """Find files that have no business where they are."""
    return [*theory_faults(root), *list_faults(root), *tracked_faults(root)]


def below(folder: Path) -> list[Path]:
    """Give what is in a folder; links are refused by the judge wherever they are."""
    return [path for path in sorted(folder.rglob("*")) if not path.is_symlink()]


def theory_faults(root: Path) -> Iterator[Failure]:
    """Find what is no theory, in the folder of those."""
    for path in below(root / "why3"):
        name = path.relative_to(root).as_posix()
        if not path.is_dir() and path.suffix != ".mlw" and name != "why3/trace.toml":
            what = "is no theory: why3/ has theories, trace.toml and nothing else"
            yield Failure(name, "", what)


def list_faults(root: Path) -> Iterator[Failure]:
    """Find what is not in the list, in the folders of the package and of the C."""
    for folder in ("c", "python"):
        for path in below(root / folder):
            inside = path.relative_to(root)
            if "__pycache__" in inside.parts or MADE & {*map(str, (inside, *inside.parents))}:
                continue
            listed = FILES.get(str(inside.parent), "").split()
            if path.name not in listed and not (path.is_dir() and str(inside) in FILES):
                what = "is not in the list of assurance/tree.py: it may hide another"
                yield Failure(inside.as_posix(), "", what)


def tracked_faults(root: Path) -> Iterator[Failure]:
    """Find what a clone brings along of what is only ever made in it."""
    if not has_git(root):
        return
    for name in run(*GIT, "ls-files", "-z", "--", "build", ".venv", cwd=root).split("\0"):
        if name:
            yield Failure(name, "", "is tracked by git: what is below it is made here, or not run")


def has_git(root: Path) -> bool:
    """Tell whether git knows the tree; an archive of it has no files that somebody tracks."""
    return (root / ".git").exists()
