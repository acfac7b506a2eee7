"""Run packs of `whycast cases` by a runtime: python run_pack.py RUNTIME LIST PACK...

LIST contains known failures: each line has an id or a pattern of ids and, unless all these tests
fail, the number of failures. `#` begins a comment. If more or fewer fail, the exit status is 1.
Without arguments, ONNX Runtime and StableHLO's interpreter run the packs of three rules, with the
lists beside this file; so does IREE, if build/iree is a virtual environment with IREE and onnx.

To run packs, whycast is not needed. Any error counts as a refusal, also a missing operator.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runtimes import RUNTIMES, Arrays

HERE = Path(__file__).resolve().parent
IREE = str(HERE.parents[1] / "build" / "iree" / "bin" / "python")
PACKS = {"numpy": "onnx", "expand": "onnx", "in-dim": "stablehlo"}
COMPARISON = r"check\.expect_eq_const (%\w+), (dense<.*>) : (.*)"


@cache
def functions(file: Path) -> dict[str, str]:
    """Return a file's functions, changed to return the pairs of values that the tests compare.

    The comparisons use the dialect `check`, which only StableHLO's own tools have.
    """
    found = {}
    for text in file.read_text("ascii").split("// -----"):
        pairs = re.findall(COMPARISON, text)
        values = ", ".join([f"{value}, {value}_right" for value, _, _ in pairs])
        types = ", ".join([f"{kind}, {kind}" for _, _, kind in pairs])
        own = re.sub(COMPARISON, r"\1_right = stablehlo.constant \2 : \3", text)
        own = own.replace("() {", f"() -> ({types}) {{")
        own = own.replace("return\n", f"return {values} : {types}\n")
        found[re.findall(r"@(\w+)\(", text)[0]] = own
    return found


def questions(file: Path, name: str) -> Iterator[tuple[str, Arrays, Arrays]]:
    if file.suffix == ".mlir":
        yield functions(file)[name], [], []
        return
    from onnx import TensorProto, numpy_helper

    for folder in sorted(file.parent.glob("test_data_set_*")):
        tensors: dict[str, Arrays] = {"input": [], "output": []}
        for path in sorted(folder.iterdir(), key=lambda path: (len(path.name), path)):
            tensor = TensorProto.FromString(path.read_bytes())
            tensors[path.name.split("_")[0]].append(numpy_helper.to_array(tensor))
        yield str(file), tensors["input"], tensors["output"]


def bits(array: Any) -> object:
    elements = array.tolist() if array.dtype.kind == "O" else array.tobytes()
    return array.dtype.name, array.shape, elements


def fault(pack: Path, test: dict[str, Any], runtime: str) -> str:
    refuses = "refused" in test["expected"]
    try:
        for model, inputs, outputs in questions(pack / test["model"], test["id"]):
            found = RUNTIMES[runtime](model, inputs)
            if refuses:
                return f"accepted, but {test['clause']} refuses"
            found, right = (found, outputs) if outputs else (found[::2], found[1::2])
            if list(map(bits, found)) != list(map(bits, right)):
                return f"other elements than by {test['clause']}"
    except Exception as error:
        # A compiler prints warnings before its error.
        told = re.search("error: .*", str(error)) or re.search(".*", str(error))
        return "" if refuses else f"{type(error).__name__}: {told and told[0]}"
    return ""


def run(runtime: str, known: Path, packs: list[Path]) -> int:
    told = {pack: json.loads((pack / "manifest.json").read_text("utf-8")) for pack in packs}
    faults = {x["id"]: fault(pack, x, runtime) for pack in packs for x in told[pack]["tests"]}
    # A list may also name tests of packs that are not run now.
    others = {*PACKS} - {each["rule"] for each in told.values()}
    absent = tuple([f"test_{rule.replace('-', '_')}_" for rule in others])
    lines = [line.partition("#")[0].split() for line in known.read_text("utf-8").splitlines()]
    lines = [line for line in lines if line and not line[0].startswith(absent)]
    wrong, listed = [], set()
    for pattern, *number in lines:
        named = fnmatch.filter(faults, pattern)
        failed = sum(bool(faults[each]) for each in named)
        if failed != (int(number[0]) if number else len(named)) or not failed:
            wrong.append(f"{pattern}: {failed} of {len(named)} fail, unlike in {known.name}")
        listed.update(named)
    wrong += [f"{name}: {told}" for name, told in faults.items() if told and name not in listed]
    failed = sum(map(bool, faults.values()))
    print(*wrong, f"{runtime}: {len(faults)} tests, {failed} fail", sep="\n", flush=True)
    return 1 if wrong else 0


def main(words: list[str]) -> int:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    if words:
        return run(words[0], Path(words[1]), list(map(Path, words[2:])))
    code = 0
    with TemporaryDirectory() as folder:
        packs = {rule: f"{folder}/{rule}" for rule in PACKS}
        for rule, form in PACKS.items():
            made = ("cases", "--rule", rule, "--format", form, "--out", packs[rule])
            subprocess.run((sys.executable, "-m", "whycast", *made), check=True)
        for python, runtime, *of in (
            (sys.executable, "onnxruntime", packs["numpy"], packs["expand"]),
            (sys.executable, "stablehlo", packs["in-dim"]),
            (IREE, "iree", *packs.values()),
        ):
            if not Path(python).exists():
                print(f"{runtime}: not run, since there is no {python}")
                continue
            command = (python, __file__, runtime, str(HERE / f"{runtime}.txt"), *of)
            code |= subprocess.run(command, check=False).returncode
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
