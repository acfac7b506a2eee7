"""Compile the OCaml programs of the checkout against Why3's library."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

# All warnings are errors but those about style: fragile matching, fields left out of a record
# pattern, names found by their type (40 to 45), module interfaces that are not written.
WARNINGS = "+a-4-9-40-41-42-44-45-70"


def fingerprint(sources: Sequence[Path], options: Sequence[str]) -> str:
    """Hash what a program is made of and how; dates say nothing after a checkout."""
    total = hashlib.sha256(" ".join([WARNINGS, *options]).encode())
    for source in sources:
        content = source.read_bytes()
        total.update(f"\0{source.name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def build(sources: Sequence[Path], target: Path, *, packages: str, options: Sequence[str]) -> None:
    """Compile `target`, unless it was compiled from these very sources."""
    stamp = target.with_suffix(".sha256")
    wanted = fingerprint(sources, [packages, *options])
    if target.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as objects:
        for source in sources:
            shutil.copy(source, objects)
        names = [source.name for source in sources]
        sort = ["ocamlfind", "ocamldep", "-package", packages, "-sort", *names]
        order = subprocess.run(sort, cwd=objects, check=True, stdout=subprocess.PIPE, text=True)
        compiler = ["ocamlfind", "ocamlopt", "-w", WARNINGS, "-warn-error", "+a"]
        link = ["-package", packages, *options, *order.stdout.split(), "-o", target.name]
        subprocess.run([*compiler, *link], cwd=objects, check=True)
        # Whoever runs the former program keeps it.
        (Path(objects) / target.name).replace(target)
    stamp.write_text(wanted, encoding="utf-8")
