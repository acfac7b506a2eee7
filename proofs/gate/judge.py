"""Judge the facts: every check of the gate, and every failure with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from gate.claims import goals_of
from gate.facts import (
    Assumed,
    Audit,
    Facts,
    Failure,
    Goal,
    Hypotheses,
    Node,
    Proof,
    Prover,
    Session,
    Theory,
    families,
    full_name,
    holds,
    library,
    nodes,
    place,
    proved,
)

# The two files whose programs may be declared without a body, in which language each of those is
# one operation, or, if it is ghost, none at all; and which they are.
LANGUAGES = {"why3/kernel/trusted.mlw": "Python", "why3/c/trusted.mlw": "C"}
TRUSTED = {
    "why3/kernel/trusted.mlw": {
        "Tuple": "ix same thaw freeze repeat overwrite",
    },
    "why3/c/trusted.mlw": {
        "Memory": "size_at put read_only copy_input copy",
        **{f"Word{width}": "load store" for width in (1, 2, 4, 8, 16)},
        "Arrays": "shape_at input_at lend give_back set_tensor set_axis",
        "Given": "input_of buffer_of sizes_of result_of shapes_of inputs_of outputs_of",
    },
}

# What has no definition, and can contradict nothing: some type, some function.
UNDEFINED = {"type without definition", "symbol without definition"}

# Metas that tell a tool how to print or to compute and a prover nothing: Why3 adds the first two
# itself to records, the others guide transformations by what is proved or defined anyway.
HARMLESS_METAS = {"model_record", "model_projection", "rewrite", "rewrite_def", "inline:no"}

# What is proved of the parts that it gives is proved of the goal. Why3 has others of which that is
# not known (SOUNDNESS.md), and some that are not meant so: `smoke_detector_top` negates the goal.
SOUND = "split_vc"

# What whygate/keep.ml does: it leaves out of a goal's context what its proof does not need.
KEEP = "keep"

# The modules of Why3's standard library that a theory may reach, directly or not, and why.
LIBRARY = {
    "array.Array": "the programs compute in arrays, which are Python's lists",
    "bool.Bool": "truth values are the elements of a ring in an example",
    "int.Abs": "used by int.EuclideanDivision and int.ComputerDivision",
    "int.ComputerDivision": "used by mach.int.Int64: quotients of machine integers",
    "int.EuclideanDivision": "row-major order counts with quotient and remainder",
    "int.Int": "integers",
    "int.MinMax": "the larger of two ranks or sizes",
    "mach.int.Int64": "the programs in C compute with int64_t",
    "map.Map": "used by array.Array",
    "option.Option": "an output in C is lent to one, or to nobody",
    "seq.Seq": "shapes and multi-indices",
}

# What a source could use to speak of another file than the one that it stands in, to change what
# is asked of a prover (attributes other than an explanation), or to end a comment in what it reads.
FOREIGN = {
    re.compile(rb"\[#"): "gives a text another place",
    re.compile(rb"\[@(?![ \t]*expl:)"): "is an attribute that may change what is asked of a prover",
    re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]"): "is a control character",
}

# What a source may have: ASCII and these, and so nothing that cannot be seen, that turns the
# direction of a text, or that looks like a letter of another alphabet.
SEEN = "\u00b3\u00b5\u00b9\u00d7\u00e9\u0394\u03c3\u2013\u2018-\u201d\u2020\u2026\u2070-\u2079"
SIGNS = "\u2192\u2212\u2264\u2500-\u257f\u25b6\u25ba"
STRANGE = re.compile(f"[^\n\t -~{SEEN}{SIGNS}]")

# All that is judged, or judges.
FOLDERS = ("why3", "proofs", "python", "c", "tests")
NO_TEXT = {".gz", ".so", ".pyc"}

THEORY_NAME = re.compile(r"why3/(?:[a-z][a-z0-9_]*/)*[a-z][a-z0-9_]*\.mlw")

STDLIB = "/usr/share/why3/stdlib"

SESSION_FILES = {"why3session.xml", "why3shapes.gz"}

PROVERS = ("Alt-Ergo", "CVC4", "CVC5", "Z3")

# Who is asked for a contradiction: one of each family.
ASKED = {"Alt-Ergo", "CVC5", "Z3"}

# The goals of check.mlw, and whether they are true.
CANARIES = {"provable": True, "refutable": False}

# What a prover says where it finds a contradiction: Alt-Ergo has words of its own for some.
CONTRADICTION = ("Valid", "Inconsistent assumption")

# What a prover says to something that it does not prove, if it works.
GIVES_UP = re.compile(r"sat$|unknown|Steps limit reached|Timeout|.*I don't know", re.IGNORECASE)


def judge(facts: Facts, root: Path) -> list[Failure]:
    """Give everything that is wrong with files, theories, proofs and what they rest on."""
    found = [*link_faults(root), *character_faults(root), *session_folder_faults(facts, root)]
    by_name = {prover["name"]: prover for prover in facts["provers"]}
    for session in facts["sessions"]:
        found += session_faults(session, by_name)
    goals, theories = goals_of(facts), {theory["file"] for theory in facts["theories"]}
    patterns = templates(facts)
    for theory in facts["theories"]:
        found += theory_faults(theory, goals, theories, patterns)
        found += text_faults(theory["file"], root)
    found += library_faults(facts)
    found += witness_faults(facts)
    return found


# --- provers ----------------------------------------------------------------------------------


def prover_faults(provers: Iterable[Prover]) -> Iterator[Failure]:
    """Demand of each prover that it proves what is true, and not what is false."""
    answers = {prover["name"]: prover["canary"] for prover in provers}
    for name in PROVERS:
        said = {canary["goal"]: canary["answer"] for canary in answers.get(name, [])}
        for goal, is_true in CANARIES.items():
            answer = said.get(goal, "nothing")
            if is_true and answer != "Valid":
                what = f"does not prove a goal that is true: it answers {answer}"
            elif not is_true and answer in ("Valid", "nothing"):
                what = f"answers {answer} to a goal that is false: it cannot be trusted"
            else:
                continue
            yield Failure("build/why3.conf", name, what)


# --- files ------------------------------------------------------------------------------------


def link_faults(root: Path) -> Iterator[Failure]:
    """Find links: what is proved has to be the file that is read, audited and extracted."""
    for folder in ("why3", "proofs", "python", "c"):
        for path in [root / folder, *sorted((root / folder).rglob("*"))]:
            if path.is_symlink():
                shown = path.relative_to(root).as_posix()
                what = f"is a symbolic link, to {path.readlink()}: expected the file itself"
                yield Failure(shown, "", what)


def character_faults(root: Path) -> Iterator[Failure]:
    """Find characters that make a reader see something else than what a tool reads."""
    below = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    for path in sorted([*root.glob("*"), *below]):
        if path.is_symlink() or not path.is_file() or path.suffix in NO_TEXT:
            continue
        shown = path.relative_to(root).as_posix()
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        for match in STRANGE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            name = unicodedata.name(match[0], "without a name")
            what = f"{match[0]!a} is {name}: it is not allowed in a source"
            yield Failure(f"{shown}:{line}", "", what)


def session_folder_faults(facts: Facts, root: Path) -> Iterator[Failure]:
    """Find folders that belong to no theory with goals, and sessions that are not whole."""
    having = [each for each in facts["sessions"] if each["goals"] or each["errors"]]
    expected = {session["session"] for session in having}
    above = {str(parent) for session in expected for parent in Path(session).parents}
    for path in sorted((root / "proofs" / "sessions").rglob("*")):
        shown = path.relative_to(root).as_posix()
        if path.is_dir() and shown not in expected | above:
            yield Failure(shown, "", "stray folder: no theory with goals has this name")
        folder = path.parent.relative_to(root).as_posix()
        if not path.is_dir() and (folder not in expected or path.name not in SESSION_FILES):
            yield Failure(shown, "", "stray file")
    for session in sorted(expected):
        for name in sorted(SESSION_FILES):
            if not (root / session / name).is_file():
                yield Failure(session, "", f"{name} is missing (make update)")


def text_faults(file: str, root: Path) -> Iterator[Failure]:
    """Find what makes Why3 or a prover read something else than the text says."""
    if not THEORY_NAME.fullmatch(file):
        yield Failure(file, "", "is an odd name: expected letters, digits and underscores")
    text = (root / file).read_bytes()
    for pattern, what in FOREIGN.items():
        for match in pattern.finditer(text):
            where = f"{file}:{text.count(bytes([10]), 0, match.start()) + 1}"
            shown = match[0].decode("ascii", "backslashreplace")
            yield Failure(where, "", f"{shown!r} {what}: none is allowed here")


# --- sessions and proofs ----------------------------------------------------------------------


def session_faults(session: Session, provers: Mapping[str, Prover]) -> Iterator[Failure]:
    """Say what is wrong with a theory's session and with the proofs in it."""
    file, folder = session["file"], session["session"]
    if session["errors"]:
        yield from (Failure(file, "", f"cannot be read: {error}") for error in session["errors"])
        return
    yield from context_faults(session)
    if not session["stored"]:
        if session["goals"]:
            what = f"there is no session of the {len(session['goals'])} goals of {file}"
            yield Failure(folder, "", f"{what} (make update)")
        return
    for node in session["detached"]:
        yield Failure(folder, "", f"stale session: {node} is not in {file} (make update)")
    for goal in session["goals"]:
        yield from goal_faults(file, goal, provers)


