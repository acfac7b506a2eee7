"""`make models`: the models of released packages, counted by whycast and by running them.

Each is made explicit, run before and after, and compared bit by bit; onnxsim's pass is asked for
the same. It prints a table, and fails where whycast and the run disagree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import onnx
from running import Seen, seen_by_running

from whycast._command import main
from whycast._model._infer import scopes
from whycast._model._names import Names
from whycast._model._runs import feeds

BUILD = Path(__file__).resolve().parents[2] / "build"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

# With many exponents ONNX Runtime calls `pow`, with one that is 2 it multiplies; and it has other
# loops for a stack of matrices of one row. The last bits differ, so that these are left.
LEAVE = ("Pow", "MatMul")


class Model(NamedTuple):
    """A file, the sizes with which it is run, how many nodes broadcast, how many stay open."""

    file: Path
    sizes: tuple[str, ...]
    nodes: int
    broadcast: int
    unresolved: int = 0
    leave: tuple[str, ...] = ()


def _in(wheel: str, inside: str, *about: Any) -> Model:
    return Model(BUILD / wheel / inside, *about)


_SILERO = "silero_vad/data/silero_vad"
_VOICE = ("input=1x576", "state=2x1x128", "sr=()")
_PADDLE = "rapidocr_onnxruntime/models/ch_"

SMALL = {
    "magika": _in(
        "test-models", "magika/models/standard_v3_3/model.onnx", ("bytes=1x2048",), 45, 27
    ),
    "rapidocr cls": _in(
        "test-models",
        "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
        ("x=2x3x48x192",),
        *(89, 64),
    ),
    "silero": _in("test-models", f"{_SILERO}.onnx", _VOICE, 1, 0),
    "silero op15": _in("test-models", f"{_SILERO}_16k_op15.onnx", _VOICE, 9, 4, 1, ("Pow",)),
    "silero sequence": _in(
        "test-models",
        f"{_SILERO}_16k_sequence.onnx",
        ("input=1x576", "h=1x1x128", "c=1x1x128"),
        *(3, 2, 0, ("Pow",)),
    ),
    "silero half": _in("test-models", f"{_SILERO}_half.onnx", _VOICE[:2], 5, 2, 0, ("Pow",)),
    "silero ifless": _in("test-models", f"{_SILERO}_op18_ifless.onnx", _VOICE, 1, 0),
    "silero openvino": _in(
        "test-models", f"{_SILERO}_openvino_16k.onnx", _VOICE[:2], 3, 2, 0, ("Pow",)
    ),
    "densenet121": Model(LIGHT / "light_densenet121.onnx", (), 242, 242),
    "inception_v2": Model(LIGHT / "light_inception_v2.onnx", (), 138, 138),
    "resnet50": Model(LIGHT / "light_resnet50.onnx", (), 16, 0),
    "shufflenet": Model(LIGHT / "light_shufflenet.onnx", (), 13, 0),
}
LARGE = {
    "rapidocr rec": _in(
        "models", f"{_PADDLE}PP-OCRv4_rec_infer.onnx", ("x=2x3x48x320",), 257, 218, 0, LEAVE
    ),
    "rapidocr det": _in(
        "models", f"{_PADDLE}PP-OCRv4_det_infer.onnx", ("x=1x3x320x320",), 199, 164
    ),
    "ddddocr old": _in("models", "ddddocr/common_old.onnx", ("input1=1x1x64x160",), 128, 65, 2),
    "ddddocr det": _in("models", "ddddocr/common_det.onnx", (), 81, 0),
    "ddddocr common": _in("models", "ddddocr/common.onnx", ("input1=1x1x64x160",), 21, 0),
    "smart-turn": _in(
        "models",
        "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
        ("input_features=1x80x800",),
        *(72, 56),
    ),
    "nudenet": _in("models", "nudenet/320n.onnx", ("images=1x3x320x320",), 81, 11),
}
# Those that were counted before there was this program, and what was found then.
WHEELS = [name for name, model in (SMALL | LARGE).items() if model.file.parent != LIGHT]
COUNTED = Counter(
    {"nodes": 995, "broadcast": 615, "scalar": 493, "leading": 65, "trailing": 58, "both sides": 2}
    | {"rank only": 1, "stacks": 50, "stacks that broadcast": 36}
)


class Judged(NamedTuple):
    """What a run showed, what whycast says, and what it made of the model."""

    seen: Seen
    about: dict[str, Any]
    again: dict[str, Any]


def ask(*words: str) -> dict[str, Any]:
    """Run `whycast model --json`; give what it says."""
    said = StringIO()
    with redirect_stdout(said):
        code = main(["model", *words, "--json"])
    about: dict[str, Any] = json.loads(said.getvalue())
    assert code == 0 or (code == 3 and not about["explicit"]["made explicit"]), about
    return about


def words_of(model: Model) -> list[str]:
    """Return the words of the command line that say with which sizes."""
    return [word for size in model.sizes for word in ("--sizes", size)]


def shapes_of(model: Model) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the inputs."""
    pairs = (size.split("=") for size in model.sizes)
    return {name: tuple(map(int, filter(None, s.strip("()").split("x")))) for name, s in pairs}


