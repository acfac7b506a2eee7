"""The goals as test cases, in the form that continuous integration systems read."""

from __future__ import annotations

import io

from junitparser import JUnitXml, Properties, Property, TestCase, TestSuite
from pack import Goal, Pack


def report(pack: Pack) -> bytes:
    """Write a suite for each theory and a case for each of its goals, with recorded times."""
    whole = JUnitXml(pack.project)
    for theory in pack.theories:
        if theory.goals:
            suite = TestSuite(theory.file)
            for goal in theory.goals:
                suite.add_testcase(case(goal))
            whole.add_testsuite(suite)
    written = io.BytesIO()
    whole.write(written, pretty=True)
    return written.getvalue()


def case(goal: Goal) -> TestCase:
    """Make the case of a goal: what it says, its clauses, its provers."""
    module, _, name = goal.name.partition(".")
    made = TestCase(name, f"{goal.file}/{module}", goal.seconds)
    properties = Properties()  # type: ignore[no-untyped-call]
    for key, value in (
        ("says", goal.sentence),
        ("place", f"{goal.file}:{goal.line}"),
        ("clause", " ".join(goal.clauses)),
        ("supports", " ".join(goal.supports)),
        ("provers", ", ".join(f"{use.name} {use.version}" for use in goal.provers)),
        ("parts", str(len(goal.parts))),
    ):
        properties.add_property(Property(key, value))
    made.append(properties)  # type: ignore[no-untyped-call]
    return made
