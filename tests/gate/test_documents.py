"""The documents: their examples give what stands there, their links and their order are right."""

import doctest
import re
import subprocess
from itertools import groupby
from pathlib import Path

import pytest

from evidence import doc
from gate.theories import USED_FILE, theory_files, used_files

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "c/INTEGRATION.md",
    *(f"proofs/{path.name}" for path in ROOT.glob("proofs/*.md")),
]
SECONDS = re.compile(r"(?<= cases in )[0-9.]+(?= s$)", re.MULTILINE)
FENCED = re.compile(r"^```(?:python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "proofs/FINDINGS.md"])
def test_examples(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    sessions = [block for block in FENCED.findall(text) if ">>>" in block]
    assert text.count(">>> ") == sum(block.count(">>> ") for block in sessions) > 0
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, name, name, lineno=0)
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


@pytest.mark.parametrize("name", ["README.md", "python/doc/use.md"])
def test_commands(name: str, tmp_path: Path) -> None:
    """Each line of a shell says what stands there, but for how long a check took."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    typed = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE)
    assert len(typed) == text.count("\n$ ") > 0
    for line, shown in typed:
        if line.startswith("cat "):
            (tmp_path / line.removeprefix("cat ")).write_text(shown, encoding="utf-8")
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=tmp_path,
            env=doc.ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert SECONDS.sub("…", done.stdout) == SECONDS.sub("…", shown), line


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


# Rooms: `| [core](why3/core/) | shapes, ... |`

ROOM = re.compile(r"^\| \[(\w+)\]\(why3/\1/\) \|", re.MULTILINE)
ROOMS = ROOM.findall((ROOT / "README.md").read_text(encoding="utf-8"))
THEORIES = {
    path.relative_to(ROOT / "why3").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("why3/**/*.mlw"))
}


def test_each_room_uses_only_itself_and_those_above_it() -> None:
    for name, text in THEORIES.items():
        room, _, file = name.partition("/")
        assert room in ROOMS, name
        assert "/" not in file, name
        used = {theory.partition(".")[0] for theory in USED_FILE.findall(text)}
        assert used.isdisjoint(ROOMS[ROOMS.index(room) + 1 :]), name


def test_theories_are_read_in_the_order_of_the_rooms_and_of_dependency() -> None:
    order = theory_files(ROOT)
    assert len(order) == len(THEORIES)
    assert [room for room, _ in groupby(theory.split("/")[1] for theory in order)] == ROOMS
    for number, theory in enumerate(order):
        assert {*used_files(ROOT / theory)} & {*order} <= {*order[:number]}, theory
