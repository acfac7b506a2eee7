"""A page of the broadcasts in a model, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import PurePath
from typing import Any

_STYLE = """
:root { color-scheme: light dark;
  --line: #8886; --hidden: #b35900; --open: #7a4fb5; --wrong: #c00; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left;
  vertical-align: top; }
td:first-child { overflow-wrap: anywhere; min-width: 6rem; }
.graph { display: flex; flex-wrap: wrap; gap: 2px; padding: 0; list-style: none; }
.graph a { display: block; width: .9rem; height: .9rem; background: var(--line); }
.always { background: var(--hidden) !important; } .depends { background: var(--open) !important; }
.never, .unknown { background: var(--wrong) !important; }
@media (prefers-color-scheme: dark) { :root { --hidden: #f90; --open: #b48cf2; --wrong: #f66; } }
"""

_VERDICTS = {
    "equal": "does not broadcast",
    "always": "broadcasts",
    "depends": "depends on sizes",
    "never": "never can",
    "unknown": "unknown",
}


def page(about: Mapping[str, Any]) -> str:
    """Return the page of what `whycast model --json` says."""
    file = escape(PurePath(about["file"]).name)
    nodes = about["nodes"]
    squares = "".join(
        f'<li><a class="{row["verdict"]}" href="#n{k}" title="{escape(row["operator"])} '
        f'{escape(row["node"])}: {_VERDICTS[row["verdict"]]}"></a></li>'
        for k, row in enumerate(nodes)
    )
    counts = {text: _count(nodes, verdict) for verdict, text in _VERDICTS.items()}
    legend = ", ".join(f"{text}: {count}" for text, count in counts.items() if count)
    summary = _table(
        ("", "nodes", "broadcast", "kinds", "operators"),
        (
            (
                name,
                each["nodes"],
                each["broadcast"],
                _counts(each["kinds"]),
                _counts(each["operators"]),
            )
            for name, each in about["summary"].items()
        ),
    )
    attention = "".join(
        f"<li>{escape(row['operator'])} {escape(row['node'])}: {escape(text)}</li>"
        for row in nodes
        for text in row["attention"]
    )
    others = "".join(
        f"<li>{count} of {escape(what)}</li>" for what, count in about["not looked into"].items()
    )
    rows = _table(
        ("node", "operator", "shapes", "result", "kinds", "read, written", "condition"),
        (
            (
                row["node"],
                row["operator"],
                ("stacks " if "axes" in row else "") + ", ".join(row["shapes"]),
                row.get("result", _VERDICTS[row["verdict"]]),
                ", ".join(row.get("kinds", ())),
                ", ".join(f"{n:,}" for n in (row.get("elements") or {}).values()),
                "; ".join(row.get("condition", ())),
            )
            for row in nodes
        ),
        ids=True,
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Broadcasts in {file}</title><style>{_STYLE}</style></head>
<body><h1>Broadcasts in {file}</h1>
<p>Each square is a node that may broadcast, in the order of the graph, and leads to its row
({legend}).</p>
<ol class="graph">{squares}</ol>
{summary}
{f"<h2>Attention</h2><ul>{attention}</ul>" if attention else ""}
{f"<h2>Not looked into</h2><ul>{others}</ul>" if others else ""}
<h2>Nodes</h2>
{rows}
</body></html>
"""


def _count(nodes: Iterable[Mapping[str, Any]], verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in nodes)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {count}" for what, count in counts.items())


def _table(head: Iterable[str], rows: Iterable[Iterable[object]], *, ids: bool = False) -> str:
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    lines = []
    for k, row in enumerate(rows):
        at = f' id="n{k}"' if ids else ""
        lines.append(f"<tr{at}>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
