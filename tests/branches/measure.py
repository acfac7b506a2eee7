"""Branch coverage of the package by its tests: `make coverage`.

Of the extracted kernel by the tests of tests/package and tests/dialects, which are those of the
requirements; of the rest of the package by all tests but those of the proofs' tools. The processes
that `whycast.testing` and the command line start are measured too, as far as they end by
themselves: one that is killed leaves nothing, so what a child does last is tested where it is let
go on to its end. What is not reached has to stand in gaps.toml with the reason, and nothing else
may: a gap that is not listed fails the run, and so does one that is listed and closed.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "coverage"
GAPS = Path(__file__).with_name("gaps.toml")
PACKAGE = "python/whycast"
KERNEL = f"{PACKAGE}/_kernel.py"

REQUIREMENTS = ("tests/package", "tests/dialects")
ACCELERATED = tuple(
    [f"tests/package/test_{name}.py" for name in ("accelerator", "copies", "limits")]
)
OTHERS = ("tests/fuzz", "tests/laws", "tests/oracle", "tests/peers", "python/whycast")


def owners(node: ast.AST, name: str = "") -> Iterator[tuple[int, str]]:
    """Give lines with the definition that they stand in, an inner one after its outer one."""
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{name}.{child.name}".lstrip(".")
            for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                yield line, inner
        yield from owners(child, inner)


def gaps_of(report: dict[str, Any], root: Path = ROOT) -> Iterator[str]:
    """Give what a report of coverage says that is missing: lines, and branches between others."""
    for name, found in sorted(report["files"].items()):
        text = (root / name).read_text(encoding="utf-8")
        # Below 0 it is the end of a definition.
        lines = {n: line.strip() for n, line in enumerate(text.splitlines(), start=1)}
        owner, missing = dict(owners(ast.parse(text))), {*found["missing_lines"]}
        gaps = [(line, lines[line]) for line in sorted(missing)] + [
            (start, f"{lines[start]} -> {lines.get(end, 'its end')}")
            for start, end in found.get("missing_branches", ())
            if start not in missing and end not in missing
        ]
        for line, shown in gaps:
            yield f"{name.removeprefix(f'{PACKAGE}/')}: {owner.get(line, 'module')}: {shown}"


def listed(text: str) -> dict[str, str]:
    """Read the gaps that are known, with the reasons; one of a whole file ends in a *."""
    sys.path.append(str(ROOT / "proofs"))
    from gate import toml

    return {
        f"{gap['file']}: {line}": gap["why"]
        for gap in toml.loads(text).get("gap", ())
        if "without" not in gap or not any(metadata.distributions(name=gap["without"]))
        for line in gap.get("lines", "*")
    }


def compare(found: Sequence[str], known: Collection[str]) -> list[str]:
    """Say what is not as it is listed."""

    def means(entry: str, gap: str) -> bool:
        return gap == entry or (entry.endswith(": *") and gap.startswith(entry[:-1]))

    new = [gap for gap in dict.fromkeys(found) if not any(means(each, gap) for each in known)]
    closed = [each for each in known if not any(means(each, gap) for gap in found)]
    return [f"not reached, and not listed: {gap}" for gap in new] + [
        f"listed, and reached or no more there: {entry}" for entry in closed
    ]


def coverage(*words: str, **environment: str) -> None:
    """Run a command of coverage.py."""
    command = [sys.executable, "-m", "coverage", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=True)


def measure(name: str, tests: Sequence[str], native: str) -> None:
    """Run tests, and put together what all their processes have reached.

    The accelerator does what the kernel would do: of that is measured what runs without it.
    """
    data = OUT / name / "data"
    data.parent.mkdir(parents=True)
    workers = ("-n", "auto", "--dist", "worksteal", "-q")
    # By this variable what coverage.py has put into .venv measures every Python that is started.
    start = {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"), "COVERAGE_FILE": str(data)}
    start["WHYCAST_NATIVE"] = native
    coverage("run", "-m", "pytest", *workers, *tests, **start)
    files = sorted(map(str, data.parent.iterdir()))
    coverage("combine", "--quiet", f"--data-file={OUT / name}.data", *files)


def report_of(name: str) -> dict[str, Any]:
    """Give the report of what was measured."""
    file = OUT / f"{name}.json"
    coverage("json", "--quiet", f"--data-file={OUT / name}.data", "-o", str(file))
    report: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return report


def main() -> int:
    """Measure, say what is missing, compare it with the list."""
    shutil.rmtree(OUT, ignore_errors=True)
    parts = {"requirements": (REQUIREMENTS, "0"), "accelerated": (ACCELERATED, "1")}
    parts |= {"others": (OTHERS, "1")}
    for name, (tests, native) in parts.items():
        measure(name, tests, native)
    data = [f"{OUT / part}.data" for part in parts]
    coverage("combine", "--quiet", "--keep", f"--data-file={OUT / 'package'}.data", *data)
    kernel, package = report_of("requirements"), report_of("package")
    kernel["files"] = {KERNEL: kernel["files"][KERNEL]}
    del package["files"][KERNEL]
    found = [*gaps_of(kernel), *gaps_of(package)]
    said = compare(found, listed(GAPS.read_text(encoding="utf-8")))
    print("\n".join(said))
    for what, report in (("kernel", kernel), ("package", package)):
        total: Counter[str] = Counter()
        for file in report["files"].values():
            total.update({key: file["summary"][key] for key in file["summary"] if "num" in key})
        print(f"{what}: {total['num_statements']} statements, {total['num_branches']} branches")
    print(f"{len(found)} gaps, {len(said)} not as listed")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
