"""The trace: from every clause to what states it, proves it, computes it and tests it, and back.

why3/trace.toml has the clauses. A tag is the identifier of one in square brackets: in a doc comment
of a theory, or in the docstring of a function, a class or a test. What the tag is written to
belongs to the clause, so the data file lists no theorems and no tests:

    before an item of a theory     the item is a main definition, theorem or program of the clause
    before a module                all items of the module that have no tag support the clause
    in the first comment           all others of the file do
    in a docstring                 the function, class or test; before all tests of a file, these

Failures are orphans in either direction, and all that makes a tag or a clause say nothing.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from facts import Clause, Facts, Named, Text, Trace, full_name
from failures import Failure

TRACE = "why3/trace.toml"
THEORIES = ("why3/*.mlw", "why3/trusted/*.mlw")
PACKAGE = "python/whycast"

# Extracted: its docstrings repeat the comments of the theories, tags included.
EXTRACTED = "_kernel.py"

# The text that is none: requirements that are claimed here and stand in no specification.
DERIVED = "derived"
DERIVED_ZONE = "Derived"

IDENTIFIER = re.compile(
    r"(?P<zone>E_(?P<op>[A-Z][A-Za-z0-9]*)_[a-z]+_(?P<name>[A-Z][A-Za-z0-9]*))_(?P<number>\d{3})"
)
FORM = "E_<op>_<type>_<zone>_<number>, as in E_Broadcast_any_Step1_010"

# Whatever looks like a tag, so that one with a slip in it is not taken for prose.
TAG = re.compile(r"\[(?P<id>E_[^\s\]]*)(?P<end>\]?)")

TEXT_FIELDS = {"name", "title", "clauses", "op"}
CLAUSE_FIELDS = {"id", "text", "where", "says", "reason", "why"}


# --- the clauses ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """The data file: its texts, its clauses with their lines, and what is wrong with it."""

    texts: list[dict[str, Any]]
    clauses: list[dict[str, str]]
    lines: dict[str, int]
    failures: list[Failure]


def one_line(text: object) -> str:
    """Put a text of several lines on one."""
    return " ".join(str(text).split())


def read(path: Path) -> Record:
    """Read the data file and check it in itself."""
    if not path.exists():
        return Record([], [], {}, [Failure(TRACE, "", "is missing: no clause is traced")])
    source = path.read_text(encoding="utf-8")
    try:
        data = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        return Record([], [], {}, [Failure(TRACE, "", f"cannot be read: {error}")])
    text_places = places_of(source, "[[text]]")
    clause_places = places_of(source, "[[clause]]")
    texts, tables = data.get("text", []), data.get("clause", [])
    if (len(texts), len(tables)) != (len(text_places), len(clause_places)):
        what = "cannot be read: expected each text under [[text]], each clause under [[clause]]"
        return Record([], [], {}, [Failure(TRACE, "", what)])
    clauses = [{key: one_line(value) for key, value in clause.items()} for clause in tables]
    failures = [
        Failure(TRACE, "", f"has {key}, which the trace does not know")
        for key in sorted(data.keys() - {"text", "clause"})
    ]
    known = {str(text.get("name", "")): str(text.get("op", "")) for text in texts}
    seen: dict[str, int] = {}
    for clause, line in zip(clauses, clause_places, strict=True):
        name = clause.get("id", "")
        failures += [
            Failure(f"{TRACE}:{line}", name, what) for what in clause_faults(clause, known)
        ]
        if name in seen:
            what = f"is there twice, first in line {seen[name]}"
            failures.append(Failure(f"{TRACE}:{line}", name, what))
        seen.setdefault(name, line)
    failures += head_faults(texts, text_places, clauses)
    failures += gap_faults(seen)
    return Record(texts, clauses, seen, failures)


def places_of(source: str, header: str) -> list[int]:
    """Give the lines of a table's headers: the parser does not tell them."""
    lines = source.splitlines()
    return [number for number, line in enumerate(lines, start=1) if line.strip() == header]


