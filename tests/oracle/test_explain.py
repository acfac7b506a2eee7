"""The subcommand explain: its text, its steps, the rules side by side, and why they differ."""

from __future__ import annotations

import json
import re
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
from command_line import SMALL, Run, Shape, small_operands, word
from plain_rule import walk

from gate import toml
from whycast._command._alignment import alignment, lines, named_alignment
from whycast._command._arguments import NamedShape, answered, names_in, operands
from whycast._command._explain import _loops
from whycast._command._verdicts import findings, verdicts
from whycast._errors import BroadcastError
from whycast._rules import RULES, Operands
from whycast.symbolic import Answer, NeverError

ROOT = Path(__file__).parents[2]

REFUSED = """\
SONNX: 2x0, 2x1 -> refused

        axis  0    1  clause
step 1  dY0   2    0  E_Broadcast_any_Step1_020
        dY1   2    1  E_Broadcast_any_Step1_020
step 2  dY    2    1  E_Broadcast_any_Step2_030
E1      dY0      >0<  E_Broadcast_any_E1_010

><: does not fit

shapes do not broadcast (E1): axis 1 of the common rank 2, tensor 0 has size 0,
  expected 1 [E_Broadcast_any_Derived_010]

rule                    result
sonnx                   refused  axis 1: 0, expected 1
numpy                   2x0
numpy-to                refused  axis 1: 0, expected 1
expand                  2x0
openvino-numpy          refused  axis 1: 0, expected 1
openvino-explicit       refused  axis 1: 0, expected 1
openvino-bidirectional  2x0
ngraph                  refused  axis 1: 0, expected 1
in-dim                  refused  axis 1: 0, expected 1
torch-expand            refused  axis 1: 0, expected 1

F2: a size of 0 meets a 1 by NumPy's rule, which ONNX and OpenVINO take; by
    SONNX's the maximum is 1, and the 0 is error E1.
E_OpenvinoBroadcast_any_Modes_020: mode numpy broadcasts the data to the target,
    never the target to the data.
"""


def test_text(run: Run) -> None:
    assert run("explain 2x0 2x1") == (1, REFUSED, "")
    said = run("explain --rule in-dim 3x1 2x3 --axes 1,0").out
    for line in (
        "broadcast_in_dim: 3x1 to 2x3, broadcast_dimensions 1,0 -> 2x3",
        "        its axes  1   0  E_BroadcastInDim_any_Axes_010",
        "index   operand   0  i1  E_BroadcastInDim_any_Data_010",
        "i0: the index on axis 0;  0: the first element",
        "                                 increasing axes, got 0 after 1 (unsorted)",
        "ngraph                  -        its axes are a set of the target's",
        "F17: mode numpy, like the rules without axes, places a tensor on the last axes;",
        "F18: the axes of mode explicit increase strictly; those of broadcast_in_dim are",
    ):
        assert f"\n{line}\n" in f"\n{said}"


NAMED = """\
SONNX: 4×N, M -> 4×N|M

        axis    0     1  clause
step 1  dY0     4     N  E_Broadcast_any_Step1_020
        dY1   (1)     M  E_Broadcast_any_Step1_020
step 2  dY      4   N|M  E_Broadcast_any_Step2_030
        dZ      4   N|M  E_Broadcast_any_Step2_040
f       Z0     i0  i1|0  E_Broadcast_any_F_020
        Z1      0  i1|0  E_Broadcast_any_F_020

(1): prepended;  N|M: the one that is not 1;  i0: the index on axis 0;  0: the
  first element;  i0|0: 0 where the size is 1

if  axis 1  N = 1 or M = 1 or N = M  E_Broadcast_any_Derived_580
    axis 1  N and M are not 0 and 1  E_Broadcast_any_Derived_590

rule                    result
sonnx                   4×N|M    if (N = 1 or M = 1 or N = M) and N and M are
                                 not 0 and 1
numpy                   4×N|M    if N = 1 or M = 1 or N = M
numpy-to                refused  axis 0: 4, none in the target
"""
NEVER = """\
OpenVINO numpy: N×N to 5x4 -> refused

        axis          0    1  clause
sizes   data          N    N  E_OpenvinoBroadcast_any_Modes_020
output  target_shape  5    -  E_OpenvinoBroadcast_any_Inputs_020
error   data             >N<  E_OpenvinoBroadcast_any_Modes_020

><: does not fit

shape (5, 5) does not broadcast to (5, 4): axis 1 of the target's rank 2, the
  shape has size 5, expected 4 or 1; other sizes demand N = 5
  [E_Broadcast_any_Derived_670]

rule                    result
sonnx                   refused  axis 1: 5 beside 4
"""


