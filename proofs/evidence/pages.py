"""The pages of the pack, from the templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from documents import DOCUMENTS, rendered, slug
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from links import STANDING_ELSEWHERE, Links, document_of, page_of
from markupsafe import Markup, escape
from pack import Goal, Mutant, Pack, Part, Theory
from theory_docs import ANCHOR, Documentation

TEMPLATES = Path(__file__).resolve().parent / "templates"
ANCHOR_MENDED = re.compile(ANCHOR.pattern.replace("name", "id"))

KINDS = {
    "lemma": "lemma",
    "goal": "goal",
    "theorem": "theorem",
    "definition": "definition with its contract",
    "program": "program with its contract",
}
"""What kinds of goals are called."""

WORDS = (
    *("forall", "exists", "requires", "ensures", "raises", "returns", "let", "in", "if", "then"),
    *("else", "match", "with", "end", "function", "predicate", "lemma", "axiom", "goal", "type"),
    *("val", "rec", "ghost", "constant", "exception", "variant", "fun", "not", "by", "so", "old"),
    *("mutable", "invariant", "writes", "reads", "diverges", "clone", "true", "false", "result"),
)
WORD = re.compile(rf"(?<![\w'])({'|'.join(WORDS)})(?![\w'])")


def whyml(text: str) -> Markup:
    """Set off the words of WhyML from the names."""
    return Markup(WORD.sub(r"<b>\1</b>", str(escape(text))))


def seconds(value: float) -> str:
    """Give seconds to the hundredth, as Why3 records them."""
    return f"{value:.2f}"


def seconds_by(part: Part, prover: str) -> str:
    """Give what a prover took for a part; a dash if it has no proof of it."""
    found = [seconds(proof.seconds) for proof in part.proofs if proof.prover == prover]
    return ", ".join(found) or "–"


def proofs_by(theories: Iterable[Theory], prover: str) -> int:
    """Count the proofs of a prover in all theories."""
    return sum(theory.proofs_by(prover) for theory in theories)


def smoke_answers(goals: Iterable[Goal]) -> list[tuple[tuple[str, str], int]]:
    """Count the answers to the negated goals."""
    answers = [(goal.smoke.prover, goal.smoke.answer) for goal in goals if goal.smoke]
    return sorted(Counter(answers).items())


def mutants_of(mutants: Iterable[Mutant], goal: str) -> list[Mutant]:
    """Give the mutants that a goal notices, or is to notice where they were not run."""
    return [mutant for mutant in mutants if (mutant.noticed or mutant.goal) == goal]


def files(entries: Iterable[Mapping[str, str]]) -> list[str]:
    """Give the files of places, each once."""
    return sorted({entry["place"].rpartition(":")[0] for entry in entries})


def base(file: str) -> str:
    """Give a theory's file without the directory of all theories."""
    return file.removeprefix("why3/")


def symbol_name(name: str) -> str:
    """Write an operator as WhyML does: `(==)` for `infix ==`."""
    return re.sub(r"^(?:in|pre|mix)fix (.*)$", r"(\1)", name)


def one_line(text: str) -> str:
    """Put a text of several lines on one."""
    return " ".join(text.split())


