"""The check of coverage: what it finds in a report, and what it says of the list."""

from __future__ import annotations

from pathlib import Path

import measure

TEXT = """\
class A:
    def f(self, x):
        if x:
            return 1
        return 2
print(A)
"""


def test_gaps_are_named_by_definition_and_text(tmp_path: Path) -> None:
    """A branch to a line that is missing itself says no more."""
    (tmp_path / "python/whycast").mkdir(parents=True)
    (tmp_path / "python/whycast/a.py").write_text(TEXT, encoding="utf-8")
    missing = {"missing_lines": [4, 6], "missing_branches": [[3, 4], [3, 5], [4, -2], [5, -2]]}
    assert [*measure.gaps_of({"files": {"python/whycast/a.py": missing}}, tmp_path)] == [
        "a.py: A.f: return 1",
        "a.py: module: print(A)",
        "a.py: A.f: if x: -> return 2",
        "a.py: A.f: return 2 -> its end",
    ]


def test_the_list_is_exact() -> None:
    known = measure.listed('[[gap]]\nfile = "a.py"\nlines = ["f: x", "f: y"]\nwhy = "no"\n')
    assert known == {"a.py: f: x": "no", "a.py: f: y": "no"}
    assert measure.compare(["a.py: f: x", "a.py: f: y"], known) == []
    assert measure.compare(["a.py: f: x", "a.py: f: z"], known) == [
        "not reached, and not listed: a.py: f: z",
        "listed, and reached or no more there: a.py: f: y",
    ]
    # One of a whole file.
    assert measure.compare(["a.py: f: x", "a.py: g: y"], ["a.py: *"]) == []
    assert len(measure.compare(["ba.py: f: x"], ["a.py: *"])) == 2


def test_a_gap_that_a_package_closes_is_none_where_that_is_installed() -> None:
    gap = '[[gap]]\nfile = "a.py"\nwhy = "no"\nwithout = '
    assert measure.listed(f'{gap}"pytest"\n') == {}
    assert measure.listed(f'{gap}"no-such-package"\n') == {"a.py: *": "no"}


def test_what_is_listed_is_there_and_has_a_reason() -> None:
    for gap, why in measure.listed(measure.GAPS.read_text(encoding="utf-8")).items():
        file, _, rest = gap.partition(": ")
        text = (measure.ROOT / measure.PACKAGE / file).read_text(encoding="utf-8")
        assert all(
            part in text for part in rest.partition(": ")[2].split(" -> ") if part != "its end"
        )
        assert len(why) > 20
