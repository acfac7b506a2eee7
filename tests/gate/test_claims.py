"""The gate refuses changes to statements, sentences and the lock that no proof notices.

Most tests seal invented facts, then change them.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from small_tree import same, write

from evidence.review import recorded
from gate import claims, theories
from gate.closed import ROOT

W, TRUSTED, WITNESS = ("why3/small.mlw", "why3/trusted/a.mlw", "why3/witness_small.mlw")

THEORIES = {
    W: """(** Doubling. *)
module Small

  function double (x: int) = x + x

  (** A number is positive exactly
      if its double is. [E_Small_010] *)
  lemma positive: forall x. 0 < x <-> 0 < double x

  (** The program computes the double. *)
  let twice (x: int) : int
end
""",
    TRUSTED: "(** Sizes. *)\nmodule Tuple\n  (** How many. *)\n  val size : int\nend\n",
    WITNESS: "(** Witnesses. *)\nmodule Idle\n  (** One is. *) let lemma one () = ()\nend\n",
}


def symbol(file: str, line: int, kind: str, name: str, statement: str, goal: str | None) -> Any:
    module, _, name = name.partition(".")
    fields: dict[str, Any] = {"statement": statement, "names": ["int.Int.(+)"], "goal": goal}
    fields |= {"says_nothing": False, "calls": [], "ghost": False, "template": None}
    return {"file": file, "line": line, "module": module, "name": name, "kind": kind, **fields}


@pytest.fixture
def facts() -> Any:
    """Invent a theory with two claims and a helper, a trusted theory, and a witness."""
    contract = "program twice (x: int) : int\n  ensures { result = double x }"
    symbols = [
        symbol(W, 8, "lemma", "Small.positive", "forall x. 0 < x <-> 0 < double x", "positive"),
        symbol(W, 4, "function", "Small.double", "function double (x: int) = x + x", None),
        symbol(W, 11, "program", "Small.twice", contract, "twice'vc"),
        symbol(TRUSTED, 4, "val", "Tuple.size", "val size : int", None),
        symbol(WITNESS, 3, "theorem", "Idle.one", "ghost theorem one : unit", "one'vc"),
    ]
    symbols[POSITIVE]["names"].append("small.Small.double")
    goals = [s | {"name": s["goal"]} for s in symbols if s["goal"]]
    sessions = [
        {"file": file, "errors": [], "goals": [goal for goal in goals if goal["file"] == file]}
        for file in THEORIES
    ]
    tagged = {"theorems": [{"place": f"{W}:8"}], "programs": [{"place": f"{W}:11"}]}
    trace = {"clauses": [{"definitions": [], **tagged}]}
    return {"sessions": sessions, "theories": [], "symbols": symbols, "lists": [], "trace": trace}


@pytest.fixture
def root(tmp_path: Path, facts: Any) -> Path:
    write(tmp_path, {**THEORIES, claims.LOCK: ""})
    claims.seal(tmp_path, claims.claims(facts, tmp_path), "2020-02-29")
    return tmp_path


def refused(root: Path, facts: Any, *expected: str) -> None:
    """Expect failures that contain these texts, one for each text."""
    same(list(map(str, claims.check(root, claims.claims(facts, root), facts))), [*expected])


def test_what_is_sealed_is_accepted_and_stays_as_it_is(root: Path, facts: Any) -> None:
    refused(root, facts)
    text = (root / claims.LOCK).read_text(encoding="utf-8")
    assert claims.seal(root, claims.claims(facts, root), "2024-01-01") == []
    assert (root / claims.LOCK).read_text(encoding="utf-8") == text
    *_, program, size = text.splitlines()
    assert re.fullmatch(r"\S+small\.mlw Small\.twice'vc( [0-9a-f]{64}){2} 2020-02-29", program)
    assert size.startswith(f"{TRUSTED} Tuple.size ")
    assert claims.of_goals(claims.claims(facts, root)) == {
        "Small.positive": "A number is positive exactly if its double is.",
        "Small.twice'vc": "The program computes the double.",
        "Idle.one'vc": "One is.",
    }


OTHER = "has another statement than when reviewed on 2020-02-29 (now: "
REWORDED = "has another sentence than when reviewed on 2020-02-29 (now: "
NOTHING = "is trivial: it is true whatever its symbols mean"
NOT_IN_LOCK = "is not in proofs/claims.lock: nobody has compared"
NO_CLAIM = "is in proofs/claims.lock, and is no claim"
NO_SENTENCE = "has no sentence: expected a doc comment right before it"
OF_NOTHING = "is a doc comment that no item has for its sentence"
POSITIVE, DOUBLE, TWICE, _, ONE = range(5)

Z = ["8: Small.z has no goal: nothing proves it", f"Small.z {NOT_IN_LOCK}"]
Z += [f"Small.positive {NO_CLAIM}", "Small.positive is a goal of nothing that the audit finds"]

TAMPERED: list[Any] = [
    (TWICE, {"kind": "theorem"}, f"{W}:11: Small.twice'vc {OTHER}program"),
    (POSITIVE, {"statement": "x = x", "says_nothing": True}, f"{NOTHING} (x = x)", OTHER),
    # A helper is no claim, but it has a proof.
    (ONE, {"goal": "z"}, "3: Idle.z has no goal: nothing proves it", "one'vc is a goal of nothing"),
    (POSITIVE, {"names": []}, f"Small.positive {OTHER}", f"Small.double {NO_CLAIM}"),
    (DOUBLE, {"names": ["witness_small.Idle.one"]}, f"{OTHER}function", f"one'vc {NOT_IN_LOCK}"),
    # A program that ensures nothing may still have a goal, for its assertions.
    (TWICE, {"goal": None}),
    (POSITIVE, {"goal": "z"}, *Z),
    (TWICE, {"line": 12}, f"Small.twice'vc {NO_CLAIM}", f"{W}:10: {OF_NOTHING}"),
    # These sentences belong to no item, so no seal covers them. Headings are allowed there.
    (W, (r"\(\*\* The", "(** False. *) (** The"), f"{W}:10: {OF_NOTHING}"),
    (W, (r"\(\*\* The", "(** {1 False} *) (** The")),
    (W, ("lemma p", "lemma (** False. *) p"), f"{REWORDED}False.)", f"{W}:8: {OF_NOTHING}"),
    (W, ("double x\n\n", "(** False. *)\ndouble x\n"), f"{W}:8: {OF_NOTHING}"),
    (W, (r"\(\*\* The program", "(* The program"), f"Small.twice'vc {NO_SENTENCE}", REWORDED),
    # A truncated seal seals nothing: 64 bits do not safely distinguish statements.
    (claims.LOCK, ("(Tuple.size .{16})\\S+", r"\1"), f"size {NOT_IN_LOCK}"),
    (claims.LOCK, ("Tuple.size", "Tuple.s"), f"Tuple.size {NOT_IN_LOCK}", f"Tuple.s {NO_CLAIM}"),
]


@pytest.mark.parametrize("case", TAMPERED)
def test_what_says_something_else_is_refused(root: Path, facts: Any, case: Any) -> None:
    where, changed, *expected = case
    if isinstance(where, int):
        facts["symbols"][where].update(changed)
    else:
        old, new = changed
        text, count = re.subn(old, new, (root / where).read_text(encoding="utf-8"))
        assert count == 1
        (root / where).write_text(text, encoding="utf-8")
    refused(root, facts, *expected)


def test_an_attribute_opens_no_comment() -> None:
    source = 'let f [@expl: (* ] = "(*" (* 1 (*2*) *) x'
    assert [source[start:end] for start, end in theories.comments(source)] == ["(* 1 (*2*) *)"]


def test_a_type_and_a_function_of_one_name_are_sealed_together(root: Path, facts: Any) -> None:
    facts["symbols"].append(symbol(W, 3, "type", "Small.double", "type double = int", None))
    refused(root, facts, f"{W}:3: Small.double {OTHER}type double = int ...)")
    claims.seal(root, claims.claims(facts, root), "2020-02-29")
    refused(root, facts)
    for changed, other, first in ((DOUBLE, "2 * x", "int"), (-1, "type double = bool", "bool")):
        sealed = facts["symbols"][changed]["statement"]
        facts["symbols"][changed]["statement"] = other
        refused(root, facts, f"{W}:3: Small.double {OTHER}type double = {first} ...)")
        facts["symbols"][changed]["statement"] = sealed
    write(root, {W: THEORIES[W].replace("\n\n  function", "\n  (** Two. *)\n  function")})
    refused(root, facts, f"{W}:3: Small.double {REWORDED}Two.)")


def test_what_somebody_relies_on(facts: Any) -> None:
    """Claims: tagged items, extracted programs, items without a body, all that these mention."""
    plan, idle = "why3/kernel/plan.mlw", "kernel.idle.Idle"
    listed = symbol(plan, 1, "program", "COPPlan.listed", "", None)
    listed |= {"names": [f"{idle}.type"], "calls": [f"{idle}.used", f"{idle}.lemma"]}
    of_idle = [
        symbol("why3/kernel/idle.mlw", 2, kind, f"Idle.{name}", "", None)
        for kind, name in (("program", "used"), ("theorem", "lemma"), ("type", "type"))
    ]
    ghost = symbol(plan, 3, "program", "COPPlan.ghost", "", None) | {"ghost": True}
    facts["symbols"] += [listed, ghost, *of_idle]
    found = {name for name in claims.relied_on(facts) if not name.startswith("int.")}
    small = {f"small.Small.{name}" for name in ("positive", "double", "twice")}
    extracted = {"kernel.plan.COPPlan.listed", f"{idle}.used", f"{idle}.type"}
    assert found - {""} == {*small, "trusted.a.Tuple.size", *extracted}


def test_documents_name_goals_that_exist_where_they_say() -> None:
    names = [*claims.read(ROOT / claims.LOCK), *((f, n) for n, f in recorded(ROOT).items())]
    goals = {(file, name.removesuffix("'vc")) for file, name in names}
    texts = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("proofs/*.md"))
    links = re.findall(r"\[`([^`]*)`\]\(\.\./(why3/[^)]*\.mlw[^)]*)\)", texts)
    assert links
    assert [link for link in links if link[::-1] not in goals] == []


def test_every_test_of_a_law_names_theorems_of_its_theories() -> None:
    goals = {(theory, goal.partition(".")[2]) for goal, theory in recorded(ROOT).items()}
    source = (ROOT / "tests/laws/test_laws.py").read_text(encoding="utf-8")
    docstrings = re.findall(r'(?s)def test_\w+.*?:\n    """(.*?)"""', source)
    assert len(docstrings) == source.count("\ndef test_")
    for text in docstrings:
        named = [f"why3/{theory}" for theory in re.findall(r"\b\w+/\w+\.mlw", text)]
        theorems = re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b(?!\.mlw)", text)
        assert theorems, text
        for name in theorems:
            found = {(theory, name + end) for theory in named for end in ("", "'vc")}
            assert found & goals, f"{name} is no goal of {named}"
