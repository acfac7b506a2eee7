"""The trusted operations: the gate's trials notice wrong operations."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate import closed, mapped, trial, trial_c
from gate.mapped import Entry
from gate.program import Program

ROOT = Path(__file__).parents[2]
PYTHON = "why3/kernel/trusted.mlw"


def mapped_to(language: str) -> tuple[dict[str, Entry], Mapping[str, trial.Operation]]:
    vals = {entry.name: entry for entry in mapped.read(ROOT, language) if entry.kind == "val"}
    modules = sorted({entry.module for entry in vals.values()})
    return vals, trial.compiled(Program(ROOT, "whycontract").ask("operations", *modules), language)


def test_the_python_of_another_operation_is_noticed() -> None:
    """[E_Broadcast_any_Derived_190] [E_Broadcast_any_Derived_550]"""
    entries, there = mapped_to("Python")
    texts = {entry.template for entry in entries.values()}
    holes = {text: max(re.findall(r"%(\d)", text), default="") for text in texts}
    unnoticed = {
        (name, other)
        for name, entry in entries.items()
        for other in holes.keys() - {entry.template}
        if holes[other] == holes[entry.template]
        and not any(trial.faults(there[name], entry._replace(template=other), None))
    }
    # Here the text of the other operation means the same.
    assert unnoticed <= {("array.Array.copy", "%1[%2:]")}


# Operations, each with C that does something else.
WRONG = """
ref.Ref.(!_)|-%1
ref.Ref.(:=)|%1 = %1
mach.int.Int64.(+)|%1 + %2 * 1 + 1
mach.int.Int64.(-)|%2 - %1
mach.int.Int64.(*)|(int64_t) ((int) %1 * (int) %2)
mach.int.Int64.(/)|%1 / %2 - (%1 < 0)
mach.int.Int64.(=)|%1 <= %2
mach.int.Int64.(<=)|%1 < %2
mach.int.Int64.(>)|(uint64_t) (%1) > (uint64_t) (%2)
c.trusted.Memory.size_at|%1[%2 + 1]
c.trusted.Memory.put|%1[%2] += %3
c.trusted.Memory.read_only|%1 + 1
c.trusted.Memory.copy_input|wc_copy_bytes(&%1[%2], &%3[%4], %5 + 1)
c.trusted.Memory.copy_input|wc_copy_bytes(&%1[%2], %3, %5)
c.trusted.Memory.copy|wc_copy_bytes(&%1[%2], &%1[%3], (%4) / 2)
c.trusted.Memory.copy|wc_copy_bytes(&%1[%2], &%1[%3 + 1], %4)
c.trusted.Word2.load|wc_load_2(&%1[%2 + 1])
c.trusted.Word4.load|(uint32_t) wc_load_2(&%1[%2])
c.trusted.Word8.load|*(const uint64_t *) &%1[%2]
c.trusted.Word8.store|wc_store_8(%1, %3)
c.trusted.Arrays.shape_at|*%1
c.trusted.Arrays.lend|%1[0]
c.trusted.Arrays.give_back|*%2 = 0
c.trusted.Arrays.give_back|free(%2)
c.trusted.Arrays.set_tensor|%1->axis = %2
c.trusted.Arrays.set_axis|(void) 0
"""


def test_c_that_does_something_else_is_noticed(tmp_path: Path) -> None:
    vals, there = mapped_to("C")
    changed, signatures = list[tuple[trial.Operation, Entry]](), dict[str, Any]()
    for line in WRONG.strip().splitlines():
        name, template = line.split("|", 1)
        own = f"{name} {len(changed)}"
        signatures[own] = (there[name].arguments, there[name].result)
        changed.append((there[name], vals[name]._replace(name=own, template=template)))
    others = [entry for entry in mapped.read(ROOT, "C") if entry.kind != "val"]
    entries = [*others, *(entry for _, entry in changed)]
    driver = trial_c.Driver(entries, signatures, tmp_path)
    assert [e.template for each, e in changed if not any(trial.faults(each, e, driver))] == []


# This is false, but the three cubes with the sum 33 are too large for a trial.
CUBES = "forall x y z. x * x * x + y * y * y + z * z * z <> 33"
CONTRACTS = {
    f"ensures {{ {CUBES} }}": "cannot be believed|has no value: UndecidedError",
    "returns { r -> r = s[0] }": "ensures .* is not true",
    "ensures { result = s[i] /\\ i < 7 }": "ensures { i < 7 } is not true",
    "requires { length s < 0 }": "its requires allow none",
    "raises { Exit -> true }": "raises: that cannot be tried",
}


@pytest.mark.parametrize("condition", CONTRACTS)
def test_what_a_contract_says_too_much_is_noticed(tmp_path: Path, condition: str) -> None:
    (tmp_path / PYTHON).parent.mkdir(parents=True)
    text = f"""\
module Tuple
  use int.Int
  use seq.Seq
  exception Exit
  val ix (s: seq 'a) (i: int) : 'a
    requires {{ 0 <= i < length s }}
    {condition}
end
"""
    (tmp_path / PYTHON).write_text(text, encoding="utf-8")
    there = Program(ROOT, "whycontract").ask("operations", "kernel.trusted.Tuple", cwd=tmp_path)
    (operation,) = trial.compiled(there, "Python").values()
    (entry,) = (each for each in mapped.read(ROOT, "Python") if each.name == operation.name)
    found = list(trial.faults(operation, entry, None))
    assert len(found) == 1
    assert re.search(CONTRACTS[condition], found[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('syntax function get "%1[%2]" (* so *)', "1: not understood: syntax function"),
        ("use import x", "1: not understood: use"),
        ('module m\n  syntax val f "%1"\nend', "2: m.f has no reason beside it"),
        ("module m module n", "1: a module in a module"),
    ],
)
def test_what_a_driver_may_not_hold_is_refused(text: str, said: str) -> None:
    with pytest.raises(closed.ToolError, match=re.escape(said)):
        list(mapped.entries(text))


def test_a_driver_is_read_to_the_letter() -> None:
    text = 'prelude "a\\\n\\nb" (* one *)\nmodule m.M\n'
    text += '  syntax val ( *= ) "%1" prec 3 2\n    (* two *)\nend'
    prelude, times = mapped.entries(text)
    assert (prelude.kind, prelude.template, prelude.reason) == ("prelude", "a\nb", "one")
    expected: Any = ("val", "m.M", "m.M.(*=)", "%1", (3, 2), 'syntax val ( *= ) "%1" prec 3 2')
    assert tuple(times)[:-2] == expected
    assert times[-2:] == ("two", 4)
