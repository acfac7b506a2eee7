"""A program that broadcasts by SONNX's rule and answers lines of JSON, with nothing of whycast.

Its argument names the way in which it is wrong; without one it is right. An element is a token,
hexadecimal digits or a string: what it means is of no account.
"""

from __future__ import annotations

import json
import os
import sys
import time
from itertools import product
from math import prod
from typing import Any

Tensor = dict[str, Any]


def broadcast(x: Tensor, own: list[int], common: list[int]) -> Tensor:
    """Repeat the elements of a tensor whose shape has the rank of the common one."""
    elements = x["elements"]
    width = 1 if isinstance(elements, list) else len(elements) // max(1, prod(own))
    found = elements[:0]
    for index in product(*map(range, common)):
        place = 0
        for i, size, grown in zip(index, own, common, strict=True):
            place = place * size + (i if size == grown else 0)
        found += elements[place * width : (place + 1) * width]
    return {"dtype": x["dtype"], "shape": common, "elements": found}


def answer(arrays: list[Tensor]) -> dict[str, Any]:
    """Answer a question."""
    rank = max(len(x["shape"]) for x in arrays)
    padded = [[1] * (rank - len(x["shape"])) + x["shape"] for x in arrays]
    common = [max(sizes) for sizes in zip(*padded, strict=True)]
    for shape in padded:
        if any(size not in (1, grown) for size, grown in zip(shape, common, strict=True)):
            return {"refused": True}
    pairs = zip(arrays, padded, strict=True)
    return {"arrays": [broadcast(x, own, common) for x, own in pairs]}


def main(wrong: str) -> None:
    """Answer each line."""
    for number, line in enumerate(sys.stdin, 1):
        arrays = json.loads(line)["arrays"]
        if wrong == "stops early" and number == 100:
            return
        if len(arrays) == 3:
            if wrong == "prints garbage":
                print("broadcasting")
            elif wrong == "crashes":
                os.abort()
            elif wrong == "hangs":
                time.sleep(1000)
        found = answer(arrays)
        if wrong == "last tensor first" and "arrays" in found:
            found["arrays"].reverse()
        # An answer that waits in a buffer is none.
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
