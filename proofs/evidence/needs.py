"""The evidence as pages of the documentation: the theorems, their grounds, and the tools.

Each clause, definition, theorem, program, test and assumption is a need of Sphinx-Needs, which
links them both ways, makes tables, and exports needs.json.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema_rs import Draft7Validator
from sphinx_needs.needsfile import check_needs_data

from evidence import argument, assessment, graph, pack
from evidence.assessment import LINK
from gate import claims, closed, judge, toolchain
from gate.facts import Clause, Facts, Goal, Symbol, families, full_name, library, nodes, parts
from gate.facts import path as path_of
from gate.facts import place as place_of

# TYPES are kinds of needs. LINKS are links between needs, with names in both directions.
TYPES = {
    "clause": "Clause",
    "definition": "Definition",
    "theorem": "Theorem",
    "whyml": "Program",
    "operation": "Operation",
    "testcase": "Test",
    "axiom": "Assumption",
    "belief": "Belief",
    "tool": "Tool",
    "problem": "Problem",
}
LINKS = {
    "settled": ("settled by", "settles"),
    "proved": ("proved by", "proves"),
    "implemented": ("implemented by", "implements"),
    "tested": ("tested by", "tests"),
    "speaks": ("speaks of", "spoken of by"),
    "uses": ("proof uses", "used by the proof of"),
    "rests": ("rests on", "carries"),
    "believed": ("believed", "believed of"),
}
FIELDS = ("text", "says", "use", "criterion", "level", "class", "goals")

# The facts' names for the parts of a clause.
OF_CLAUSE = {
    "settled": "definitions",
    "proved": "theorems",
    "implemented": "programs",
}
OF_KIND = {"program": "whyml", "val": "operation"}
OF_KIND |= dict.fromkeys(("theorem", "lemma", "goal"), "theorem")

# A row of the register of problems: its number, the defect, and the rest.
ROW = re.compile(r"(?m)^\| ([PWA]\d+) \| (.*?) \| (.*) \|$")
LIBRARY = Path("/usr/share/why3/stdlib")
TOKEN = re.compile(r"(`[^`]+`|\bE_\w+)")


def ident(name: str) -> str:
    """Return a need's identifier for a name, without dots, which begin parts."""
    return re.sub(r"\W", lambda found: "-" if found[0] in "./:" else f"{ord(found[0]):02x}", name)


def slug(text: str) -> str:
    """Make a name fit for a file."""
    return re.sub(r"\W+", "-", text.lower())


def code(text: object) -> str:
    """Format code within a line or a cell."""
    return "`" + str(text).replace("|", "\\|").replace("`", "'") + "`" if str(text) else ""


def block(text: str, language: str = "text") -> str:
    """Format code as a block."""
    return f"`````````{language}\n{text}\n`````````\n"


