"""Judge files, theories, proofs and assumptions, from the facts; each failure has its place."""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from gate.claims import goals_of, relied_on
from gate.closed import FOLDERS
from gate.facts import (
    Facts,
    Failure,
    Node,
    Prover,
    Symbol,
    Theory,
    families,
    full_name,
    library,
    nodes,
    place,
    proved,
)

# In these files programs may have no body: each is one operation of the language, or ghost, and a
# person has sealed it.
LANGUAGES = {"why3/kernel/trusted.mlw": "Python", "why3/c/trusted.mlw": "C"}

# These need no definition in LANGUAGES and in templates.
PARAMETERS = {"val", "type without definition", "symbol without definition"}

# These metas guide tools; provers learn nothing new from them.
HARMLESS_METAS = {"model_record", "model_projection", "rewrite", "rewrite_def", "inline:no"}

KEEP = "keep"

# The modules of Why3's library that theories may reach, directly or not, with the reason.
LIBRARY = {
    "array.Array": "the programs compute in arrays, which are Python's lists",
    "bool.Bool": "truth values are the elements of a ring in an example",
    "int.Abs": "used by int.EuclideanDivision and int.ComputerDivision",
    "int.ComputerDivision": "used by mach.int.Int64: quotients of machine integers",
    "int.EuclideanDivision": "row-major order counts with quotient and remainder",
    "int.Int": "integers",
    "int.MinMax": "the larger of two ranks or sizes",
    **dict.fromkeys(("list.Length", "list.List"), "the working group's shapes are lists"),
    "list.Mem": "Max is the element of some output",
    "mach.int.Int64": "the programs in C compute with int64_t",
    "map.Map": "used by array.Array",
    "option.Option": "an output in C is lent to one buffer, or to none",
    "seq.Seq": "shapes and multi-indices",
}

# Refused: positions, which can name another file, and attributes, which can change a prover's
# question. Explanations are allowed without quotes and comment marks, which Why3 reads as text.
FOREIGN = re.compile(r'\[#|\[@(?![ \t]*expl:[^]\n"*]*\])')

# Sources may contain ASCII and these: none is invisible or changes the direction.
SEEN = "\u00b3\u00b5\u00b9\u00d7\u00e9\u0394\u03c3\u2013\u2018-\u201d\u2020\u2026\u2070-\u2079"
SIGNS = "\u2192\u2212\u2260\u2264\u2500-\u257f\u25b6\u25ba"
STRANGE = re.compile(f"[^\n\t -~{SEEN}{SIGNS}]")

NO_TEXT = {".so", ".pyc"}

PROVERS = ("Alt-Ergo", "CVC4", "CVC5", "Z3")

# One prover of each family looks for a contradiction.
ASKED = {"Alt-Ergo", "CVC5", "Z3"}

CANARIES = {"provable": True, "refutable": False}

# END matches a clause that equates an end of a Python program with an outcome. The value, or the
# exception's contents, is the last word of the end's term, or an equation fixes it.
TERM = r"\(R\w+ ([^:]+): outcome ['\w, ()]*\)"
OUTCOME = r"\w+_outcome [\w :()]+"
FOR_ONE = r"(?:(\w+) -> )?(?:(\w+) = [^=]* /\\ )?"
END = re.compile(rf"{FOR_ONE}(?:{TERM} = ({OUTCOME})|({OUTCOME}) = {TERM})")

VALUE = re.compile(r"result -> (let .* in )?result = ")

# This may precede an equation for an output of a C program: it contains no condition.
ALWAYS = re.compile(r"(result -> )?(let \w+ = [^=]* in )*(forall [^.]*\. )?")
REPORT = re.compile(
    r"(answer \(.*result\) \(place.tensor\) \(place.axis\) =|reports \(.*result\) place"
    r"|result = code /\\ place.tensor\d = .* /\\ place.axis\d =) "
)

# Answers of a working prover that finds no proof.
GIVES_UP = re.compile(r"sat$|unknown|Steps limit reached|Timeout|.*I don't know", re.IGNORECASE)