def goal_faults(file: str, goal: Goal, provers: Mapping[str, Prover]) -> Iterator[Failure]:
    """Say everything that is wrong with the proof of a goal."""
    tree, name = goal["tree"], full_name(goal)
    if any(proof["obsolete"] for node in nodes(tree) for proof in node["proofs"]):
        still = "still prove it" if proved(tree) else "do not prove it any more"
        what = (
            "is stale: it, or what it rests on, has changed since it was proved; "
            f"the recorded proofs {still} (make update)"
        )
        yield Failure(place(tree, file), name, what)
    elif not proved(tree):
        yield Failure(place(tree, file), name, "is not proved")
    for node in nodes(tree):
        part = name + node["name"].removeprefix(tree["name"])
        for what in node_faults(node, provers):
            yield Failure(place(node, file), part, what)


def with_whole_context(node: Node) -> Iterator[Node]:
    """Give the parts of a goal that are proved from all that stands before it."""
    if node["proofs"]:
        yield node
    for step in node["transformations"]:
        if step["name"] != KEEP:
            for part in step["parts"]:
                yield from with_whole_context(part)


def node_faults(node: Node, provers: Mapping[str, Prover]) -> Iterator[str]:
    """Say what is wrong with one node: with each of its proofs, and with what it lacks."""
    for proof in node["proofs"]:
        yield from proof_faults(proof, provers)
    for step in node["transformations"]:
        if step["name"] != KEEP and (step["name"] != SOUND or step["arguments"]):
            words = " ".join([step["name"], *step["arguments"]])
            yield f"is taken apart by {words}, which the gate does not know as sound"
        elif not step["sound"]:
            yield (
                "is split although it binds one variable in two places, which Why3 1.5.1 does not "
                "do soundly (its issue 694)"
            )
    found = families(node, {name: prover["family"] for name, prover in provers.items()})
    if node["proofs"] and len(found) < 2:
        by = ", ".join(sorted(found)) or "none"
        yield f"is proved by {len(found)} families of provers, {by}; two are wanted (make update)"
    if not node["proofs"] and not node["transformations"]:
        about = f" ({node['explanation']})" if node["explanation"] else ""
        yield f"has no proof in the session{about}"