def clause_faults(clause: dict[str, str], known: dict[str, str]) -> Iterator[str]:
    """Say what is wrong with one clause as it is written."""
    for key in sorted(clause.keys() - CLAUSE_FIELDS):
        yield f"has a field `{key}`, which the trace does not know"
    match = IDENTIFIER.fullmatch(clause.get("id", ""))
    if match is None:
        yield f"is no identifier: expected {FORM}"
    text = clause.get("text", "")
    if text not in known:
        yield f"is of the text `{text}`, which is none of {', '.join(known)}"
    elif match and text != DERIVED and match["op"] != known[text]:
        yield f"is a clause of {text}, whose identifiers begin with E_{known[text]}_"
    if match and (match["name"] == DERIVED_ZONE) != (text == DERIVED):
        yield f"is of the text `{text}`: the zone {DERIVED_ZONE} is that of the text `{DERIVED}`"
    says = clause.get("says", "")
    if not says:
        yield "does not say what it states (`says`)"
    elif not says.endswith("."):
        yield "says what it states in a sentence without its full stop"
    if text == DERIVED and not clause.get("why"):
        yield "is in none of the texts, and does not say why it is here (`why`)"
    if text != DERIVED and not clause.get("where"):
        yield f"does not say where in {text} it stands (`where`)"
    if text == DERIVED and "where" in clause:
        yield "is in none of the texts, but says where it stands in one (`where`)"
    if text != DERIVED and "why" in clause:
        yield f"is in {text}, and needs no other reason to be here (`why`)"


def head_faults(
    texts: list[dict[str, Any]], lines: list[int], clauses: list[dict[str, str]]
) -> Iterator[Failure]:
    """Compare the heads of the texts with their clauses."""
    count = Counter(clause.get("text", "") for clause in clauses)
    for text, line in zip(texts, lines, strict=True):
        place, name = f"{TRACE}:{line}", str(text.get("name", ""))
        for key in sorted(text.keys() - TEXT_FIELDS):
            yield Failure(place, name, f"has a field `{key}`, which the trace does not know")
        for key in sorted({"name", "title", "clauses"} - text.keys()):
            yield Failure(place, name, f"has no `{key}`")
        if text.get("clauses") != count[name]:
            what = f"has {count[name]} clauses here, its head says {text.get('clauses')}"
            yield Failure(place, name, what)


def gap_faults(names: Iterable[str]) -> Iterator[Failure]:
    """Find the numbers that a zone lacks."""
    zones: dict[str, set[int]] = {}
    for name in names:
        if match := IDENTIFIER.fullmatch(name):
            zones.setdefault(match["zone"], set()).add(int(match["number"]))
    for zone, numbers in sorted(zones.items()):
        for number in sorted(set(range(10, 10 * len(numbers) + 1, 10)) - numbers):
            what = "is missing: the numbers of a zone go up by tens"
            yield Failure(TRACE, f"{zone}_{number:03}", what)


# --- tags in theories -------------------------------------------------------------------------


class Tag(NamedTuple):
    """A tag: what is between the brackets, and where it stands."""

    id: str
    place: str


class Owner(NamedTuple):
    """A function, class or test, or a file of tests."""

    name: str
    place: str


