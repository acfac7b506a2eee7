"""misra.toml has a row for each rule of MISRA C:2012, and cppcheck agrees with it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import misra
from c_library import FOLDER
from misra import MATRIX

from evidence.misra import rows


def test_each_rule_has_one_row() -> None:
    rules = [row.rule for row in rows(MATRIX)]
    directives = {1: 1, 2: 1, 3: 1, 4: 15, 5: 3}
    # The number of rules of each chapter.
    lengths = (5, 8, 2, 2, 9, 3, 6, 17, 7, 8, 10, 6, 6, 4, 7, 7, 13, 10, 2, 14, 26, 20, 8)
    due = [f"D{n}.{k}" for n, most in directives.items() for k in range(1, most + 1)]
    due += [f"{n}.{k}" for n, most in enumerate(lengths, 1) for k in range(1, most + 1)]
    assert rules == due


def copied(folder: Path, changes: Sequence[tuple[str, str, str]] = ()) -> Path:
    """Copy the C with changes: cppcheck writes files beside those that it reads."""
    shutil.copy(FOLDER / "whycast.h", folder)
    text = (FOLDER / "whycast.c").read_text(encoding="utf-8")
    for _, old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "whycast.c").write_text(text, encoding="utf-8")
    return folder


def test_cppcheck_reports_what_is_listed(tmp_path: Path) -> None:
    assert misra.reports(copied(tmp_path)) == MATRIX["reports"]


def test_what_is_reported_is_explained() -> None:
    """cppcheck reports only rule 12.3 (commas) and deviations, in at most the listed places."""
    of = {row.rule: row for row in rows(MATRIX)}
    addon = (misra.TOOL / "addons" / "misra.py").read_text(encoding="utf-8")
    known = {f"{int(n[:-2])}.{int(n[-2:])}" for n in re.findall(r"executeCheck\((\d+),", addon)}
    asked = {rule: row for rule, row in of.items() if "cppcheck" in row.by}
    assert asked.keys() <= known | {*misra.BY_ITSELF.values()}
    reported = {rule: n for rule, n in MATRIX["reports"].items() if rule != "12.3"}
    assert reported.keys() == {rule for rule, row in asked.items() if row.status == "deviation"}
    assert {r: n for r, n in reported.items() if of[r].by == "cppcheck"} == {
        r: row.places for r, row in asked.items() if row.by == "cppcheck" and row.places
    }
    assert all(n <= of[rule].places for rule, n in reported.items())


def test_the_words_of_other_rules_do_not_occur() -> None:
    assert misra.spoken(misra.code(FOLDER)) == []
    by_words = {row.rule for row in rows(MATRIX) if row.status == "compliant" and "words" in row.by}
    assert by_words == {rule for rule, _ in MATRIX["words"]}


# This code has a finding for each pattern.
WORDS = """\
#include <stdlib.h>
#undef memcpy
static int64_t strange(int64_t a[]) {
  extern double x;
  union { unsigned a : 3; } u = {.a = sizeof(x)};
  void *p = "text"; int64_t (*f)(void) = strange; _Bool b;
  for (;;) { goto end; }
  switch (INT64_C(-1) + INT8_C(1)) { default: strlen(p, ...); asm("nop"); }
  z = &x[1] - &x[0]; return WHYCAST_NO_TENSOR;
end:
"""


def test_each_word_is_found() -> None:
    assert len(misra.spoken(WORDS)) == len(MATRIX["absent"]) + len(MATRIX["words"])


BROKEN = (
    ("15.1", "m = INT64_C(0);", "goto here; here: m = INT64_C(0);"),
    ("7.1", "b <= INT64_C(256)", "b <= 0400"),
    ("17.7", "(void) WHYCAST_MEMCPY", "WHYCAST_MEMCPY"),
    ("21.15", "wc_copy_bytes((uint8_t *) &v", "WHYCAST_MEMCPY(&v"),
    ("18.4", "&z[q + have]", "z + (q + have)"),
    ("12.1", "k = (i - rank) + ranks[m];", "k = i * rank + ranks[m];"),
    ("5.3", "within", "wc_rest"),
    ("21.1", "#include <string.h>", "#include <string.h>\n#define strcpy memcpy"),
    ("10.8", "(size_t) n);", "(size_t) (n + n));"),
)


def test_broken_rules_are_told(tmp_path: Path) -> None:
    found = misra.reports(copied(tmp_path, BROKEN))
    listed = MATRIX["reports"]
    assert [rule for rule, _, _ in BROKEN if found.get(rule, 0) <= listed.get(rule, 0)] == []
