"""Sphinx's settings for the documentation, which proofs/evidence/doc.py prepares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.domains import Domain, ObjType
from sphinx_needs.data import SphinxNeedsData

import whycast
from evidence import needs
from evidence.doc import clauses

project = "whycast"
author = "the authors of whycast"
version = release = whycast.__version__

extensions = [
    *("myst_parser", "sphinx_needs", "sphinxarg.ext", "sphinxcontrib.programoutput"),
    *(f"sphinx.ext.{name}" for name in ("autodoc", "autosummary", "napoleon")),
]
templates_path = ["_templates"]
default_role = "py:obj"
smartquotes = False
highlight_language = "none"
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_rtype = False
toc_object_entries = False
add_module_names = False

needs_types: dict[str, dict[str, Any]] = {
    name: {"title": title, "prefix": "", "color": "", "style": "node"}
    for name, title in needs.TYPES.items()
}
# A clause shows its definitions, theorems and assumptions as texts, not as links.
needs_types["clause"]["fields"] = {"layout": {"default": "clause"}}
needs_layouts = {
    name: {
        "grid": "simple",
        "layout": {
            "head": ['<<meta("type_name")>>: **<<meta("title")>>** <<meta_id()>>'],
            "meta": [
                "<<meta_all(no_links=True, exclude=['layout', 'says'])>>",
                f"<<meta_links_all(exclude={told})>>",
            ],
        },
    }
    for name, told in {"plain": [], "clause": ["settled", "proved", "rests"]}.items()
}
needs_default_layout = "plain"
needs_show_link_title, needs_show_link_id = True, False
needs_links = {n: {"outgoing": to, "incoming": by} for n, (to, by) in needs.LINKS.items()}
needs_fields = {name: {"schema": {"type": "string"}, "nullable": True} for name in needs.FIELDS}
needs_id_regex = r"^[\w-]+$"
needs_role_need_template = "{{ title }}"
needs_role_need_max_title_length = -1
needs_build_json = needs_reproducible_json = needs_json_remove_defaults = True
needs_parse_dynamic_functions = needs_schema_validation_enabled = False
needs_css = "blank.css"

html_theme = "furo"
html_title = f"whycast {release}"
html_static_path = ["_static"]
html_css_files = ["doc.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# A page opened as a file cannot read other pages to quote them.
html_show_search_summary = False
html_use_index = html_domain_indices = False
_COLOURS = {
    "brand-primary": ("#0b5394", "#8dbcf3"),
    "brand-content": ("#0b5394", "#8dbcf3"),
    "brand-visited": ("#0b5394", "#8dbcf3"),
    "foreground-primary": ("#1c2228", "#e2e6ea"),
    "foreground-secondary": ("#56616c", "#a5afb9"),
    "foreground-muted": ("#56616c", "#a5afb9"),
    "background-primary": ("#ffffff", "#14181c"),
    "background-secondary": ("#f5f6f8", "#1c2227"),
}
html_theme_options = {
    f"{scheme}_css_variables": {f"color-{name}": of[n] for name, of in _COLOURS.items()}
    for n, scheme in enumerate(("light", "dark"))
}

# Sphinx builds a copy of the folder doc, below build.
_CLAUSES = clauses(Path(__file__).parents[2])
_SHOWN = Path("evidence/clauses.txt").read_text(encoding="utf-8").split()


def _of_the_proofs(_app: object, what: str, name: str, *given: Any) -> None:
    """Link the theories that a docstring names; add the function's clauses."""
    lines: list[str] = given[-1]
    if what == "data":
        lines.clear()  # This docstring belongs to the value's type.
    text = "\n".join(lines)
    text = re.sub(
        r"``why3/([\w/]+)\.mlw``",
        lambda found: f":doc:`why3/{found[1]}.mlw </theories/{found[1].replace('/', '.')}>`",
        text,
    )
    lines[:] = text.split("\n")
    if tags := [f":need:`{t}`" if t in _SHOWN else t for t in _CLAUSES.get(name, ())]:
        lines += ["", ".. rubric:: Clauses", "", ".. rst-class:: clauses", "", ", ".join(tags), ""]


def _mended(_app: object, doctree: nodes.document, _name: str) -> None:
    """Replace two hyphens after a type by a dash; drop argparse's second list of rules."""
    for text in list(doctree.findall(nodes.Text)):
        if text.startswith(" -- "):
            text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ", 1)))
    for each in list(doctree.findall(nodes.paragraph)):
        if each.astext().startswith("Possible choices: sonnx,"):
            each.parent.remove(each)


def _is_field(_app: object, _what: str, _name: str, value: object, *given: Any) -> bool | None:
    """Omit a tuple's fields, which are documented as parameters."""
    return str(value.__doc__).startswith("Alias for field") or None


def _not_found(_app: object, env: Any) -> None:
    """Keep commands, which have long descriptions, out of the search by name."""
    env.get_domain("commands").data["commands"].clear()


class _Needs(Domain):
    """The needs, for the search."""

    name = label = "needs"
    object_types: ClassVar = {name: ObjType(title) for name, title in needs.TYPES.items()}

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Return each need's name, shown name, type, page, place and rank."""
        for need in SphinxNeedsData(self.env).get_needs_view().values():
            title = need["title"]
            yield title, title, need["type"], need["docname"] or "", need["id"], 1

    def resolve_any_xref(self, *_: Any) -> list[Any]:
        """Resolve no reference: needs have their own role."""
        return []


def setup(app: Any) -> None:
    """Connect these functions to Sphinx."""
    app.add_domain(_Needs)
    app.connect("env-check-consistency", _not_found)
    app.connect("autodoc-skip-member", _is_field)
    app.connect("doctree-resolved", _mended)
    app.connect("autodoc-process-docstring", _of_the_proofs)
