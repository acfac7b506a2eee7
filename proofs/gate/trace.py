"""The trace: from every clause to its definitions, theorems, programs and tests, and back.

why3/trace.toml lists the clauses, and the places for tags. In Python, a comment right below a
docstring may contain tags, too. An orphan in either direction is a failure.
"""

import ast
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gate import toml
from gate.closed import ROOT
from gate.facts import Clause, Facts, Failure, full_name
from gate.theories import Owner, doc_comments

TRACE = "why3/trace.toml"
PACKAGE = "python/whycast/*.py"

# Our own requirements, which belong to no text.
DERIVED = "derived"

IDENTIFIER = re.compile(r"E_[A-Z][A-Za-z0-9]*_[a-z]+_[A-Z][A-Za-z0-9]*_\d{3}")
FORM = "E_<op>_<type>_<zone>_<number>, as in E_Broadcast_any_Step1_010"
WHERE = "a doc comment before an item, a module or a theory, or in or below a docstring (trace.py)"

# Matches misspelt tags, too.
TAG = re.compile(r"\[(?P<id>E_[^\s\]]*)(?P<end>\]?)")

# pytest's report. A case of a tagged test may be skipped only if a peer is not installed.
REPORT = "build/tests.xml"
ABSENT = re.compile(r".+ (is|are) not installed: pip install ('whycast\[[\w-]+\]'|[\w -]+)")

FIELDS = ("where", "says", "reason", "why")
MAIN = ("definitions", "theorems", "programs")
PARTS = (*MAIN, "supporting", "tests")

# The kinds of symbols that are definitions or programs; theorems are goals.
DEFINED = ("type", "exception", "function", "predicate", "constant")
PART_OF_KIND = dict.fromkeys(DEFINED, "definitions") | dict.fromkeys(("program", "val"), "programs")


