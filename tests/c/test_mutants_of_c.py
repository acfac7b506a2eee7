"""Mutants of the C are made, and planted faults are noticed."""

from __future__ import annotations

from pathlib import Path

import mutate_c
import pytest
import verify
from c_library import SOURCE

TEXT = SOURCE.read_text(encoding="utf-8")

# These planted faults show in few calls.
RARE = (1, 14, 20, 26, 36, 37, 38, 39)
FAULTS = [
    *((old, new) for old, new, _ in verify.FAULTS),
    *([*mutate_c.planted(TEXT)][number][1:3] for number in RARE),
]


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mutate_c.exhaustive(tmp_path_factory.mktemp("mutants"))


def test_the_c_itself_is_not_noticed(stays: Path) -> None:
    assert mutate_c.survives(TEXT, stays)


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_a_fault_is_noticed(old: str, new: str, stays: Path) -> None:
    assert old in TEXT
    assert not mutate_c.survives(TEXT.replace(old, new, 1), stays)


def test_what_is_listed_is_a_mutant() -> None:
    names = [mutant.name for mutant in mutate_c.mutants(TEXT)]
    assert len({*names}) == len(names) > 300
    kinds = {name.partition(": ")[2].rpartition(" ")[0] for name in names}
    assert kinds - {*mutate_c.OPERATORS} == {"one more", "one less", "left out"}
    assert mutate_c.listed().keys() < {*names}
    assert all(mutant.old in TEXT for mutant in mutate_c.planted(TEXT))