def proof_faults(proof: Proof, provers: Mapping[str, Prover]) -> Iterator[str]:
    """Say what is wrong with one recorded proof; that the provers are the pinned ones is seen."""
    name = f"{proof['prover']} {proof['version']}"
    prover = provers.get(proof["prover"])
    recorded, now = proof["recorded"], proof["now"]
    if prover is None:
        yield f"has a proof by {name}, a prover that is not pinned"
    elif proof["version"] != prover["version"]:
        yield f"has a proof by {name}; {proof['prover']} {prover['version']} is pinned"
    elif recorded is None or recorded["answer"] != "Valid":
        answer = recorded["answer"] if recorded else "nothing"
        yield f"has an attempt by {name} that proves nothing (recorded: {answer})"
    elif now is None:
        yield f"has a proof by {name} that could not be replayed: the prover is not configured"
    elif not holds(proof) and not proof["obsolete"]:
        yield (
            f"has a recorded proof that does not replay: {name} answers {now['answer']} "
            f"after {now['seconds']:.1f} s; recorded: Valid, {recorded['seconds']:.1f} s"
        )


def context_faults(session: Session) -> Iterator[Failure]:
    """Judge what was said to a contradiction: in a theory, or in the conditions of a module."""
    asked = {answer["prover"] for answer in session["context"] if not answer["about"]}
    for prover in sorted(ASKED - asked):
        yield Failure(session["file"], "", f"{prover} was not asked for a contradiction")
    for answer in session["context"]:
        prover, module, text = answer["prover"], answer["about"], answer["answer"]
        if text in CONTRADICTION and module:
            what = (
                f"{prover} proves a goal with its conclusion negated: what it supposes, contracts "
            )
            what += "without a body included, is contradictory"
        elif text in CONTRADICTION:
            what = f"{prover} proves false from what the theory uses, defines and proves"
        elif not GIVES_UP.match(text):
            what = f"{prover} does not work when it is asked for a contradiction: {text}"
        else:
            continue
        yield Failure(session["file"], module, what)


# --- what is taken for granted ----------------------------------------------------------------


