"""The site: links, public names, and agreement with the package and the facts."""

import argparse
import html
import importlib
import inspect
import json
import math
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import small_evidence
from griffe import Docstring
from reqif.parser import ReqIFZParser
from small_evidence import MEAN, Page

import whycast
from evidence import doc, exchange, worked
from evidence.needs import LINKS
from gate import toolchain
from gate.closed import ROOT
from gate.facts import library
from whycast import _command, numpy_rule, testing
from whycast._command import _arguments
from whycast._errors import show_shape

NAMES = [each.name for each in pkgutil.walk_packages(whycast.__path__, "whycast.")]
PUBLIC = [name for name in ("whycast", *NAMES) if not re.search(r"\._|\.test_", name)]
MODULES = {name: importlib.import_module(name) for name in PUBLIC}
THEORIES = sorted(ROOT.glob("why3/*/*.mlw"))


class Made(NamedTuple):
    """The built documentation, moved to another folder."""

    folder: Path
    pages: dict[str, Page]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = tmp_path_factory.mktemp("doc")
    documents = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
    for name in (*documents, "c", "proofs", "python", "tests", "why3"):
        (root / name).symlink_to(ROOT / name)
    # A separate process keeps Sphinx's own warnings out.
    code = """import pathlib, sys, small_evidence; from evidence import doc
root, small = map(pathlib.Path, sys.argv[1:]); doc.build(root, small_evidence.evidence(small))"""
    path = f"{ROOT / 'proofs'}:{ROOT / 'python'}:{ROOT / 'tests/gate'}"
    folders = map(str, (root, tmp_path_factory.mktemp("small")))
    command = [sys.executable, "-B", "-c", code, *folders]
    env = {"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": str(root)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.move(root / "build/doc", folder)
    return Made(folder, small_evidence.read(folder))


# This page runs a script that opens other pages in frames, and stores the result in its body.
ASK = """<!DOCTYPE html><html lang="en"><title>asked</title><body><script>
const open = (address, width, height = 800) => new Promise((done) => {
  const frame = document.createElement("iframe");
  const onload = () => setTimeout(() => done(frame), 1000);
  Object.assign(frame, { src: address, width, height, onload });
  document.body.append(frame);
});
const text = (value) => JSON.stringify(value, (_, each) =>
  typeof each === "bigint" ? Number(each) : each);
const ask = async (given) => {
  SCRIPT
};
ask(GIVEN).catch((error) => ({ error: `${error.stack}` }))
  .then((value) => { document.body.dataset.seen = text(value); });
</script></body></html>
"""
# Time is virtual: while a page is idle, the milliseconds of its budget pass at once.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom
--allow-file-access-from-files --enable-logging=stderr --virtual-time-budget=100000"""


def ask(made: Made, script: str, given: object, *flags: str) -> tuple[Any, str]:
    """Run a JavaScript function body beside the pages; return its result and Chromium's log."""
    folder = made.folder
    program = shutil.which("chromium")
    if not program and toolchain.system().startswith("ubuntu"):
        pytest.skip("chromium is not installed: Ubuntu has it only as a snap")
    assert program, "chromium is missing: `make test` installs it"
    page = ASK.replace("SCRIPT", script).replace("GIVEN", json.dumps(given))
    (folder / "ask.html").write_text(page, encoding="utf-8")
    command = [program, *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", *flags]
    command.append((folder / "ask.html").as_uri())
    env = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=300)
    match = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert match, done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = json.loads(html.unescape(match[1]))
    assert "error" not in found, found
    return found, "\n".join(told)


def public(module: ModuleType) -> dict[str, Any]:
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: value for name, value in found.items() if not inspect.ismodule(value)}


def members(value: type) -> list[str]:
    # The fields of a class are documented as parameters.
    fields = inspect.get_annotations(value)
    return [name for name in vars(value) if name[0] != "_" and name not in fields]


