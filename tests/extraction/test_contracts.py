"""Conditions of contracts: Python evaluates whycontract's terms for integers."""

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
import z3

from gate import closed
from gate.program import Program
from gate.terms import Theories, UndecidedError, UndefinedError, UnknownError
from validate.paths import Explorer, Number, Unknown
from validate.validation import OfUnknown

# For each construct a condition, and its value for the argument 3, or why it has none.
CONDITIONS: dict[str, bool | str] = {
    "exists k. 0 <= k < n /\\ k * k = 4": True,
    "forall j k. 0 <= j < k < n -> j + k <= 3": True,
    "(forall k. below k n -> k < 3) /\\ (forall k. 3 <= k < 3 -> false) /\\ exists k. k > 9": True,
    "let m = n + 1 in m = 4 && (m = 5 -> false)": True,
    "match Some n with None -> false | Some m -> m = 3 end": True,
    "match if n < 9 then Some (n, n) else None with Some (m, _) -> m = 3 | _ -> false end": True,
    "(fun k -> k = n) 3 /\\ max n 2 = 3 /\\ min n 2 = 2 /\\ if n = 3 then true else false": True,
    "(create n (fun k -> k * k))[2] = 4 /\\ create 2 (fun k -> k) = cons 0 (singleton 1)": True,
    "(cons 7 (cons 8 (cons 9 (singleton n))))[n] = 3 /\\ (singleton n)[0 <- 4][0] = 4": True,
    "(create n (fun k -> k))[1 <- 5][1] = 5 /\\ (fun k -> k = n) = (fun k -> n = k)": True,
    "div (- n) 2 = -2 /\\ mod (- n) 2 = 1 /\\ factorial n = 6": True,
    "div (-7) (-2) = 4 /\\ mod (-7) (-2) = 1 /\\ div 7 (-2) = -3": True,
    "forall k. k < 5 -> k < n": False,
    "forall k. k <> 7": False,
    "forall k. 2 <= k < 4 -> k = 2": False,
    "forall k: int. false": False,
    "Some n = None": False,
    "n = 3 <-> n = 4": False,
    "(create n (fun k -> k))[3] = 0": "has no value",
    "(create n (fun k -> k))[-1] = 0": "has no value",
    "length (create (-1) (fun k -> k)) = 0": "has no value",
    "factorial (-1) = 1": "has no value",
    "div n 0 = 0": "has no value",
    "forall k. k + 1 > k": "has no value",
    "forall k. 0 <= k -> k * 2 >= 0": "has no value",
    "forall k. 0 <= k -> forall j. 0 <= j -> j < k": "has no value",
    "forall k. 0 <= k < 20000 -> 0 <= k": "has no value",
    "Some (fun k -> k) = Some (fun k -> k + n)": "has no value",
    "forall f: int -> int. f n = f n": "all values of the type int -> int",
    "match n, n with a, _ | _, a -> a = n end": "a pattern that is no constructor's",
    "through_unknown n": "through_unknown: small.Small.unknown has no",
    "n = 4 \\/ 2.0 = 3.0": "a literal that is no integer",
    "inductively n": "inductively has no definition",
}

SMALL = """
module Small
  use int.Int
  use int.MinMax
  use int.EuclideanDivision
  use seq.Seq
  use option.Option
  predicate below (k n: int) = 0 <= k < n
  predicate unknown (n: int)
  predicate through_unknown (n: int) = n = 0 \\/ unknown n
  inductive inductively int = | Base: inductively 0
  let rec ghost function factorial (n: int) : int
    requires { 0 <= n }
    variant { n }
  = if n = 0 then 1 else n * factorial (n - 1)
"""


def test_what_a_condition_comes_to(tmp_path: Path) -> None:
    """Compute each condition for 3, and for an unknown integer that equals 3."""
    programs = [
        f"  let condition_{i} (n: int) : unit\n    ensures {{ {text} }}\n  = ()"
        for i, text in enumerate(CONDITIONS)
    ]
    (tmp_path / "why3").mkdir()
    (tmp_path / "why3/small.mlw").write_text("\n".join([SMALL, *programs, "end\n"]), "utf-8")
    whycontract = Program(closed.ROOT, "whycontract")
    with pytest.raises(closed.ToolError, match="ended with 1"):
        whycontract.ask("programs", "small.Nothing", cwd=tmp_path)
    small = whycontract.ask("programs", "small.Small", cwd=tmp_path)
    known, unknown = Theories(small["definitions"]), OfUnknown(small["definitions"])
    found = {p["name"].rpartition("condition_")[2]: p["conditions"] for p in small["programs"]}

    def value(theories: Theories, number: int, n: Any) -> Any:
        conditions = [theories.compiled(each["holds"])({}) for each in found[str(number)]]
        return all(each(n, None) for each in conditions)

    for number, (text, expected) in enumerate(CONDITIONS.items()):
        if isinstance(expected, bool):
            assert value(known, number, 3) is value(unknown, number, 3) is expected, text
        elif expected == "has no value":
            with pytest.raises((UndefinedError, UndecidedError)):
                value(known, number, 3)
        else:
            for theories in (known, unknown):
                with pytest.raises(UnknownError, match=re.escape(expected)):
                    value(theories, number, 3)
            continue
        explorer = Explorer()
        n = Number(explorer, z3.Int("n"))
        # Allowed: a condition has no value, or needs more than comparisons.
        with contextlib.suppress(UndefinedError, UndecidedError, Unknown, TypeError):
            assert {value(unknown, number, n) for _ in [0] if n == 3} == {expected}, text
