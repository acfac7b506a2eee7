"""The worst case of the stack, the calls, the size of the object code, as a compiler reports them.

`python tests/c/stack.py [compiler ...]` prints them. Frames are GCC's own figures, one for each
function that is left after inlining; the worst case is the deepest path of calls, `memcpy` of the C
library apart. A path that comes back to a function that it has been in is an error: there is no
recursion.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from c_library import SOURCE, compiled, run

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(([^)]*)\)')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
LEVELS = ("-O0", "-O2", "-O3")


class Usage(NamedTuple):
    """Bytes of the stack that a call of each public function takes; bytes of the object code."""

    deepest: dict[str, int]
    text: int
    data: int


def calls(text: str) -> tuple[dict[str, int], dict[str, set[str]]]:
    """Read the frames, and who calls whom; a frame without a bound is refused."""
    frames = {}
    for name, size, kind in NODE.findall(text):
        assert kind in ("static", "dynamic,bounded"), f"{name}: {kind}"
        frames[name] = int(size)
    called: dict[str, set[str]] = {name: set() for name in frames}
    for source, target in EDGE.findall(text):
        called[source].add(target)
    return frames, called


def depth(
    name: str, frames: dict[str, int], called: dict[str, set[str]], above: tuple[str, ...]
) -> int:
    """Give the bytes of a call with all that it calls."""
    assert name not in above, f"recursion: {' '.join((*above, name))}"
    below = [depth(each, frames, called, (*above, name)) for each in called.get(name, ())]
    # What is called from elsewhere has no frame here.
    return frames.get(name, 0) + max(below, default=0)


def usage(folder: Path, compiler: str, level: str) -> Usage:
    """Compile, and read what the compiler says."""
    words = (level, "-fstack-usage", "-fcallgraph-info=su", "-c", SOURCE)
    binary = compiled(folder / "whycast.o", *words, compiler=compiler)
    frames, called = calls((folder / "whycast.ci").read_text(encoding="utf-8"))
    public = [name for name in frames if name.startswith("whycast_")]
    size = run(compiler.replace("gcc", "size"), binary).stdout.split()
    return Usage(
        {name: depth(name, frames, called, ()) for name in public},
        int(size[6]),
        sum(map(int, size[7:9])),
    )


def main(compilers: list[str]) -> int:
    """Print the figures of each compiler."""
    for compiler in compilers or ["gcc"]:
        for level in LEVELS:
            with tempfile.TemporaryDirectory() as name:
                found = usage(Path(name), compiler, level)
            print(f"{compiler} {level}: {found.text} bytes of code, {found.data} of data")
            for function, size in found.deepest.items():
                print(f"  {function:28} {size:5} bytes of stack")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
