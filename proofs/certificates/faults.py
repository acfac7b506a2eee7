"""Change certificates in one place: the checker may accept only changes that keep the conclusions.

The steps on which `false` rests must have the same conclusions, up to the order of terms in sums,
products, conjunctions and disjunctions. An accepted change with other conclusions is another proof:
a person reads it from the named step on.
"""

import random
import re
from typing import NamedTuple

from certify import checker, terms
from certify.reader import Certificate, Task
from certify.rules import RULES, spelled
from certify.terms import Refused, Term, rebuild

PAIRS = [("and", "or"), ("<", "<="), (">", ">="), ("+", "*"), ("forall", "exists")]
PAIRS += [("true", "false"), ("div", "mod"), ("div_total", "mod_total"), ("=", "distinct")]
OTHER_WORDS = {old: new for pair in PAIRS for old, new in (pair, pair[::-1])}
OTHER_WORDS |= {"not": "@purify", "=>": "=", "-": "+", "select": "@array_deq_diff"}

WORD = re.compile(r'[()]|"[^"]*"|\|[^|]*\||[^\s()"|]+')

SAME = "the steps that matter conclude the same"
ORDER = "they conclude the same, but for the order in sums, products, conjunctions, disjunctions"
ANOTHER = "another proof"
UNORDERED = ("+", "*", "and", "or")


class Change(NamedTuple):
    """A change of a certificate; `accepted` is "" if it is refused, else how it differs."""

    place: str
    change: str
    accepted: str


def tried(place: str, text: str, certificate: str, count: int) -> list[Change]:
    """Try the task without its goal, then `count` changed certificates, seeded by `place`."""
    chance, words = random.Random(place), WORD.findall(certificate)
    without_goal = text.rpartition("(assert")[0] + "(check-sat)"
    found = [Change(place, "the task without its goal", accepted(without_goal, certificate))]
    for _ in range(count):
        i, new = changed_once(chance, words)
        changed = [*words[:i], *new, *words[i + len(new) :]]
        what = f"{' '.join(words[max(i - 8, 0) : i])} {' '.join(new)} ..., in word {i}"
        found.append(Change(place, what, accepted(text, " ".join(changed), certificate)))
    return found


def changed_once(chance: random.Random, words: list[str]) -> tuple[int, list[str]]:
    """Replace a word by another of its kind, or exchange two; return the place and new words."""
    while True:
        i = chance.randrange(len(words) - 1)
        old, after = words[i : i + 2]
        new = old
        if chance.random() < 0.2 and not {old, after} & {"(", ")"}:
            new = after
        elif old[:2] in ("@p", "@t"):
            new = chance.choice([word for word in words if word[:2] == old[:2]])
        elif old.lstrip("-").isdigit():
            new = str(int(old) + chance.choice((-1, 1)))
        elif spelled(old) in RULES:
            new = chance.choice(sorted(RULES))
        elif old in OTHER_WORDS:
            new = OTHER_WORDS[old]
        if new != old:
            return i, [new, old] if new is after else [new]


def accepted(text: str, changed: str, before: str = "") -> str:
    """Return how an accepted certificate differs, "" if the checker refuses it."""
    try:
        checker.check(text, changed)
    except Refused:
        return ""
    if not before:
        return ANOTHER
    terms.forget()
    task = Task(text)
    (was, _), (now, needed) = followed(task, before), followed(task, changed)
    first = [name for name in now if name in needed and was.get(name) is not now[name]]
    if not first:
        return SAME
    if all(name in was and in_order(was[name]) is in_order(now[name]) for name in first):
        return ORDER
    return f"{ANOTHER}, from {first[0]} on"


def in_order(term: Term) -> Term:
    """Sort terms whose order does not matter."""
    if not term.arguments or term.operator == "skolem":
        return term
    new = [in_order(each) for each in term.arguments]
    return rebuild(term, sorted(new, key=str) if term.operator in UNORDERED else new)


def followed(task: Task, certificate: str) -> tuple[dict[str, Term], set[str]]:
    """Return the conclusions of a certificate, and the steps on which the last one rests."""
    found, steps = checker.Checker(task), list(Certificate(task, certificate).steps())
    concluded = {step.name: found.take(step) for step in steps}
    needed = {steps[-1].name}
    for step in reversed(steps):
        if step.name in needed:
            needed.update(step.premises)
    return concluded, needed
