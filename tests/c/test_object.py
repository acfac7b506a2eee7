"""`make object` reports gaps in the coverage, and refuses unknown C."""

from __future__ import annotations

import re
from pathlib import Path

import decisions
import object as lane
import pytest
from c_library import SOURCE

# This code has a decision that is always true, a condition that never decides, a loop, and a line
# that does not run. A compiler may merge conditions into one jump, except before a division.
SMALL = """\
#include <stdint.h>
int64_t whycast_small(int64_t a, int64_t b);
int64_t whycast_small(int64_t a, int64_t b) {
  int64_t n;
  n = INT64_C(0);
  while (n < a) {
    n = n * INT64_C(3) + INT64_C(1);
  }
  if (a < INT64_C(9) && !(a == b || a / n > b)) {
    n = n / a;
  }
  if (b > INT64_C(0)) {
    n = n / b;
  } else {
    n = b;
  }
  return n;
}
"""
CALLS = """\
#include <stdint.h>
int64_t whycast_small(int64_t a, int64_t b);
int main(void) {
  return whycast_small(7, 1) + whycast_small(7, 7) + whycast_small(20, 5) != 1 + 1 + 8;
}
"""


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    files = tmp_path / "small.c", tmp_path / "calls.c"
    for file, text in zip(files, (SMALL, CALLS), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


def test_what_is_not_covered_in_the_source_is_reported(
    small: tuple[Path, Path], tmp_path: Path
) -> None:
    found = lane.covered(decisions.Source(SMALL), tmp_path, tests=small[1])
    assert found == {
        "statement": {"all": 9, "covered": 8},
        "decision": {"all": 3, "covered": 2},
        "condition": {"all": 5, "covered": 3},
        "mc/dc": {"all": 5, "covered": 3},
        "gaps": [
            {"kind": kind, "gap": f"whycast_small: {name}", "line": line}
            for kind, name, line in (
                ("statement", "n = b;", 15),
                ("condition", "never True: a / n > b", 9),
                ("mc/dc", "never decides alone: a / n > b", 9),
                ("decision", "never False: if (b > INT64_C(0)) {", 12),
                ("condition", "never False: b > INT64_C(0)", 12),
                ("mc/dc", "never decides alone: b > INT64_C(0)", 12),
            )
        ],
    }


def test_a_condition_decides_alone_where_the_others_stay() -> None:
    """The decision is (a || b) && c; 0 is a skipped condition, 1 a false one, 2 a true one."""
    both = [((2, 0, 2), True), ((1, 1, 0), False)]
    assert [decisions.is_independent(place, both) for place in range(3)] == [True, False, False]
    more = [*both, ((1, 2, 2), True), ((1, 2, 1), False)]
    assert [decisions.is_independent(place, more) for place in range(3)] == [True, True, True]
    # The outcome changes, but so does another condition.
    assert not decisions.is_independent(0, [((1, 2, 2), True), ((2, 0, 1), False)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n = n / a;", "n = a < b;"),
        ("n = n / a;", "n = a < b ? 1 : 2;"),
        ("n = n / a;", "n = !n;"),
        ("n = n / a;", "for (n = 0; n < a; n++) { }"),
        ("n = n / a;", "switch (n) { }"),
        ("n = n / a;", "{ n = a; }"),
        ("n = b;", "goto end;"),
        ("while (n < a) {", "while (n) {"),
        ("if (b > INT64_C(0)) {", "if (f(b > 0) > 1) {"),
        ("if (b > INT64_C(0)) {", "if ((a < b) == 1) {"),
        ("if (b > INT64_C(0)) {", "if (!b) {"),
        ("} else {\n    n = b;\n  }", "} else n = b;"),
        ("#include <stdint.h>", "#define LESS(a, b) ((a) < (b))"),
        ("return n;\n}", "return n;\n"),
    ],
)
def test_c_that_is_not_known_is_refused(old: str, new: str) -> None:
    assert old in SMALL
    with pytest.raises(decisions.UnknownError):
        decisions.Source(SMALL.replace(old, new))


def test_all_of_the_c_is_covered_and_nothing_left_out(tmp_path: Path) -> None:
    source = decisions.Source(SOURCE.read_text(encoding="utf-8"))
    code = decisions.BLANK.sub("", source.text)
    assert len(source.decisions) == code.count("if (") + code.count("while (") > 100
    joined = code.count("&&") + code.count("||")
    assert sum(len(each.conditions) for each in source.decisions) == len(source.decisions) + joined
    assert lane.covered(source, tmp_path)["gaps"] == []


@pytest.mark.parametrize("compiler", lane.FLAGS)
def test_jumps_that_do_not_go_both_ways_are_reported(
    compiler: str, small: tuple[Path, Path], tmp_path: Path
) -> None:
    """With certification flags, GCC 12 and 14 and Clang 14 and 19 compile a loop to one jump."""
    source = decisions.Source(SMALL)
    made = lane.built(tmp_path, compiler, lane.FLAGS[compiler][0], small[0])
    binary = lane.program(tmp_path, made, small[1])
    (counts,) = lane.callgrind(tmp_path, binary)
    start = lane.base(binary, made.library)
    gaps = [jump.places for jump, _ in lane.missed(made.jumps, counts, start)]
    assert {(("whycast_small", line),) for line in (9, 12)} == {*gaps}
    # The loop has 3, 3 and 4 rounds, and ends three times.
    (loop,) = (place for place, each in made.jumps.items() if each.places[0][1] == 6)
    executed, taken = (each[start + loop] for each in counts)
    assert (executed, taken in (3, 10)) == (13, True)
    assert lane.added([*made.jumps.values()], source) == {}


def test_jumps_that_a_compiler_adds_are_counted() -> None:
    """Three are added: a loop's second jump, a fourth for three conditions, one at a plain line."""
    lines = (6, 6, 9, 9, 9, 9, 10, 12)
    jumps = [lane.Jump("f", f"jl {n}", (("f", line),)) for n, line in enumerate(lines)]
    inlined = [lane.Jump("f", "jl", (("g", line), ("f", 40))) for line in (6, 12)]
    assert lane.added([*jumps, *inlined], decisions.Source(SMALL)) == {"f": 3}


def test_a_call_takes_no_more_stack_than_the_header_states(tmp_path: Path) -> None:
    """No function recurses. With -O2 and -O3, GCC 14 takes 16 bytes more than GCC 12."""
    text = SOURCE.with_suffix(".h").read_text(encoding="utf-8")
    figures = re.search(
        r"at most (\d+)\s+bytes of stack with -O2 and -O3, (\d+) with .*, (\d+) with\s+-O0", text
    )
    assert figures
    optimized, certified, plain = map(int, figures.groups())
    for flags, most in zip(
        (*lane.FLAGS["gcc"], ("-O0",)), (certified, optimized, optimized, plain), strict=True
    ):
        found = lane.stack(tmp_path, "gcc", *flags)
        assert (len(found["functions"]), 4000 < found["code"] < 40000) == (10, True)
        assert most - 40 < found["most"] <= most, flags


def test_recursion_is_noticed() -> None:
    with pytest.raises(AssertionError, match="recursion: f g f"):
        lane.depth("f", {"f": 8, "g": 8}, {"f": {"g"}, "g": {"f"}})
    assert lane.depth("f", {"f": 8, "g": 16}, {"f": {"g", "memcpy"}, "g": set()}) == 24
