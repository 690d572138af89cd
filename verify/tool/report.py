# SPDX-License-Identifier: MIT
"""Results for machines and for people that did not see the run: JSON, JUnit XML and one HTML page."""
from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any, Optional, Sequence
from xml.sax.saxutils import escape as xml, quoteattr

from draw.execution import draw
from draw.graph import Graph
from draw.svg import page_colours

from .result import TROUBLE
from .rows import Row, closing, explain
from .table import HEADER, cells


def to_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows with the fields of the table, `status`, and the errors in full."""
    items = []
    for row in rows:
        outcome = row.outcome
        assert outcome is not None
        items.append({
            "name": row.harness.name, "property": row.harness.get("property"), "engine": row.engine, "model": row.model,
            "threads": row.harness.get("threads", default="1"), "bound": row.harness.get("bound", row.engine, row.model),
            "executions": outcome.executions, "blocked": outcome.blocked, "seconds": round(outcome.seconds, 3),
            "verdict": outcome.verdict, "kind": outcome.kind, "expect": row.expect, "status": row.status,
            "note": outcome.note, "cached": outcome.cached, "command": outcome.command,
            "errors": [{"kind": e.kind, "message": e.message, "file": e.file, "line": e.line, "trace": e.trace}
                       for e in outcome.errors]})
    line, code = closing(row.status for row in rows)
    return {"rows": items, "summary": line, "exit": code}


def writable(path: Path, folder: bool = False) -> Optional[str]:
    """Why a report cannot be written there, which is better known before a long run than after it."""
    try:
        (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
        if not folder:
            was_there = path.exists()
            path.open("a", encoding="utf-8").close()
            if not was_there:
                path.unlink()
    except OSError as error:
        return f"{path}: {error.strerror}"
    return None


def write_json(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_json(rows), indent=1) + "\n", encoding="utf-8")


def _printable(text: str) -> str:
    """XML 1.0 has no control characters, not even escaped."""
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c not in "\ufffe\uffff"))


def write_junit(rows: Sequence[Row], path: Path) -> None:
    """One test case per row, class = engine.model, so that CI shows what it knows how to show."""
    status = [row.status for row in rows]
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           f'<testsuite name="verify" tests="{len(rows)}" failures="{status.count("failed")}" '
           f'skipped="{status.count("skipped")}" time="{sum(r.outcome.seconds for r in rows if r.outcome):.1f}">']
    for row in rows:
        outcome = row.outcome
        assert outcome is not None
        attributes = f'name={quoteattr(row.harness.name)} classname={quoteattr(f"{row.engine}.{row.model}")}'
        out.append(f'<testcase {attributes} time="{outcome.seconds:.3f}">')
        text = xml(_printable("\n".join(explain(row))))
        trace = xml(_printable(outcome.errors[0].trace[:20000])) if outcome.errors else ""
        if row.status == "failed":
            out.append(f"<failure message={quoteattr(_printable(row.verdict))}>{text}\n{trace}</failure>")
        elif row.status == "skipped":
            out.append(f"<skipped message={quoteattr(_printable(outcome.note))}/>")
        out.append("</testcase>")
    out.append("</testsuite>")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(out) + "\n", encoding="utf-8")


PAGE_STYLE = page_colours() + """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--grid);vertical-align:top}
td:nth-child(6),td:nth-child(7){text-align:right;font-variant-numeric:tabular-nums}
.passed{color:var(--good)}.failed{color:var(--wrong);font-weight:bold}.skipped{color:var(--open)}
.detail{color:var(--soft);font-size:13px;white-space:pre-wrap}
details{margin:.8rem 0;border:1px solid var(--grid);border-radius:6px;padding:.5rem 1rem}
summary{cursor:pointer}pre{overflow:auto;background:var(--box);padding:1rem;border-radius:6px;font-size:12px;max-height:40rem}
.picture{overflow:auto}
"""


def _counterexample(row: Row, number: int) -> str:
    outcome = row.outcome
    assert outcome is not None
    error = outcome.errors[0]
    title = f"{row.harness.name}, {row.engine}/{row.model}: {error.kind}, {error.message}"
    parts = [f'<details id="c{number}"{" open" if row.status == "failed" else ""}><summary><b>{escape(title)}</b> '
             f'{escape(error.where())}</summary><p>{escape(row.harness.get("property"))}</p>']
    if error.graph:
        parts.append(f'<div class="picture">{draw(Graph.from_json(error.graph), title)}</div>')
    if error.trace:
        parts.append(f"<pre>{escape(error.trace)}</pre>")
    if outcome.command:
        parts.append(f"<p>Again:</p><pre>{escape(outcome.command)}</pre>")
    return "".join(parts) + "</details>"


def write_html(rows: Sequence[Row], folder: Path) -> Path:
    """One page that needs nothing else: the table, then every counterexample with its graph."""
    line, _ = closing(row.status for row in rows)
    body, details = [], []
    for number, row in enumerate(rows):
        outcome = row.outcome
        assert outcome is not None
        parts = [escape(cell) for cell in cells(row)]
        if outcome.errors and outcome.kind not in TROUBLE or row.status == "failed" and outcome.errors:
            parts[-1] = f'<a href="#c{number}">{parts[-1]}</a>'
            details.append(_counterexample(row, number))
        parts[0] = f'<span title="{escape(row.harness.get("property"))}">{parts[0]}</span>'
        parts[-1] = f'<span class="{row.status}">{parts[-1]}</span>'
        if row.status != "passed" and outcome.note:
            parts[-1] += f'<div class="detail">{escape(outcome.note)}</div>'
        body.append("<tr>" + "".join(f"<td>{part}</td>" for part in parts) + "</tr>")
    page = (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lade: verification</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<style>{PAGE_STYLE}</style></head><body><h1>Verification</h1><p>{escape(line)}</p><p>A harness that is meant to "
            "fail passes the suite only by failing with the intended kind of error. = marks a result from the cache; "
            "a+b executions means a complete and b blocked ones.</p><div class='wide'><table><thead><tr>"
            + "".join(f"<th>{name}</th>" for name in HEADER) + "</tr></thead><tbody>" + "\n".join(body)
            + "</tbody></table></div><h2>Counterexamples</h2>" + "\n".join(details) + "</body></html>\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path
