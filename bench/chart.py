# SPDX-License-Identifier: MIT
"""Bar charts as SVG."""
from html import escape

from report import number

WIDTH, MARGIN, COLUMNS = 1180, 20, 3
BAR, LABEL, HEAD, GAP, NOTE = 18, 150, 46, 26, 14
OURS, PEER, FONT = "#1f6f8b", "#b9bec4", "font-family='sans-serif'"


def text(x, y, content, size=12, anchor="start", extra=""):
    return f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' {extra}>{escape(content)}</text>"


def panel(table, x, y, width, notes):
    rows = [row for row in table.rows() if row["unit"] != "ratio"]
    label = max(LABEL if len(r["candidate"]) < 20 else LABEL + 40 for r in rows)
    room = width - label - 55
    top = max(row["quartiles"][1] for row in rows) or 1
    title = table.title if width > 600 else table.case
    parts = [text(x, y + 14, title, 14, extra="font-weight='bold'"),
             text(x, y + 30, table.unit + (", more is better" if table.higher else ", less is better") +
                  (", unsteady" if table.unsteady else ""), 11, extra="fill='#555'")]
    for i, row in enumerate(rows):
        line = y + HEAD + i * BAR
        length = row["median"] / top * room
        low, high = (min(q / top, 1) * room for q in row["quartiles"])
        colour = OURS if row["candidate"].startswith("lade") else PEER
        middle = line + BAR / 2 - 1
        parts.append(text(x + label - 6, line + BAR - 5, row["candidate"], 12, "end"))
        parts.append(f"<rect x='{x + label}' y='{line + 1}' width='{max(length, 1):.1f}' height='{BAR - 4}' "
                     f"fill='{colour}'/>")
        parts.append(f"<path d='M{x + label + low:.1f} {middle}H{x + label + high:.1f}' stroke='#222'/>")
        parts.append(text(x + label + max(length, high) + 5, line + BAR - 5, number(row["median"]), 12))
    for i, note in enumerate(notes.get(table.case, [])):
        parts.append(text(x + 20, y + HEAD + len(rows) * BAR + 13 + i * NOTE, note, 11, extra="fill='#555'"))
    return "".join(parts)


def height_of(table, notes):
    more = max(len(notes.get(table.case, [])) - 1, 0)
    return HEAD + BAR * len(table.candidates) + 18 + NOTE * more + GAP


def draw(name, tables, promises):
    notes = {}
    for p in promises:
        what = p["candidate"] + (f" / {p['against']}" if "against" in p else "")
        verdict = p["verdict"]
        notes.setdefault(p["case"], []).append(
            f"{what}: {number(p['value'])} ({p['sense']} {p['promise']:g}: {verdict})")
    groups = {}
    for table in tables:
        groups.setdefault(table.case.split()[0], []).append(table)
    page = WIDTH if len(groups) < len(tables) else 740
    y, parts = MARGIN, [text(MARGIN, MARGIN + 18, f"bench/run {name}", 18, extra="font-weight='bold'")]
    state = tables[0].state()["before"]
    parts.append(text(MARGIN, MARGIN + 38, f"medians; line: quartiles. At the start: line ping-pong "
                      f"{state['pingpong_ns']:.0f} ns, two cores {state['speedup']:.2f} times one.", 12,
                      extra="fill='#555'"))
    y += 60
    for group in groups.values():
        if len(group) > 1:
            parts.append(text(MARGIN, y + 12, group[0].title.rsplit(", ", 1)[0], 14, extra="fill='#222'"))
            y += 22
        columns = min(COLUMNS, len(group))
        width = (WIDTH - 2 * MARGIN) / COLUMNS if columns > 1 else 700
        for start in range(0, len(group), COLUMNS):
            row = group[start:start + COLUMNS]
            for i, table in enumerate(row):
                parts.append(panel(table, MARGIN + i * width, y, width, notes))
            y += max(height_of(table, notes) for table in row)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {page} {y}' width='{page}' height='{y}' {FONT}>"
            f"<rect width='100%' height='100%' fill='white'/>{''.join(parts)}</svg>\n")
