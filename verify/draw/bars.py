# SPDX-License-Identifier: MIT
"""Bar charts: panels side by side, in rows that share a title."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from .svg import Picture, measure

WIDTH, NARROW, MARGIN, COLUMNS = 1180, 740, 20, 3
BAR, HEAD, GAP, NOTE, VALUE = 18, 46, 26, 14, 55


@dataclass
class Bar:
    """`low` and `high` are quartiles; `ours` has another colour than the peers."""

    name: str
    value: float
    shown: str
    low: float
    high: float
    ours: bool


@dataclass
class Panel:
    title: str
    unit: str
    bars: list[Bar]
    notes: list[str] = field(default_factory=list)

    def height(self) -> int:
        return HEAD + BAR * len(self.bars) + 18 + NOTE * max(len(self.notes) - 1, 0) + GAP


@dataclass
class Group:
    title: str
    panels: list[Panel]


def _panel(picture: Picture, panel: Panel, x: float, y: float, width: float) -> None:
    label = max(measure(bar.name, 12) for bar in panel.bars) + 8
    scale = (width - label - VALUE) / (max(bar.high for bar in panel.bars) or 1)
    picture.text(x, y + 14, panel.title, 14, bold=True)
    picture.text(x, y + 30, panel.unit, 11, "soft")
    for i, bar in enumerate(panel.bars):
        line = y + HEAD + i * BAR
        length, low, high = bar.value * scale, bar.low * scale, bar.high * scale
        picture.text(x + label - 6, line + BAR - 5, bar.name, anchor="end")
        picture.rect(x + label, line + 1, max(length, 1), BAR - 4, "teal" if bar.ours else "grey")
        picture.path(f"M{x + label + low:.1f} {line + BAR / 2 - 1:g}H{x + label + high:.1f}", "ink")
        picture.text(x + label + max(length, high) + 5, line + BAR - 5, bar.shown)
    for i, note in enumerate(panel.notes):
        picture.text(x + 20, y + HEAD + len(panel.bars) * BAR + 13 + i * NOTE, note, 11, "soft")


def draw(title: str, note: str, groups: Sequence[Group]) -> str:
    page = WIDTH if any(len(group.panels) > 1 for group in groups) else NARROW
    picture, y = Picture(), MARGIN
    picture.text(MARGIN, y + 18, title, 18, bold=True)
    picture.text(MARGIN, y + 38, note, 12, "soft")
    y += 60
    for group in groups:
        columns = min(COLUMNS, len(group.panels))
        if columns > 1:
            picture.text(MARGIN, y + 12, group.title, 14)
            y += 22
        width = (WIDTH - 2 * MARGIN) / COLUMNS if columns > 1 else NARROW - 2 * MARGIN
        for start in range(0, len(group.panels), COLUMNS):
            row = group.panels[start:start + COLUMNS]
            for i, panel in enumerate(row):
                _panel(picture, panel, MARGIN + i * width, y, width - (GAP if columns > 1 else 0))
            y += max(panel.height() for panel in row)
    return picture.svg(page, y, title)
