"""Lists that no proof covers, such as clauses; the lock seals them as it seals definitions."""

from itertools import groupby
from pathlib import Path

from gate import c_files, mapped, trace
from gate.facts import Clause, Facts, Symbol, path
from gate.theories import prose, theory_files


def entry(file: str, name: str, statement: str, line: int | None = None) -> Symbol:
    """Make an entry; `name` (`trace.SONNX`) is its name in the lock."""
    module, _, own = name.replace(" ", "-").partition(".")
    place: Symbol = {"file": file, "line": line, "module": module, "name": own, "kind": "list"}
    fields: Symbol = {"statement": statement, "names": [], "says_nothing": False, "calls": []}
    return {**place, **fields, "ghost": False, "goal": None, "template": None}


def entries(facts: Facts, root: Path) -> list[Symbol]:
    """List all entries; `facts` contain the trace."""
    found = list[Symbol]()
    # A text, with its clauses and the items that state, prove and compute these.
    for text in facts["trace"]["texts"]:
        clauses = [c for c in facts["trace"]["clauses"] if c["text"] == text["name"]]
        lines = "\n".join([text["title"], *map(clause_line, clauses)])
        found.append(entry(trace.TRACE, f"trace.{text['name']}", lines))
    # A module of a driver, with the text for each symbol, and the reason.
    for language, file in mapped.DRIVERS.items():
        for module, several in groupby(mapped.read(root, language), lambda entry: entry.module):
            declared = list(several)
            lines = "\n".join(f"{each.text} | {each.reason}" for each in declared)
            found.append(entry(file, f"{language}.{module or 'prelude'}", lines, declared[0].line))
    # A comment of the C's header, with the contract that it restates.
    symbols = {path(symbol, symbol["file"]): symbol for symbol in facts["symbols"]}
    for function in filter(lambda each: each.said, c_files.functions(root)):
        lines = f"{function.said}\n{symbols[function.program]['statement']}"
        found.append(entry(c_files.HEADER, f"{c_files.SEALED}.{function.name}", lines))
    if (root / c_files.HEADER).is_file():
        found.append(entry(c_files.HEADER, f"{c_files.SEALED}.rest", c_files.rest_of_header(root)))
    # The comments of a theory, except the sentences of its items.
    for file in theory_files(root):
        if said := prose((root / file).read_text(encoding="utf-8")):
            found.append(entry(file, "theory.prose", said))
    return found


def clause_line(clause: Clause) -> str:
    """Write a clause and the names that are tagged with it."""
    parts = (clause["definitions"], clause["theorems"], clause["programs"])
    tagged = [", ".join(part["name"] for part in several) or "none" for several in parts]
    said = [clause["id"], clause["where"], clause["says"], clause["why"], clause["reason"]]
    return " | ".join(filter(None, [*said, *tagged]))
