# SPDX-License-Identifier: MIT
"""What all pictures are made of: text that is measured, boxes, lines, and colours for light and dark screens."""
from __future__ import annotations

from html import escape

SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
MONO = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"

# Name: on a light and on a dark screen.
COLOURS = {
    "page": ("#ffffff", "#12161c"), "ink": ("#1c2733", "#e6ebf1"), "soft": ("#566170", "#a3afbd"),
    "line": ("#c3ccd5", "#3f4b59"), "grid": ("#e2e7ec", "#2c3541"), "box": ("#f5f7f9", "#1d242e"),
    "bad": ("#fdeaea", "#4a2020"), "bad-line": ("#c62828", "#ff8b7d"), "weak": ("#fff3c4", "#453a12"),
    "link": ("#0b62c4", "#7db4f0"), "mark": ("#ffeeb0", "#5a4a14"),
    "good": ("#1b6b35", "#4cc38a"), "wrong": ("#b00020", "#ff8b7d"), "open": ("#8a5a00", "#e8b45a"),
    "blue": ("#2266bb", "#6aa6e8"), "pale": ("#bbccee", "#33496b"), "green": ("#1b7f3b", "#4cb26e"),
    "orange": ("#a56200", "#e8a15a"), "yellow": ("#ccb33a", "#bfa52f"), "teal": ("#1f6f8b", "#4aa3c0"),
    "grey": ("#b9bec4", "#5d6772"),
}
WIDE, NARROW = set("mwMW@%…—"), set("iljtfrI.,:;'|!()[]{} -")


def measure(text: str, size: float, mono: bool = False) -> float:
    """The width of a text in the widest of the usual fonts, so that what fits here fits everywhere."""
    if mono:
        return 0.61 * size * len(text)
    return size * sum(0.98 if c in WIDE else 0.42 if c in NARROW else 0.72 if c.isupper() else 0.64 for c in text)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def short(text: str, characters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= characters else text[:characters - 1] + "…"


def fold(text: str, characters: int) -> list[str]:
    """Lines of at most N characters, broken at spaces."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > characters:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def ticks(span: float, most: int = 10) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from 0 to span, at most `most` steps."""
    step, i = 1e-9, 0
    while step * most < span:
        step *= 2.5 if i % 3 == 1 else 2
        i += 1
    return [n * step for n in range(int(span / step + 1e-9) + 1)]


def page_colours() -> str:
    """The colours as variables of a page, --NAME."""
    def block(which: int) -> str:
        return ":root{" + "".join(f"--{name}:{pair[which]};" for name, pair in COLOURS.items()) + "}"
    return (":root{color-scheme:light dark}" + block(0) + "@media(prefers-color-scheme:dark){" + block(1) + "}"
            "body{background:var(--page);color:var(--ink)}a{color:var(--link)}")


class Picture:
    """Elements in the order in which they are drawn. It refers to nothing outside, and has no names: pages may hold many."""

    def __init__(self, mono: bool = False) -> None:
        self.mono = mono
        self.parts: list[str] = []
        self.right = 0.0  # edge of the text
        self.used: set[tuple[str, str]] = {("fill", "page")}

    def _colour(self, kind: str, name: str) -> str:
        self.used.add((kind, name))
        return f"{kind[0]}-{name}"

    def text(self, x: float, y: float, words: str, size: float = 12, colour: str = "ink", anchor: str = "start",
             bold: bool = False) -> None:
        wide = measure(words, size, self.mono) * (1.08 if bold else 1)
        self.right = max(self.right, x + {"start": wide, "middle": wide / 2, "end": 0}[anchor])
        more = (f' text-anchor="{anchor}"' if anchor != "start" else "") + (' font-weight="bold"' if bold else "")
        self.parts.append(f'<text class="{self._colour("fill", colour)}" x="{_number(x)}" y="{_number(y)}" font-size="{size:g}"{more}>'
                          f"{escape(words)}</text>")

    def rect(self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "", title: str = "",
             corner: float = 0) -> None:
        names = self._colour("fill", fill) + (" " + self._colour("stroke", stroke) if stroke else "")
        inside = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.parts.append(f'<rect class="{names}" x="{_number(x)}" y="{_number(y)}" width="{_number(max(width, 0.3))}" height="{height:g}"'
                          + (f' rx="{corner:g}"' if corner else "") + inside)

    def path(self, d: str, colour: str, width: float = 1, dashes: str = "") -> None:
        more = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<path class="{self._colour("stroke", colour)}" d="{d}" fill="none" stroke-width="{width:g}"{more}/>')

    def arrow(self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1, dashes: str = "",
              loop: bool = False) -> None:
        """A curve that ends level; `loop`: it begins and ends on the same side, at the right."""
        (x1, y1), (x2, y2) = start, end
        head = -7 if x2 > x1 and not loop else 7
        bend = x1 + 34 if loop else (x1 + x2) / 2
        self.path(f"M{x1:g} {y1:g}C{bend:g} {y1:g} {bend:g} {y2:g} {x2 + head:g} {y2:g}", colour, width, dashes)
        self.parts.append(f'<path class="{self._colour("fill", colour)}" d="M{x2:g} {y2:g}l{head:g} -3.5v7z"/>')

    def svg(self, width: float, height: float, title: str) -> str:
        """The picture as one <svg> element, wide enough for its text."""
        width, height = round(max(width, self.right + 14)), round(height)

        def rules(which: int) -> str:
            return "".join(f".lade .{kind[0]}-{name}{{{kind}:{COLOURS[name][which]}}}" for kind, name in sorted(self.used))
        style = rules(0) + "@media(prefers-color-scheme:dark){" + rules(1) + "}"
        return (f'<svg class="lade" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
                f' role="img" font-family="{MONO if self.mono else SANS}">\n<title>{escape(title)}</title>\n<style>{style}</style>\n'
                f'<rect class="f-page" width="{width}" height="{height}"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
