"""The worst case of the stack, and the size of the object code, as a compiler reports them.

Frames are GCC's own figures, one for each function that is left after inlining; the worst case is
the deepest path of calls, `memcpy` of the C library apart. A path that comes back to a function
that it has been in is an error: there is no recursion. `make object` writes them down.
"""

from __future__ import annotations

import re
from pathlib import Path

from c_library import SOURCE, compiled, sections

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(([^)]*)\)')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def depth(name: str, frames: dict[str, int], called: dict[str, set[str]], *above: str) -> int:
    """Give the bytes of a call with all that it calls; what is elsewhere has no frame here."""
    assert name not in above, f"recursion: {' '.join((*above, name))}"
    below = [depth(each, frames, called, *above, name) for each in called.get(name, ())]
    return frames.get(name, 0) + max(below, default=0)


def usage(folder: Path, compiler: str, *flags: str) -> tuple[dict[str, int], int, int]:
    """Give the bytes of the stack for each public function, those of the code, those of data.

    A frame without a bound is refused.
    """
    words: tuple[str | Path, ...] = (*flags, "-fstack-usage", "-fcallgraph-info=su", "-c", SOURCE)
    binary = compiled(folder / "whycast.o", *words, compiler=compiler)
    text = (folder / "whycast.ci").read_text(encoding="utf-8")
    nodes = NODE.findall(text)
    assert {kind for _, _, kind in nodes} <= {"static", "dynamic,bounded"}
    frames = {name: int(size) for name, size, _ in nodes}
    called: dict[str, set[str]] = {}
    for source, target in EDGE.findall(text):
        called.setdefault(source, set()).add(target)
    public = [name for name in frames if name.startswith("whycast_")]
    deepest = {name: depth(name, frames, called) for name in public}
    return deepest, *sections(binary, compiler.replace("gcc", "size"))