def judge(facts: Facts, root: Path) -> list[Failure]:
    """List all faults of files, theories, proofs and their assumptions."""
    sessions, by_name = facts["sessions"], {prover["name"]: prover for prover in facts["provers"]}
    found = [*character_faults(root)]
    having = {each["session"] for each in sessions if each["goals"] or each["errors"]}
    below = (root / "proofs" / "sessions").rglob("*")
    there = {path.relative_to(root).as_posix() for path in below if not path.is_dir()}
    stray = "is a stray file: no theory with goals has these proofs"
    found += [Failure(name, "", stray) for name in sorted(there - having)]
    for session in sessions:
        found += session_faults(session, by_name)
    goals, patterns = goals_of(facts), templates(facts)
    for theory in facts["theories"]:
        found += theory_faults(theory, goals, patterns)
    return [*found, *library_faults(facts), *witness_faults(facts), *choice_faults(facts)]


def prover_faults(provers: Iterable[Prover]) -> Iterator[Failure]:
    """Find provers that miss a true goal, or prove a false one."""
    answers = {prover["name"]: prover["canary"] for prover in provers}
    for name in PROVERS:
        said = {canary["goal"]: canary["answer"] for canary in answers.get(name, [])}
        for goal, is_true in CANARIES.items():
            answer = said.get(goal, "nothing")
            if answer == "nothing" or (answer == "Valid") != is_true:
                what = f"answers {answer} to a goal that is {str(is_true).lower()}"
                yield Failure("build/why3.conf", name, f"{what}: it cannot be trusted")


def character_faults(root: Path) -> Iterator[Failure]:
    """Find characters that a reader and a tool may read differently."""
    below = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    for path in sorted([*root.glob("*"), *below]):
        if path.is_symlink() or not path.is_file() or path.suffix in NO_TEXT:
            continue
        shown = path.relative_to(root).as_posix()
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        odd = [(match, unicodedata.name(match[0], "no name")) for match in STRANGE.finditer(text)]
        if shown.startswith("why3/"):
            odd += [(match, "a position or an attribute") for match in FOREIGN.finditer(text)]
        for match, name in odd:
            line = text.count("\n", 0, match.start()) + 1
            what = f"{match[0]!a} is {name}: it is not allowed in a source"
            yield Failure(f"{shown}:{line}", "", what)


def session_faults(session: Theory, provers: Mapping[str, Prover]) -> Iterator[Failure]:
    """Find faults of a theory's recorded proofs."""
    file, folder = session["file"], session["session"]
    if session["errors"]:
        yield from (Failure(file, "", f"cannot be read: {error}") for error in session["errors"])
        return
    yield from context_faults(session)
    if not session["stored"]:
        if session["goals"]:
            what = f"is missing: proofs of the {len(session['goals'])} goals of {file}"
            yield Failure(folder, "", f"{what} (make update)")
        return
    for lost in session["detached"]:
        yield Failure(folder, lost, f"is not in {file} any more (make update)")
    for goal in session["goals"]:
        tree, name = goal["tree"], full_name(goal)
        if not proved(tree):
            yield Failure(place(tree, file), name, "is not proved")
        for node in nodes(tree):
            part = name + node["name"].removeprefix(tree["name"])
            for what in node_faults(node, provers):
                yield Failure(place(node, file), part, what)


def behind(facts: Facts, systems: Mapping[str, str]) -> Iterator[str]:
    """List for each version of Why3 the goals without a proof of their present form."""
    for version, system in systems.items():
        left = {
            library(session["file"]).replace(".", "/"): names
            for session in facts["sessions"]
            if (names := [full_name(g) for g in session["goals"] if version not in g["versions"]])
        }
        for theory, names in left.items():
            yield f"why3/{theory}.mlw: not proved with Why3 {version} as it is: {', '.join(names)}"
        if left:
            yield f'Why3 {version} is behind: make update THEORY="{" ".join(left)}" on {system}'