def folded(summary: str, body: str) -> str:
    """Return text that a reader can unfold."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>\n"


class Evidence:
    """The facts, with look-ups for the pages."""

    def __init__(self, told: Mapping[str, Any], root: Path) -> None:
        facts: Facts = pack.stripped(told["facts"], root)
        claims: Mapping[str, str] = told["claims"]
        self.facts, self.claims, self.root = facts, claims, root
        self.is_current = told["sources"] == closed.sources(root)
        self.provers = {prover["name"]: prover["family"] for prover in facts["provers"]}
        self.graph = graph.Graph(facts)
        self.goals = {full_name(g): g for session in facts["sessions"] for g in session["goals"]}
        # A symbol `pad` has two keys, `pad` and `pad'vc`: its goal has one of these names.
        self.symbols = {full_name(symbol): symbol for symbol in facts["symbols"]}
        self.symbols |= {f"{name}'vc": symbol for name, symbol in self.symbols.items()}
        unknown = sorted(self.goals.keys() - (self.symbols.keys() & claims.keys()))
        if unknown:
            raise closed.ToolError(f"{', '.join(unknown)}: of no symbol, or without a claim")
        self.trusted = [self.symbols[full_name(entry)] for entry in judge.trusted(facts)]
        self.clauses: dict[str, list[str]] = {name: [] for name in map(full_name, facts["symbols"])}
        for clause in facts["trace"]["clauses"]:
            marked = clause["definitions"] + clause["theorems"] + clause["programs"]
            of = {full_name(self.symbols[e["name"]]) for e in marked if e["name"] in self.symbols}
            for name in of:
                self.clauses[name].append(clause["id"])
        # A type and a function with the same name are one need, unless they are in two files.
        self.ids, self.named = dict[str, str](), dict[str, list[Symbol]]()
        for symbol in facts["symbols"]:
            path, name = path_of(symbol, symbol["file"]), ident(full_name(symbol))
            if self.named.get(name, [symbol])[0]["file"] != symbol["file"]:
                name = ident(path)
            self.ids[path] = name
            self.named.setdefault(name, []).append(symbol)
        self.known = {clause["id"] for clause in facts["trace"]["clauses"]}

    @cached_property
    def links(self) -> dict[str, dict[str, list[str]]]:
        """Return the links of all clauses and symbols."""
        of = {each["id"]: links_of_clause(self, each) for each in self.facts["trace"]["clauses"]}
        return of | {name: links_of_symbol(self, each) for name, each in self.named.items()}

    def prose(self, text: object) -> str:
        """Format a text's words for Markdown: code stays code, a clause becomes a link."""

        def token(word: str) -> str:
            if word[:1] == "`":
                return code(word.strip("`"))
            if word in self.known:
                return f"{{need}}`{word}`"
            return re.sub(r"([\\|*_`\[\]<>&$#])", r"\\\1", word)

        return "".join(map(token, TOKEN.split(" ".join(str(text).split()))))

    def ref(self, name: str) -> str:
        """Refer to a symbol by its name or its goal's name; show any other name as code."""
        return f"{{need}}`{self.id(name)}`" if name in self.symbols else code(name)

    def id(self, name: str) -> str:
        """Return the need of a symbol, by its name or its goal's name."""
        symbol = self.symbols[name]
        return self.ids[path_of(symbol, symbol["file"])]

    def need_of(self, path: str) -> str:
        """Return the need of a name in the graph, if any."""
        return self.ids.get(path) or ident(f"Why3.{path}") * (path in self.graph.library)

    def library(self) -> dict[str, Path]:
        """Return the used files of Why3's library; a built-in module has none."""
        modules = {entry["module"].rpartition(".")[0] for entry in self.facts["library"]}
        files = {name: LIBRARY / f"{name.replace('.', '/')}.mlw" for name in sorted(modules)}
        return {name: file for name, file in files.items() if file.is_file()}

    def chains(self, names: Iterable[str]) -> list[list[str]]:
        """Return a chain of uses from symbols to each assumption of the library."""
        found = [self.symbols[name] for name in names if name in self.symbols]
        return self.graph.chains(path_of(symbol, symbol["file"]) for symbol in found)

    def tally(self, goals: Iterable[Goal]) -> dict[str, Any]:
        """Count the parts of goals, and their proofs."""
        counted = list(goals)
        found = [part for goal in counted for part in parts(goal)]
        proofs = [proof for part in found for proof in part["proofs"]]
        return {
            "goals": len(counted),
            "parts": len(found),
            "proofs": len(proofs),
            "by": Counter(proof["prover"] for proof in proofs),
            "versions": {
                v: sum(v in goal["versions"] for goal in counted) for v in toolchain.systems()
            },
            "families": min((len(families(part, self.provers)) for part in found), default=0),
            "seconds": sum(proof["recorded"] for proof in proofs),
        }

    def one_translation(self) -> Iterator[tuple[str, str]]:
        """Return the parts without a proof by Alt-Ergo, which reads another translation."""
        for name, goal in self.goals.items():
            for part in parts(goal):
                if "Alt-Ergo" not in families(part, self.provers):
                    yield name, part["name"]

    def transformations(self) -> Counter[str]:
        """Count how often each transformation split a goal or a part."""
        below = (node for goal in self.goals.values() for node in nodes(goal["tree"]))
        return Counter(step["name"] for node in below for step in node["transformations"])


# --- needs ------------------------------------------------------------------------------------


def need(kind: str, name: str, title: str, body: str, **options: str | Iterable[str]) -> str:
    """Write a need; options without a value are left out."""
    given = {"id": name, **options}
    texts = {key: v if isinstance(v, str) else ", ".join(v) for key, v in given.items()}
    # Options are YAML: quote texts, which may begin with a mark, or contain ": ".
    lines = [f":{key}: {json.dumps(v, ensure_ascii=False)}" for key, v in texts.items() if v]
    return "\n".join([f"::::::{{{kind}}} {title}", *lines, "", body, "::::::", "", ""])


