"""The C that Why3 prints, as a person writes it: what changes, and all that is refused."""

from __future__ import annotations

import pytest

from gate import c_text
from gate.closed import ToolError


def written(text: str, above: tuple[str, ...] = ()) -> str:
    """Write a function, or one with this body, that may name others above it."""
    if "{" not in text.partition("(")[0] and not text.startswith(("int64_t f", "void f")):
        text = f"int64_t f(int64_t a, int64_t b, int64_t *s) {{ {text} }}"
    function = c_text.parse(text, "here")
    names = {**{name: f"{name}_2" for name in above}, "f": "f"}
    return c_text.write(function, c_text.Known(names, {"load_2"}), static=True).text


def body(text: str, above: tuple[str, ...] = ()) -> list[str]:
    """Give the lines of a function with this body."""
    return written(text, above).splitlines()[2:-1]


# What Why3 prints, and what is written.
CHANGED = {
    # Numbers.
    "return a + INT64_C(1);": ["    return a + 1;"],
    "return INT64_C(-1) - a;": ["    return -1 - a;"],
    "return INT64_C(0x7FFFFFFFFFFFFFFF) / a;": ["    return INT64_MAX / a;"],
    "return a + INT64_C(40000);": ["    return a + INT64_C(40000);"],
    # Conditions.
    "while (!(a == b)) { a = b; }": ["    while (a != b) {", "        a = b;", "    }"],
    "while (!(a == b) && !(b < a)) { a = b; }": [
        "    while (a != b && !(b < a)) {",
        "        a = b;",
        "    }",
    ],
    "while (!(s[a == b] == b)) { a = b; }": [
        "    while (s[a == b] != b) {",
        "        a = b;",
        "    }",
    ],
    "return !(a == b) == b;": ["    return !(a == b) == b;"],
    "while (a < b && (b < a && a == b)) { }": ["    while (a < b && b < a && a == b) {", "    }"],
    "while (a < b && (b < a || a == b)) { }": ["    while (a < b && (b < a || a == b)) {", "    }"],
    "while ((a < b && b < a) && a == b) { }": ["    while ((a < b && b < a) && a == b) {", "    }"],
    # Branches.
    "if (a < b) { return a; } else { if (b < a) { return b; } else { a = b; } } return a;": [
        "    if (a < b) {",
        "        return a;",
        "    } else if (b < a) {",
        "        return b;",
        "    } else {",
        "        a = b;",
        "    }",
        "    return a;",
    ],
    # Declarations.
    "int64_t x, y; x = a; y = b; return x + y;": [
        "    int64_t x = a;",
        "    int64_t y = b;",
        "    return x + y;",
    ],
    "int64_t x; while (a < b) { x = a; a = x + b; } return a;": [
        "    while (a < b) {",
        "        int64_t x = a;",
        "        a = x + b;",
        "    }",
        "    return a;",
    ],
    "int64_t x; while (a < b) { x = a; a = b; } return x;": [
        "    int64_t x;",
        "    while (a < b) {",
        "        x = a;",
        "        a = b;",
        "    }",
        "    return x;",
    ],
    "int64_t x; if (a < b) { x = a; } else { x = b; } return x;": [
        "    int64_t x;",
        "    if (a < b) {",
        "        x = a;",
        "    } else {",
        "        x = b;",
        "    }",
        "    return x;",
    ],
    "int64_t x; while (x < a) { x = a; } return a;": [
        "    int64_t x;",
        "    while (x < a) {",
        "        x = a;",
        "    }",
        "    return a;",
    ],
    "const int64_t * x; x = s; return x[a - INT64_C(1)];": [
        "    const int64_t *x = s;",
        "    return x[a - 1];",
    ],
    # Layout.
    "memcpy(s + a, s + b, (size_t) a);": ["    memcpy(s + a, s + b, (size_t)a);"],
    "(void) a;": ["    (void)a;"],
    "s[a] = load_2(s) * (a - b);": ["    s[a] = load_2(s) * (a - b);"],
}


@pytest.mark.parametrize("text", CHANGED)
def test_what_is_written(text: str) -> None:
    assert body(text) == CHANGED[text]


def test_names() -> None:
    assert body("return g(a, g(b, a));", ("g",)) == ["    return g_2(a, g_2(b, a));"]


def test_a_return_at_the_end_is_left_out_and_no_other() -> None:
    text = "void f(int64_t a) { if (a < a) { a = a; return; } else { a = a; return; } }"
    assert "return" not in written(text)
    text = "void f(int64_t a) { while (a < a) { return; } if (a < a) { return; } a = a; return; }"
    assert written(text).count("return;") == 2
    assert "return;" in written("void f(int64_t a) { while (a < a) { return; } }")


def test_long_lines() -> None:
    found = written(f"return {' + '.join('a' * 60)};")
    assert max(map(len, found.splitlines())) <= 100
    many = ", ".join(f"const int64_t *const * parameter_{n}" for n in range(6))
    lines = written(f"int64_t f({many}) {{ return INT64_C(0); }}").splitlines()
    assert lines[0] == "static int64_t f(const int64_t *const *parameter_0," + (
        " const int64_t *const *parameter_1,"
    )
    assert lines[1].startswith("                 const int64_t *const *parameter_2,")
    assert lines[3:] == ["{", "    return 0;", "}"]


# What is refused, and why.
REFUSED = {
    "return c;": "c is not known there",
    "return g(a);": "g is not known there",
    "return f(a);": "f is not known there",
    "return width_1();": "width_1 is not known there",
    "malloc(a);": "malloc is not known there",
    "return s->size;": "expected tensor or axis: size",
    "int64_t a; a = b; return a;": "a has two meanings",
    "const int64_t * f; f = s; return a;": "f has two meanings",
    "int64_t load_2; load_2 = b; return a;": "load_2 has two meanings",
    "int64_t memcpy; memcpy = b; return a;": "memcpy has two meanings",
    "int64_t x; return a;": "x is not used",
    "int64_t * x, * y; return a;": "expected a type of its own",
    "return INT64_C(300) * INT64_C(300);": "numbers alone",
    "for (a = b; a < b; a = b) { }": "here: ",
    "do { a = b; } while (a < b);": "here: ",
    "goto end;": "expected the end: end",
    "return a ? b : a;": "not known: ' . b",
    "return a & b;": "not known: ' & b",
    "return a++;": "expected an operand instead of .",
    "return a b;": "expected the end",
    "return -;": "expected more",
    "a + ;": "expected more",
    ";": "expected more",
    "return s[a;": "parentheses",
    "return (int64_t) a;": "int64_t is not known|expected the end",
    "return *s;": "expected an operand",
    "return &s;": "not known",
    'return "text";': "not known",
    "return 1.5;": "not known",
    "/* a comment */ return a;": "not known|not known there|expected",
    "#define X\n return a;": "not known",
    "float x; x = a; return a;": "expected the end: x",
    "static int64_t x; x = a; return x;": "expected the end: int64_t x",
    "if (a < b) return a;": "expected {",
    "return a; } int64_t g(int64_t a) { return a;": "expected one function",
    "switch (a) { }": "switch|parentheses",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match=REFUSED[text]):
        written(text)


@pytest.mark.parametrize(
    "text", ["int64_t f = INT64_C(1);", "typedef int64_t f;", "int64_t f(int64_t a);"]
)
def test_what_is_no_function(text: str) -> None:
    with pytest.raises(ToolError):
        written(text)