@dataclass
class Tags:
    """The tags of the sources: of items by their line, of modules by name, of files, of Python."""

    items: dict[tuple[str, int], list[Tag]] = field(default_factory=dict)
    modules: dict[tuple[str, str], list[Tag]] = field(default_factory=dict)
    files: dict[str, list[Tag]] = field(default_factory=dict)
    programs: dict[Owner, list[Tag]] = field(default_factory=dict)
    tests: dict[Owner, list[Tag]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


class Comment(NamedTuple):
    """A comment of a theory: its text, its first line, and the line and word after it."""

    text: str
    line: int
    next_line: int
    next_words: str


# What may hide or open a comment, and what counts inside of one: there a quote is nothing special.
OUTSIDE = re.compile(r'"(?:\\.|[^"\\])*"|\(\*\)|\(\*')
INSIDE = re.compile(r"\(\*\)|\(\*|\*\)")


def comments(source: str) -> Iterator[Comment]:
    """Give the outermost comments of a theory."""
    position = 0
    while match := OUTSIDE.search(source, position):
        position = match.end()
        if match[0] == "(*":
            position = end_of_comment(source, match.start())
            following = position + len(source[position:]) - len(source[position:].lstrip())
            yield Comment(
                source[match.start() : position],
                line_of(source, match.start()),
                line_of(source, following),
                source[following : following + 80],
            )


def end_of_comment(source: str, start: int) -> int:
    """Give the place after a comment; comments nest."""
    depth = 0
    for match in INSIDE.finditer(source, start):
        depth += {"(*": 1, "*)": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(source)


def line_of(source: str, position: int) -> int:
    """Give the number of the line of a place."""
    return source.count("\n", 0, position) + 1


def scan(lines: Iterable[str], file: str, first: int, failures: list[Failure]) -> list[Tag]:
    """Find the tags in lines, the first of which has the number `first`; report malformed ones."""
    tags = []
    for number, line in enumerate(lines, start=first):
        for match in TAG.finditer(line):
            place = f"{file}:{number}"
            if match["end"] and IDENTIFIER.fullmatch(match["id"]):
                tags.append(Tag(match["id"], place))
            else:
                failures.append(Failure(place, match[0], f"is no tag: expected [{FORM}]"))
    return tags


def read_theory(source: str, file: str, tags: Tags) -> None:
    """Collect the tags of a theory."""
    attached: set[str] = set()
    for number, comment in enumerate(comments(source)):
        found = scan(comment.text.splitlines(), file, comment.line, [])
        if not found:
            continue
        module = re.match(r"module\s+(\w+)", comment.next_words)
        is_documentation = comment.text.startswith("(**")
        if is_documentation and (number == 0 or module):
            if number == 0:
                tags.files.setdefault(file, []).extend(found)
            if module:
                tags.modules.setdefault((file, module[1]), []).extend(found)
        elif is_documentation and not comment.next_words.startswith("(*"):
            tags.items.setdefault((file, comment.next_line), []).extend(found)
        else:
            continue
        attached.update(tag.place for tag in found)
    for tag in scan(source.splitlines(), file, 1, tags.failures):
        if tag.place not in attached:
            what = (
                "is a tag of nothing: expected it in a doc comment right before an item or a "
                "module, or in the first one of the file"
            )
            tags.failures.append(Failure(tag.place, tag.id, what))


# --- tags in Python ---------------------------------------------------------------------------


Definition = ast.FunctionDef | ast.ClassDef


def definitions(tree: ast.Module) -> dict[str, Definition]:
    """Give the functions and classes of a module; of overloads the last, which has the body."""
    return {node.name: node for node in tree.body if isinstance(node, Definition)}


def docstring_tags(
    node: ast.Module | Definition, lines: list[str], file: str, failures: list[Failure]
) -> list[Tag]:
    """Find the tags in a docstring."""
    if ast.get_docstring(node) is None:
        return []
    first = node.body[0]
    return scan(lines[first.lineno - 1 : first.end_lineno], file, first.lineno, failures)


def published(package: Path) -> dict[tuple[str, str], str]:
    """Give the public name of each public function and class, by module and name."""
    public: dict[tuple[str, str], str] = {}
    for path in sorted(package.glob("*.py")):
        if path.stem.startswith("_") and path.stem != "__init__":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prefix = "whycast." if path.stem == "__init__" else f"whycast.{path.stem}."
        origin = {
            alias.name: node.module.rpartition(".")[2]
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for name in exported(tree):
            public.setdefault((origin.get(name, path.stem), name), prefix + name)
    return public


def exported(tree: ast.Module) -> list[str]:
    """Give the names in a module's `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def read_package(root: Path, tags: Tags) -> None:
    """Collect the tags of the package, and find public functions and classes without one."""
    public = published(root / PACKAGE)
    for path in sorted((root / PACKAGE).glob("*.py")):
        if path.name == EXTRACTED:
            continue
        file = path.relative_to(root).as_posix()
        source = path.read_text(encoding="utf-8")
        lines, named = source.splitlines(), definitions(ast.parse(source))
        attached: set[str] = set()
        for (stem, name), shown in public.items():
            if stem == path.stem and name not in named and not name.startswith("__"):
                what = "is public, and neither a function nor a class that could name its clause"
                tags.failures.append(Failure(file, shown, what))
        for name, node in named.items():
            shown = public.get((path.stem, name), f"whycast.{path.stem}.{name}")
            found = docstring_tags(node, lines, file, [])
            attached.update(tag.place for tag in found)
            place = f"{file}:{node.lineno}"
            if found:
                tags.programs[Owner(shown, place)] = found
            elif (path.stem, name) in public:
                what = "is public and belongs to no clause: its docstring has no tag"
                tags.failures.append(Failure(place, shown, what))
        for tag in scan(lines, file, 1, tags.failures):
            if tag.place not in attached:
                what = (
                    "is a tag of nothing: expected it in the docstring of a function or class "
                    "of the module"
                )
                tags.failures.append(Failure(tag.place, tag.id, what))


def read_tests(root: Path, tags: Tags) -> None:
    """Collect the tags of the tests."""
    for path in sorted((root / "tests").rglob("test_*.py")):
        file = path.relative_to(root).as_posix()
        source = path.read_text(encoding="utf-8")
        lines, tree = source.splitlines(), ast.parse(source)
        owners: list[tuple[str, int, ast.Module | Definition]] = [(file, 1, tree)]
        owners += [
            (f"{file}::{name}", node.lineno, node) for name, node in definitions(tree).items()
        ]
        for name, line, node in owners:
            found = docstring_tags(node, lines, file, tags.failures)
            if found and node is not tree and not name.partition("::")[2].startswith("test_"):
                what = "is a tag of nothing: expected it in the docstring of a test"
                tags.failures += [Failure(tag.place, tag.id, what) for tag in found]
            elif found:
                tags.tests[Owner(name, f"{file}:{line}")] = found


def collect(root: Path) -> Tags:
    """Collect all tags of the tree."""
    tags = Tags()
    for pattern in THEORIES:
        for path in sorted(root.glob(pattern)):
            file = path.relative_to(root).as_posix()
            read_theory(path.read_text(encoding="utf-8"), file, tags)
    read_package(root, tags)
    read_tests(root, tags)
    return tags


# --- what belongs to each clause --------------------------------------------------------------

PARTS = ("definitions", "theorems", "supporting", "programs", "tests")

# What a symbol of a theory is to a clause; a lemma is a goal and comes from there.
PART_OF_KIND = {
    "type": "definitions",
    "exception": "definitions",
    "function": "definitions",
    "predicate": "definitions",
    "constant": "definitions",
    "program": "programs",
    "val": "programs",
}


class Entry(NamedTuple):
    """Something that belongs to the clauses of its tags."""

    part: str
    name: str
    place: str
    tags: list[Tag]


def entries(facts: Facts, tags: Tags) -> Iterator[Entry]:
    """Give everything with a tag of its own or of what it stands in."""
    for theory in facts["theories"]:
        for goal in theory["goals"]:
            file, line = theory["file"], goal["tree"]["line"] or 0
            own = tags.items.get((file, line), [])
            around = tags.modules.get((file, goal["module"])) or tags.files.get(file, [])
            part = "theorems" if own else "supporting"
            yield Entry(part, full_name(goal), f"{file}:{line}", own or around)
    for symbol in facts["symbols"]:
        own = tags.items.get((symbol["file"], symbol["line"] or 0), [])
        if own and symbol["kind"] in PART_OF_KIND:
            name = f"{symbol['module']}.{symbol['name']}"
            place = f"{symbol['file']}:{symbol['line']}"
            yield Entry(PART_OF_KIND[symbol["kind"]], name, place, own)
    for part, owners in (("programs", tags.programs), ("tests", tags.tests)):
        for owner, found in owners.items():
            yield Entry(part, owner.name, owner.place, found)


def trace(facts: Facts, root: Path) -> tuple[Trace, list[Failure]]:
    """Give the trace of the tree, and every orphan in it."""
    record = read(root / TRACE)
    tags = collect(root)
    failures = [*record.failures, *tags.failures]
    clauses = {clause["id"]: new_clause(clause) for clause in record.clauses if "id" in clause}
    met: set[str] = set()
    for entry in entries(facts, tags):
        met.update(tag.place for tag in entry.tags)
        if not entry.tags:
            what = "belongs to no clause: neither it nor its module nor its file has a tag"
            failures.append(Failure(entry.place, entry.name, what))
        for name in sorted({tag.id for tag in entry.tags} & clauses.keys()):
            named: list[Named] = clauses[name][entry.part]  # type: ignore[literal-required]
            named.append({"name": entry.name, "place": entry.place})
    failures += tag_faults(tags, met, set(clauses))
    for clause in clauses.values():
        place = f"{TRACE}:{record.lines[clause['id']]}"
        failures += [Failure(place, clause["id"], what) for what in orphan_faults(clause)]
    texts: list[Text] = [
        {"name": str(text.get("name", "")), "title": one_line(text.get("title", ""))}
        for text in record.texts
    ]
    return {"texts": texts, "clauses": list(clauses.values())}, failures


def new_clause(clause: dict[str, str]) -> Clause:
    """Give a clause to which nothing belongs yet."""
    return {
        "id": clause["id"],
        "text": clause.get("text", ""),
        "where": clause.get("where", ""),
        "says": clause.get("says", ""),
        "reason": clause.get("reason", ""),
        "why": clause.get("why", ""),
        "definitions": [],
        "theorems": [],
        "supporting": [],
        "programs": [],
        "tests": [],
    }


def tag_faults(tags: Tags, met: set[str], known: set[str]) -> Iterator[Failure]:
    """Find the tags that name no clause, and those of what Why3 does not see."""
    owners = (tags.items, tags.modules, tags.files, tags.programs, tags.tests)
    for found in (tag for group in owners for several in group.values() for tag in several):
        if found.id not in known:
            yield Failure(found.place, found.id, f"is a tag of no clause in {TRACE}")
    for (_, line), several in tags.items.items():
        for found in several:
            if found.place not in met:
                what = f"is a tag of nothing: Why3 sees no item that begins in line {line}"
                yield Failure(found.place, found.id, what)


def orphan_faults(clause: Clause) -> Iterator[str]:
    """Say what a clause lacks: theorems or a reason, and something that runs."""
    theorems = [theorem["name"] for theorem in clause["theorems"]]
    runs = clause["programs"] or clause["tests"]
    if not theorems and not clause["reason"]:
        yield "has no theorem, and no reason for that"
    if theorems and clause["reason"]:
        yield f"has a reason for having no theorem, but has {theorems[0]}"
    if theorems and not runs and clause["text"] != DERIVED:
        yield "has theorems, but neither a program nor a test"
    if clause["reason"] and not runs and clause["text"] == DERIVED:
        yield "has no theorem, and neither a program nor a test"


def summary(found: Trace) -> str:
    """Say in one line what the trace has."""
    derived = sum(clause["text"] == DERIVED for clause in found["clauses"])
    texts = sum(text["name"] != DERIVED for text in found["texts"])

    def number(part: str) -> int:
        listed = [clause[part] for clause in found["clauses"]]  # type: ignore[literal-required]
        return len({(named["name"], named["place"]) for several in listed for named in several})

    return (
        f"trace: {len(found['clauses']) - derived} clauses of {texts} texts, {derived} derived; "
        f"{number('theorems')} main theorems, {number('supporting')} supporting, "
        f"{number('programs')} programs, {number('tests')} tests"
    )