def judge(model: Model, form: str = "expand", *more: str) -> Judged:
    """Hold whycast against a run; make the model explicit, and hold that against the model."""
    sizes = words_of(model)
    given = shapes_of(model)
    numbers = {"sr": 16000.0} if "sr" in given else {}
    inputs = scopes(onnx.load(model.file), Names(), [*given.items()]).inputs
    seen = seen_by_running(model.file, feeds(inputs, {}, numbers))
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "explicit.onnx"))
        words = [str(model.file), *sizes, "--explicit", out, "--as", form, "--check", *more]
        words += [word for name in model.leave for word in ("--leave", name)]
        words += [word for name in numbers for word in ("--input", f"{name}=16000")]
        about = ask(*words)
        again = ask(out, *sizes)
    outermost = {row["output"]: row for row in about["nodes"] if not row["graph"]}
    unresolved = 0
    for output, kinds in seen.element_wise.items():
        row = outermost[output]
        if row["verdict"] in ("equal", "always"):
            assert set(row["kinds"]) == kinds, row
        else:
            unresolved += 1
    assert unresolved == model.unresolved
    for output, broadcast in seen.stacks.items():
        assert outermost[output]["verdict"] == ("always" if broadcast else "equal")
    assert about["check"]["differences"] == []
    left = {each["node"] for each in about["explicit"]["left"]}
    hidden = {row["node"] for row in again["nodes"] if row["verdict"] == "always"}
    assert hidden <= left
    return Judged(seen, about, again)


def by_onnxsim(model: Model) -> int | None:
    """Ask onnxsim for its pass; count the nodes that broadcast afterwards. None: it fails."""
    program = (
        "import json, sys, onnx, onnxsim\n"
        "sizes = json.loads(sys.argv[3])\n"
        "pass_ = ['rewrite_implicit_broadcast']\n"
        "asked = {'overwrite_input_shapes': sizes, 'extra_optimizers': pass_}\n"
        "made, _ = onnxsim.simplify(sys.argv[1], **asked)\n"
        "onnx.save(made, sys.argv[2])"
    )
    given = {name: shape for name, shape in shapes_of(model).items() if shape}
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "onnxsim.onnx"))
        done = subprocess.run(
            [sys.executable, "-c", program, str(model.file), out, json.dumps(given)],
            env=os.environ | {"PYTHONPATH": str(BUILD / "models")},
            capture_output=True,
        )
        if done.returncode or not Path(out).exists():
            return None
        return len(
            [row for row in ask(out, *words_of(model))["nodes"] if row["verdict"] == "always"]
        )


def report() -> int:
    """Print the table; fail where the sums are not those that were counted."""
    total: Counter[str] = Counter()
    print("| model | nodes | broadcast | left | new nodes | broadcasts left by onnxsim |")
    print("|---|---|---|---|---|---|")
    for name, model in (SMALL | LARGE).items():
        judged = judge(model)
        kinds = judged.seen.kinds()
        broadcast = sum(map(bool, judged.seen.element_wise.values()))
        counts = (len(judged.seen.element_wise), broadcast)
        assert counts == (model.nodes, model.broadcast), counts
        if name in WHEELS:
            stacks = judged.seen.stacks.values()
            total.update({"nodes": counts[0], "broadcast": broadcast, **kinds})
            total.update({"stacks": len(stacks), "stacks that broadcast": sum(stacks)})
        made = judged.about["explicit"]
        by = by_onnxsim(model)
        hidden = [row for row in judged.again["nodes"] if row["verdict"] == "always"]
        assert by is None or model.leave or len(hidden) <= by, name
        print(
            f"| {name} | {counts[0]} | {broadcast} | {len(made['left'])} | {made['nodes added']} | "
            f"{'it fails' if by is None else by} |"
        )
    print(", ".join(f"{what} {count}" for what, count in total.items()))
    assert total == COUNTED, COUNTED
    return 0


if __name__ == "__main__":
    sys.exit(report())