def test_text_with_names(run: Run) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_670]"""
    done = run("explain 4,N M")
    assert (done.code, done.out[: len(NAMED)]) == (0, NAMED)
    assert "\nngraph                  -        takes numbers\n" in done.out
    assert "\n\nF2: a size of 0" in done.out
    assert run("explain N 1 --rule numpy").out.count("N is not 0") == 1
    done = run("explain N,N 5,4 --rule openvino-numpy --known N>1")
    assert (done.code, done.out[: len(NEVER)]) == (1, NEVER)
    assert "\nstep 2  dY    N    -  -  E_Broad" in run("explain N,3,3 N,4,5").out
    said = json.loads(run("explain N M --known N>1,M>1 --rule numpy --json").out)
    assert [line["cells"] for line in said["steps"][-2:]] == [["i0"], ["i0"]]
    assert said["verdicts"][2]["condition"] == ["N = M"]


def test_agreement(run: Run) -> None:
    assert run("explain () ()").out.endswith("Every rule that can be asked gives the same.\n")
    assert run("explain 3").out.count("takes two shapes") == 8
    said = "\nngraph                  -        no axes of the target to lie on\n"
    assert said in run("explain 3x1 4").out
    assert said[-34:] in run("explain --rule ngraph 2 2 --axes 7").out
    assert run("explain 2 3").out.endswith("\nEvery rule that can be asked refuses.\n")


def test_json(run: Run) -> None:
    done = run("explain 2x0 1 --json")
    said = json.loads(done.out)
    assert (done.code, said["axis"], said["tensor"]) == (1, 1, 0)
    assert said["refused"].startswith("shapes do not broadcast (E1)")
    assert said["steps"][1] == {
        **{"step": "step 1", "name": "dY1", "cells": [1, 1], "prepended": [0], "wrong": []},
        "clause": "E_Broadcast_any_Step1_020",
    }
    assert [verdict["rule"] for verdict in said["verdicts"]] == list(RULES)
    assert said["verdicts"][1] == {"rule": "numpy", "result": [2, 0]}
    assert said["verdicts"][-2]["asked"] is False
    assert said["findings"][0]["id"] == "F2"
    assert json.loads(run("explain --rule expand 3 1 --json").out)["result"] == [3]


def test_steps_of_small_shapes() -> None:
    """The steps show the element's index, the output's sizes and the first fault."""
    for rule, asked, words in small_operands():
        error, aligned = rule.refusal(asked), alignment(rule, asked)
        if aligned is None:
            assert error is not None, words
            assert not isinstance(error, BroadcastError) or error.target is None, words
            continue
        steps = lines(rule, aligned, accepted=error is None)
        if error is None:
            result = rule.shape(asked) or ()
            assert aligned.sizes == result, words
            found = [line for line in steps if line.step in ("f", "index")]
            for line, own in zip(found, asked.shapes, strict=True):
                one = asked if asked.target is not None else Operands((own,), result)
                kept = [line.cells[axis] for axis in rule.places(len(own), result, one.axes)]
                for place in product(*map(range, result)):
                    by_axis = [0 if cell == 0 else place[int(str(cell)[1:])] for cell in kept]
                    assert rule.source(one, place) == tuple(by_axis)
        else:
            assert isinstance(error, BroadcastError), words
            wrong = [line for line in steps if line.wrong]
            places = [(line.name, axis) for line in wrong for axis in line.wrong]
            if rule.name == "sonnx":
                assert places[0] == (f"dY{error.tensor}", error.axis), words
            else:
                assert min(axis for _, axis in places) == error.axis, words
            assert all(line.cells[axis] is not None for line in wrong for axis in line.wrong), words


def test_a_figure_with_names_is_that_of_their_numbers() -> None:
    """Skip numbers that the rule refuses; on axes of size 1 every index is 0.

    [E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_670]
    """
    shapes: list[NamedShape] = [("N",), ("M", 2), (1, "N"), ("N", "N"), (0, "M"), ("K", "M", 2)]
    named = [rule for rule in RULES.values() if rule.named]
    for rule, *pair in product(named, shapes, shapes):
        asked = operands(rule, pair, None)
        said = answered(rule, asked, ())
        assert isinstance(said, (Answer, NeverError))
        aligned = named_alignment(rule, asked, said, ())
        steps = lines(rule, aligned, accepted=isinstance(said, Answer)) if aligned else []
        wrong = isinstance(said, NeverError) and said.target is not None
        assert sum(len(line.wrong) for line in steps) == wrong
        assert bool(steps) == (wrong or isinstance(said, Answer))
        for sizes in product(range(3), repeat=3):
            values = dict(zip("NMK", sizes, strict=True))
            own = [tuple([values.get(str(size), size) for size in shape]) for shape in pair]
            there = operands(rule, own, None)
            output = rule.shape(there)
            if isinstance(said, NeverError):
                assert output is None
                continue
            known = {name: values[name] for name in names_in(pair)}
            assert said.holds(known) == (output is not None), (rule.name, pair, known)
            if output is None:
                continue
            exact = alignment(rule, there)
            assert exact is not None
            for line, other in zip(steps, lines(rule, exact, accepted=True), strict=True):
                assert line[:2] == other[:2]
                for axis, (cell, number) in enumerate(zip(line.cells, other.cells, strict=True)):
                    found = [values.get(each, each) for each in str(cell).split("|")]
                    if line.step in ("f", "index"):
                        assert str(number) in map(str, found) or output[axis] == 1
                    else:
                        assert str(next((z for z in found if z != 1), 1)) == str(number)


def test_loops_visit_all_elements() -> None:
    """[E_Broadcast_any_Derived_560]"""
    for rule, asked, words in small_operands():
        if (result := rule.shape(asked)) is None:
            continue
        text = _loops(rule, asked, result).partition(")  ")[2].partition(" [")[0]
        loops = [[int(n) for n in re.findall("[0-9]+", loop)] for loop in text.split(";")]
        sizes, steps = zip(*[(loop[0], tuple(loop[1:])) for loop in loops], strict=True)
        outputs = rule.broadcast(
            [np.arange(prod(shape)).reshape(shape) for shape in asked.shapes], asked
        )
        assert walk(sizes, steps) == [*zip(*(z.flat for z in outputs), strict=True)], words


def test_clauses_and_findings_exist() -> None:
    texts = toml.loads((ROOT / "why3" / "trace.toml").read_text(encoding="utf-8"))
    known = {clause for text in texts.values() for clause in text}
    headings = re.findall(r"(?m)^## (F\d+)$", (ROOT / "proofs" / "FINDINGS.md").read_text("utf-8"))
    used = set()
    for rule, asked, _ in small_operands():
        used |= set(rule.clauses.values())
        if (aligned := alignment(rule, asked)) is not None:
            accepted = rule.shape(asked) is not None
            used |= {line.clause for line in lines(rule, aligned, accepted=accepted)}
    assert used <= known
    assert len(used) > 25
    assert {*REASONS} <= {*headings, *known}


REASONS = ("F2", "F17", "F18", "F19", "E_OpenvinoBroadcast_any_Modes_020")


@pytest.mark.parametrize("axes", [None, (), (0,), (1,), (0, 1), (1, 0), (0, 0), (5,)])
def test_where_rules_differ_there_is_a_reason_and_only_there(axes: Shape | None) -> None:
    for own, target in product(SMALL, repeat=2):
        said = verdicts(RULES["sonnx"], Operands((own, target)), axes)
        given = {finding.id for finding in findings(said)}
        assert given <= {*REASONS}
        outcomes = {verdict.result for verdict in said if verdict.operands is not None}
        rank = max(len(own), len(target))
        last = tuple(range(rank - len(own), rank))
        if axes is None or (axes == last and rank == len(target)):
            assert bool(given) == (len(outcomes) > 1), (own, target)
        elif len(outcomes) > 1:
            assert given, (own, target)
        padded = [(1,) * (rank - len(shape)) + shape for shape in (own, target)]
        columns = list(zip(*padded, strict=True))
        if "F2" in given:
            assert any(set(column) == {0, 1} for column in columns)
        if "F19" in given:
            assert 1 in own
        if "E_OpenvinoBroadcast_any_Modes_020" in given:
            assert len(target) < len(own) or any(b == 1 != a for a, b in columns)


@pytest.mark.parametrize("words", ["", f"--rule in-dim --axes {','.join(map(str, range(40)))}"])
def test_a_high_rank_is_laid_out_in_blocks(run: Run, words: str) -> None:
    text = run(f"explain {word((3, 1) * 20)} {word((3, 4) * 20)} {words}").out.splitlines()
    assert max(map(len, text)) <= 80
    heads = [line.split()[1:-1] for line in text if line.split()[:1] == ["axis"]]
    assert [int(axis) for head in heads for axis in head] == list(range(40))
    for number, line in enumerate(text):
        if line.split()[:1] == ["axis"]:
            column = line.index("clause")
            assert text[number + 1][column : column + 2] == "E_"


def test_many_tensors_and_large_sizes(run: Run) -> None:
    done = run("explain " + " ".join(["3x1", "1x4"] * 20))
    assert "\n        Z39    0  i1  E_Broadcast_any_F_020\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    # The last axis, in the last block, does not fit.
    done = run(f"explain {word((3, 1) * 20 + (5,))} {word((3, 4) * 20 + (6,))}")
    assert (done.code, done.out.count("\nE1 ")) == (1, 1)
    done = run(f"explain {2**70}x1 {2**70}x{2**200}")
    assert done.code == 0
    assert f"  {2**70}" in done.out
    assert "2**200+" in done.out


def test_code_asks_for_no_rule_by_its_name() -> None:
    """Only a rule's description matters, so a new rule needs nothing more."""
    asked = r"(?m)^(?! *>>>).*(?:(?:\w(?<!Literal)\[|rule_named\()[\"']"
    compound = "|".join(name for name in RULES if "-" in name)
    named = re.compile(rf"{asked}(?:{'|'.join(RULES)})[\"']|\b(?:{compound})\b)")
    sources = (ROOT / "python" / "whycast").rglob("*.py")
    files = (path for path in sources if path.name != "_rules.py")
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    assert {name: found for name in texts if (found := named.findall(texts[name]))} == {}