def test_a_link_leads_to_every_page_and_those_of_play_to_a_place(made: Made) -> None:
    drawn = (made.folder / "doc/_static/play.js").read_text(encoding="utf-8")
    assert {f"doc/{name}" for name in re.findall(r"[\w/.]+\.html", drawn)} <= made.pages.keys()
    linked = {to for name, page in made.pages.items() for to, _ in page.links if to != name}
    assert linked >= {*made.pages} - {"doc/index.html"}
    assert {name for name, _ in made.pages["doc/theories.html"].links} >= {
        f"doc/theories/{library(path.relative_to(ROOT).as_posix())}.html" for path in THEORIES
    }


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    assert doc.dead_links(tmp_path) == []
    (tmp_path / "b.css").touch()
    links = ["a.html#%C3%A9", "#\u00e9", "b.css", "https://a.b", "c.html", "a.html#x", "../a.html"]
    text = "".join(f'<a class="x" href="{link}">x</a>' for link in links)
    (tmp_path / "a.html").write_text(f'<p id="\u00e9">{text}', encoding="utf-8")
    dead = ["a.html: ../a.html", "a.html: a.html#x", "a.html: c.html"]
    assert doc.dead_links(tmp_path) == dead


def test_a_clause_leads_to_what_belongs_to_it_and_back(made: Made) -> None:
    shape, clause = "doc/theories/core.shape.html", "doc/evidence/text-text.html"
    own = made.pages[clause]
    assert {name for page, name in own.links if page == shape} >= {"Shape-more", "Shape-same"}
    assert ("doc/evidence/tests.html", "tests-test_a-py--test_a") in own.links
    assert (clause, "E_Small_010") in made.pages[shape].links
    assert ("doc/evidence/library.html", "Why3-int-Int-Compat") in made.pages[shape].links
    assert (clause, "E_Small_020") in made.pages["doc/evidence/clauses.html"].links


def test_whatever_a_text_holds_is_text(made: Made) -> None:
    evidence = {name: p for name, p in made.pages.items() if name.startswith("doc/evidence/")}
    assert len(evidence) > 17
    assert [name for name, page in evidence.items() if "<img" in page.source] == []
    assert sum(page.text.count(MEAN) for page in evidence.values()) > 10


def test_the_museum_shows_all_tests_and_the_register(made: Made, tmp_path: Path) -> None:
    known = doc.known(ROOT, small_evidence.evidence(tmp_path))
    exhibits = [each for _, room in known["museum"] for each in room]
    assert len(exhibits) == 25
    text = "".join(made.pages["doc/museum.html"].text.split())
    for each in exhibits:
        for part in (each.wrong.name, known["call"](each), each.expected, each.got):
            assert "".join(part.split()) in text, part
    assert all("".join(group["reason"].split())[:40] in text for group in known["deviations"])


def test_nothing_is_loaded_from_elsewhere(made: Made) -> None:
    for name, page in made.pages.items():
        elsewhere = r"<(?:link|script|img)[^>]*(?:href|src)=\"(?:\w+:)?//"
        on_this_machine = r"(?<![\w.<>/:\\-])/(?:home|root|tmp|work|usr)/"
        assert not re.findall(f"{elsewhere}|{on_this_machine}", page.source), name
    for path in made.folder.glob("doc/_static/**/*.css"):
        assert "url(http" not in path.read_text(encoding="utf-8")


def test_reqif_holds_all_that_needs_json_holds(made: Made) -> None:
    told = json.loads((made.folder / "doc/needs.json").read_text(encoding="utf-8"))
    needs = told["versions"][told["current_version"]]["needs"]
    (read,) = ReqIFZParser.parse(str(made.folder / "doc/needs.reqifz")).reqif_bundles.values()
    content = read.core_content.req_if_content
    found = {
        (each.identifier, own.definition_ref, html.unescape(own.value))
        for each in content.spec_objects
        for own in each.attributes
    }
    for (name, need), key in product(needs.items(), exchange.ATTRIBUTES):
        if value := need.get(key):
            text = f"<xhtml:div>{value}</xhtml:div>" if key == "content" else value
            found.remove((name, f"{need['type']}.{key}", html.unescape(text)))
    links = [(r.source, r.relation_type_ref, r.target) for r in content.spec_relations]
    expected = [(n, link, to) for n in needs for link in LINKS for to in needs[n].get(link, ())]
    assert (read.exceptions, found, sorted(links)) == ([], set(), sorted(expected))


def test_every_public_name_is_in_the_reference_and_no_other(made: Made) -> None:
    names = {f"{name}.{each}" for name, module in MODULES.items() for each in public(module)}
    pages = {*MODULES} | names
    assert {path.stem for path in made.folder.glob("doc/api/*.html")} == pages
    for name in names:
        module, _, own = name.rpartition(".")
        ids = made.pages[f"doc/api/{name}.html"].ids
        assert name in ids
        if inspect.isclass(value := getattr(MODULES[module], own)):
            assert {f"{name}.{each}" for each in members(value)} <= {*ids}
    assert "whycast.testing.Report.ok" in made.pages["doc/api/whycast.testing.Report.html"].ids