def with_whole_context(node: Node) -> Iterator[Node]:
    """Yield the parts of a goal whose proofs use the whole context."""
    if node["proofs"]:
        yield node
    for step in node["transformations"]:
        if step["name"] != KEEP:
            for part in step["parts"]:
                yield from with_whole_context(part)


def node_faults(node: Node, provers: Mapping[str, Prover]) -> Iterator[str]:
    """Find faults of each proof of a node, and missing proofs."""
    for proof in node["proofs"]:
        name, now = proof["prover"], proof["now"]
        if now is None:
            yield f"has a proof by {name}, a prover that is not pinned"
        elif now["answer"] != "Valid":
            answered = f"answers {now['answer']} after {now['seconds']:.1f} s"
            what = f"has a recorded proof that does not replay: {name} {provers[name]['version']}"
            yield f"{what} {answered}; recorded: {proof['recorded']:.2f} s"
    if not all(step["sound"] for step in node["transformations"]):
        yield (
            "is split although it binds one variable in two places, which Why3 1.5.1 does not "
            "do soundly (its issue 694)"
        )
    if node["fault"]:
        yield f"cannot be taken apart as it is recorded: {node['fault']} (make update)"
    found = families(node, {name: prover["family"] for name, prover in provers.items()})
    if node["proofs"] and len(found) < 2:
        by = ", ".join(sorted(found)) or "none"
        yield f"is proved by {len(found)} families of provers, {by}; two are wanted (make update)"
    elif not (node["proofs"] or node["transformations"] or node["fault"]):
        about = f" ({node['explanation']})" if node["explanation"] else ""
        yield f"has no recorded proof with this Why3{about} (make update)"


def context_faults(session: Theory) -> Iterator[Failure]:
    """Find contradictions: in a theory, or in the hypotheses of a module."""
    asked = {answer["prover"] for answer in session["context"] if not answer["about"]}
    for prover in sorted(ASKED - asked):
        yield Failure(session["file"], "", f"{prover} was not asked for a contradiction")
    for answer in session["context"]:
        prover, module, text = answer["prover"], answer["about"], answer["answer"]
        if text == "Valid" and module:
            what = f"{prover} proves a goal with its conclusion negated: what it supposes, "
            what += "contracts without a body included, is contradictory"
        elif text == "Valid":
            what = f"{prover} proves false from what the theory uses, defines and proves"
        elif not GIVES_UP.match(text):
            what = f"{prover} does not work when it is asked for a contradiction: {text}"
        else:
            continue
        yield Failure(session["file"], module, what)


def module_name(theory: str, module: str) -> str:
    """Name a module as its users do: `c.words.Words`."""
    return f"{library(theory)}.{module}"


def templates(facts: Facts) -> set[str]:
    """List the templates: modules that theories clone and never use directly."""
    uses = [use for theory in facts["theories"] for use in theory["uses"]]
    used = {use["module"] for use in uses if not use["cloned"]}
    return {use["module"] for use in uses if use["cloned"]} - used


def trusted(facts: Facts) -> list[Symbol]:
    """List the operations trusted without a body; parameters of templates do not count."""
    patterns = templates(facts)
    return [
        assumed
        for theory in facts["theories"]
        for assumed in theory["assumed"]
        if theory["file"] in LANGUAGES and assumed["kind"] == "val"
        if module_name(theory["file"], assumed["module"]) not in patterns
    ]


def theory_faults(
    theory: Theory, goals: set[tuple[str, str]], patterns: Container[str] = ()
) -> Iterator[Failure]:
    """Find unproved and undefined items; `patterns` are the templates, which have parameters."""
    file = theory["file"]
    yield from (Failure(file, "", f"cannot be audited: {error}") for error in theory["errors"])
    for assumed in theory["assumed"]:
        name, own = full_name(assumed).removesuffix("."), assumed["file"] == file
        where, kind = f"{file}:{assumed['line']}" if own else file, assumed["kind"]
        is_open = file in LANGUAGES or module_name(file, assumed["module"]) in patterns
        is_allowed = is_open and kind in PARAMETERS
        is_allowed |= kind == "meta" and assumed["name"] in HARMLESS_METAS
        if kind == "absurd":
            # The goal proves that `absurd` is not reached. After a `return` Why3 makes no goal.
            if (file, f"{name}'vc") not in goals:
                what = "claims by absurd that this is not reached, and no goal proves it"
                yield Failure(where, name, what)
        elif not is_allowed:
            what = f"is taken for granted: {kind} (none is allowed here)"
            if assumed["file"] and not own:
                what += f", cloned from {assumed['file']}:{assumed['line']}"
            yield Failure(where, name, what)


