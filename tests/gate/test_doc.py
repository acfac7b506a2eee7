"""The documentation: it leads everywhere, has every public name, and says what the package does."""

from __future__ import annotations

import doctest
import importlib
import inspect
import logging
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote

import browser
import pytest
import small_evidence
from small_evidence import MEAN, Page

import _whycast_pytest
import whycast
from evidence import api, command_line, doc, documents, museum, worked
from gate.closed import ROOT, ToolError
from whycast import _command, testing
from whycast.testing import strategies
from whycast.testing._peers._register import groups

CLAUSE = "E_Broadcast_any_Signature_010"
THEORY = "core.shape.html"
# Those of which no name begins with an underscore, but for the file of tests.
NAMES = [each.name for each in pkgutil.walk_packages(whycast.__path__, "whycast.")]
MODULES = {
    name: importlib.import_module(name)
    for name in ("whycast", *NAMES)
    if not re.search(r"\._|\.test_", name)
}
READ = api.modules(whycast, testing, strategies)
RUN_SESSIONS = command_line.commands


class Made(NamedTuple):
    """The pages beside an evidence that has one clause and one theory, and without any."""

    folder: Path
    pages: dict[str, Page]
    alone: dict[str, str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("doc")
    evidence = {
        "index.html": f'<article id="{CLAUSE}"></article>',
        f"proofs/{THEORY}": "<h1>Proofs</h1>",
    }
    for name, text in evidence.items():
        (folder / "evidence" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "evidence" / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        texts = documents.theories(ROOT, [path.relative_to(ROOT).as_posix() for path in THEORIES])
        shown = command_line.commands()
        patch.setattr(documents, "theories", lambda *_: texts)
        patch.setattr(command_line, "commands", lambda: shown)
        linked = doc.html(ROOT, folder / "evidence/index.html")
        documents.replace_folder(folder / "doc", {n: t.encode() for n, t in linked.items()})
        yield Made(folder, small_evidence.read(folder), doc.html(ROOT, None))


THEORIES = sorted(ROOT.glob("why3/*/*.mlw"))


def public(module: ModuleType) -> dict[str, Any]:
    """Give what a module exports, modules apart."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in found.items() if not inspect.ismodule(value)}


def members(module: ModuleType) -> list[str]:
    """Name the public methods and properties of a module's classes."""
    classes = filter(inspect.isclass, public(module).values())
    # What a class has for a field, of a tuple or with a default, stands among its parameters.
    return [
        f"{each.__name__}.{name}"
        for each in classes
        for name in vars(each)
        if name[0] != "_" and name not in inspect.get_annotations(each)
    ]


def table(source: str, caption: str) -> list[list[str]]:
    """Give the cells of a table's rows, by its caption."""
    match = re.search(rf"<caption>{caption}.*?</table>", source, re.DOTALL)
    assert match
    rows = re.findall(r"<tr.*?</tr>", match[0], re.DOTALL)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows)
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in cells]


# What the pages lead to


def test_every_link_leads_to_a_place_and_one_to_every_page(made: Made) -> None:
    for page in made.pages.values():
        for name, anchor in page.links:
            assert (made.folder / name).is_file(), (page.path, name)
            there = ["", *(made.pages[name].ids if name in made.pages else [])]
            assert anchor in there or unquote(anchor) in there, (page.path, name, anchor)
    linked = {name for page in made.pages.values() for name, _ in page.links if name != page.path}
    assert linked >= made.pages.keys() - {"doc/index.html"}
    assert {name for name, _ in made.pages["doc/index.html"].links} >= {
        f"doc/theories/{documents.page(path.relative_to(ROOT).as_posix())}" for path in THEORIES
    }


def test_the_museum_has_all_that_its_tests_and_the_register_have(made: Made) -> None:
    text = re.sub(r"</?code>", "", unescape(made.alone["museum.html"]))
    exhibits = [each for _, room in museum.rooms() for each in room]
    assert len(exhibits) == 15 + 1
    for each in exhibits:
        parts = (each.name, each.said.replace("`", ""), each.call, each.expected, each.got)
        assert all(part in text for part in (*parts, each.clause))
    assert all(group["reason"] in text for group in groups()[1])
    assert text.count("<article") == len(exhibits) + len(groups()[1])


