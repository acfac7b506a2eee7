"""The printers for Python and C print programs that compute as WhyML does, and refuse all others.

The committed files show the form of printed programs; `extract --check` compares them.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import drawn
import pytest

from gate import closed

F = "let f (x y: INT) : INT = "

# Programs that both printers refuse, by message.
REFUSED = {
    "the program depends on ghost code here": [
        F + "let (a, _), _ = (x, y), (ghost (0: INT)) in a",
        F + "match ghost true with False -> absurd | True -> x end",
        F + "if (ghost false) then absurd else x",
    ],
    "a pattern without a constructor is not supported": [F + "let a, _ = (x, y) in a"],
    "a local exception that is no return of the function is not supported": [
        "let f (m: MEM) (x y: INT) : INT = let ghost _g = (exception Out in"
        " begin put m (1: INT) y; ghost (0: INT) end) in x",
        F + "let ref i = x in while i < y do if i = x then break; i <- i + x done; i",
        F + "exception Out INT in try (try if x < y then raise (Out x); y with Out m -> m end) + x"
        " with Out m -> m end",
        F + "(exception Out () in try while true do raise (Out (let _ = call x y in ())) done"
        " with Out _ -> () end); x",
    ],
    "a value that is ignored is not supported": [
        "let f (m: MEM) (x y: INT) : INT = let ghost _g = change m x in y"
    ],
    "may be an alias": [F + "let a = ref x in let b = a in b.contents <- y; a.contents"],
    "escapes: it may only be read and assigned here": [
        "let g (a: 'a) : INT = let _ = a in 1  " + F + "let ref r = x in let k = g &r in k + r"
    ],
    "a reference may only be a local variable": ["let f (r: ref INT) : INT = r.contents"],
    "a local function is not supported": [F + "let h (z: INT) : INT = z + y in h (h x)"],
}

NEITHER = "has neither a definition that is extracted nor a syntax in the driver"
NO_PYTHON = {
    "the type t is neither in the driver nor a record nor one of several": [
        "type t  let f (a: t) : t = a"
    ],
    "the type t has a field that changes": [
        "type t = private { mutable hits: int }  let f (c: t) : int = c.hits",
        "type t = { mutable hits: int; other: int }  let f (c: t) : int = c.hits",
    ],
    "t is recursive, which is not supported": [
        "type t = A u | B with u = C t | D  let f (a: t) : t = a"
    ],
    NEITHER: [
        "type t = A t | B  let f (a: t) : t = a",
        "type point = { x: int; y: int }  let f (p: point) : int = p.x",
        "let f (x: real) : real = x",
        # In Why3 1.5.1 the contract of Seq.get has no bounds.
        "use seq.Seq  let f (s: seq int) : int = Seq.get s 0",
    ],
    "f is recursive, which is not supported": [
        "let rec f (n: int) : int diverges = if n = 0 then 0 else f (n - 1)"
    ],
    "a function that is a value is not supported": [
        "let apply (h: int -> int) (n: int) : int = h n  " + F + "apply (fun z -> z + y) x"
    ],
    "a match of values and of exceptions is not supported": [
        F + "match (if x < y then raise Stop; x = 1) with"
        " True -> x | False -> y | exception Stop -> 3 end"
    ],
    "no Python: invalid syntax": ["let class (n: int) : int = n"],
    "no Python: alternative patterns bind different names": [
        "type t = A int | B int  let f (a: t) : int = match a with A n | B n -> n end"
    ],
    "a name for two things: max": ["let max (n: int) : int = n"],
    "a name for two things: len": ["let f (len: int) : int = len"],
    "a name for two things: f": [
        "let f (n: int) : int = n  let g (n: int) : int = let a = f n in let f = a + 1 in f * f"
    ],
    "a name for two things: Error": ["exception Error  type t = Error | Other"],
    "c is a constant, which is not supported": ["let constant c : int = 3  " + F + "x + c"],
    "cannot be extracted": [F + "x + any int"],
    "mod has no body": ["use int.ComputerDivision  " + F + "mod x 3"],
    "has no body and no syntax in the driver": ["val constant unknown : int  " + F + "unknown + x"],
    "a pattern with a variable of this type is not supported": [
        "type t 'a = A 'a | B  let f (a: t 'a) (b: 'a) : 'a = match a with A n -> n | B -> b end"
    ],
    "a value that takes statements has to be that of a variable": [
        F + "let ref i = x in while (i <- i + 1; i < y) do i <- i + 1 done; i"
    ],
    "a handler that uses the value of an exception is not supported": [
        F + "try if x = 1 then raise (Found 5); x with Found k -> k end"
    ],
}

NO_C = {
    "unknown has no C here": ["val unknown (x: int64) : int64  " + F + "unknown x"],
    "prefix - has no C here": [F + "- x"],
    "f has no C here": [
        "let f (_x: int64) : int64 = any int64  let g (x: int64) : int64 = f x",
        "let rec f (x: int64) : int64 diverges = if x = 0 then 0 else f (x - 1)",
    ],
    "infix + has no C here": ["use int.Int as I  let f (x: int) : int = I.(x + 1)"],
    "r has no C here": ["type r = { a: int64; b: int64 }  let f (x: int64) : r = { a = x; b = x }"],
    "Could not print declaration of wc_f": ["let f (x: int64) : bool = x = 1"],
    "E has no C here": [
        "exception E  let f (x: int64) : int64 raises { E } = if x = 0 then raise E; x"
    ],
    "in a scope": ["scope S let f (x: int64) : int64 = x end  " + F + "S.f x"],
    "width has no C here": ["use c.words.Words  let f (_x: int64) : int64 = width"],
    "counts a loop, which has no C here": [F + "let ref a = x in for i = y to x do a <- y done; a"],
}


CASES = [
    pytest.param(language, text, message, id=f"{language}-{text}")
    for language, tables in (("python", (REFUSED, NO_PYTHON)), ("c", (REFUSED, NO_C)))
    for table in tables
    for message, texts in table.items()
    for text in texts
]


@pytest.mark.parametrize(("language", "text", "message"), CASES)
def test_refusals_name_places(language: str, text: str, message: str, tmp_path: Path) -> None:
    file, whole = tmp_path / "refused.mlw", drawn.module([text], language)
    file.write_text(whole, encoding="utf-8")
    with pytest.raises(closed.ToolError) as refusal:
        drawn.printed(file, language)
    said = str(refusal.value)
    # Why3 1.8.0 itself refuses a ghost definition with an effect, before the printer reads it.
    if "let ghost _g" not in text or "This expression makes a ghost" not in said:
        assert message in said
    line = whole.count("\n") - 1
    assert set(re.findall(r'refused\.mlw", line (\d+)', said)) <= {str(line)}


CHANGING = """use seq.Seq as S  use kernel.trusted.Tuple
  let changing (s t: S.seq int) : int = let ref r = s in let ref n = 0 in
    for i = 0 to S.length r - 1 do let x = ix r i in n <- 10 * n + x; r <- t done; n"""


def test_a_loop_over_what_changes_is_one_over_its_indices(tmp_path: Path) -> None:
    file = tmp_path / "loops.mlw"
    names: dict[str, Any] = {"__name__": "drawn"}
    file.write_text(drawn.module([CHANGING], "python"), encoding="utf-8")
    exec(drawn.printed(file, "python"), names)
    assert names["changing"]((1, 2), (3, 4)) == 14


@pytest.mark.parametrize("language", ["python", "c"])
def test_drawn_programs_compute_what_whyml_does(language: str) -> None:
    count = Counter[str]()
    # Each fourth seed may draw what printers mostly refuse; each refusal costs runs of Why3.
    programs = [drawn.drawn(seed, language) for seed in range(60) if seed % 4]
    # Why3's own passes would drop the effect of this ghost definition.
    text = "let ghost _g = begin put m (1: INT) y; ghost (0: INT) end in x"
    ghost = drawn.Program("ghost", text, {(2, 1): [2, 4, 1, 7, 2]})
    assert [*drawn.compare([*programs, ghost], language, count)] == []
    assert count["compared"] >= 35
