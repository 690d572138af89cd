# SPDX-License-Identifier: MIT
"""Bar charts: panels below each other, narrow enough to be read on a phone."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

from .svg import Picture, fold, measure

WIDTH, MARGIN = 460, 14  # on a phone of 360 pixels the smallest text has 9
BAR, GAP, LINE, VALUE = 20, 22, 16, 46
SMALL, TEXT, TITLE, LARGE = 12, 12, 14, 16


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


@dataclass
class Group:
    title: str
    panels: list[Panel]


def _lines(picture: Picture, words: str, x: float, y: float, size: float, colour: str = "ink", bold: bool = False) -> float:
    """Text in as many lines as it takes; returns where the last one ends."""
    most = int((WIDTH - x - MARGIN) / measure("x", size) / (1.08 if bold else 1))
    for line in fold(words, most):
        y += LINE + size - SMALL
        picture.text(x, y, line, size, colour, bold=bold)
    return y


def _panel(picture: Picture, panel: Panel, y: float) -> float:
    """Returns where it ends."""
    label = MARGIN + max(measure(bar.name, TEXT) for bar in panel.bars) + 6
    scale = (WIDTH - MARGIN - VALUE - label) / (max(bar.high for bar in panel.bars) or 1)
    y = _lines(picture, panel.title, MARGIN, y, TITLE, bold=True)
    y = _lines(picture, panel.unit, MARGIN, y, SMALL, "soft") + 8
    for bar in panel.bars:
        length, low, high = bar.value * scale, bar.low * scale, bar.high * scale
        picture.text(label - 6, y + BAR - 6, bar.name, TEXT, anchor="end")
        picture.rect(label, y + 1, max(length, 1), BAR - 4, "teal" if bar.ours else "grey")
        picture.path(f"M{label + low:.1f} {y + BAR / 2 - 1:g}H{label + high:.1f}", "ink")
        picture.text(label + max(length, high) + 5, y + BAR - 6, bar.shown, TEXT)
        y += BAR
    for note in panel.notes:
        y = _lines(picture, note, MARGIN, y, SMALL, "soft")
    return y + GAP


def draw(title: str, note: str, groups: Sequence[Group]) -> str:
    picture = Picture()
    y = _lines(picture, title, MARGIN, 8, LARGE, bold=True)
    y = _lines(picture, note, MARGIN, y + 2, SMALL, "soft") + GAP - 6
    for group in groups:
        if len(group.panels) > 1:
            y = _lines(picture, group.title, MARGIN, y - 6, TITLE) + 6
        for panel in group.panels:
            y = _panel(picture, panel, y)
    return picture.svg(WIDTH, y, title)
