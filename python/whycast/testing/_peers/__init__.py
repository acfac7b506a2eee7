"""The built-in peers: other implementations of broadcasting, and what each can be asked.

Only a child process imports a peer, by `Peer.functions` with `Peer.environment` set before: some
crash when imported, some leave traces.
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
from whycast.testing._cases._values import COMPLEX, NUMBERS

Function: TypeAlias = Callable[..., Any]

# A shape of numbers and names; None is an unknown size, in an answer one that is left open.
Named: TypeAlias = "tuple[int | str | None, ...]"

# Names of dtypes; None stands for all.
Dtypes: TypeAlias = frozenset[str] | None


@dataclass(frozen=True)
class Peer:
    """A peer; which rules it follows, and at which levels, they say themselves."""

    # Its name on the command line; the distribution whose version is shown; the module here, and
    # the function in it that returns a rule's functions by level.
    name: str
    distribution: str
    module: str
    given_by: str = "functions"
    dtypes: Callable[[Rule], Dtypes] = lambda rule: None
    # All distributions needed, if not that one alone; and whycast's extras with them, if any.
    needs: tuple[str, ...] = ()
    extra: str = "oracle"
    environment: Mapping[str, str] = field(default_factory=dict)
    # Returns why a case is not asked at a level, or None.
    lacks: Callable[[str, Case], str | None] = lambda level, case: None

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.distribution)

    def functions(self, rule: Rule) -> dict[str, Function]:
        """Import the peer; return its functions for a rule, by level. They refuse by raising."""
        module = importlib.import_module(f"whycast.testing._peers.{self.module}")
        functions: dict[str, Function] = getattr(module, self.given_by)(rule)
        return functions

    def left_out(self, rule: Rule, level: str, case: Case) -> str | None:
        dtypes = self.dtypes(rule)
        if dtypes is not None and level == "data":
            for dtype in case.dtypes:
                if dtype not in dtypes:
                    return f"{self.name} has no {dtype} for this"
        return self.lacks(level, case)


def _ranks(case: Case) -> list[int]:
    return [len(shape) for shape in case.every_shape]


def _no_large_strides(level: str, case: Case) -> str | None:
    large = any(abs(stride) >= 2**63 for stride in case.strides or ())
    return "NumPy's strides have 64 bits" if large else None


def _no_negative_strides(level: str, case: Case) -> str | None:
    negative = case.strides is not None and min(case.strides, default=0) < 0
    return "torch has no negative strides" if negative else None


def _no_high_ranks(level: str, case: Case) -> str | None:
    # Above 12 axes, mode bidirectional of OpenVINO 2026.4.1 refuses what the others accept; a
    # scalar with a target of 19 axes or more overruns its stack.
    if level == "data" and max(_ranks(case)) > 12:
        return "OpenVINO's library of kernels has at most 12 axes"
    return None


# JAX is asked all cases of few tensors and axes (counted with the target's), and one in so many of
# the others and of those with layouts, which it does not see.
_FEW = 2
_ONE_OF = 23


def _compiled_one_by_one(level: str, case: Case) -> str | None:
    ranks = _ranks(case)
    few = max(sum(ranks), len(ranks)) <= _FEW or (case.dtypes and not case.layouts)
    turned = case.axes is not None and case.shapes == (case.target,)
    # The hash chooses the same ones each time, of all kinds.
    if level != "data" or few or turned or zlib.crc32(repr(case).encode()) % _ONE_OF == 0:
        return None
    return f"JAX compiles each: of those with many tensors, axes or layouts one in {_ONE_OF}"


_NUMBERS = frozenset(NUMBERS)
_COMPLEX = frozenset(COMPLEX)

# ONNX Runtime has kernels of element-wise operators for some types only.
_WHERE = _NUMBERS - {"bool", "int16", "uint16", "uint64"} | {"object"}

_TOOL: dict[str, Any] = {
    **{"needs": ("onnxruntime", "onnx", "sympy"), "extra": ""},
    "environment": {"ORT_DISABLE_TELEMETRY": "1"},
}

_PEERS = (
    Peer("numpy", "numpy", "_numpy", lacks=_no_large_strides),
    Peer(
        "onnx-reference",
        *("onnx", "_onnx"),
        dtypes=lambda rule: _NUMBERS | _COMPLEX | {"object"},
        extra="test-data",
    ),
    Peer(
        "onnxruntime",
        *("onnxruntime", "_onnx", "runtime_functions"),
        dtypes=lambda rule: _WHERE if rule.takes == "tensors" else _NUMBERS | {"object"},
        needs=("onnxruntime", "onnx"),
        extra="oracle,test-data",
        environment={"ORT_DISABLE_TELEMETRY": "1"},
    ),
    Peer(
        "openvino",
        *("openvino", "_openvino"),
        dtypes=lambda rule: _NUMBERS,
        lacks=_no_high_ranks,
    ),
    # Its tool that infers shapes; with the option, names that meet are taken for equal.
    Peer("onnxruntime-symbolic", "onnxruntime", "_onnx", "symbolic_functions", **_TOOL),
    Peer("onnxruntime-auto-merge", "onnxruntime", "_onnx", "merging_functions", **_TOOL),
    Peer(
        "torch",
        *("torch", "_torch"),
        dtypes=lambda rule: _NUMBERS | _COMPLEX,
        extra="torch",
        lacks=_no_negative_strides,
    ),
    Peer(
        "jax",
        *("jax", "_jax"),
        dtypes=lambda rule: _NUMBERS | _COMPLEX,
        # Filtering the traceback of a refusal takes longer than refusing.
        environment={
            "JAX_PLATFORMS": "cpu",
            "JAX_ENABLE_X64": "1",
            "JAX_TRACEBACK_FILTERING": "off",
        },
        lacks=_compiled_one_by_one,
    ),
    Peer("pyrefly", "pyrefly", "_pyrefly", needs=("pyrefly", "pyrefly-torch-stubs"), extra=""),
)
PEERS: dict[str, Peer] = {peer.name: peer for peer in _PEERS}


def absent(peer: Peer) -> str | None:
    """Return what is missing of a peer and which extra installs it; None if nothing is."""
    needed = peer.needs or (peer.distribution,)
    missing = [name for name in needed if not any(importlib.metadata.distributions(name=name))]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    wanted = f"'whycast[{peer.extra}]'" if peer.extra else " ".join(missing)
    return f"{' and '.join(missing)} {verb} not installed: pip install {wanted}"
