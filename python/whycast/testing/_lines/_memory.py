"""Arrays as places in memory: a program writes into an output that may overlap its inputs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from whycast._types import AnyArray
from whycast.testing._lines._json import Message, field_of, list_of


class Memories:
    """The memory of arrays, without repetitions; lines contain its bytes as hexadecimal digits."""

    def __init__(self, out: AnyArray, arrays: Sequence[AnyArray]) -> None:
        blocks = [byte_bounds(_owner(x)) for x in (out, *arrays)]
        self._blocks = list(dict.fromkeys(blocks))
        places = [
            {
                "dtype": x.dtype.name,
                "shape": list(x.shape),
                "strides": list(x.strides) if x.size else [0] * x.ndim,
                "memory": self._blocks.index(block),
                "offset": x.__array_interface__["data"][0] - block[0] if x.size else 0,
                "writable": x.flags.writeable,
            }
            for x, block in zip((out, *arrays), blocks, strict=True)
        ]
        texts = [ctypes.string_at(low, high - low).hex() for low, high in self._blocks]
        self.message: Message = {"memories": texts, "out": places[0], "arrays": places[1:]}

    def read(self, message: Message) -> None:
        """Copy the memory of an answer into the arrays; raise ValueError if sizes differ."""
        told = list_of(field_of(message, "memories"), "memories", "strings")
        if list(map(len, map(str, told))) != list(map(len, self.message["memories"])):
            raise ValueError("memories: expected as many digits as in the request")
        for (low, high), text in zip(self._blocks, told, strict=True):
            ctypes.memmove(low, bytes.fromhex(str(text)), high - low)


def _owner(array: AnyArray) -> AnyArray:
    base: Any = array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            array = base
        # A memoryview has `obj` instead of `base`; `as_strided` puts another object in between.
        base = base.obj if isinstance(base, memoryview) else base.base
    return array
