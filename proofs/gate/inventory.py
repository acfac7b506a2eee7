"""The lists that no proof looks at: `entries` has each, to be sealed as definitions are."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from gate import c_files, mapped, trace
from gate.facts import Clause, Facts, Symbol, path
from gate.theories import prose, theory_files


def entry(file: str, name: str, statement: str, line: int | None = None) -> Symbol:
    """Make an entry of a list: its line in the lock has this name (`trace.SONNX`)."""
    module, _, own = name.replace(" ", "-").partition(".")
    place: Symbol = {"file": file, "line": line, "module": module, "name": own, "kind": "list"}
    says: Symbol = {"statement": statement, "names": [], "says_nothing": False, "calls": []}
    return {**place, **says, "ghost": False, "goal": None, "template": None}


def entries(facts: Facts, root: Path) -> list[Symbol]:
    """Give all of them; `facts` has the trace."""
    return [*of_trace(facts), *of_drivers(root), *of_header(facts, root), *of_prose(root)]


def of_trace(facts: Facts) -> Iterator[Symbol]:
    """Give the texts, each with its clauses and what states, proves and computes these."""
    for text in facts["trace"]["texts"]:
        clauses = [c for c in facts["trace"]["clauses"] if c["text"] == text["name"]]
        says = "\n".join([text["title"], *map(clause_line, clauses)])
        yield entry(trace.TRACE, f"trace.{text['name']}", says)


def clause_line(clause: Clause) -> str:
    """Write a clause and the names that are tagged with it."""
    parts = (clause["definitions"], clause["theorems"], clause["programs"])
    tagged = [", ".join(part["name"] for part in several) or "none" for several in parts]
    said = [clause["id"], clause["where"], clause["says"], clause["why"], clause["reason"]]
    return " | ".join(filter(None, [*said, *tagged]))


def of_prose(root: Path) -> Iterator[Symbol]:
    """Give what the comments of each theory say besides the sentences of its items."""
    for file in theory_files(root):
        if said := prose((root / file).read_text(encoding="utf-8")):
            yield entry(file, "theory.prose", said)


def of_drivers(root: Path) -> Iterator[Symbol]:
    """Give the modules of each driver: what each symbol is in the language, and why."""
    for language, file in mapped.DRIVERS.items():
        for module, several in groupby(mapped.read(root, language), lambda entry: entry.module):
            declared = list(several)
            says = "\n".join(f"{each.text} | {each.reason}" for each in declared)
            yield entry(file, f"{language}.{module or 'prelude'}", says, declared[0].line)


def of_header(facts: Facts, root: Path) -> Iterator[Symbol]:
    """Give what the header of the C says of each function, with the contract that it restates."""
    symbols = {path(symbol, symbol["file"]): symbol for symbol in facts["symbols"]}
    for function in filter(lambda each: each.said, c_files.functions(root)):
        contract = symbols[function.program]["statement"]
        says = f"{function.said}\n{contract}"
        yield entry(c_files.HEADER, f"{c_files.SEALED}.{function.name}", says)
    if (root / c_files.HEADER).is_file():
        yield entry(c_files.HEADER, f"{c_files.SEALED}.rest", c_files.rest_of_header(root))