def of_clause(evidence: Evidence, clause: Clause) -> str:
    """Write a clause: its text, its meaning, and the evidence for it."""
    prose, ref = evidence.prose, evidence.ref
    lines = [f"*{prose(clause['where'])}*\n"] if clause["where"] else []
    lines.append(f"**{prose(clause['says'])}**\n")
    for name, key in (("Why it is here", "why"), ("No theorem", "reason")):
        lines += [f"{name}: {prose(clause[key])}\n"] if clause[key] else []
    for entry in clause["definitions"]:
        statement = evidence.symbols[entry["name"]]["statement"]
        lines.append(f"Definition {ref(entry['name'])}\n\n{block(statement)}")
    for entry in clause["theorems"]:
        lines.append(f"Theorem {ref(entry['name'])}: {prose(evidence.claims[entry['name']])}\n")
    if clause["supporting"]:
        files = sorted({entry["place"].rpartition(":")[0] for entry in clause["supporting"]})
        of = ", ".join(
            f"[{file.removeprefix('why3/')}](/theories/{library(file)}.md)" for file in files
        )
        lines.append(f"Supported by {len(clause['supporting'])} more in {of}.\n")
    chains = evidence.chains(entry["name"] for entry in clause["theorems"])
    if chains:
        ways = "\n".join(
            f"- {' → '.join(map(code, chain[:-1]))} → {{need}}`{evidence.need_of(chain[-1])}`"
            for chain in chains
        )
        lines.append(
            folded(f"How it rests on {len(chains)} assumptions of the library of Why3", ways)
        )
    fields = {
        "text": clause["text"],
        "says": " ".join(clause["says"].split()),
        "status": "proved" if clause["theorems"] else "reason",
    }
    name = clause["id"]
    return need("clause", name, name, "\n".join(lines), **fields, **evidence.links[name])


def links_of_clause(evidence: Evidence, clause: Clause) -> dict[str, list[str]]:
    """Return a clause's links: its parts, and the assumptions below its theorems."""

    def ids(part: str) -> list[str]:
        names = (e["name"] for e in clause[part] if e["name"] in evidence.symbols)
        return [*dict.fromkeys(map(evidence.id, names))]

    chains = evidence.chains(entry["name"] for entry in clause["theorems"])
    return {
        **{link: ids(part) for link, part in OF_CLAUSE.items()},
        "tested": [ident(entry["name"]) for entry in clause["tests"]],
        "rests": [evidence.need_of(chain[-1]) for chain in chains],
    }


def of_symbol(evidence: Evidence, symbols: list[Symbol], seals: Mapping[claims.Key, str]) -> str:
    """Write a theory's definition or statement, with links to the items that its proof uses."""
    first, lines = symbols[0], list[str]()
    name = full_name(first)
    for symbol in symbols:
        goal = evidence.goals.get(name, evidence.goals.get(f"{name}'vc"))
        where = f"{symbol['file']}:{symbol['line'] or 'an instance'}"
        if goal:
            lines.append(f"{evidence.prose(evidence.claims[full_name(goal)])}\n")
        lines.append(block(symbol["statement"]))
        ghost = "ghost " * symbol["ghost"]
        keys = ((symbol["file"], each) for each in (name, f"{name}'vc"))
        compared = "".join(seals.get(key, "") for key in keys)
        lines.append(f"{ghost}{symbol['kind']}, {where}{compared}\n")
        if goal:
            lines += table_of_proofs(evidence, goal, symbol["file"])
    kind = OF_KIND.get(first["kind"], "definition")
    own = evidence.ids[path_of(first, first["file"])]
    return need(kind, own, name, "\n".join(lines), **evidence.links[own])


def links_of_symbol(evidence: Evidence, symbols: list[Symbol]) -> dict[str, list[str]]:
    """Return links to named and used symbols; for programs and tagged items, to assumptions too."""
    path = path_of(symbols[0], symbols[0]["file"])
    is_shown = symbols[0]["kind"] == "program" or evidence.clauses[full_name(symbols[0])]
    used = map(evidence.need_of, evidence.graph.uses.get(path, ()))
    chains = evidence.graph.chains([path]) if is_shown else []
    named = map(evidence.need_of, (name for symbol in symbols for name in symbol["names"]))
    none = ("", evidence.ids[path])
    return {
        "speaks": [each for each in dict.fromkeys(named) if each not in none],
        "uses": [each for each in dict.fromkeys(used) if each not in none],
        "rests": [evidence.need_of(chain[-1]) for chain in chains],
    }


