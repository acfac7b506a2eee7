"""Pyrefly, a type checker with shapes of tensors, as a peer: it reads code without running it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from whycast._rules import Rule
from whycast.testing._peers import Function, Named

_CODE = """\
from __future__ import annotations
from typing import reveal_type
from shape_extensions import IntVar
from torch import Tensor
def f{names}({tensors}): reveal_type({total})
"""


def functions(rule: Rule) -> dict[str, Function]:
    return {"symbolic": _symbolic}


def _symbolic(*shapes: Named) -> Named:
    names = sorted({size for shape in shapes for size in shape if isinstance(size, str)})
    sizes = [", ".join("int" if z is None else str(z) for z in shape) for shape in shapes]
    code = _CODE.format(
        names=f"[{', '.join(f'{name}: IntVar' for name in names)}]" if names else "",
        tensors=", ".join(f"x{k}: Tensor[[{own}]]" for k, own in enumerate(sizes)),
        total=" + ".join(f"x{k}" for k in range(len(shapes))),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sum.py")
        file.write_text(code, encoding="utf-8")
        options = "--preset=default --min-severity=info --output-format=json --python-version=3.13"
        here = f"--python-interpreter-path={sys.executable}"
        command = [sys.executable, "-m", "pyrefly", "check", "sum.py", *options.split(), here]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)["errors"]
    for each in said:
        if each["severity"] == "error":
            refuses = each["name"] == "unsupported-operation"
            raise (TypeError if refuses else NotImplementedError)(each["description"])
    (revealed,) = [each["description"] for each in said if each["name"] == "reveal-type"]
    found = re.fullmatch(r"revealed type: Tensor\[\[(.*)\]\]", revealed)
    if found is None:
        raise NotImplementedError(f"Pyrefly: {revealed}")
    texts = found[1].split(", ") if found[1] else []
    return tuple(int(z) if z.isdigit() else z if z in names else None for z in texts)