def test_they_lead_to_the_evidence_if_there_is_any(made: Made) -> None:
    assert ("evidence/index.html", "") in made.pages["doc/index.html"].links
    assert ("evidence/index.html", CLAUSE) in made.pages["doc/api/whycast.html"].links
    assert ("evidence/index.html", CLAUSE) in made.pages["doc/theories/sonnx.broadcast.html"].links
    assert (f"evidence/proofs/{THEORY}", "") in made.pages[f"doc/theories/{THEORY}"].links
    assert not [name for name, text in made.alone.items() if "evidence/index.html" in text]
    assert "<code>make</code> runs the proofs" in made.alone["index.html"]


def test_nothing_comes_from_elsewhere(made: Made) -> None:
    for name, text in made.alone.items():
        assert not re.findall(r"(?:href|src)=\"(?:\w+:|//)|url\(|@import|<script", text), name
        assert not re.findall(r"(?<![\w.<>/:\\-])/(?:home|root|tmp|work|usr)/", text), name


def test_the_pages_have_the_structure_that_readers_by_ear_rely_on(made: Made) -> None:
    for page in made.pages.values():
        assert len(page.ids) == len(set(page.ids)), page.path
        if page.path.startswith("doc"):
            assert page.tags.count("main") == page.tags.count("nav") == 1, page.path
    for name in ("doc/index.html", "doc/api/whycast.html"):
        headings = [int(tag[1]) for tag in made.pages[name].tags if re.fullmatch("h[1-6]", tag)]
        assert headings[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(headings))


