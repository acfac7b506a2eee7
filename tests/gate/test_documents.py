"""The documents: examples print the shown output; links, order and pictures match the tree."""

import doctest
import re
import subprocess
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from evidence import doc
from gate.closed import ROOT
from gate.theories import all_uses, closure, room, theory_files, used_files

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "c/INTEGRATION.md"]
DOCUMENTS += [f"proofs/{path.name}" for path in ROOT.glob("proofs/*.md")]
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
    """Each shell line prints the shown output, except the seconds of a check."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", text)
    typed = re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks))
    assert len(typed) == text.count("\n$ ") > 0
    for line, shown in typed:
        if line.startswith("cat "):
            (tmp_path / line.removeprefix("cat ")).write_text(shown, encoding="utf-8")
        command = ["/bin/sh", "-c", f"({line}) 2>&1 < /dev/null"]
        settings: Any = {"cwd": tmp_path, "env": doc.ENVIRONMENT, "encoding": "utf-8"}
        done = subprocess.run(command, stdout=subprocess.PIPE, **settings)
        assert SECONDS.sub("…", done.stdout) == SECONDS.sub("…", shown), line


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


# A row of README's table: `| [core](why3/core/) | shapes, ... |`
ROOM = re.compile(r"^\| \[(\w+)\]\(why3/\1/\) \|", re.MULTILINE)


def test_theories_are_read_in_the_order_of_the_rooms_and_of_dependency() -> None:
    order = theory_files(ROOT)
    assert {theory.count("/") for theory in order} == {2}
    rooms = [key for key, _ in groupby(theory.split("/")[1] for theory in order)]
    assert rooms == ROOM.findall(README)
    for number, theory in enumerate(order):
        assert {*used_files(ROOT / theory)} & {*order} <= {*order[:number]}, theory


def test_rooms_use_those_on_their_left_in_the_picture() -> None:
    picture = (ROOT / "proofs/README.md").read_text(encoding="utf-8").split("```")[1][4:]
    at = {
        f"why3/{match[0]}": match.start()
        for line in picture.splitlines()
        for match in re.finditer(r"[a-z]\w*", line.partition("─►")[0])
    }
    uses = all_uses(ROOT)
    pairs = {(room(a), room(b)) for a in uses for b in closure(a, uses) if room(a) != room(b)}
    assert {each for pair in pairs for each in pair} == {*at}
    assert [pair for pair in pairs if at[pair[1]] >= at[pair[0]]] == []


def test_each_file_of_the_core_names_the_next() -> None:
    way = README[README.index("## Read it in an hour") : README.index("`make core`")]
    files = [ROOT / link for link in re.findall(r"\]\((.*?)\)", way)]
    assert len(files) == 14
    for file, following in pairwise(files):
        head = re.split(r"\*\)\n|\"\"\"\n", file.read_text(encoding="utf-8"))[0]
        (name,) = re.findall(r"Next: `(.*?)`", head)
        assert following.as_posix().removesuffix(".py").endswith(name.removesuffix(".py")), file