def table_of_proofs(evidence: Evidence, goal: Goal, file: str) -> Iterator[str]:
    """Write the parts of a goal, with their proofs."""
    yield "| part | what it is about | place | proofs, with the recorded seconds |"
    yield "|---|---|---|---|"
    for part in parts(goal):
        name = part["name"].removeprefix(goal["tree"]["name"]).lstrip(".") or "whole"
        proofs = "; ".join(f"{p['prover']} {p['recorded']:.2f}" for p in part["proofs"])
        about = evidence.prose(part["explanation"]) or "–"
        yield f"| {name} | {about} | {place_of(part, file)} | {proofs} |"
    yield ""


def of_test(evidence: Evidence, name: str, place: str) -> str:
    """Write a test, with its source."""
    file, _, own = name.partition("::")
    text = (evidence.root / file).read_text(encoding="utf-8")
    found = (node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == own)
    source = "\n".join(ast.get_source_segment(text, node) or "" for node in found)
    body = f"{place}\n\n{folded('Source', block(source, 'python'))}"
    return need("testcase", ident(name), name, body)


def known(evidence: Evidence) -> dict[str, Any]:
    """Return the names that the evidence's templates use."""
    clauses = evidence.facts["trace"]["clauses"]
    tests = {entry["name"]: entry["place"] for c in clauses for entry in c["tests"]}
    own = {
        "evidence": evidence,
        "facts": evidence.facts,
        "is_current": evidence.is_current,
        "need": need,
        "tests": [of_test(evidence, *each) for each in sorted(tests.items())],
        "problems": [
            (name, LINK.sub(r"\1", defect).replace("`", ""), LINK.sub(r"\1", rest).split(" | "))
            for name, defect, rest in ROW.findall(
                (evidence.root / "proofs/PROBLEMS.md").read_text(encoding="utf-8")
            )
        ],
    }
    own |= assessment.known(evidence, evidence.root)
    return own | {"argument": argument.argument(own), "drawn": argument.drawn}


# --- pages ------------------------------------------------------------------------------------


def page(title: str, *lines: str) -> str:
    """Write a page outside the tables of contents."""
    return "\n".join(["---", "orphan: true", "---", "", f"# {title}", "", *lines, ""])


def seals(root: Path) -> dict[claims.Key, str]:
    """Return the author and day of each comparison of a sentence with its statement."""
    by, sealed = assessment.authors(root), claims.read(root / claims.LOCK)
    said = {key: f" by {by[key]}" if key in by else "" for key in sealed}
    return {key: f"; sentence compared {seal.day}{said[key]}" for key, seal in sealed.items()}


def pages(evidence: Evidence, theories: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Write a page for each text with its clauses, each theory, and each used library file."""
    facts, found, sealed = evidence.facts, dict[str, str](), seals(evidence.root)
    for each in facts["trace"]["texts"]:
        clauses = [c for c in facts["trace"]["clauses"] if c["text"] == each["name"]]
        back = f"{len(clauses)} clauses. [All clauses](clauses.md).\n"
        written = (of_clause(evidence, clause) for clause in clauses)
        found[f"evidence/text-{slug(each['name'])}"] = page(
            evidence.prose(each["title"]), back, *written
        )
    for file, (title, text) in theories.items():
        of_file = (group for group in evidence.named.values() if group[0]["file"] == file)
        needs = [of_symbol(evidence, symbols, sealed) for symbols in of_file]
        heading = f"{file.removeprefix('why3/')}: {title}"
        found[f"theories/{library(file)}"] = page(heading, *needs, "## Text\n", block(text))
    for name, path in evidence.library().items():
        title = f"{name}.mlw, of the library of Why3"
        found[f"theories/{name}"] = page(title, block(path.read_text(encoding="utf-8")))
    return found


def read_back(file: Path, evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Check the export's form, and its links against the facts; return its needs."""
    told = json.loads(file.read_text(encoding="utf-8"))
    version = told["versions"][told["current_version"]]
    found: dict[str, dict[str, Any]] = version["needs"]
    is_need = Draft7Validator(version["needs_schema"])
    faults = [error.message for error in check_needs_data(told).schema]
    faults += [error.message for each in found.values() for error in is_need.iter_errors(each)]
    for name, expected in evidence.links.items():
        for link, ids in expected.items():
            if sorted(found.get(name, {}).get(link, ())) != sorted(ids) or name not in found:
                faults.append(f"{name}: {link} is not as the facts have it")
    if faults:
        raise closed.ToolError("\n".join(["needs.json differs from the facts:", *faults]))
    return found
