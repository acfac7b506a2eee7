"""The built-in peers: other implementations of broadcasting.

Only a child process sets `Peer.environment`, then calls `Peer.functions`: some peers crash during
the import, and some write files.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from whycast._rules import Rule
from whycast.testing._cases._case import Case
from whycast.testing._cases._values import dtype_named

Function: TypeAlias = Callable[..., Any]

# A shape of numbers and names; None is an unknown or open size.
Named: TypeAlias = "tuple[int | str | None, ...]"


@dataclass(frozen=True)
class Peer:
    # `name` is used on the command line; `distribution` has the version; `given_by` names the
    # function of `module`, in this folder, that returns a rule's functions by level.
    name: str
    distribution: str
    module: str
    given_by: str = "functions"
    # NumPy's letters for the kinds of the peer's dtypes; empty: all. Missing dtypes of these kinds
    # show as limits.
    kinds: str = ""
    # `needs`: all needed distributions, if several; `extra`: whycast's extras that install them.
    needs: tuple[str, ...] = ()
    extra: str = "oracle"
    environment: Mapping[str, str] = field(default_factory=dict)
    # Returns why a case is left out at a level, or None.
    lacks: Callable[[str, Case], str | None] = lambda level, case: None

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.distribution)

    def functions(self, rule: Rule) -> dict[str, Function]:
        """Import the peer; return its functions for a rule, by level. Refusals are exceptions."""
        module = importlib.import_module(f"whycast.testing._peers.{self.module}")
        functions: dict[str, Function] = getattr(module, self.given_by)(rule)
        return functions

    def left_out(self, level: str, case: Case) -> str | None:
        for name in case.dtypes if self.kinds and level == "data" else ():
            if (dtype := dtype_named(name)).kind not in self.kinds or not dtype.isnative:
                return f"{self.name} has no {name}"
        return self.lacks(level, case)


def _no_large_strides(level: str, case: Case) -> str | None:
    large = any(abs(stride) >= 2**63 for stride in case.strides or ())
    return "NumPy's strides have 64 bits" if large else None


def _no_negative_strides(level: str, case: Case) -> str | None:
    negative = case.strides is not None and min(case.strides, default=0) < 0
    return "torch has no negative strides" if negative else None


def _no_high_ranks(level: str, case: Case) -> str | None:
    # Above 12 axes, mode bidirectional of OpenVINO 2026.4.1 refuses what the other modes accept; a
    # scalar with a target of 19 axes or more overruns its stack.
    if level == "data" and max(map(len, case.every_shape)) > 12:
        return "OpenVINO's library of kernels has at most 12 axes"
    return None


# At level data, JAX gets all cases that have few tensors and axes (the target's too), have dtypes
# but no layouts, or permute all axes; and one in _ONE_OF of the others.
_FEW = 2
_ONE_OF = 23


def _compiled_one_by_one(level: str, case: Case) -> str | None:
    ranks = list(map(len, case.every_shape))
    few = max(sum(ranks), len(ranks)) <= _FEW or (case.dtypes and not case.layouts)
    turned = case.axes is not None and case.shapes == (case.target,)
    # A hash chooses cases of all kinds, the same in each run.
    if level != "data" or few or turned or zlib.crc32(repr(case).encode()) % _ONE_OF == 0:
        return None
    return f"JAX compiles each: only one in {_ONE_OF} with many tensors, axes or layouts is asked"


_ORT = {"ORT_DISABLE_TELEMETRY": "1"}
# Filtering the traceback of a refusal takes longer than refusing.
_JAX = {"JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off"}
_TOOL: dict[str, Any] = {
    "needs": ("onnxruntime", "onnx", "sympy"),
    "extra": "",
    "environment": _ORT,
}

_PEERS = (
    Peer("numpy", "numpy", "_numpy", lacks=_no_large_strides),
    Peer("onnx-reference", "onnx", "_onnx", kinds="biufcO", extra="test-data"),
    Peer(
        *("onnxruntime", "onnxruntime", "_onnx", "runtime_functions", "biufO"),
        needs=("onnxruntime", "onnx"),
        extra="oracle,test-data",
        environment=_ORT,
    ),
    Peer("openvino", "openvino", "_openvino", kinds="biuf", lacks=_no_high_ranks),
    # ONNX Runtime's tool that infers shapes; auto_merge treats names that meet as equal.
    Peer("onnxruntime-symbolic", "onnxruntime", "_onnx", "symbolic_functions", **_TOOL),
    Peer("onnxruntime-auto-merge", "onnxruntime", "_onnx", "merging_functions", **_TOOL),
    Peer("torch", "torch", "_torch", kinds="biufc", extra="torch", lacks=_no_negative_strides),
    Peer("jax", "jax", "_jax", kinds="biufc", environment=_JAX, lacks=_compiled_one_by_one),
    Peer("pyrefly", "pyrefly", "_pyrefly", needs=("pyrefly", "pyrefly-torch-stubs"), extra=""),
)
PEERS: dict[str, Peer] = {peer.name: peer for peer in _PEERS}


def absent(peer: Peer) -> str | None:
    needed = peer.needs or (peer.distribution,)
    missing = [name for name in needed if not any(importlib.metadata.distributions(name=name))]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    wanted = f"'whycast[{peer.extra}]'" if peer.extra else " ".join(missing)
    return f"{' and '.join(missing)} {verb} not installed: pip install {wanted}"
