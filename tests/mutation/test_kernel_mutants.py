"""The kernel on all small arguments, and that mutants of it are made and noticed."""

from __future__ import annotations

import mutate
import pytest
import small_cases

from whycast import _kernel


def test_small_cases() -> None:
    """[E_Broadcast_any_Derived_140]"""
    small_cases.check(_kernel)


def test_a_text_that_differs_in_one_place() -> None:
    assert mutate.difference(["a", "  b", "c"], ["a", "  d", "c"]) == ("b", "d")
    assert mutate.difference(["@x", "class A:"], ["class A:"]) == ("@x", "")
    text = "import x\n\n@d\ndef f():\n    return 1\n"
    assert [*mutate.parts(text)] == [("import x", 0, 1), ("f", 2, 5)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return a if b == c else 0", "return a if b != c else 0"),
        ("if x != result[i] and (x != 1 or zero):", "if x != result[i] and x != 1:"),
        ("block *= shape[k]", "block += shape[k]"),
        ("if size < 0:", "if size < -1:"),
        ("@dataclass(frozen=True, slots=True)\nclass Violation", "@dataclass\nclass Violation"),
        ("raise AxesNotIncreasing(j)", "raise AxisOutOfRange(j)"),
        ("if len(strides) != len(shape)", "if len(strides) is not len(shape)"),
    ],
)
def test_a_mutant_is_noticed(old: str, new: str) -> None:
    text = mutate.KERNEL.read_text(encoding="utf-8")
    assert old in text
    assert not mutate.survives(text.replace(old, new))


def test_what_is_listed_has_its_place_and_a_reason() -> None:
    text = mutate.KERNEL.read_text(encoding="utf-8")
    found = {name: (start, end) for name, start, end in mutate.parts(text)}
    for (where, old, new), why in mutate.listed().items():
        assert new != old
        if "." not in where:
            start, end = found[where]
            assert old in " ".join(line.strip() for line in text.splitlines()[start:end])
        assert len(why) > 15


def test_what_survives_is_compared_with_the_list() -> None:
    one, two, three = (("f", "x", new) for new in ("y", "z", "w"))
    assert mutate.judge("k", [one, two], [one], [one]) == ("k", [one, two], [one], [], [])
    assert mutate.judge("k", [one, two], [one], []).unlisted == [one]
    assert mutate.judge("k", [one, two], [], [one]).stale == [one]
    assert mutate.judge("k", [one, two], [], [three]).stale == [three]
    assert mutate.judge("k", [one, two], [], [three], whole=False).stale == []