def module_name(theory: str, module: str) -> str:
    """Name a module of a theory as those do that use it: `c.words.Words`."""
    return f"{library(theory)}.{module}"


def templates(facts: Audit) -> set[str]:
    """Give the modules that are cloned and never used: nobody but an instance rests on them."""
    uses = [use for theory in facts["theories"] for use in theory["uses"]]
    used = {use["module"] for use in uses if not use["cloned"]}
    return {use["module"] for use in uses if use["cloned"]} - used


def is_allowed(assumed: Assumed, theory: str, patterns: Container[str]) -> bool:
    """Tell whether the house rules allow something without definition or proof.

    A template may have parameters: types, functions and programs, of which its instances say what
    they are, or have them as parameters again.
    """
    if assumed["kind"] == "meta":
        return assumed["name"] in HARMLESS_METAS
    if module_name(theory, assumed["module"]) in patterns:
        return assumed["kind"] in {"val", *UNDEFINED}
    if assumed["kind"] == "val":
        return assumed["name"] in TRUSTED.get(theory, {}).get(assumed["module"], "").split()
    return theory in TRUSTED and assumed["kind"] in UNDEFINED


def trusted(facts: Audit) -> list[Assumed]:
    """Give the operations that are trusted: allowed, not proved, and no parameters."""
    patterns = templates(facts)
    return [
        assumed
        for theory in facts["theories"]
        if theory["file"] in TRUSTED
        for assumed in theory["assumed"]
        if assumed["kind"] == "val"
        and module_name(theory["file"], assumed["module"]) not in patterns
    ]


def theory_faults(
    theory: Theory,
    goals: set[tuple[str, str]],
    theories: set[str],
    patterns: Container[str] = (),
) -> Iterator[Failure]:
    """Find what a theory takes for granted without leave, and what it has from elsewhere.

    `patterns` are the templates.
    """
    file = theory["file"]
    yield from (Failure(file, "", f"cannot be audited: {error}") for error in theory["errors"])
    for assumed in theory["assumed"]:
        name = full_name(assumed).removesuffix(".")
        where = file
        origin = ""
        if assumed["file"] == file:
            where = f"{file}:{assumed['line']}"
        elif assumed["file"]:
            origin = f", cloned from {assumed['file']}:{assumed['line']}"
        if assumed["kind"] == "absurd":
            # An obligation, not an assumption, where there is a goal. Why3 leaves it out behind
            # what never goes on, as a `return`.
            if (file, f"{name}'vc") not in goals:
                what = "claims by absurd that this is not reached, and there is no goal of that"
                yield Failure(where, name, what)
        elif not is_allowed(assumed, file, patterns):
            what = f"is taken for granted: {assumed['kind']} (none is allowed here)"
            yield Failure(where, name, what + origin)
    for use in theory["uses"]:
        used = use["file"]
        if used and not used.startswith("/") and used not in theories:
            yield Failure(file, use["module"], f"comes from {used}, which is no theory of ours")


def library_faults(facts: Facts) -> Iterator[Failure]:
    """Find modules of the library that no theory may reach, or that stand somewhere else."""
    for reached in facts["reached"]:
        name, file, user = reached["module"], reached["file"], reached["user"]
        if file is None:
            continue
        stem = name.rpartition(".")[0].replace(".", "/")
        if name not in LIBRARY:
            what = f"reaches {name} of Why3's library, which is not among the modules allowed here"
            yield Failure(user, "", what)
        elif file != f"{STDLIB}/{stem}.mlw":
            what = f"reaches {name} in {file}, which is not Why3's own"
            yield Failure(user, "", what)


def hypotheses(facts: Facts) -> list[Hypotheses]:
    """Give what is claimed under some hypotheses.

    What a parameter of a template requires, nobody claims: who calls it has to satisfy that.
    """
    patterns = templates(facts)
    return [
        entry
        for entry in facts["hypotheses"]
        if entry["kind"] != "val" or module_name(entry["file"], entry["module"]) not in patterns
    ]


def witness_faults(facts: Facts) -> Iterator[Failure]:
    """Find hypotheses that nothing is seen to satisfy."""
    for entry in hypotheses(facts):
        if not entry["satisfied_by"]:
            formula = entry["kind"] in ("lemma", "goal")
            what, does = ("hypotheses", "asserts them") if formula else ("requires", "calls it")
            fault = f"has {what} that no witness satisfies: no witness {does} where each run comes "
            fault += "to it, and nothing that is satisfied does or has the same: "
            fault += "; ".join(" ".join(said.split()) for said in entry["supposes"])
            yield Failure(f"{entry['file']}:{entry['line']}", full_name(entry), fault)
