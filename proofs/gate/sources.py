"""What a verdict is about: one hash of everything that the gate reads from the tree.

The facts carry it, so that a report made from them can tell whether they are of the sources that
are there now. The tools themselves are pinned by their own hashes in the lock.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

SOURCES = (
    "why3/**/*.mlw",
    "why3/*.toml",
    "why3/extraction/*.drv",
    "why3/extraction/*.ml*",
    "proofs/*.txt",
    "proofs/*/why3session.xml",
    "proofs/*/why3shapes.gz",
    "proofs/gate/*.ml",
    "proofs/gate/*.py",
    "proofs/provers/*.*",
    "python/whycast/**/*.py",
    "tests/**/*.py",
)


def digest(root: Path) -> str:
    """Hash the names and the contents of the sources."""
    files = {path for pattern in SOURCES for path in root.glob(pattern) if path.is_file()}
    total = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.relative_to(root).as_posix()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()
