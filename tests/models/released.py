"""`make models`: count the broadcasts in models of released packages, by whycast and by a run.

Each model runs, as it is and made explicit; the results are compared bit by bit. The program
prints a table, and fails if whycast and a run disagree.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import onnx
from drawn_models import ask
from running import Seen, seen_by_running

from whycast._model._infer import scopes
from whycast._model._names import Names
from whycast._model._runs import feeds

BUILD = Path(__file__).resolve().parents[2] / "build"

# A line contains the numbers of nodes, of broadcasting nodes, and of undecided nodes; the file in
# build/; the sizes of the run; operators that stay implicit, because their last bits would change:
# ONNX Runtime has special code for a single exponent of 2, and for matrices of one row.
_MODELS = """\
45 27 0 test-models/magika/models/standard_v3_3/model.onnx bytes=1x2048
89 64 0 test-models/rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx x=2x3x48x192
1 0 0 test-models/silero_vad/data/silero_vad.onnx input=1x576 state=2x1x128 sr=()
9 4 1 test-models/silero_vad/data/silero_vad_16k_op15.onnx input=1x576 state=2x1x128 sr=() Pow
3 2 0 test-models/silero_vad/data/silero_vad_16k_sequence.onnx input=1x576 h=1x1x128 c=1x1x128 Pow
5 2 0 test-models/silero_vad/data/silero_vad_half.onnx input=1x576 state=2x1x128 Pow
1 0 0 test-models/silero_vad/data/silero_vad_op18_ifless.onnx input=1x576 state=2x1x128 sr=()
3 2 0 test-models/silero_vad/data/silero_vad_openvino_16k.onnx input=1x576 state=2x1x128 Pow
257 218 0 models/rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx x=2x3x48x320 Pow MatMul
199 164 0 models/rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx x=1x3x320x320
128 65 2 models/ddddocr/common_old.onnx input1=1x1x64x160
81 0 0 models/ddddocr/common_det.onnx
21 0 0 models/ddddocr/common.onnx input1=1x1x64x160
72 56 0 models/pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx input_features=1x80x800
81 11 0 models/nudenet/320n.onnx images=1x3x320x320
"""
# These sums were counted before this program existed.
COUNTED = {"nodes": 995, "broadcast": 615, "stacks": 50, "stacks that broadcast": 36}


class Model(NamedTuple):
    """A line of the table."""

    nodes: int
    broadcast: int
    unresolved: int
    file: Path
    shapes: dict[str, tuple[int, ...]]
    words: list[str]


def _model(line: str) -> Model:
    nodes, broadcast, unresolved, file, *more = line.split()
    sizes = dict(word.split("=") for word in more if "=" in word)
    shapes = {k: tuple(map(int, filter(None, v.strip("()").split("x")))) for k, v in sizes.items()}
    words = [f"--{'sizes' if '=' in word else 'leave'}={word}" for word in more]
    return Model(int(nodes), int(broadcast), int(unresolved), BUILD / file, shapes, words)


MODELS = list(map(_model, _MODELS.splitlines()))
# `make test` runs these models, too.
SMALL = {each.file.stem: each for each in MODELS if "test-models" in each.file.parts}


def judge(model: Model) -> tuple[Seen, dict[str, Any]]:
    """Compare whycast with a run, and the model with the explicit one; return both results."""
    numbers = {"sr": 16000.0} if "sr" in model.shapes else {}
    inputs = scopes(onnx.load(model.file), Names(), [*model.shapes.items()]).inputs
    seen = seen_by_running(model.file, feeds(inputs, {}, numbers))
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "explicit.onnx"))
        words = [str(model.file), *model.words, "--explicit", out, "--check"]
        about = ask(*words, *(f"--input={name}=16000" for name in numbers))
        again = ask(out, *(word for word in model.words if word.startswith("--sizes")))
    outermost = {row["output"]: row for row in about["nodes"] if not row["graph"]}
    unresolved = 0
    for output, differ in (seen.element_wise | seen.stacks).items():
        verdict = outermost[output]["verdict"]
        if output in seen.stacks or verdict in ("equal", "always"):
            assert verdict == ("always" if differ else "equal"), output
        else:
            unresolved += 1
    counts = (len(seen.element_wise), sum(seen.element_wise.values()), unresolved)
    assert counts == (model.nodes, model.broadcast, model.unresolved)
    assert about["check"]["differences"] == []
    left = {each["node"] for each in about["explicit"]["left"]}
    hidden = {row["node"] for row in again["nodes"] if row["verdict"] == "always"}
    assert hidden <= left
    return seen, about["explicit"]


def report() -> int:
    total: Counter[str] = Counter()
    print("| model | nodes | broadcast | left | new nodes |")
    print("|---|---|---|---|---|")
    for model in MODELS:
        seen, made = judge(model)
        stacks = seen.stacks.values()
        total.update({"nodes": model.nodes, "broadcast": model.broadcast})
        total.update({"stacks": len(stacks), "stacks that broadcast": sum(stacks)})
        counts = (model.nodes, model.broadcast, len(made["left"]), made["nodes added"])
        print(f"| {' | '.join(map(str, (model.file.stem, *counts)))} |")
    print(", ".join(f"{what} {count}" for what, count in total.items()))
    assert total == COUNTED, COUNTED
    return 0


if __name__ == "__main__":
    sys.exit(report())