def read_all(root: Path, pattern: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files of a pattern."""
    for path in sorted(root.glob(pattern)):
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def read(path: Path) -> tuple[list[Clause], dict[str, Clause], list[Failure]]:
    """Read trace.toml: its texts, its clauses, and its faults."""
    try:
        data = toml.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [], {}, [Failure(TRACE, "", f"cannot be read, no clause is traced: {error}")]
    texts, clauses, failures = list[Clause](), dict[str, Clause](), list[Failure]()
    for text, table in data.items():
        if not isinstance(table, dict) or not table.get("title"):
            what = "has no `title`: expected [text] with it, and [text.clause]"
            failures.append(Failure(TRACE, text, what))
            continue
        texts.append({"name": text, "title": table["title"]})
        for name, fields in table.items():
            if not isinstance(fields, dict):
                continue
            needed = ("says", "why" if text == DERIVED else "where")
            faults = [f"has no `{key}`" for key in needed if not fields.get(key)]
            if not IDENTIFIER.fullmatch(name):
                faults.append(f"is no identifier: expected {FORM}")
            if name in clauses:
                faults.append(f"is of {clauses[name]['text']} too")
            failures += [Failure(TRACE, name, what) for what in faults]
            said = {key: " ".join(str(value).split()) for key, value in fields.items()}
            clauses[name] = {**dict.fromkeys(FIELDS, ""), **said, "id": name, "text": text}
            clauses[name] |= {part: [] for part in PARTS}
    return texts, clauses, failures


class Tag(NamedTuple):
    """A tag without its brackets, and its place."""

    id: str
    place: str


class Entry(NamedTuple):
    """An item with tags; `part` is its kind in their clauses, such as `theorems`."""

    part: str
    name: str
    place: str
    tags: list[Tag]


def tags_in(text: str, file: str, first: int = 1) -> list[Tag]:
    """Find the tags in a text whose first line is `first`."""
    return [
        Tag(match["id"] if match["end"] else match[0], f"{file}:{number}")
        for number, line in enumerate(text.splitlines(), start=first)
        for match in TAG.finditer(line)
    ]


def astray(tags: list[Tag], attached: Iterable[Tag], known: Collection[str]) -> Iterator[Failure]:
    """Find tags that name no clause, and tags attached to nothing."""
    for tag in tags:
        if tag.id not in known:
            yield Failure(tag.place, tag.id, f"is a tag of no clause in {TRACE}: expected {FORM}")
    for tag in (Counter(tags) - Counter(attached)).elements():
        yield Failure(tag.place, tag.id, f"is a tag of nothing: expected it in {WHERE}")


def of_theories(facts: Facts, root: Path, known: Collection[str]) -> Iterator[Entry | Failure]:
    """Yield goals and symbols with their tags, goals without a tag, and tags of nothing."""
    sources = dict(read_all(root, "why3/**/*.mlw"))
    # For each file, its tags: by the line of an item, the name of a module, or "" for the file.
    tags: dict[str, dict[Owner, list[Tag]]] = {file: {} for file in sources}
    for file, source in sources.items():
        for owner, first, text in doc_comments(source):
            tags[file].setdefault(owner, []).extend(tags_in(text, file, first))
    met: set[tuple[str, int | str]] = set()
    for session in facts["sessions"]:
        file, attached = session["file"], tags.get(session["file"], {})
        for goal in session["goals"]:
            # The goal of a replaced parameter has the parameter's place, maybe in another file.
            line = (goal["tree"]["file"] in (None, file) and goal["tree"]["line"]) or 0
            own = attached.get(line, [])
            tagged = own or attached.get(goal["module"]) or attached.get("", [])
            part, place = "theorems" if own else "supporting", f"{file}:{line}"
            met.add((file, line))
            yield Entry(part, full_name(goal), place, tagged)
            if not tagged:
                what = "belongs to no clause: neither it nor its module nor its file has a tag"
                yield Failure(place, full_name(goal), what)
    for symbol in facts["symbols"]:
        file, line = symbol["file"], symbol["line"] or 0
        if symbol["kind"] in PART_OF_KIND:
            met.add((file, line))
            own = tags.get(file, {}).get(line, [])
            yield Entry(PART_OF_KIND[symbol["kind"]], full_name(symbol), f"{file}:{line}", own)
    for file, source in sources.items():
        seen = (each for each in tags[file] if isinstance(each, str) or (file, each) in met)
        used = {tag for owner in seen for tag in tags[file][owner]}
        yield from astray(tags_in(source, file), used, known)


def docstrings(source: str, file: str) -> dict[str, tuple[str, list[Tag]]]:
    """Map names of functions, classes and variables, and "" for the module, to places and tags."""
    tree, lines = ast.parse(source), source.splitlines()
    found = {}
    for node, after in pairwise([tree, *tree.body, ast.Pass()]):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            # A function's last definition, after its overloads, has the docstring.
            name, said = getattr(node, "name", ""), [*node.body, after][0]
        elif isinstance(node, ast.Assign):
            name, said = ast.unparse(node.targets[0]), after
        else:
            continue
        tags = []
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant):
            last = said.end_lineno or 0
            while last < len(lines) and re.match(r"\s*(#|$)", lines[last]):
                last += 1
            tags = tags_in("\n".join(lines[said.lineno - 1 : last]), file, said.lineno)
        found[name] = (f"{file}:{getattr(node, 'lineno', 1)}", tags)
    return found


def published(root: Path) -> dict[tuple[str, str], str]:
    """Map module and name of each public item to its public name."""
    public: dict[tuple[str, str], str] = {}
    for file, source in read_all(root, PACKAGE):
        stem, origin, exported = Path(file).stem, dict[str, str](), list[str]()
        for node in ast.parse(source).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                origin |= {alias.name: node.module.rpartition(".")[2] for alias in node.names}
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                exported = ast.literal_eval(node.value)
        prefix = "whycast." if stem == "__init__" else f"whycast.{stem}."
        for name in exported if "._" not in prefix else ():
            public.setdefault((origin.get(name, stem), name), prefix + name)
    return public


def of_package(root: Path, known: Collection[str]) -> Iterator[Entry | Failure]:
    """Yield the programs of the package, and public items without a clause."""
    public = published(root)
    for file, source in read_all(root, PACKAGE):
        stem, found = Path(file).stem, docstrings(source, file)
        if stem == "_kernel":
            continue  # Its docstrings repeat the comments of the theories, tags included.
        found.pop("")
        own = {name: shown for (origin, name), shown in public.items() if origin == stem}
        for name in dict.fromkeys([*found, *own]):
            place, tags = found.get(name, (file, []))
            shown = own.get(name, f"whycast.{stem}.{name}")
            yield Entry("programs", shown, place, tags)
            if name in own and not tags and not name.startswith("__"):
                what = "is public and belongs to no clause: no tag stands in or below its docstring"
                yield Failure(place, shown, what)
        attached = [tag for _, tags in found.values() for tag in tags]
        yield from astray(tags_in(source, file), attached, known)


def of_tests(root: Path, known: Collection[str]) -> Iterator[Entry | Failure]:
    """Yield the tests with their tags, and tags of other functions or of no clause."""
    for file, source in read_all(root, "tests/**/test_*.py"):
        for name, (place, tags) in docstrings(source, file).items():
            attached = tags if not name or name.startswith("test_") else []
            yield Entry("tests", f"{file}::{name}" if name else file, place, attached)
            yield from astray(tags, attached, known)


def tested(_: list[str]) -> int:
    """Check in pytest's report that each tagged test ran."""
    failures = [*untested(ROOT)]
    for failure in failures:
        print(failure)
    return bool(failures)


def untested(root: Path) -> Iterator[Failure]:
    """Find tagged tests that did not run, or skipped a case though no peer is missing."""
    passed, skipped = set[str](), dict[str, str]()
    for case in ET.parse(root / REPORT).iter("testcase"):
        file = f"{case.get('classname', '').replace('.', '/')}.py"
        name, skip = f"{file}::{case.get('name', '').partition('[')[0]}", case.find("skipped")
        if skip is None:
            passed |= {file, name}
        elif not ABSENT.fullmatch(reason := skip.get("message", "")):
            skipped[name] = reason
    for test in of_tests(root, read(root / TRACE)[1]):
        if isinstance(test, Entry) and test.tags:
            if test.name in skipped:
                yield Failure(test.place, test.name, f"was skipped: {skipped[test.name]}")
            elif test.name not in passed:
                yield Failure(test.place, test.name, "has tags of clauses, and did not run")


def trace(facts: Facts, root: Path) -> tuple[dict[str, list[Clause]], list[Failure]]:
    """Return the trace of the tree, and all orphans."""
    texts, clauses, failures = read(root / TRACE)
    everything = [*of_theories(facts, root, clauses), *of_package(root, clauses)]
    for found in [*everything, *of_tests(root, clauses)]:
        if isinstance(found, Failure):
            failures.append(found)
            continue
        for name in sorted({tag.id for tag in found.tags} & clauses.keys()):
            clauses[name][found.part].append({"name": found.name, "place": found.place})
    for clause in clauses.values():
        theorems, faults = [theorem["name"] for theorem in clause["theorems"]], list[str]()
        if not theorems and not clause["reason"]:
            faults.append("has no theorem, and no reason for that")
        if theorems and clause["reason"]:
            faults.append(f"has a reason for having no theorem, but has {theorems[0]}")
        # A derived clause needs a theorem or a test; a text's clause with a theorem needs a test.
        if not clause["tests"] and bool(theorems) != (clause["text"] == DERIVED):
            faults.append(f"has {'theorems' if theorems else 'no theorem'}, and no test")
        failures += [Failure(TRACE, clause["id"], what) for what in faults]
    return {"texts": texts, "clauses": list(clauses.values())}, failures
