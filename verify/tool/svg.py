# SPDX-License-Identifier: MIT
"""Draw an execution graph as SVG: one column per thread, one row per event, arrows for reads-from and modification order."""
from __future__ import annotations

import re
from html import escape

from .graph import Event, Graph, Id

COLUMN, ROW, BOX, LEFT, TOP = 380, 46, 330, 14, 74
CHARACTERS = 44  # that fit into a box
NOISE = ("THREAD_", "LOOP_BEGIN", "SPIN_START", "MALLOC")

# Below .graph, so that the rules mean this picture only, wherever it is pasted.
STYLE = " ".join(".graph " + rule for rule in """
text{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px;fill:#1c2733}
.name{font-weight:bold;font-size:13px}
.place{fill:#5b6875;font-size:11px}
.code{fill:#5b6875;font-size:11px}
.stale{fill:#9a4f00;font-size:11px}
.box{fill:#f5f7f9;stroke:#c3ccd5}
.bad{fill:#fdeaea;stroke:#c62828;stroke-width:2}
.rf{fill:none;stroke:#1b7f3b;stroke-width:1.6}
.mo{fill:none;stroke:#b26a00;stroke-width:1.2;stroke-dasharray:5 3}
.po{stroke:#c3ccd5}
.fold{fill:#5b6875;font-style:italic}
""".strip().splitlines())


def _short(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[:width - 1] + "…"


def _shown(graph: Graph, order: list[Event]) -> list[Event]:
    """Leave out what the main thread does for itself: a set-up of hundreds of events hides the few that matter."""
    keep: set[Id] = set(graph.culprits)
    for event in order:
        if event.rf and (event.rf[0] != event.id[0]):
            keep |= {event.rf, event.id}
    for chain in graph.mo:
        if len({thread for thread, _ in chain}) > 1:
            keep |= set(chain)
    return [e for e in order if e.id in keep or (e.id[0] != 0 and not e.label.startswith(NOISE))]


def _arrow(kind: str, a: tuple[float, float], b: tuple[float, float], same: bool) -> str:
    (x1, y1), (x2, y2) = a, b
    if same:
        bend = x1 + 34
        path = f"M{x1} {y1} C{bend} {y1} {bend} {y2} {x2} {y2}"
    else:
        middle = (x1 + x2) / 2
        path = f"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}"
    return f'<path class="{kind}" d="{path}" marker-end="url(#{kind})"/>'


def draw(graph: Graph, title: str = "") -> str:
    """The picture as one <svg> element, without references to anything outside it."""
    order = _shown(graph, graph.rows())
    threads = sorted(graph.threads)
    column = {t: i for i, t in enumerate(threads)}
    row = {event.id: i for i, event in enumerate(order)}
    width, height = LEFT * 2 + COLUMN * len(threads), TOP + ROW * max(len(order), 1) + 20

    def corner(event: Id) -> tuple[float, float]:
        return LEFT + column[event[0]] * COLUMN, TOP + row[event] * ROW

    out = [f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
           f"<style>{STYLE}</style><defs>"]
    for kind, colour in (("rf", "#1b7f3b"), ("mo", "#b26a00")):
        out.append(f'<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                   f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>')
    out.append(f'</defs><rect width="{width}" height="{height}" fill="#fff"/>')
    out.append(f'<text class="name" x="{LEFT}" y="20">{escape(_short(title or graph.title, 110))}</text>')
    out.append(f'<text class="place" x="{LEFT}" y="38">time runs down; solid green: reads from; dashed: next write to '
               'the same place; red: the events blamed</text>')
    for thread in threads:
        x = LEFT + column[thread] * COLUMN
        out.append(f'<text class="name" x="{x}" y="{TOP - 12}">{thread}: {escape(graph.threads[thread][0])}</text>')
        out.append(f'<line class="po" x1="{x + 8}" x2="{x + 8}" y1="{TOP}" y2="{height - 16}"/>')
    for event in order:
        x, y = corner(event.id)
        bad = " bad" if event.id in graph.culprits else ""
        place = _short(f"{event.file}:{event.line}", 22) if event.line else ""
        out.append(f'<g><title>{escape(str(event.id))} {escape(event.source)}</title>'
                   f'<rect class="box{bad}" x="{x}" y="{y}" width="{BOX}" height="{ROW - 10}" rx="4"/>'
                   f'<text x="{x + 6}" y="{y + 15}">{escape(_short(event.label, CHARACTERS - 2 - len(place)))}</text>'
                   f'<text class="place" x="{x + BOX - 6}" y="{y + 15}" text-anchor="end">{escape(place)}</text>')
        newer = graph.stale(event, row)
        if event.source and not newer:
            out.append(f'<text class="code" x="{x + 6}" y="{y + 30}">{escape(_short(event.source, CHARACTERS + 3))}</text>')
        elif newer:
            out.append(f'<text class="stale" x="{x + 6}" y="{y + 30}">'
                       f'{escape(_short(event.source, 28))} stale: {newer} newer</text>')
        out.append("</g>")
    edges = [("rf", event.rf, event.id) for event in order if event.rf]
    edges += [("mo", a, b) for chain in graph.mo for a, b in zip(chain, chain[1:]) if a[0] != b[0]]
    for kind, a, b in edges:
        if a not in row or b not in row or (a[0] == b[0] and row[b] - row[a] == 1):
            continue
        (xa, ya), (xb, yb) = corner(a), corner(b)
        offset = 12 if kind == "rf" else 24
        if a[0] == b[0]:
            out.append(_arrow(kind, (xa + BOX, ya + offset), (xb + BOX, yb + offset), True))
        elif xa < xb:
            out.append(_arrow(kind, (xa + BOX, ya + offset), (xb, yb + offset), False))
        else:
            out.append(_arrow(kind, (xa, ya + offset), (xb + BOX, yb + offset), False))
    out.append("</svg>")
    return "\n".join(out)


def own_names(svg: str, prefix: str) -> str:
    """The picture for a page with others: names of its parts (arrow heads) must not be those of another picture."""
    return re.sub(r"""(\bid=['"]|\burl\(#)""", rf"\g<1>{prefix}", svg)
