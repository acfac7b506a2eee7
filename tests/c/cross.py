"""`make cross` tests the C on other machines, and for longer on this one.

Debian's compilers compile exhaustive.c for a 32-bit machine and for a big-endian one; QEMU runs it.
On each machine every answer and every byte of memory must equal those of plain.c.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from c_library import EXHAUSTIVE, SOURCE, compiled, run

# A machine, its compiler, its emulator, and the number of drawn sets of tensors.
MACHINES = (
    ("ARM, 32 bits", "arm-linux-gnueabihf-gcc", "qemu-arm", 100_000),
    ("IBM z, 64 bits, big-endian", "s390x-linux-gnu-gcc", "qemu-s390x", 100_000),
    ("this one", "gcc", "env", 3_000_000),
)


def main() -> int:
    failed = False
    for title, compiler, emulator, rounds in MACHINES:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            words = ("-O2", "-static", f"-DROUNDS={rounds}", SOURCE, EXHAUSTIVE)
            binary = compiled(Path(folder, "exhaustive"), *words, compiler=compiler)
            done = run(emulator, binary)
        failed = failed or done.returncode != 0
        print(f"{title} ({compiler}, {emulator})")
        print("".join(f"  {line}\n" for line in (done.stdout + done.stderr).splitlines()), end="")
        print(f"  exit code {done.returncode}, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
