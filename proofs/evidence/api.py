"""The public names of the package, and what their docstrings say of them.

Griffe reads the docstrings, which are in NumPy's format; names and signatures are those of the
imported package. (pdoc, which would write whole pages, takes that format apart by patterns into
Markdown: of `*arrays : ...` and `2**31` it made bold type.)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from types import ModuleType
from typing import Any

from griffe import Docstring, DocstringSectionKind
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

# A docstring has paragraphs and, between backticks, names and code. Anything else that Markdown
# knows it would find by mistake: the stars of `2**31` in bold.
MARKDOWN = MarkdownIt("zero").enable("backticks")

KINDS = DocstringSectionKind
LISTS = {KINDS.parameters: "Parameters", KINDS.returns: "Returns", KINDS.raises: "Raises"}
PROMPT = re.compile(r"^(>>>|\.\.\.)( .*)?$")


@dataclass(frozen=True)
class Section:
    """A part of a docstring: a list of (names, type, text), or texts, True before an example."""

    title: str
    items: list[tuple[str, str, str]] = field(default_factory=list)
    texts: list[tuple[bool, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A public function, class or value of a module, or what a class has beside its parameters."""

    module: str
    name: str
    kind: str
    signature: str
    sections: list[Section]
    members: list[Entry] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return summary(self.sections) if self.sections else ""


@dataclass(frozen=True)
class Module:
    """A public module with what it exports itself."""

    name: str
    sections: list[Section]
    entries: list[Entry]

    @property
    def page(self) -> str:
        """The page that is about it."""
        return f"{self.name}.html"

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return summary(self.sections)


def modules(package: ModuleType, *others: ModuleType) -> list[Module]:
    """Read a package and the modules that it exports, in the order of `__all__`, and others."""
    exported = {name: getattr(package, name) for name in package.__all__}
    inner = [value for value in exported.values() if inspect.ismodule(value)]
    own = {name: value for name, value in exported.items() if not inspect.ismodule(value)}
    found = [module(package, own)]
    return found + [
        module(each, {name: getattr(each, name) for name in each.__all__})
        for each in (*inner, *others)
    ]


def module(read: ModuleType, exported: Mapping[str, Any]) -> Module:
    """Read a module: functions and values first, as they are what is looked for."""
    entries = [entry(read.__name__, name, value) for name, value in exported.items()]
    entries.sort(key=lambda each: ("function", "class", "value").index(each.kind))
    return Module(read.__name__, sections(read), entries)


def entry(within: str, name: str, value: Any) -> Entry:
    """Read a public name."""
    if inspect.isclass(value):
        bases = ", ".join(shown_class(base) for base in value.__bases__)
        text = f"{name}({bases})" if issubclass(value, Exception) else f"{name}{signature(value)}"
        return Entry(within, name, "class", text, sections(value), members(within, name, value))
    if callable(value):
        return Entry(within, name, "function", f"{name}{signature(value)}", sections(value))
    return Entry(within, name, "value", f"{name} = {value!r}", [])


def members(within: str, owner: str, read: type) -> list[Entry]:
    """Read the methods and properties that a class has itself."""
    found = []
    for name, value in vars(read).items():
        if name.startswith("_") or not (isinstance(value, property) or inspect.isfunction(value)):
            continue
        property_ = isinstance(value, property)
        kind, text = ("property", name) if property_ else ("method", f"{name}{signature(value)}")
        found.append(Entry(within, f"{owner}.{name}", kind, text, sections(value)))
    return found


def shown_class(read: type) -> str:
    """Name a class as its users do."""
    return read.__name__ if read.__module__ == "builtins" else f"{read.__module__}.{read.__name__}"


def signature(read: Any) -> str:
    """Give names and defaults; the types stand in the docstring."""
    whole = inspect.signature(read)
    named = [p for p in whole.parameters.values() if p.name != "self"]
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in named]
    return str(whole.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def sections(read: Any) -> list[Section]:
    """Take a docstring apart."""
    text = inspect.cleandoc(read.__doc__ or "")
    found = []
    for part in Docstring(text).parse("numpy"):
        value: Any = part.value
        if part.kind in LISTS:
            # `b, c : int` are two of one type and text.
            alike = groupby(value, key=lambda each: (str(each.annotation), each.description))
            items = [
                (", ".join(getattr(each, "name", "") for each in same), kind, said)
                for (kind, said), same in alike
            ]
            found.append(Section(LISTS[part.kind], items=items))
        elif part.kind is KINDS.examples:
            texts = [(kind is KINDS.examples, said) for kind, said in value]
            found.append(Section("Examples", texts=texts))
        elif part.kind is KINDS.admonition:
            found.append(Section(part.title or "", texts=paragraphs(value.description)))
        else:
            found.append(Section("", texts=paragraphs(value)))
    return found


def paragraphs(text: str) -> list[tuple[bool, str]]:
    """Tell the examples in a text from its paragraphs, as doctest does."""
    return [(part.startswith(">>> "), part) for part in re.split(r"\n{2,}", text)]


def summary(read: list[Section]) -> str:
    """Give the first line of a docstring."""
    return read[0].texts[0][1].partition("\n")[0]


# --- as HTML ----------------------------------------------------------------------------------


class Links:
    """Where the names and files of which docstrings speak are shown."""

    def __init__(self, read: list[Module], theories: Mapping[str, str]) -> None:
        self.theories = theories
        self.targets = {each.name: each.page for each in read}
        for each in read:
            entries = (one for entry in each.entries for one in (entry, *entry.members))
            names = [entry.name for entry in entries]
            self.targets |= {f"{each.name}.{name}": f"{each.page}#{name}" for name in names}

    def target(self, name: str, within: str) -> str:
        """Find the place of a name that stands in the docstrings of a module."""
        return self.targets.get(f"{within}.{name}") or self.targets.get(name, "")

    def types(self, text: str, within: str) -> Markup:
        """Show a type, the names in it linked."""

        def link(match: re.Match[str]) -> str:
            target = self.target(match[0], within)
            return f'<a href="{target}">{match[0]}</a>' if target else match[0]

        return Markup(re.sub(r"[A-Za-z_][\w.]*", link, str(escape(text))))

    def prose(self, text: str, within: str) -> Markup:
        """Turn the paragraphs of a docstring into HTML."""
        tokens = MARKDOWN.parse(text)
        for token in tokens:
            if token.children:
                token.children = [
                    new for child in token.children for new in self.code(child, within)
                ]
        return Markup(str(MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})))

    def code(self, token: Token, within: str) -> list[Token]:
        """Put a link around code: `name` in single backticks, a theory's file in double ones."""
        if token.type != "code_inline":
            return [token]
        single = len(token.markup) == 1
        known = self.target(token.content, within) if single else self.theories.get(token.content)
        if not known:
            return [token]
        opened = Token("link_open", "a", 1)
        opened.attrSet("href", known)
        return [opened, token, Token("link_close", "a", -1)]


def example(text: str) -> Markup:
    """Set off what is typed from what is answered."""
    lines = []
    for line in text.split("\n"):
        match = PROMPT.match(line)
        shown = Markup("<i>{}</i><b>{}</b>").format(match[1], match[2] or "") if match else line
        lines.append(Markup("{}").format(shown))
    return Markup("\n").join(lines)
