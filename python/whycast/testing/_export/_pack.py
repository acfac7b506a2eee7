"""The common parts of all packs of tests: ids, choice, manifest, and the new folder."""

from __future__ import annotations

import errno
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zlib import crc32

import whycast
from whycast._rules import Rule
from whycast.testing._cases._case import Case
from whycast.testing._lines import answer, request
from whycast.testing._report._judge import expected

MOST_TESTS = 600

MANIFEST = f"""\
onnx and stablehlo make a new folder of up to {MOST_TESTS} tests, spread over the cases, with a
manifest.json. It contains for each test an "id", a "model" (a file), the "clause" that decides, the
request for `whycast serve`, and the answer as "expected": a shape, or the reason of the refusal.
An id does not depend on other tests, so a list of ids can name expected failures."""


class NotPossibleError(Exception):
    """The format does not support the rule, or the package onnx is missing."""


class Test(NamedTuple):
    id: str
    operator: str
    dtype: str
    case: Case
    accepted: bool


def test_of(rule: Rule, operator: str, dtype: str, case: Case) -> Test:
    text = "_".join(["x".join(map(str, each)) or "scalar" for each in case.every_shape])
    if case.axes is not None:
        text += f"_axes{'x'.join(map(str, case.axes)).replace('-', 'm')}"
    words = ["test", rule.name.replace("-", "_"), operator.lower(), dtype]
    words.append(text if len(text) <= 60 else f"{digest(text):08x}")
    return Test("_".join(filter(None, words)), operator, dtype, case, rule.shape(case) is not None)


def digest(text: str) -> int:
    """Return a hash that is the same on all machines."""
    return crc32(text.encode())


def chosen(tests: Iterable[Test]) -> list[Test]:
    """Choose some tests of each kind, in the given order; an added test displaces few others."""
    every, counts = {test.id: test for test in tests}, Counter[tuple[object, ...]]()
    turns = {}
    for test in sorted(every.values(), key=lambda test: digest(test.id)):
        shapes = test.case.every_shape
        rank, has_zero = max(map(len, shapes)), any(0 in shape for shape in shapes)
        kind = (test.operator, test.dtype, test.accepted, rank, has_zero, len(shapes) > 3)
        turns[test.id] = counts[kind]
        counts[kind] += 1
    kept = set(sorted(turns, key=turns.__getitem__)[:MOST_TESTS])
    return [test for name, test in every.items() if name in kept]


@contextmanager
def pack(rule: Rule, model: str, tests: list[Test], path: Path) -> Iterator[Path]:
    """Make a folder with a manifest; rename it to `path` once the caller has written its files."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "expected the name of a new folder", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for test in tests:
        right = answer("shape", expected(rule, "shape", test.case))
        lines.append(request(rule, "shape", test.case) | {"id": test.id, "expected": right})
        file = model.format("accepted" if test.accepted else "refused", test.id)
        clause = rule.clauses["data" if test.accepted else "verdict"]
        lines[-1] |= {"model": file, "clause": clause}
    head = json.dumps({"whycast": whycast.__version__, "rule": rule.name, "tests": []})
    text = ",\n".join(map(json.dumps, lines))
    with TemporaryDirectory(dir=path.parent, prefix=".whycast-") as made:
        whole = Path(made, "pack")
        whole.mkdir()
        (whole / "manifest.json").write_text(f"{head[:-2]}\n{text}\n]}}\n", encoding="ascii")
        yield whole
        whole.replace(path)