def environment() -> Environment:
    """Make the templates' surroundings; a name that is undefined is an error and not a blank."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "base": base,
        "files": files,
        "mutants_of": mutants_of,
        "oneline": one_line,
        "proofs_by": proofs_by,
        "seconds": seconds,
        "seconds_by": seconds_by,
        "slug": slug,
        "symbol": symbol_name,
        "smoke_answers": smoke_answers,
        "whyml": whyml,
    }
    return made


def pages(pack: Pack, root: Path, documentation: Documentation) -> dict[str, str]:
    """Write all pages; give their texts by their paths in the pack."""
    anchors = {p: set(ANCHOR_MENDED.findall(body)) for p, body in documentation.pages.items()}
    made = environment()
    made.globals |= {"pack": pack, "goals": {goal.name: goal for goal in pack.goals}}
    made.globals |= {"kinds": KINDS}
    clauses = {clause["id"] for clause in pack.trace["clauses"]}
    made.filters["tagged"] = lambda text: tagged(str(escape(text)), "", clauses)
    here, below = Links(pack, anchors), Links(pack, anchors, "../")
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return {
        "index.html": index(made, pack, here, style),
        "style.css": style,
        **theory_pages(made, pack, below),
        **document_pages(made, root, here),
        **documentation_pages(made, pack, documentation, below),
    }


def index(made: Environment, pack: Pack, links: Links, style: str) -> str:
    """Write the first page, with its style and its script in it."""
    clauses = pack.trace["clauses"]
    texts = [
        (text, [clause for clause in clauses if clause["text"] == text["name"]])
        for text in pack.trace["texts"]
    ]
    library = [
        (module, list(entries))
        for module, entries in groupby(pack.library, key=lambda entry: entry["module"])
    ]
    return made.get_template("index.html").render(
        links=links,
        texts=texts,
        library=library,
        style=Markup(style),
        script=Markup((TEMPLATES / "index.js").read_text(encoding="utf-8")),
    )


def theory_pages(made: Environment, pack: Pack, links: Links) -> dict[str, str]:
    """Write a page for each theory: what it defines, and the proofs of its goals."""
    template = made.get_template("theory.html")
    return {
        f"proofs/{page_of(theory.file)}": template.render(
            links=links,
            theory=theory,
            symbols=definitions(pack, theory),
            heading=base(theory.file),
            up="../",
            trail=[
                ("theorems", f"../index.html#{place_of(theory)}"),
                ("text of the theory", links.file(theory.file)),
            ],
        )
        for theory in pack.theories
    }


def place_of(theory: Theory) -> str:
    """Name the place of a theory on the first page, which lists those with goals."""
    return f"theory-{theory.stem}" if theory.goals else "theorems"


def definitions(pack: Pack, theory: Theory) -> list[Mapping[str, Any]]:
    """Give what a theory defines; lemmas and programs stand with their proofs."""
    return [
        symbol
        for symbol in pack.symbols
        if symbol["file"] == theory.file and symbol["kind"] not in STANDING_ELSEWHERE
    ]


def document_pages(made: Environment, root: Path, links: Links) -> dict[str, str]:
    """Write the documents of proofs/."""
    template = made.get_template("page.html")
    found = {}
    for file, page in DOCUMENTS.items():
        text = (root / file).read_text(encoding="utf-8")
        heading = text.partition("\n")[0].removeprefix("# ")
        content = Markup(rendered(text, links))
        found[page] = template.render(
            content=content, heading=heading, up="", trail=[], kind="document"
        )
    return found


def tagged(body: str, page: str, clauses: set[str]) -> Markup:
    """Link the identifiers in a piece of HTML to their clauses on a page."""

    def link(match: re.Match[str]) -> str:
        name = match[0]
        return f'<a href="{page}#{name}">{name}</a>' if name in clauses else name

    return Markup(re.sub(r"\bE_\w+", link, body))


def documentation_pages(
    made: Environment, pack: Pack, documentation: Documentation, links: Links
) -> dict[str, str]:
    """Write the pages of the theories' documentation, and their index."""
    template = made.get_template("page.html")
    clauses = {clause["id"] for clause in pack.trace["clauses"]}
    index_page = ("theories", "index.html")
    own = {document_of(theory.file): theory.file for theory in pack.theories}
    found = {}
    for name, body in documentation.pages.items():
        trail = [index_page]
        if name in own:
            trail.append(("definitions and proofs", links.page(own[name])))
        found[f"theories/{name}"] = template.render(
            content=tagged(body, "../index.html", clauses),
            heading=name.removesuffix(".html"),
            up="../",
            trail=trail,
        )
    found["theories/index.html"] = made.get_template("theories.html").render(
        links=links,
        heading="The theories",
        up="../",
        trail=[],
        library=sorted(name.removesuffix(".html") for name in documentation.library),
    )
    return found
