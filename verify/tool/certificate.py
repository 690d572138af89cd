# SPDX-License-Identifier: MIT
"""docs/certificate.md: the table of sites and what each weakening breaks. Written, read back, compared."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Iterable, Sequence

from .certify import KEPT, KILLED, Verdict

HEAD = """# The order certificate

Every memory order stronger than relaxed in `lib/` is a *site* with a name. Each site is weakened by each single step, in
a copy of the library, and the module's harnesses run on the copy. KILLED means that one of them found a
counterexample: the order is needed, and the harness would notice its loss. KEPT means that none did, and gives the
reason why the order stays.

Written by `verify/certify`, which leaves each counterexample as text and picture in `build/certificate/`;
`verify/certify --check` fails when this page and the sources differ.
"""
SITE_COLUMNS = ["site", "source", "order", "partner", "weakened to", "verdict", "killed by", "error", "engine", "model"]
PROTOCOL_COLUMNS = ["mutant", "source", "what it shows", "verdict", "killed by", "error", "engine", "model"]
BY_ENGINE = {"killed by", "error", "engine", "model"}  # columns that another engine fills in differently


@dataclass
class Section:
    """The two tables of a module, as rows of cells."""

    sites: list[list[str]] = field(default_factory=list)
    protocol: list[list[str]] = field(default_factory=list)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _end(verdict: Verdict) -> list[str]:
    said = f"KEPT: {verdict.note}" if verdict.verdict == KEPT else verdict.verdict
    killer = f"`{verdict.killer}`" if verdict.killer else ""
    return [said, killer, verdict.kind, verdict.engine, verdict.model if verdict.verdict == KILLED else ""]


def sections(verdicts: Sequence[Verdict]) -> dict[str, Section]:
    """Rows by module, in the order of the sources."""
    out: dict[str, Section] = {}
    for verdict in verdicts:
        mutant, site = verdict.mutant, verdict.site
        section = out.setdefault(mutant.module, Section())
        source = f"{mutant.file}:{mutant.line}"
        if site:
            partners = ", ".join(f"`{name}`" for name in site.partners)
            row = [f"`{site.name}`", source, site.order, partners, mutant.label, *_end(verdict)]
            section.sites.append([_cell(c) for c in row])
        else:
            section.protocol.append([_cell(c) for c in (mutant.name, source, mutant.why, *_end(verdict))])
    return out


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def render(parts: dict[str, Section]) -> str:
    out = [HEAD]
    for module in sorted(parts):
        section = parts[module]
        killed = sum(row[5] == KILLED for row in section.sites)
        kept = len(section.sites) - killed
        names = {row[0] for row in section.sites}
        out.append(f"## {module}\n")
        out.append(f"{len(names)} sites, {len(section.sites)} weakenings: {killed} killed, {kept} kept.\n")
        out += _table(SITE_COLUMNS, section.sites)
        if section.protocol:
            out.append("### Protocol mutants\n")
            out.append("Steps of the algorithm changed on purpose; the harnesses must notice these too.\n")
            out += _table(PROTOCOL_COLUMNS, section.protocol)
    return "\n".join(out).rstrip("\n") + "\n"


def parse(text: str) -> dict[str, Section]:
    """Read a page back."""
    out: dict[str, Section] = {}
    section = Section()
    for line in text.splitlines():
        heading = re.match(r"^## (\S+)$", line)
        if heading:
            section = out.setdefault(heading.group(1), Section())
        elif line.startswith("| ") and not line.startswith(("| site |", "| mutant |")):
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) == len(SITE_COLUMNS):
                section.sites.append(cells)
            elif len(cells) == len(PROTOCOL_COLUMNS):
                section.protocol.append(cells)
    return out


def hints(parts: dict[str, Section]) -> dict[tuple[str, str], str]:
    """(name, weakened to) -> the harness that killed it when the page was written. Tried first: usually it still does."""
    found: dict[tuple[str, str], str] = {}
    for section in parts.values():
        for row in section.sites:
            found[row[0].strip("`"), row[4]] = row[6].strip("`")
        for row in section.protocol:
            found[row[0], ""] = row[4].strip("`")
    return found


def engine_of(parts: dict[str, Section]) -> str:
    """The engine that the page was written with."""
    for section in parts.values():
        for row in section.sites:
            return row[SITE_COLUMNS.index("engine")]
    return ""


def _key(columns: Sequence[str], row: Sequence[str]) -> tuple[str, ...]:
    return (row[0], row[4]) if columns is SITE_COLUMNS else (row[0],)


def _changed_orders(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> dict[str, str]:
    """Sites whose order is another one: said once, and not as rows that came and went."""
    order = {row[0]: row[2] for row in before}
    return {row[0]: f"{row[0]}: order at {row[1]} is {row[2]}, the page says {order[row[0]]}"
            for row in after if order.get(row[0], row[2]) != row[2]}


def differences(old: dict[str, Section], new: dict[str, Section], modules: Iterable[str], ignore: set[str]) -> list[str]:
    """What differs between the page and the present, one line per site or mutant. `ignore` names columns."""
    out = []
    for module in modules:
        before, after = old.get(module, Section()), new.get(module, Section())
        for columns, rows_before, rows_after in ((SITE_COLUMNS, before.sites, after.sites),
                                                 (PROTOCOL_COLUMNS, before.protocol, after.protocol)):
            changed = _changed_orders(rows_before, rows_after) if columns is SITE_COLUMNS else {}
            out += changed.values()
            known = {_key(columns, row): row for row in rows_before}
            present = {_key(columns, row): row for row in rows_after}
            for key in [*known, *(k for k in present if k not in known)]:
                name = " to ".join(key)
                if key[0] in changed:
                    continue
                if key not in present:
                    out.append(f"{name}: on the page, not in the sources any more")
                elif key not in known:
                    out.append(f"{name}: in the sources, not on the page")
                else:
                    for column, a, b in zip(columns, known[key], present[key]):
                        if a != b and column not in ignore:
                            out.append(f"{name}: {column} is {b or 'empty'}, the page says {a or 'empty'}")
    return out