def test_docstrings_name_the_parameters_that_there_are() -> None:
    for module in MODULES.values():
        for value in filter(callable, public(module).values()):
            # This exception inherits its signature, with a text as parameter.
            own = value is not testing.TargetError
            known = set(inspect.signature(value).parameters) if own else {"text"}
            parsed = Docstring(inspect.getdoc(value) or "").parse("numpy")
            (said,) = (part.value for part in parsed if part.kind.value == "parameters")
            assert {name.lstrip("*") for each in said for name in each.name.split(", ")} == known


def test_a_docstring_is_shown_as_it_is_read(made: Made) -> None:
    text = made.pages["doc/api/whycast.broadcast.html"].text
    assert "*tensors ( numpy.ndarray or NumPy scalar ) – 1 to 2**31 - 1 tensors of any" in text
    assert "Clauses E_Broadcast_any_Signature_010" in text
    page = made.pages["doc/api/whycast.broadcast_shapes.html"]
    assert ("doc/theories/core.common_shape.html", "") in page.links


def test_every_option_and_session_is_shown(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    text = made.pages["doc/command.html"].text
    for name in _command._MODULES:
        assert _command.main([name, "--help"]) == 0
        for option in re.findall(r"(?m)^  (--[a-z-]+)", capsys.readouterr().out):
            assert option in text
        assert f"usage: whycast {name} " in text
        assert f"$ whycast {name} " in text
    asked = (ROOT / "python/doc/session/requests.jsonl").read_text(encoding="utf-8")
    assert f"$ cat requests.jsonl {' '.join(asked.split())}" in text
    assert "$ whycast shape 2x0 1 shapes do not broadcast (E1): axis 1" in text
    assert '$ head -n 3 cases.jsonl {"' in text


KINDS = ("api/whycast", "api/whycast.plan", "api/whycast.LoopPlan", "theories/core.shape")


def shown(made: Made) -> list[str]:
    """List the pages to open: all pages, except most pages of functions and theories."""
    folder = made.folder / "doc"
    own = sorted([*folder.glob("*.html"), *folder.glob("evidence/*.html")])
    assert len(own) > 17 + 18
    names = [path.relative_to(folder).as_posix() for path in own]
    return [f"doc/{name}" for name in (*names, *(f"{name}.html" for name in KINDS))]


LOOK = """
const wider = [];
for (const [address, width] of given) {
  const page = (await open(address, width)).contentDocument;
  for (const folded of page.querySelectorAll("details")) folded.open = true;
  const all = [...page.querySelectorAll("html, .content")];
  wider.push(Math.max(...all.map((each) => each.scrollWidth)) - width);
}
return wider;
"""


def test_no_page_is_wider_than_its_window_and_none_complains(made: Made) -> None:
    pages = [*product(shown(made), (360, 1280))]
    wider, told = ask(made, LOOK, pages)
    assert [page for page, more in zip(pages, wider, strict=True) if more > 0] == []
    assert told == ""


AXE = """
const found = {};
const source = await (await open("axe.html", 10)).contentWindow.source;
for (const address of given) {
  const frame = await open(address, 1280);
  frame.contentWindow.eval(source);
  const { violations } = await frame.contentWindow.axe.run({ resultTypes: ["violations"] });
  for (const { id, nodes } of violations)
    found[`${id}: ${nodes[0].html.slice(0, 200)}`] = [address, nodes.length];
  frame.remove();
}
return found;
"""


@pytest.mark.parametrize("scheme", ["0", "1"], ids=["dark", "light"])
def test_an_accessibility_checker_finds_nothing(made: Made, scheme: str) -> None:
    axe = distribution("axe-playwright-python").locate_file("axe_playwright_python/axe.min.js")
    source = json.dumps(Path(str(axe)).read_text(encoding="utf-8")).replace("</", "<\\/")
    page = f'<meta charset="utf-8"><script>source = {source}</script>'
    (made.folder / "axe.html").write_text(page, encoding="utf-8")
    flag = f"--blink-settings=preferredColorScheme={scheme}"
    # Only colours depend on the scheme: for light, one page of each kind is enough.
    some = [f"doc/{name}.html" for name in ("index", "play", "command", "evidence/clauses", *KINDS)]
    found, _ = ask(made, AXE, shown(made) if scheme == "0" else some, flag)
    assert found == {}


SEARCH = """
const frame = await open(`doc/search.html?q=${given}`, 1280);
await new Promise((done) => setTimeout(done, 5000));
return [...frame.contentDocument.querySelectorAll("#search-results li a")].map((a) => a.href);
"""


def test_search_needs_no_server(made: Made) -> None:
    found, _ = ask(made, SEARCH, "sum_to_shape")
    assert any(link.split("#")[0].endswith("api/whycast.sum_to_shape.html") for link in found)
    assert ask(made, SEARCH, "nothinghasthisname")[0] == []
    for name, place in (("E_Small_010", "text-text.html#E_Small_010"), ("more", "#Shape-more")):
        found, _ = ask(made, SEARCH, name)
        assert any(link.endswith(place) for link in found)
    found, _ = ask(made, SEARCH, "numpy_size_differs")
    assert any("theories/numpy.comparison" in link for link in found)


ASKED = """
const page = (await open("doc/play.html", 1280)).contentWindow;
return given.map(([rule, shapes]) => {
  const found = page.ask(rule, shapes.map((shape) => shape.map(BigInt)));
  return { ...found, verdict: page.verdict(found) };
});
"""


def of_the_package(shapes: tuple[worked.Shape, ...], target: worked.Shape | None) -> dict[str, Any]:
    """Compute with the package the answers that the page must show."""
    try:
        common = whycast.broadcast_shapes(*shapes) if target is None else target
        views = []
        for shape in shapes:
            elements = np.arange(math.prod(shape)).reshape(shape)
            own = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
            view: dict[str, Any] = {"shape": [*shape], "own": own}
            view["strides"] = [*whycast.broadcast_strides(shape, own, common)]
            view["sources"] = numpy_rule.broadcast_to(elements, common).ravel().tolist()
            views.append(view)
    except whycast.BroadcastError as error:
        place = {"tensor": error.tensor, "axis": -1 if error.target is None else error.axis}
        return place | {"verdict": str(error).partition("\n")[0]}
    plan = None
    if target is None:
        made = whycast.plan(*shapes)
        plan = {"sizes": [*made.sizes], "steps": [[*each] for each in made.steps]}
    return {"shape": [*common], "views": views, "plan": plan}


SMALL = [shape for rank in range(4) for shape in product(range(3), repeat=rank)]


def test_the_page_answers_as_the_package_does_on_all_small_shapes(made: Made) -> None:
    questions = [(rule, pair) for pair in product(SMALL, repeat=2) for rule in ("sonnx", "target")]
    questions += [("sonnx", each) for each in product(SMALL[:13], repeat=3)]
    questions += [("sonnx", ((3, 1), (1, 4), (4,)))]
    found, told = ask(made, ASKED, questions)
    assert told == ""
    assert len(found) == len(questions) == 2 * 1600 + 13**3 + 1
    for (rule, shapes), said in zip(questions, found, strict=True):
        expected = of_the_package(*((shapes, None) if rule == "sonnx" else (shapes[:1], shapes[1])))
        assert {key: said.get(key) for key in expected} == expected, (rule, shapes)
        assert ("tensor" in said) == ("tensor" in expected)


TYPED = """
const frame = await open("doc/play.html", 400, 800);
const page = frame.contentDocument, box = page.getElementById("shapes");
return given.map((text) => {
  box.value = text;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  const wrong = page.getElementById("wrong");
  const mark = wrong.querySelector("pre")?.textContent.split("\\n")[1] ?? "";
  const seen = {
    said: wrong.querySelector("p")?.textContent ?? page.getElementById("verdict").textContent,
    at: mark.indexOf("^"), width: mark.trim().length, invalid: box.getAttribute("aria-invalid"),
  };
  const scrolled = [...page.querySelectorAll("html, .content")].map((each) => each.scrollWidth);
  return [seen, Math.max(...scrolled), page.getElementById("said").getBoundingClientRect().bottom];
});
"""
ONE = ["3x1", "3X1", "3×1", "3,1", "(3, 1)", "(3,1,)", "[3,1]", "torch.Size([3, 1])", "'3 x 1'"]
ONE += ["0", "(3,)", "()", "[]", "scalar", "3x", "x", "3,", "3x1,", "(3,1),", "3;1", "3,1x2", "03"]
ONE += ["-1", "3x-1", "1.5", "10^30", "(3,1", "(3, 1]", "((3, 1))", "(,)", "(3,1)(4,)", "<b>"]
SEVERAL = dict.fromkeys(("3x1 4", "'3, 1' 4", '"(3, 1)"  (4,)'), "(3, 1), (4,) → (3, 4)")
SEVERAL |= {"() scalar [2, 3]": "(), (), (2, 3) → (2, 3)"}
SEVERAL |= {f"{2**40}x{2**40}": f"({2**40}, {2**40}) → ({2**40}, {2**40})"}
NAMED = "the C takes numbers; for sizes with names, ask whycast explain N,4 '(M, 1)'"
E1 = "shapes do not broadcast (E1): axis 1 of the common rank 3, tensor 0 has size 2, "
E1 += "expected 5 or 1"
WRONG = {
    "": ("no shape given: expected at least 1, such as 3x1", -1, 0),
    "4 " + "x".join("1" * 40): ("40 axes: this page shows at most 16", 2, 79),
    f"2x{10**30}": ("the C has 64 bits for a size: it is at most 2⁶³ − 1", 2, 31),
    "1 1 1 1 1 1 1": ("this page shows at most 6 shapes", 12, 1),
    "N,4 (M, 1)": (NAMED, 0, 3),
    "2x3 (2, 5, 1)": (E1, 0, 1),
}


def as_the_command_line_reads(word: str) -> tuple[str, int, int]:
    """Return the message for one word, and the place and width of the mark."""
    try:
        shape = _arguments.shape(word.strip("'"))
    except argparse.ArgumentTypeError as error:
        return str(error), 0, len(word)
    return f"{show_shape(shape)} → {show_shape(shape)}", -1, 0


def test_the_page_reads_shapes_as_the_command_line_does_and_fits_on_a_phone(made: Made) -> None:
    expected = {word: as_the_command_line_reads(word) for word in ONE}
    expected |= {text: (said, -1, 0) for text, said in SEVERAL.items()} | WRONG
    found, told = ask(made, TYPED, [*expected])
    assert told == ""
    pairs = zip(found, expected.items(), strict=True)
    for (seen, scrolled, bottom), (text, (said, at, width)) in pairs:
        invalid = "false" if "→" in said else "true"
        assert seen == {"said": said, "at": at, "width": width, "invalid": invalid}, text
        assert (scrolled <= 400, bottom <= 800) == (True, True), text


KEYS = """
const frame = await open("doc/play.html#shapes=2x1+3&rule=sonnx", 1280, 1500);
const page = frame.contentDocument;
const first = page.querySelector(".output [tabindex='0']"), said = [];
first.focus();
const note = () =>
  said.push(page.getElementById("said").textContent.split(/: | returns |, element/));
note();
for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "Home", "End"]) {
  page.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  note();
}
const pointed = [...page.querySelectorAll(".pointed")].map((cell) => cell.dataset.at);
const others = [...page.querySelectorAll("#others ~ .table-wrapper tbody tr")]
  .map((row) => row.children[1].textContent);
const why = [...page.querySelectorAll("#others ~ ul li")].map((item) => item.textContent);
return [said, pointed, others, why, page.getElementById("address").getAttribute("href")];
"""


def test_keys_lead_along_the_arrows_and_the_address_keeps_the_question(made: Made) -> None:
    (said, pointed, others, why, address), _ = ask(made, KEYS, None)
    places = ["(0, 0)", "(0, 1)", "(1, 1)", "(1, 1)", "(0, 0)", "(1, 2)"]
    sources = ["(0, 0)", "(0, 0)", "(1, 0)", "(1, 0)", "(0, 0)", "(1, 0)"]
    for (sentence, call, returned, _), at, source in zip(said, places, sources, strict=True):
        assert sentence == f"output 0 at {at} is tensor 0 at {source}"
        assert call == f"whycast.source_index((2, 1), (2, 3), {at})"
        assert f"{eval(call)}" == returned == source
    assert pointed == ["1", "5"]
    answers = [worked.cell(verdict) for verdict in worked.asked((2, 1), (3,))]
    assert [each.removesuffix(" \u2260") for each in others] == answers
    assert [each.endswith(" \u2260") for each in others] == [each == "error" for each in answers]
    assert [each.partition(":")[0] for each in why] == ["E_OpenvinoBroadcast_any_Modes_020"]
    assert address == "#shapes=2x1+3&rule=sonnx"