def test_the_same_sources_give_the_same_pages(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And what is written is what was there, where there is no evidence."""
    theories = {n.removeprefix("theories/"): "" for n in made.alone if n.startswith("theories/")}
    monkeypatch.setattr(documents, "theories", lambda *_: theories)
    monkeypatch.setattr(command_line, "commands", RUN_SESSIONS)
    for name in ("README.md", "proofs", "python", "why3"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "build").mkdir()
    folder = doc.write(tmp_path)
    assert folder == tmp_path / doc.PACK
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == made.alone.keys()
    for name in written:
        if not name.startswith("theories/"):
            assert (folder / name).read_text(encoding="utf-8") == made.alone[name]


def test_a_room_that_the_readme_does_not_describe_is_named(tmp_path: Path) -> None:
    for name in ("proofs", "why3"):
        (tmp_path / name).symlink_to(ROOT / name)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(text.replace("| [axes](why3/axes/) |", "| axes |"))
    with pytest.raises(ToolError, match=r"README\.md: no row of the table says what is in axes"):
        doc.rooms(tmp_path)


# The reference


def test_every_public_name_is_in_the_reference_and_no_other(made: Made) -> None:
    assert {page.name for page in READ} == MODULES.keys()
    for name, module in MODULES.items():
        page = made.pages[f"doc/api/{name}.html"]
        assert {each for each in page.ids if not each.endswith("-name")} == {
            "main",
            *public(module),
            *members(module),
        }
        for each in public(module):
            assert (page.path, each) in made.pages["doc/index.html"].links
    assert "Report.ok" in made.pages["doc/api/whycast.testing.html"].ids


def test_docstrings_are_understood(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        read = api.modules(whycast, testing, strategies)
    assert caplog.messages == []
    for module in read:
        assert module.summary
        for entry in module.entries:
            value = public(MODULES[module.name])[entry.name]
            if callable(value):
                # An exception of no signature of its own has a text.
                own = value is not testing.TargetError
                known = set(inspect.signature(value).parameters) if own else {"text"}
                said = {section.title: section for section in entry.sections}
                names = [name for name, _, _ in said["Parameters"].items]
                assert {part.lstrip("*") for name in names for part in name.split(", ")} == known
                # Every section is one that the pages know, so none was taken for a paragraph.
                assert "----" not in "".join(
                    text for each in entry.sections for _, text in each.texts
                )
                assert len(said) == len(entry.sections) or "" in said


def test_a_docstring_is_shown_as_it_is_read(made: Made) -> None:
    page = " ".join(made.pages["doc/api/whycast.html"].text.split())
    assert "*tensors numpy.ndarray or NumPy scalar 1 to 2**31 - 1 tensors of any ranks" in page
    text = made.pages["doc/api/whycast.numpy_rule.html"].text
    assert (
        "broadcast_to(array, shape, subok=False) Broadcast an array to a given shape."
        in " ".join(text.split())
    )
    links = api.Links(READ, {"why3/core/shape.mlw": "../theories/core.shape.html"})
    shown = links.prose(
        f"`f`, ``f``, `axis`, ``why3/core/shape.mlw``, 2**3 and 2**4 {MEAN}", "whycast"
    )
    assert shown == (
        '<p><a href="whycast.html#f"><code>f</code></a>, <code>f</code>, <code>axis</code>, '
        '<a href="../theories/core.shape.html"><code>why3/core/shape.mlw</code></a>, 2**3 and 2**4 '
        "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;it's&quot;</p>\n"
    )
    assert (
        api.example(">>> a < 1\nTrue & more")
        == "<i>&gt;&gt;&gt;</i><b> a &lt; 1</b>\nTrue &amp; more"
    )


# What the package answers


def test_each_rule_names_a_function_with_these_parameters(made: Made) -> None:
    rows = table(made.alone["index.html"], "The rules")[1:]
    for row, (name, *_, where) in zip(worked.ROWS, rows, strict=True):
        assert name == row.rule.title + row.rule.name
        assert where == f"{row.function}({row.arguments}){row.theory}"
        module, _, function = row.function.rpartition(".")
        named = {part.partition("=")[0].lstrip("*") for part in row.arguments.split(", ")}
        assert named <= inspect.signature(getattr(MODULES[module], function)).parameters.keys()


def test_the_sessions_say_what_python_says(made: Made) -> None:
    names = {"whycast": whycast}
    for lines in (worked.SESSION, worked.REFUSED):
        text = worked.session(lines)
        test = doctest.DocTestParser().get_doctest(text, names, "session", None, lineno=0)
        assert len(test.examples) == len(lines)
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        shown = re.sub(r"<[^>]*>", "", made.alone["index.html"])
        assert text.rstrip() in unescape(shown)


# The command line


def test_every_subcommand_is_shown_with_its_help(made: Made) -> None:
    page = made.pages["doc/command.html"]
    text = " ".join(page.text.split())
    assert _command._MODULES.keys() == command_line.SESSIONS.keys() <= set(page.ids)
    for name in _command._MODULES:
        done = command_line.run(f"whycast {name} --help")
        assert done.shown.startswith(f"usage: whycast {name} ")
        assert " ".join(done.shown.split()) in text
    options = re.findall(r'"(--whycast-[a-z-]+)"', inspect.getsource(_whycast_pytest))
    assert len(options) > 4
    assert all(option in text for option in options)


def test_the_figures_are_those_of_explain(made: Made) -> None:
    for name, shapes in worked.FIGURES.items():
        assert (f"doc/{name}", "") in made.pages["doc/index.html"].links
        assert f"tensor 0: axis 0 {shapes[0][0]}" in made.alone[name]


def test_the_sessions_show_what_a_shell_shows(tmp_path: Path) -> None:
    lines = [
        *command_line.SESSIONS["serve"],
        command_line.SESSIONS["shape"][1],
        "head -n 2 mine.py",
    ]
    for name, text in command_line.FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = f'whycast() {{ "{sys.executable}" -m whycast "$@"; }}\n'
    program += "\n".join(f"{line} 2>&1; echo $?" for line in lines)
    done = subprocess.run(
        ["sh", "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    typed = command_line.session(lines, command_line.FILES)
    assert done.stdout == "".join(f"{each.shown}{each.code}\n" for each in typed)
    assert [each.code for each in typed] == [0, 0, 1, 0]


def test_only_how_long_a_check_took_is_left_out(made: Made) -> None:
    text = made.pages["doc/command.html"].text
    assert text.count(" cases in … s ") == 2
    assert not re.search(r"cases in \d", text)
    (typed,) = command_line.session(("whycast index 3x1 2x3x4 1,2,3",), {})
    assert typed.shown == "2,0\n"
    with pytest.raises(ToolError, match="cannot be run: ls"):
        command_line.run("ls")


# As a browser shows them


def test_no_page_is_wider_than_its_window_and_none_complains(made: Made) -> None:
    names = [name for name in made.pages if name.startswith("doc/") and "theories" not in name]
    seen, told = browser.look(made.folder, [*names, f"doc/theories/{THEORY}"])
    assert len(seen) == len(browser.WIDTHS) * (len(names) + 1)
    assert browser.wider(seen) == {}
    assert told == ""


def test_the_workflow_asks_pytest_for_what_it_has() -> None:
    page = (ROOT / "proofs/evidence/templates/doc/command.html").read_text(encoding="utf-8")
    workflow = page.partition('id="workflow"')[2].partition("</code>")[0]
    assert len(workflow.splitlines()) == 10
    asked = re.findall(r"--whycast-\w+", workflow)
    assert asked
    assert all(f"\n  {option} " in command_line.pytest_help() for option in asked)
