"""Templates: what their instances have of them, what makes them none, and what makers promise."""

from typing import Any

import pytest
from small_tree import install

from gate import judge
from gate.facts import Facts
from gate.program import Program
from gate.theories import theory_files

TAKEN = "is taken for granted:"

PATTERN = """\
module Pattern
  use int.Int
  type t
  function weight (x: t) : int
  val size (x: t) : int
    requires { 0 <= weight x }
    ensures { 0 <= result }
  val free (x: t) : int
  let twice (x: t) : int
    requires { 0 <= weight x }
    ensures { 0 <= result }
  = size x + size x
  let rec down (n: int) : int
    requires { 0 <= n } variant { n } ensures { result = 0 }
  = if n = 0 then 0 else down (n - 1)
  lemma heavy: forall x. 1 < weight x -> 0 < weight x
  predicate light (x: t) = weight x = 0
end
"""

INSTANCE = """\
module Instance
  use int.Int
  function same (x: int) : int = x
  let nothing (_x: int) : int ensures { result = 0 } = 0
  clone template.Pattern as P with
    type t = int, function weight = same, val size = nothing, val free = nothing
  let lemma witness ()
  = let _ = P.twice 3 in
    let _ = P.down 2 in
    assert { 1 < same 7 }
end
"""

REFUSED = {
    # A parameter that is left is taken for granted by the instance.
    "left": (
        "clone template.Pattern with type t = int, val free = minus",
        ["weight", "size"],
    ),
    "all_left": ("clone export template.Pattern", ["t", "weight", "size", "free"]),
    "trusted": (
        "clone c.trusted.Memory as Mine",
        ["Mine.byte", "Mine.copy"],
    ),
}

# Templates that are none: they are used as they are, cloned by nobody, or have an axiom.
NO_TEMPLATES = {
    "used": ("val f (x: int) : int ensures { result < result }", ["clone", "use"], "val"),
    "uncloned": ("val f (x: int) : int ensures { result < result }", [], "val"),
    "axiomatic": ("axiom f: 1 = 2", ["clone"], "axiom"),
    "assuming": ("let f (x: int) : int = assume { x = 0 }; x", ["clone"], "assume"),
    "endless": ("let f (x: int) : int diverges = while true do () done; x", ["clone"], "diverges"),
}

# Promises of a value of an abstract record, and whether it exists whatever else is true.
MAKERS = {
    "val make (n: int) : box ensures { result.room = n }": True,
    "val make (n: int) : box requires { n > 0 } ensures { result.room = n /\\ 1 = 1 }": False,
    "val make (n: int) : box ensures { result.room = n } ensures { result.name = n }": True,
    "val make (n: int) : box ensures { result.room = n /\\ result.name = n }": True,
    "val ghost make (n: int) : box ensures { result.room = n }": True,
    "val make (n: int) : box": True,
    "val make (n: int) : box ensures { false }": False,
    "val make (n: int) : box ensures { result.room < n }": False,
    "val make (n: int) : box ensures { result.room = result.room + n }": False,
    "val make (n: int) : box ensures { result.room = n } ensures { result.room = 1 - n }": False,
    "val make (n: int) : box ensures { result.room = n \\/ result.room = 0 }": False,
    "val make (n: int) : box ensures { length result = n }": False,
    "val make (n: int) : plain ensures { result.width = n }": False,
    "val make (n: int) : bound ensures { result.top = n }": False,
    "val make (n: int) : box writes { cell } ensures { result.room = n }": False,
    "val make (n: int) : box ensures { result.room = n } raises { Odd }": False,
    "val make (n: int) : box ensures { result.room = n } diverges": False,
}

MAKER = """\
  use int.Int
  use ref.Ref
  type box = abstract {{ mutable room: int; name: int }}
  type plain = {{ width: int }}
  type bound = abstract {{ top: int }} invariant {{ 0 <= top }}
  function length (b: box) : int = b.room
  exception Odd
  val cell : ref int
  {0}
  predicate q (a: int)
  let wanted (a: int) : unit requires {{ q a }} = ()
  let g () : unit {1} = let _ = make 3 in wanted 9
"""


def theories() -> dict[str, str]:
    found = {"template": PATTERN, "instance": INSTANCE, "c/trusted": TRUSTED}
    minus = "  use int.Int\n  let minus (x: int) : int = - x\n"
    for name, (text, _) in REFUSED.items():
        found[name] = f"module M\n{minus}  {text}\nend\n"
    for name, (text, users, _) in NO_TEMPLATES.items():
        found[name] = f"module Pattern\n  use int.Int\n  {text}\nend\n"
        for how in users:
            found[f"{name}_{how}"] = f"module M\n  {how} {name}.Pattern\nend\n"
    makers = []
    for n, text in enumerate(MAKERS):
        effect = "raises { Odd }" * ("raises" in text)
        effect += "diverges" * ("diverges" in text)
        makers.append(f"module Maker{n}\n{MAKER.format(text, effect)}end\n")
    found["makers"] = "".join(makers)
    exact = "ensures { result = x }"
    found["exact"] = (
        f"module Exact\n  use int.Int\n  val f (x: int) : int {exact}\nend\n"
        f"module Exactly\n  use int.Int\n  let g (x: int) : int {exact} = x\n"
        "  clone Exact as Exactly with val f = g\nend\n"
    )
    found["users"] = "module Users\n  use c.trusted.Memory\nend\n"
    found["chain"] = (
        "module Middle\n  use int.Int\n  clone export template.Pattern with type t = int\n"
        "  let more (x: int) : int requires { 7 = weight x } ensures { 1 <= result }"
        " = twice x + 1\nend\n"
        "module End\n  use int.Int  use instance.Instance\n"
        "  clone Middle as M with\n"
        "    function weight = same, val size = nothing, val free = nothing\nend\n"
    )
    return {f"why3/{name}.mlw": text for name, text in found.items()}


