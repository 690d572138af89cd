# SPDX-License-Identifier: MIT
"""The batches of a run against time, from the report of `lade feed --timeline --json`: a row for each buffer and device slot."""
from __future__ import annotations

from typing import Any

from .svg import Picture, fold, measure, ticks

WIDTH, LEFT, RIGHT, LINE, ROW, BAR = 480, 70, 14, 18, 34, 24  # on a phone of 360 pixels the smallest text has 9
PHASES = {"write": ("a worker writes", "blue"), "wait": ("made, waits", "pale"), "copy": ("copy, behind earlier work", "yellow"),
          "use": ("with the consumer", "green")}


def draw(report: dict[str, Any]) -> str:
    """Raises ValueError where the report has no timeline."""
    phases = report.get("timeline")
    if not phases:
        raise ValueError("the report has no timeline: make it with --timeline")
    rows = sorted({(phase["on"] == "device", phase["slot"]) for phase in phases})
    begin, end = min(phase["begin"] for phase in phases), max(phase["end"] for phase in phases)
    span = 1e3 * (end - begin) or 1
    first, last = min(phase["batch"] for phase in phases), max(phase["batch"] for phase in phases)
    title = f"batches {first:,} to {last:,} of {report.get('source', 'a run')}"
    picture, y = Picture(), 6
    for line in fold(title, 54):
        y += LINE
        picture.text(RIGHT, y, line, 14, bold=True)
    x, y = float(RIGHT), y + LINE + 4
    for name in dict.fromkeys(phase["phase"] for phase in phases):
        words, colour = PHASES[name]
        if x > RIGHT and x + 17 + measure(words, 12) > WIDTH - RIGHT:
            x, y = float(RIGHT), y + LINE
        picture.rect(x, y - 10, 12, 12, colour)
        picture.text(x + 17, y, words)
        x += 17 + measure(words, 12) + 20
    top = y + 14
    scale, bottom = (WIDTH - LEFT - RIGHT) / span, top + ROW * len(rows)
    for at in ticks(span, 6):
        picture.path(f"M{LEFT + at * scale:.1f} {top}V{bottom}", "grid")
        picture.text(LEFT + at * scale, bottom + 16, f"{at:.6g}", anchor="middle", colour="soft")
    picture.text(WIDTH / 2, bottom + 36, "milliseconds", anchor="middle", colour="soft")
    for i, (on_device, slot) in enumerate(rows):
        picture.text(LEFT - 8, top + ROW * i + 21, f"{'device' if on_device else 'buffer'} {slot}", anchor="end")
    for phase in phases:
        words, colour = PHASES[phase["phase"]]
        row = rows.index((phase["on"] == "device", phase["slot"]))
        length = 1e3 * (phase["end"] - phase["begin"])
        picture.rect(LEFT + 1e3 * (phase["begin"] - begin) * scale, top + ROW * row + 5, length * scale, BAR, colour,
                     title=f"batch {phase['batch']}: {words}, {length:.3f} ms")
    return picture.svg(WIDTH, bottom + 48, title)
