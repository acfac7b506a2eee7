"""OpenVINO as a peer, with models as in a finished network: all but the data is part of them.

Such models take other paths than those of `_openvino`, and some of them crash.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function
from whycast.testing._peers._openvino import infer, mode_of, openvino_quiet, request_for

if TYPE_CHECKING:
    import openvino


def functions(rule: Rule) -> dict[str, Function]:
    """Give what OpenVINO has for a rule."""
    return {"data": partial(_infer, mode_of(rule))}


# A compiled model must live on: after it is freed, the next one of the same kind may crash.
@cache
def _request(
    mode: str, dtype: str, shape: Shape, target: Shape, axes: Shape | None
) -> openvino.InferRequest:
    ov = openvino_quiet()
    data = ov.opset3.parameter(list(shape), np.dtype(dtype))
    mapping = None if axes is None else ov.opset3.constant(list(axes), np.int64)
    wanted = ov.opset3.constant(np.array(target, np.int64))
    return request_for(ov.Model([ov.opset3.broadcast(data, wanted, mapping, mode)], [data]))


def _infer(mode: str, array: AnyArray, target: Shape, axes: Shape | None = None) -> AnyArray:
    request = _request(mode, array.dtype.name, array.shape, target, axes)
    return infer(request, [np.array(array)])
