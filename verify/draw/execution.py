# SPDX-License-Identifier: MIT
"""The picture of an execution graph: one column per thread, one row per event."""
from __future__ import annotations

from .graph import Event, Graph, Id
from .svg import Picture, fold, measure, short

ROW, HIGH, GAP, LEFT, HEADING = 46, 36, 56, 14, 46
LEAST, MOST = 26, 60  # characters of a box
MANY = 40             # rows from which on the main thread is cut down
NOISE = ("THREAD_", "LOOP_BEGIN", "SPIN_START", "MALLOC")
ARROWS = {"sync": ("blue", 1.6, "", "blue: reads from, and synchronises"), "rf": ("green", 1.6, "", "green: reads from"),
          "mo": ("orange", 1.2, "5 3", "dashed: next write to the same location"),
          "fr": ("bad-line", 1.6, "2 3", "dotted: read before this write")}


def _shown(graph: Graph, order: list[Event]) -> list[Event]:
    """Leave out what the main thread does alone if there is much of it: a set-up of hundreds of events hides the few that matter."""
    order = [e for e in order if e.id in graph.culprits or not e.label.startswith(NOISE)]
    if len(order) <= MANY:
        return order
    keep: set[Id] = set(graph.culprits)
    for event in order:
        if event.rf and (event.rf[0] != event.id[0]):
            keep |= {event.rf, event.id}
    for chain in graph.mo:
        if len({thread for thread, _ in chain}) > 1:
            keep |= set(chain)
    return [e for e in order if e.id in keep or e.id[0] != 0 or e.weakened]


def _edges(graph: Graph, order: list[Event]) -> list[tuple[str, Id, Id]]:
    """Arrows between shown events, as execution.js draws them: none to the next row of the same thread, one between two events; a read's to
    the write that overwrites what it has read only if some read misses such a write."""
    row = {event.id: i for i, event in enumerate(order)}
    edges = [("sync" if event.synchronises else "rf", event.rf, event.id) for event in order if event.rf]
    missed = [("fr", a, b) for a, b in graph.fr if a[0] != b[0]]
    if any(a in row and b in row and row[b] < row[a] for _, a, b in missed):
        edges += missed
    pairs = {(a, b) for _, a, b in edges}
    edges += [("mo", a, b) for chain in graph.mo for a, b in zip(chain, chain[1:]) if a[0] != b[0] and (a, b) not in pairs]
    return [(kind, a, b) for kind, a, b in edges if a in row and b in row and (a[0] != b[0] or row[b] - row[a] != 1)]


def _legend(graph: Graph, order: list[Event], kinds: set[str]) -> str:
    words = ["time runs down", *(ARROWS[kind][3] for kind in ARROWS if kind in kinds)]
    if any(event.weakened for event in order):
        words.append("yellow: weakened")
    if graph.culprits:
        words.append("red: the events of the error")
    return "; ".join(words)


def draw(graph: Graph, title: str = "") -> str:
    """Arrows lead from a write to the reads of its value, and to the next write to the same location."""
    order = _shown(graph, graph.rows())
    row = {event.id: i for i, event in enumerate(order)}
    labels = {}
    for event in order:
        newer = graph.stale(event, row) if not graph.order else 0  # an engine that gives an order has it in the label
        labels[event.id] = event.label + (f" (stale: {newer} newer)" if newer else "")
    most = min(max([LEAST, *map(len, labels.values())]), MOST)
    box = measure("x" * most, 12, True) + 12
    small = int((box - 12) / measure("x", 11, True))
    threads = sorted(graph.threads)
    column = {t: LEFT + i * (box + GAP) for i, t in enumerate(threads)}
    width = LEFT + len(threads) * (box + GAP)
    across = max(int((width - 2 * LEFT) / measure("x", 13, True)), 60)
    picture, edges = Picture(mono=True), _edges(graph, order)
    heading = fold(title or graph.title, across - 4)
    legend = fold(_legend(graph, order, {kind for kind, _, _ in edges}), int(across * 13 / 11) - 4)
    y = 6
    for line in heading:
        y += 17
        picture.text(LEFT, y, line, 13, bold=True)
    for line in legend:
        y += 17
        picture.text(LEFT, y, line, 11, "soft")
    top = y + HEADING
    bottom = top + ROW * max(len(order), 1)

    def corner(event: Id) -> tuple[float, float]:
        return column[event[0]], top + row[event] * ROW

    for thread in threads:
        picture.text(column[thread], top - 14, graph.threads[thread][0], 13, bold=True)
        picture.path(f"M{column[thread] + 8:g} {top}V{bottom}", "line")
    for kind, a, b in edges:
        (xa, ya), (xb, yb) = corner(a), corner(b)
        offset = {"mo": 26, "fr": 18}.get(kind, 10)
        colour, wide, dashes, _ = ARROWS[kind]
        start = xa if xb < xa else xa + box
        end = xb if xb > xa else xb + box
        picture.arrow((start, ya + offset), (end, yb + offset), colour, wide, dashes, loop=a[0] == b[0])
    for event in order:
        x, y = corner(event.id)
        bad = event.id in graph.culprits
        place = f"{event.file}:{event.line}" if event.line else ""
        picture.rect(x, y, box, HIGH, "bad" if bad else "weak" if event.weakened else "box", "bad-line" if bad else "line", corner=4,
                     title=f"{labels[event.id]}  {place}  {event.source}".strip())
        picture.text(x + 6, y + 15, short(labels[event.id], most))
        picture.text(x + 6, y + 29, short(f"{place}  {event.source}", small) if place else "", 11, "soft")
    y = bottom
    for note in [*([graph.title] if title else []), *graph.notes]:
        for line in fold(note, across - 2):
            y += 17
            picture.text(LEFT, y, line)
    return picture.svg(width, y + 16, title or graph.title)
