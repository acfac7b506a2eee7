"""The operations that the proofs trust: each that the driver maps to Python, tried on values.

The Python is read from the driver of the extraction, so that what is tried is what is printed. The
contracts stand in contracts.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, get_origin

import pytest
from contracts import CONTRACTS, TYPES, Operation, is_statement
from hypothesis import Phase, find, settings
from hypothesis.errors import NoSuchExample

from assurance import judge
from assurance.whygate import Whygate

ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "proofs" / "tools" / "extraction" / "python.drv"
WHY3 = Path("/usr/share/why3")

SEARCH = settings(max_examples=100, phases=[Phase.generate], database=None)


class Entry(NamedTuple):
    """What the driver says of a symbol of WhyML."""

    kind: str
    name: str
    template: str


# All that the driver may hold. `(*)` is a name, and so is `( *= )`.
PART = re.compile(
    r"""\s+
    | \(\*(?!\)).*?\*\)
    | (?:printer | prelude)\s+"[^"]*"
    | module\s+(?P<module>[\w.]+)
    | (?P<end>end)\b
    | syntax\s+(?P<kind>type | val)\s+(?P<name>\w+ | \([^\w"]*?_?[^\w"]*?\))\s+"(?P<template>[^"]*)"
    """,
    re.VERBOSE | re.DOTALL,
)


def entries(text: str) -> Iterator[Entry]:
    """Give what a driver maps; refuse whatever else it holds."""
    place, module = 0, ""
    while place < len(text):
        part = PART.match(text, place)
        assert part, f"not understood: {text[place : place + 60]}"
        place = part.end()
        module = part["module"] or module
        if part["kind"]:
            name = re.sub(r"\s", "", part["name"])
            yield Entry(part["kind"], f"{module}.{name}", part["template"])


ENTRIES = list(entries(DRIVER.read_text(encoding="utf-8")))
TEMPLATES = {entry.name: entry.template for entry in ENTRIES if entry.kind == "val"}


def refuted(name: str, templates: dict[str, str]) -> Iterator[str]:
    """Give the clauses of an operation's contract that do not hold, each with values for that."""
    do = Operation(templates, name)
    for text, clause in CONTRACTS[name].clauses.items():

        def fails(arguments: tuple[Any, ...], clause: Callable[..., bool] = clause) -> bool:
            try:
                return not clause(do, *arguments)
            except Exception:
                return True

        with suppress(NoSuchExample):
            values = find(CONTRACTS[name].arguments, fails, settings=SEARCH, random=Random(0))
            yield f"{name}: {text}: not of {values}"


# The driver


def without_contract(found: list[Entry]) -> set[str]:
    """Give the symbols of a driver of which nothing here says what they have to be."""
    return {entry.name for entry in found} - CONTRACTS.keys() - TYPES.keys()


def test_all_that_the_driver_maps_has_a_contract() -> None:
    """[E_Broadcast_any_Derived_190]"""
    names = [entry.name for entry in ENTRIES]
    assert without_contract(ENTRIES) == set()
    assert sorted(names) == sorted([*CONTRACTS, *TYPES])


@pytest.mark.parametrize(
    "entry",
    [
        'syntax val set "%1"',
        'syntax val ([<-]) "%1"',
        'syntax val ( /* ) "%1"',
        'syntax type t "t"',
    ],
)
def test_a_new_entry_without_a_contract_is_noticed(entry: str) -> None:
    text = DRIVER.read_text(encoding="utf-8")
    name = entry.removeprefix("syntax val ").removeprefix("syntax type ").split(' "')[0]
    more = text.replace("module seq.Seq\n", f"module seq.Seq\n  {entry}\n")
    assert without_contract(list(entries(more))) == {f"seq.Seq.{name.replace(' ', '')}"}


@pytest.mark.parametrize(
    "entry",
    ['syntax function get "%1[%2]"', 'syntax literal t "%1"', "use import x", "remove prop y"],
)
def test_an_entry_of_another_kind_is_noticed(entry: str) -> None:
    text = DRIVER.read_text(encoding="utf-8")
    with pytest.raises(AssertionError, match=f"not understood: {re.escape(entry)}"):
        list(entries(text.replace("module seq.Seq\n", f"module seq.Seq\n  {entry}\n")))


def test_types() -> None:
    """[E_Broadcast_any_Derived_190]"""
    types = {
        entry.name: eval(entry.template.replace("%1", "object"))
        for entry in ENTRIES
        if entry.kind == "type"
    }
    assert {name: get_origin(python) or python for name, python in types.items()} == TYPES


def test_what_the_proofs_trust_of_our_own_is_in_the_driver() -> None:
    """[E_Broadcast_any_Derived_190]"""
    facts: Any = Whygate(ROOT).audit([f for f, to in judge.TRUSTED.items() if to == "Python"])
    trusted = [f"kernel.trusted.Tuple.{assumed['name']}" for assumed in judge.trusted(facts)]
    assert trusted == [name for name in TEMPLATES if name.startswith("kernel.trusted.")]
    assert len(trusted) == 6


# The contracts


@pytest.mark.parametrize("name", CONTRACTS)
def test_contract(name: str) -> None:
    """[E_Broadcast_any_Derived_190]"""
    assert list(refuted(name, TEMPLATES)) == []


@pytest.mark.parametrize(
    ("name", "template"),
    [(name, template) for name, contract in CONTRACTS.items() for template in contract.wrong],
)
def test_a_wrong_mapping_is_noticed(name: str, template: str) -> None:
    is_statement(template.replace("%", "x"))  # or a syntax error would be what is noticed
    assert next(refuted(name, {**TEMPLATES, name: template}), None)


def test_each_contract_is_seen_to_refuse() -> None:
    assert [name for name, contract in CONTRACTS.items() if not contract.wrong] == []


def plain(text: str) -> str:
    """Write WhyML with single spaces."""
    return " ".join(text.split())


# What the modules of integers are cloned from, and what becomes of them.
CLONED = "".join(
    plain((WHY3 / name).read_text(encoding="utf-8"))
    for name in ("stdlib/algebra.mlw", "stdlib/relations.mlw", "drivers/smt-libv2.gen")
)


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_clauses_are_those_of_the_library(name: str) -> None:
    parts = re.fullmatch(r"(?P<file>[a-z.]+)\.(?P<module>[A-Z]\w*)\.(?P<symbol>.+)", name)
    assert parts
    library = ROOT / "why3" if name.startswith("kernel.") else WHY3 / "stdlib"
    file = library.joinpath(*parts["file"].split(".")).with_suffix(".mlw")
    text = file.read_text(encoding="utf-8")
    module = re.search(rf"^module {parts['module']}$.*?^end$", text, re.MULTILINE | re.DOTALL)
    assert module
    clauses = {plain(clause) for clause in CONTRACTS[name].clauses}
    assert [clause for clause in clauses if clause not in plain(module[0]) + CLONED] == []

    symbol = {"(!_)": "(!)", "(*=)": "( *= )"}.get(parts["symbol"], parts["symbol"])
    declared = re.search(
        rf"^  (?:let|val)(?: function| predicate| constant)? +{re.escape(symbol)}(?!\w).*?"
        r"(?=\n *\n|\n  (?:let|val|\(\*\*)|\Z)",
        module[0],
        re.MULTILINE | re.DOTALL,
    )
    # The length of an array is a field.
    assert declared or name == "array.Array.length"
    demanded = re.findall(r"ensures *\{[^}]*\}", declared[0]) if declared else []
    assert {*map(plain, demanded)} <= clauses
