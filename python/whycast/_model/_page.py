"""An HTML page of a model's broadcasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from pathlib import PurePath
from typing import Any

from whycast._model._report import shapes_of, text_of, when
from whycast._usage import show_named

_STYLE = """
:root { color-scheme: light dark;
  --line: #8886; --hidden: #b35900; --open: #7a4fb5; --wrong: #c00; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
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

_VERDICTS = {"equal": "does not broadcast", "always": "broadcasts", "depends": "depends on sizes"}
_VERDICTS |= {"never": "never can", "unknown": "unknown"}
_HEADS = ["node", "operator", "shapes", "result", "kinds"]
_HEADS += ["read, written", "condition", "attention"]


def page(about: Mapping[str, Any]) -> str:
    file = escape(PurePath(about["file"]).name)
    nodes = about["nodes"]
    squares = "".join(
        f'<li><a class="{row["verdict"]}" href="#n{k}" title="{escape(row["operator"])} '
        f'{escape(row["node"])}: {_VERDICTS[row["verdict"]]}"></a></li>'
        for k, row in enumerate(nodes)
    )
    counts = Counter(row["verdict"] for row in nodes)
    legend = ", ".join(
        f"{text}: {counts[each]}" for each, text in _VERDICTS.items() if counts[each]
    )
    rows = "".join(
        f'<tr id="n{k}">' + "".join(f"<td>{escape(each)}</td>" for each in _cells(row)) + "</tr>"
        for k, row in enumerate(nodes)
    )
    head = "".join(f'<th scope="col">{each}</th>' for each in _HEADS)
    summary = escape(text_of(about).partition("\n\n")[0])
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Broadcasts in {file}</title><style>{_STYLE}</style></head>
<body><h1>Broadcasts in {file}</h1>
<p>Each square is a node that may broadcast, in the order of the graph, and leads to its row
({legend}).</p>
<ol class="graph">{squares}</ol>
<pre>{summary}</pre>
<h2>Nodes</h2>
<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
</body></html>
"""


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    result = show_named(row["result"]) if "result" in row else _VERDICTS[row["verdict"]]
    asked = [
        *row.get("condition", ()),
        *(f"SONNX: {each}" for each in row.get("condition of SONNX", ())),
        *(f"broadcasts {each}" for each in when(row)),
    ]
    counts = ", ".join(f"{n:,}" for n in (row.get("elements") or {}).values())
    first = (row["node"], row["operator"], shapes_of(row), result, ", ".join(row["kinds"]))
    return (*first, counts, "; ".join(asked), "; ".join(row["attention"]))
