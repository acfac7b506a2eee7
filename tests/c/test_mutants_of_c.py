"""Mutants of the C are made and noticed; its calls end; what is asked of verifiers is there."""

from __future__ import annotations

from pathlib import Path

import mutate_c
import pytest
import stack
import verify
from c_library import SOURCE

TEXT = SOURCE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return mutate_c.objects(tmp_path_factory.mktemp("mutants"))


def test_the_c_itself_is_not_noticed(others: tuple[Path, Path]) -> None:
    assert mutate_c.survives(TEXT, others)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (count < INT64_C(1))", "if (count < INT64_C(0))"),
        ("(size == largest) && !(size == INT64_C(1))", "(size == largest)"),
        ("if (capacity < rank)", "if (capacity < rank - 1)"),
        ("if (room < due)", "if (room < due - 1)"),
        ("if (extent < given)", "if (extent < given - 1)"),
        ("if (bytes > INT64_C(0x7F", "if (bytes >= INT64_C(0x7F"),
        ("store_1(z + q, v);", "store_1(z + q + 1, v);"),
        ("if (m < tensor)", "if (m <= tensor)"),
        ("if (shape[i] == INT64_C(0))", "if (shape[i] == INT64_C(1))"),
        ("view[i] = INT64_C(0);", ";"),
    ],
)
def test_a_fault_is_noticed(old: str, new: str, others: tuple[Path, Path]) -> None:
    assert old in TEXT
    assert not mutate_c.survives(TEXT.replace(old, new), others)


def test_mutants_differ_in_one_line_of_code() -> None:
    text = (
        "static int64_t f(int64_t a)\n{\n    /* a < 1 */\n    b = a + 1;\n    return a < 10;\n}\n"
    )
    assert [mutant[:3] for mutant in mutate_c.mutants(text)] == [
        (("f", "+", 1), "b = a + 1;", "b = a - 1;"),
        (("f", "<", 1), "return a < 10;", "return a <= 10;"),
        (("f", "one more", 1), "b = a + 1;", "b = a + 2;"),
        (("f", "one less", 1), "b = a + 1;", "b = a + 0;"),
        (("f", "one more", 2), "return a < 10;", "return a < 11;"),
        (("f", "one less", 2), "return a < 10;", "return a < 9;"),
        (("f", "left out", 1), "b = a + 1;", ";"),
    ]


def test_what_is_listed_is_a_mutant_and_has_a_reason() -> None:
    found = [mutant.key for mutant in mutate_c.mutants(TEXT)]
    keys = {*found}
    assert len(keys) == len(found) > 300
    for key, why in mutate_c.listed().items():
        assert key in keys
        assert len(why) > 15


@pytest.mark.parametrize(("level", "most"), [("-O0", 1280), ("-O2", 640)])
def test_there_is_no_recursion_and_a_call_takes_little_of_the_stack(
    level: str, most: int, tmp_path: Path
) -> None:
    found = stack.usage(tmp_path, "gcc", level)
    assert len(found.deepest) == 5
    assert max(found.deepest.values()) < most
    assert (found.data, 4000 < found.text < 40000) == (0, True)


def test_recursion_is_noticed() -> None:
    with pytest.raises(AssertionError, match="recursion: f g f"):
        stack.depth("f", {"f": 8, "g": 8}, {"f": {"g"}, "g": {"f"}}, ())
    assert stack.depth("f", {"f": 8, "g": 16}, {"f": {"g", "memcpy"}, "g": set()}, ()) == 24


def test_what_is_planted_for_the_verifiers_stands_in_the_c() -> None:
    for old, new, _ in verify.FAULTS:
        assert TEXT.count(old) >= 1
        assert old != new
