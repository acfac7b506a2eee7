"""The report on a model: data for JSON and page, and the text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from whycast._model._infer import Read
from whycast._model._names import Names
from whycast._model._places import UNKNOWN, Place, filled
from whycast._usage import show_named

_ZERO_MEETS_ONE = "0 meets 1"

# Words for verdicts in counts of nodes.
_COUNTED = {"equal": "do not", "depends": "depend on sizes", "never": "never can"}
_COUNTED |= {"unknown": "unknown"}


def report(found: list[Place], out: Mapping[str, int], names: Names, known: Read) -> dict[str, Any]:
    groups: dict[str, list[Place]] = {"element-wise": [], "Gemm": [], "MatMul": [], "Expand": []}
    for place in found:
        name = {"stacked": "MatMul", "explicit": "Expand"}.get(place.direction, "element-wise")
        groups["Gemm" if place.node.op_type == "Gemm" else name].append(place)
    nodes = [_row(place, names) for place in found]
    sizes = (str(size) for row in nodes for shape in row["shapes"] for size in shape or ())
    used = {name for size in sizes for name in size.split("|")}
    notes = [f"{name} is {text}" for name, text in known.open.items() if name in used]
    if any(size.startswith("?") for size in used):
        notes.append("only the running model knows a size with a question mark")
    return {
        "attention": known.notes,
        "sizes": notes,
        "summary": {name: _summary(group) for name, group in groups.items() if group},
        "not looked into": dict(out),
        "nodes": nodes,
    }


def _summary(found: list[Place]) -> dict[str, Any]:
    hidden = [place for place in found if place.verdict == "always"]
    verdicts = Counter[str](place.verdict for place in found)
    return {
        "nodes": len(found),
        "broadcast": len(hidden),
        **{verdict: verdicts[verdict] for verdict in _COUNTED if verdicts[verdict]},
        "kinds": _counts(kind for place in hidden for kind in place.kinds()),
        "operators": _counts(place.node.op_type for place in hidden),
    }


def _counts(found: Iterable[str]) -> dict[str, int]:
    return dict(Counter(sorted(found)).most_common())


def called(place: Place) -> str:
    name = place.node.name or f"-> {place.node.output[0]}"
    return f"{place.scope.place}: {name}" if place.scope.place else name


def _row(place: Place, names: Names) -> dict[str, Any]:
    row: dict[str, Any] = {
        "node": called(place),
        "graph": place.scope.place,
        "output": place.node.output[0],
        "operator": place.node.op_type,
        "verdict": place.verdict,
        "inputs": list(place.inputs),
        "shapes": [None if own is None else names.sizes(own) for own in place.shapes],
        "kinds": list(place.kinds()),
    }
    if place.direction == "stacked":
        row["axes"] = "before the last two"
    if place.target is not None:
        target = filled(place.target)
        row["result"] = [each[0] if each[0] >= 0 else names.joined(each) for each in target]
        row["elements"] = _elements(place)
        row["condition"] = [*map(str, place.condition)]
        row["condition of SONNX"] = [*map(str, place.zeros)]
        if place.verdict == "depends":
            row["broadcasts if"] = _growth(place, names)
    elif place.verdict == "unknown" and place.condition:
        row["condition"] = [*map(str, place.condition)]
    return row | {"attention": _attention(place, row)}


def _attention(place: Place, row: Mapping[str, Any]) -> list[str]:
    if place.note:
        return [place.note]
    found = []
    if _ZERO_MEETS_ONE in row.get("condition of SONNX", ()):
        found.append("a size 0 meets a size 1: SONNX refuses it (E1), NumPy's rule gives 0")
    if len(place.target or ()) > 32:
        found.append(f"rank {len(row['result'])}: many libraries stop at 32")
    if (clash := place.clash) is not None:
        both = f"inputs {clash.other} and {clash.tensor}"
        both = "its input and its shape" if place.direction == "explicit" else both
        sizes = f"{both} have sizes {clash.target} and {clash.size}"
        found.append(f"never broadcasts: on axis {clash.axis} {sizes}")
    elif place.verdict == "never":
        found.append("never broadcasts: its last input does not fit the shape of the others")
    if place.verdict == "unknown":
        found.append(UNKNOWN)
    return found


def _elements(place: Place) -> dict[str, int] | None:
    shapes = [own or () for own in (*place.shapes, place.common or (-1,))]
    if any(size < 0 for own in shapes for size in own):
        return None
    *read, written = map(math.prod, shapes)
    return {"read": sum(read), "written": written}


def _growth(place: Place, names: Names) -> list[str]:
    """Return inequalities; a node broadcasts if at least one holds."""
    first, *others = (shape for shape in place.shapes if shape is not None)
    pairs = [{a, b} for shape in others for a, b in zip(first, shape, strict=True) if a != b]
    ordered = [sorted(pair, key=lambda size: (size >= 0, abs(size))) for pair in pairs]
    return list(dict.fromkeys(" ≠ ".join(map(names.text, pair)) for pair in ordered))


def text_of(about: Mapping[str, Any]) -> str:
    nodes = about["nodes"]
    lines = [f"{about['file']}, opset {about['opset']}"]
    for name, summary in about["summary"].items():
        verdicts = [f", {summary[key]} {text}" for key, text in _COUNTED.items() if key in summary]
        broadcast = f"of {summary['nodes']} nodes {summary['broadcast']} broadcast"
        lines.append(f"{name}: {broadcast}{''.join(verdicts)}")
        for key in ("kinds", "operators"):
            if summary[key]:
                counts = ", ".join(f"{what} {count}" for what, count in summary[key].items())
                lines.append(f"  {key}: {counts}")
    lines += [f"not looked into: {n} of {what}" for what, n in about["not looked into"].items()]
    for key, title in (("condition", "condition"), ("condition of SONNX", "SONNX also demands")):
        found = Counter(text for row in nodes for text in row.get(key, ()))
        found.pop(_ZERO_MEETS_ONE, None)
        some = [f"{text} ({count})" for text, count in found.most_common(4)]
        if len(found) > len(some):
            some.append(f"{len(found) - len(some)} more")
        if some:
            lines.append(f"{title}: {'; '.join(some)}")
    lines += [f"sizes: {each}" for each in about["sizes"]]
    lines += [f"attention: {each}" for each in about["attention"]]
    for row in nodes:
        head = "unclear" if row["verdict"] == "unknown" else "attention"
        lines += [f"{head}: {row['operator']} {row['node']}: {each}" for each in row["attention"]]
    lines += [*_written(about), ""]
    for row in nodes:
        if row["verdict"] in ("always", "depends"):
            kinds = ", ".join([*row["kinds"], *when(row)])
            result = show_named(row["result"])
            lines.append(f"{row['operator']} {row['node']}: {shapes_of(row)} -> {result}  {kinds}")
    return "\n".join(lines)


def shapes_of(row: Mapping[str, Any]) -> str:
    shapes = ", ".join("?" if own is None else show_named(own) for own in row["shapes"])
    return f"stacks {shapes}" if "axes" in row else shapes


def when(row: Mapping[str, Any]) -> list[str]:
    return [f"if {' or '.join(row['broadcasts if'])}"] if "broadcasts if" in row else []


def _written(about: Mapping[str, Any]) -> list[str]:
    lines = []
    if made := about.get("explicit"):
        changed = f"{made['made explicit']} nodes made explicit, by {made['nodes added']} new ones"
        if made["left"] and not made["made explicit"]:
            changed = "nothing was changed"
        lines.append(f"{made['file']}: {changed}; {len(made['left'])} left")
        lines += [f"left: {each['node']}: {each['reason']}" for each in made["left"]]
    if check := about.get("check"):
        lines += check["differences"] or [f"the same bits before and after, by {check['by']}"]
        if check["chosen"]:
            sizes = (f"{name} {show_named(check['inputs'][name])}" for name in check["chosen"])
            lines.append(f"drawn inputs: {', '.join(sizes)}")
    return lines