TRUSTED = """\
module Memory
  use int.Int
  type byte
  val copy (b: byte) : byte
end
module Word
  use int.Int
  val constant width : int
    ensures { 1 <= result }
  val load (x: int) : int
    requires { width <= x }
end
module Word1
  let constant width_1 : int = 1
  clone export Word with val width = width_1
end
module Other
  val copy () : unit
end
"""


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    tree = install(tmp_path_factory.mktemp("templates") / "tree", theories())
    found = Program(tree).audit(theory_files(tree))
    assert [theory["errors"] for theory in found["theories"] if theory["errors"]] == []
    return found


def faults(audit: Facts, name: str) -> list[str]:
    (theory,) = [each for each in audit["theories"] if each["file"] == f"why3/{name}.mlw"]
    return list(map(str, judge.theory_faults(theory, set(), judge.templates(audit))))


def symbols(audit: Facts, name: str) -> dict[str, Any]:
    of = (each for each in audit["symbols"] if each["file"] == f"why3/{name}.mlw")
    return {f"{s['module']}.{s['name']}": (s["goal"], s["template"]) for s in of}


def test_a_template_may_have_parameters(audit: Facts) -> None:
    for name in ("template", "instance", "chain"):
        assert faults(audit, name) == []
    assert {"template.Pattern", "chain.Middle", "c.trusted.Word"} <= judge.templates(audit)
    trusted = [f"{entry['module']}.{entry['name']}" for entry in judge.trusted(audit)]
    assert trusted == ["Memory.copy", "Word1.load", "Other.copy"]


def test_an_instance_has_the_goals_of_its_template_and_those_of_its_parameters(
    audit: Facts,
) -> None:
    found = symbols(audit, "instance")
    assert found["Instance.nothing"] == ("nothing'vc", None)
    for name in ("twice", "down", "heavy"):
        assert found[f"Instance.P.{name}"] == (None, f"template.Pattern.{name}")
    assert found["Instance.P.size'refn'vc"] == ("P.size'refn'vc", None)
    # It may well say nothing: a parameter and what takes its place may have one contract.
    (same,) = (s for s in audit["symbols"] if s["name"] == "Exactly.f'refn'vc")
    assert (same["module"], same["says_nothing"]) == ("Exactly", False)
    assert found["Instance.P.light"] == (None, None)
    # An instance of an instance; what it adds has a goal where it stands.
    found = symbols(audit, "chain")
    assert found["Middle.twice"] == (None, "template.Pattern.twice")
    assert found["Middle.more"] == ("more'vc", None)
    assert found["End.M.twice"] == (None, "chain.Middle.twice")
    assert found["End.M.more"] == (None, "chain.Middle.more")
    assert found["End.M.size'refn'vc"] == ("M.size'refn'vc", None)


@pytest.mark.parametrize("name", REFUSED)
def test_a_parameter_that_is_left_is_taken_for_granted(audit: Facts, name: str) -> None:
    found = faults(audit, name)
    assert [symbol for symbol in REFUSED[name][1] if f".{symbol} {TAKEN}" not in str(found)] == []
    assert len(found) == len(REFUSED[name][1])


@pytest.mark.parametrize("name", NO_TEMPLATES)
def test_what_is_no_template(audit: Facts, name: str) -> None:
    found = faults(audit, name)
    assert any(f"Pattern.f {TAKEN} {NO_TEMPLATES[name][2]} (none" in each for each in found)


def test_an_axiom_of_a_template_is_none_of_an_instance(audit: Facts) -> None:
    """It has to be proved there, by a goal of its own; `axiom .` keeps it, and is refused."""
    assert symbols(audit, "axiomatic_clone")["M.Pattern.f"] == ("Pattern.f", None)


def test_what_an_instance_satisfies_its_template_does(audit: Facts) -> None:
    by = {(e["module"], e["name"]): e["satisfied_by"] for e in audit["hypotheses"]}
    names = ("twice", "down", "heavy")
    for name in names:
        assert by["Instance", f"P.{name}"] == "Instance.witness"
        assert by["Pattern", name] in {f"Instance.P.{each}" for each in names}
    assert by["End", "M.more"] is by["Middle", "more"] is None
    # Why3's own goals are no claims, nor is what a parameter requires.
    assert not any(name.endswith("'refn'vc") for _, name in by)
    places = [{"place": f"{s['file']}:{s['line']}"} for s in audit["symbols"]]
    clause = dict.fromkeys(("definitions", "theorems", "programs"), places)
    facts: Any = {**audit, "trace": {"clauses": [clause]}}
    missed = {failure.subject for failure in judge.witness_faults(facts)}
    assert "Middle.more" in missed
    assert by["Word1", "load"] is by["Word", "load"] is None
    assert missed & {"Word1.load", "Word.load"} == {"Word1.load"}
    # Somebody relies only on what has no body.
    facts["trace"] = {"clauses": []}
    missed = {failure.subject for failure in judge.witness_faults(facts)}
    assert "Word1.load" in missed
    assert "Middle.more" not in missed


def test_makers(audit: Facts) -> None:
    by = {(e["module"], e["name"]): e["satisfied_by"] for e in audit["hypotheses"]}
    for n, (text, makes) in enumerate(MAKERS.items()):
        assert (by[f"Maker{n}", "wanted"] == f"Maker{n}.g") is makes, text
