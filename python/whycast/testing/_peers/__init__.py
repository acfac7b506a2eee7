"""The built-in peers: other implementations of broadcasting, and what each can be asked.

What stands here is known without any of them: only a child process imports one, for some crash and
some leave traces where they are imported. `Peer.functions` is for that process, with
`Peer.environment` set before it starts.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from whycast.testing._cases import Case

Function: TypeAlias = Callable[..., Any]


@runtime_checkable
class ManyAtOnce(Protocol):
    """A function that does many calls together, where one alone would cost too much."""

    def __call__(self, *arguments: Any) -> Any:
        """Do one call; refusing is raising."""
        ...

    def many(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return for each tuple of arguments the result, or the exception that refuses it."""
        ...


class Offer(NamedTuple):
    """What a peer can be asked of a rule: at which levels, and with which dtypes (None: all)."""

    levels: tuple[str, ...]
    dtypes: frozenset[str] | None = None


@dataclass(frozen=True)
class Peer:
    """A peer.

    Parameters
    ----------
    name : str
        What the command line calls it.
    distribution : str
        The distribution whose version is shown.
    offers : dict
        For a rule the levels and the dtypes. A case with another dtype is left out: the peer has no
        array to be asked about.
    module : str
        The module of this package whose ``functions`` gives a rule's functions by level.
    needs : tuple of str
        All distributions that have to be there; `distribution` alone if empty.
    extra : str
        The extra of whycast that brings them.
    environment : dict
        Variables of the child process, to be set before it starts.
    max_rank : int, optional
        The highest rank that its arrays have, where that is less than NumPy's 64.
    """

    name: str
    distribution: str
    offers: Mapping[str, Offer]
    module: str
    needs: tuple[str, ...] = ()
    extra: str = "oracle"
    environment: Mapping[str, str] = field(default_factory=dict)
    max_rank: int | None = None

    @property
    def version(self) -> str:
        """The installed version."""
        return importlib.metadata.version(self.distribution)

    def functions(self, rule: str) -> dict[str, Function]:
        """Import the peer, and give for each level that it offers for a rule the function.

        A function takes what a user's does at that level, and refuses by raising. It may be a
        `ManyAtOnce`.
        """
        module = importlib.import_module(f"whycast.testing._peers.{self.module}")
        functions: dict[str, Function] = module.functions(rule)
        return functions

    def left_out(self, rule: str, level: str, case: Case) -> str | None:
        """Say why the peer cannot be asked a case at all; None where it can."""
        if level != "data":
            return None
        dtypes = self.offers[rule].dtypes
        for dtype in case.dtypes:
            if dtypes is not None and dtype not in dtypes:
                return f"{self.name} has no {dtype} here"
        shapes = case.shapes if case.target is None else (*case.shapes, case.target)
        rank = max(map(len, shapes), default=0)
        if self.max_rank is not None and rank > self.max_rank:
            return f"{self.name} has no arrays of rank over {self.max_rank}"
        return None


_SHAPES = ("verdict", "shape")
_NUMBERS = frozenset(
    (
        "bool",
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
        *(f"float{bits}" for bits in (16, 32, 64)),
    )
)
_COMPLEX = frozenset(("complex64", "complex128"))

# Of an element-wise operator ONNX Runtime has kernels for some types only.
_WHERE = _NUMBERS - {"bool", "int16", "uint16", "uint64"} | {"object"}


def _offers(levels: Mapping[str, tuple[str, ...]], *dtypes: str) -> dict[str, Offer]:
    known = frozenset(dtypes) or None
    return {rule: Offer(offered, known) for rule, offered in levels.items()}


_PEERS = (
    Peer(
        name="numpy",
        distribution="numpy",
        offers=_offers(
            {
                "numpy": (*_SHAPES, "strides", "data"),
                "sonnx": (*_SHAPES, "strides", "data"),
                "expand": (*_SHAPES, "data"),
                "openvino-numpy": (*_SHAPES, "strides", "data"),
                "openvino-bidirectional": (*_SHAPES, "data"),
            }
        ),
        module="_numpy",
    ),
    Peer(
        name="onnx-reference",
        distribution="onnx",
        offers=_offers(
            dict.fromkeys(("expand", "numpy", "sonnx"), (*_SHAPES, "data")),
            *_NUMBERS,
            *_COMPLEX,
            "object",
        ),
        module="_onnx",
        extra="test-data",
    ),
    Peer(
        name="onnxruntime",
        distribution="onnxruntime",
        offers={
            "expand": Offer(("data",), _NUMBERS | {"object"}),
            "numpy": Offer(("data",), _WHERE),
            "sonnx": Offer(("data",), _WHERE),
        },
        module="_onnxruntime",
        needs=("onnxruntime", "onnx"),
        extra="oracle,test-data",
        environment={"ORT_DISABLE_TELEMETRY": "1"},
    ),
    Peer(
        name="openvino",
        distribution="openvino",
        offers=_offers(
            dict.fromkeys(
                ("openvino-numpy", "openvino-explicit", "openvino-bidirectional"),
                (*_SHAPES, "data"),
            ),
            *_NUMBERS,
        ),
        module="_openvino",
    ),
    Peer(
        name="torch",
        distribution="torch",
        offers=_offers(
            {
                "numpy": (*_SHAPES, "strides", "data"),
                "sonnx": (*_SHAPES, "strides", "data"),
                "expand": (*_SHAPES, "data"),
                "openvino-numpy": (*_SHAPES, "strides", "data"),
                "openvino-bidirectional": (*_SHAPES, "data"),
            },
            *_NUMBERS,
            *_COMPLEX,
        ),
        module="_torch",
        extra="torch",
    ),
    Peer(
        name="jax",
        distribution="jax",
        offers=_offers(
            dict.fromkeys(("numpy", "sonnx", "openvino-numpy", "in-dim"), (*_SHAPES, "data")),
            *_NUMBERS,
            *_COMPLEX,
        ),
        module="_jax",
        environment={"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"},
    ),
)
PEERS: dict[str, Peer] = {peer.name: peer for peer in _PEERS}


def absent(peer: Peer) -> str | None:
    """Say what of a peer is not installed, and which extra brings it; None if all is there."""
    missing = []
    for distribution in peer.needs or (peer.distribution,):
        try:
            importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            missing.append(distribution)
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    command = f"pip install 'whycast[{peer.extra}]'"
    return f"{' and '.join(missing)} {verb} not installed: {command}"
