"""Check that drawn shapes reach each equivalence class, rank, size and number of tensors."""

import json
import sys
from pathlib import Path
from typing import Any


def missing(data: dict[str, Any]) -> list[str]:
    """List the classes and values that no drawn case reaches."""
    drawn = [shapes for of_class in data["drawn"].values() for shapes in of_class]
    ranks = {len(shape) for shapes in drawn for shape in shapes}
    sizes = {size for shapes in drawn for shape in shapes for size in shape}
    counts = {len(shapes) for shapes in drawn}
    found = [f"class {name}" for name in data["classes"] if not data["drawn"].get(name)]
    found += [f"rank {rank}" for rank in range(data["max_rank"] + 1) if rank not in ranks]
    found += [f"size {size}" for size in range(data["max_size"] + 1) if size not in sizes]
    return found + [f"{count} tensors" for count in (1, 2, 3, 4) if count not in counts]


def main() -> int:
    path = Path(__file__).parent / "generated_data.json"
    found = missing(json.loads(path.read_text(encoding="utf-8")))
    print(*(f"missing: {each}" for each in found), sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
