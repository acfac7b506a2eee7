"""The built-in peers: other implementations of broadcasting, and what each can be asked.

What stands here is known without any of them: only a child process imports one, for some crash, and
some leave traces where they are imported. `Peer.functions` is for that process, with
`Peer.environment` set before.
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


# Names of dtypes; None stands for all.
Dtypes: TypeAlias = frozenset[str] | None


@dataclass(frozen=True)
class Peer:
    """A peer; which rules it follows, and at which levels, they say themselves."""

    # What the command line calls it; the distribution whose version is shown; and the module of
    # this package, and in it what gives a rule's functions by level.
    name: str
    distribution: str
    module: str
    given_by: str = "functions"
    # A case with another dtype is left out: the peer has no array to be asked about.
    dtypes: Callable[[Rule], Dtypes] = lambda rule: None
    # All distributions that have to be there, if not that one alone; and whycast's extras for them.
    needs: tuple[str, ...] = ()
    extra: str = "oracle"
    # Variables to be set before it is imported.
    environment: Mapping[str, str] = field(default_factory=dict)
    # For a level and a case, why it is not asked that, if it is not.
    lacks: Callable[[str, Case], str | None] = lambda level, case: None

    @property
    def version(self) -> str:
        """The installed version."""
        return importlib.metadata.version(self.distribution)

    def functions(self, rule: Rule) -> dict[str, Function]:
        """Import the peer, and give for each level that it offers for a rule the function.

        A function takes what a user's does at that level, and refuses by raising.
        """
        module = importlib.import_module(f"whycast.testing._peers.{self.module}")
        functions: dict[str, Function] = getattr(module, self.given_by)(rule)
        return functions

    def left_out(self, rule: Rule, level: str, case: Case) -> str | None:
        """Say why the peer is not asked a case; None where it is."""
        dtypes = self.dtypes(rule)
        if dtypes is not None and level == "data":
            for dtype in case.dtypes:
                if dtype not in dtypes:
                    return f"{self.name} has no {dtype} for this"
        return self.lacks(level, case)


def _ranks(case: Case) -> list[int]:
    return [len(shape) for shape in case.every_shape]


def _no_more_than_32_axes(level: str, case: Case) -> str | None:
    return "NumPy broadcasts to at most 32 axes" if max(_ranks(case)) > 32 else None


def _no_negative_strides(level: str, case: Case) -> str | None:
    negative = case.strides is not None and min(case.strides, default=0) < 0
    return "torch has no negative strides" if negative else None


def _no_high_ranks(level: str, case: Case) -> str | None:
    # Above, mode bidirectional of OpenVINO 2026.4.1 refuses what the others accept; a scalar with a
    # target of 19 axes or more overruns its stack.
    if level == "data" and max(_ranks(case)) > 12:
        return "OpenVINO's library of kernels has at most 12 axes"
    return None


# Of JAX's cases with more tensors, with more axes, of all tensors and the target together, or with
# layouts in memory, which it does not see, one of so many.
_FEW = 2
_ONE_OF = 23


def _compiled_one_by_one(level: str, case: Case) -> str | None:
    ranks = _ranks(case)
    few = max(sum(ranks), len(ranks)) <= _FEW or (case.dtypes and not case.layouts)
    turned = case.axes is not None and case.shapes == (case.target,)
    # The same ones each time, and of all kinds.
    if level != "data" or few or turned or zlib.crc32(repr(case).encode()) % _ONE_OF == 0:
        return None
    return f"JAX compiles each: of those with many tensors, axes or layouts one in {_ONE_OF}"


_NUMBERS = frozenset(NUMBERS)
_COMPLEX = frozenset(COMPLEX)

# Of an element-wise operator ONNX Runtime has kernels for some types only.
_WHERE = _NUMBERS - {"bool", "int16", "uint16", "uint64"} | {"object"}

_PEERS = (
    Peer("numpy", "numpy", "_numpy", lacks=_no_more_than_32_axes),
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
        # To filter the traceback of a refusal takes longer than to refuse.
        environment={
            "JAX_PLATFORMS": "cpu",
            "JAX_ENABLE_X64": "1",
            "JAX_TRACEBACK_FILTERING": "off",
        },
        lacks=_compiled_one_by_one,
    ),
)
PEERS: dict[str, Peer] = {peer.name: peer for peer in _PEERS}


def absent(peer: Peer) -> str | None:
    """Say what of a peer is not installed, and which extra brings it; None if all is there."""
    needed = peer.needs or (peer.distribution,)
    missing = [name for name in needed if not any(importlib.metadata.distributions(name=name))]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {verb} not installed: pip install 'whycast[{peer.extra}]'"