def library_faults(facts: Facts) -> Iterator[Failure]:
    """Find modules of the library that theories must not reach."""
    for reached in facts["reached"]:
        if reached["file"] and (module := reached["module"]) not in LIBRARY:
            what = f"reaches {module} of Why3's library: expected one of LIBRARY, judge.py"
            yield Failure(reached["user"], "", what)


def hypotheses(facts: Facts) -> list[Symbol]:
    """List the claims with hypotheses; a template's parameters are no claims."""
    patterns, relied = templates(facts), relied_on(facts)
    return [
        entry
        for entry in facts["hypotheses"]
        if module_name(entry["file"], full_name(entry)) in relied
        and (entry["kind"] != "val" or module_name(entry["file"], entry["module"]) not in patterns)
    ]


def witness_faults(facts: Facts) -> Iterator[Failure]:
    """Find hypotheses that no witness satisfies."""
    for entry in hypotheses(facts):
        if not entry["satisfied_by"]:
            said = "; ".join(" ".join(each.split()) for each in entry["supposes"])
            what = "has hypotheses that no witness satisfies: expected one whose every run asserts "
            what += f"them or calls it: {said}"
            yield Failure(f"{entry['file']}:{entry['line']}", full_name(entry), what)


def choice_faults(facts: Facts) -> Iterator[Failure]:
    """Find extracted programs whose contracts allow several outcomes: two runs could differ."""
    for symbol in facts["symbols"]:
        file, module, what = symbol["file"], symbol["module"], ""
        if symbol["kind"] != "program" or symbol["ghost"] or not module.startswith("COP"):
            continue
        clauses = [" ".join(c.split()) for c in re.split(r"\n  (?=\w)", symbol["statement"])]
        if file.startswith("why3/kernel/") and not is_outcome(clauses):
            what = "leaves its outcome open: expected the same `..._outcome` in each of its clauses"
        # c/walk.mlw calls COPPlan and proves equations for its outputs.
        if file.startswith("why3/c/") and module != "COPPlan" and (left := [*unsaid(clauses)]):
            what = f"does not say in every case what it writes to {', '.join(left)}"
        if what:
            yield Failure(f"{file}:{symbol['line']}", full_name(symbol), what)


def is_outcome(clauses: list[str]) -> bool:
    """Decide whether a contract fixes one outcome for all ends of a program, or one result."""
    said = [c.partition("{ ")[2][:-2] for c in clauses if c.startswith(("ensures", "raises"))]
    ends = [end.groups("") for end in map(END.fullmatch, said) if end]
    if len(ends) < len(said):
        return any(map(VALUE.match, said)) and "_outcome " not in "".join(said)
    is_carried = (
        name == fixed or re.search(rf"\b{name}\)*$", left + right)
        for name, fixed, left, _, _, right in ends
    )
    return len({end[3] + end[4] for end in ends}) == 1 and all(is_carried)


def unsaid(clauses: list[str]) -> Iterator[str]:
    """Yield the outputs that no clause fixes, in the contract of a program that reports errors."""
    said = [ALWAYS.sub("", c[10:-2], count=1) for c in clauses if c.startswith("ensures")]
    written = {each for c in clauses if c.startswith("writes {") for each in c[9:-2].split(", ")}
    for each in sorted(written) if "place.axis" in written else ():
        # A contract may bound the count of written bytes. A capacity only bounds indices.
        told = ("place" in each and REPORT) or re.compile(rf"\(*{each} (@ \w+\)[^=]*=|<=) ")
        if not each.endswith(".capacity") and not any(map(told.match, said)):
            yield each
