# SPDX-License-Identifier: MIT
"""docs/certificate.md: the tables of sites and what each weakening breaks. Written, read back, compared."""
from __future__ import annotations

import re
from typing import Container, Iterable, Sequence

from .certify import KEPT, KILLED, SKIPPED, Verdict

HEAD = """# The order certificate

Every memory order stronger than relaxed in the libraries is a *site* with a name. Each site is weakened by each single step, and
the module's harnesses run on the weakened library, under two independent model checkers with the model RC11: our own
`verify/explore`, and GenMC. KILLED means that a harness found a counterexample, and names the harness and the kind of
error: the order is needed, and the harness would notice its loss. KEPT means that none did, and gives the reason why the
order stays. SKIP means that the page was written where that checker was not to be had, or, of a protocol mutant,
that it cannot run that code.

Written by `verify/certify`, which leaves each counterexample as text and picture in `build/certificate/`. Two checkers
that do not agree are an error. `verify/certify --check` fails when this page and the sources differ; it compares the
columns of the checkers that are there.
"""
ENGINES = {"explore": "explore", "genmc": "GenMC"}  # engine, title of its column
COLUMNS = {
    "sites": ["site", "source", "order", "partner", "weakened to", *ENGINES.values()],
    "failure": ["site", "source", "order", "failure order alone", "explore"],
    "protocol": ["mutant", "source", "what it shows", *ENGINES.values()],
}
INTRODUCTION = {
    "failure": ("### Failure orders\n\nThe failure order of a compare-exchange weakened alone, which only explore can judge. "
                "NOT NEEDED is no failure: the two orders are\nwritten as a pair (failure = load part of success) so that GenMC, "
                "which ignores failure orders, checks this very program.\n"),
    "protocol": "### Protocol mutants\n\nSteps of the algorithm changed on purpose; the harnesses must notice these too.\n",
}
LABEL = {"sites": 4, "failure": 3}  # column that, with the name, tells rows apart

Row = list[str]
Section = dict[str, list[Row]]  # table -> rows of cells
Page = dict[str, Section]       # module -> section


def empty() -> Section:
    return {table: [] for table in COLUMNS}


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _end(verdict: Verdict) -> str:
    """The cell of an engine."""
    if verdict.verdict == KILLED:
        return f"KILLED by `{verdict.killer}`: {verdict.kind}"
    return f"KEPT: {verdict.note}" if verdict.verdict == KEPT else verdict.verdict


def sections(verdicts: Sequence[Verdict]) -> Page:
    """Rows by module, in the order of the sources. An engine that did not run leaves SKIP."""
    page: Page = {}
    rows: dict[int, tuple[str, Row]] = {}
    for verdict in verdicts:
        mutant, site = verdict.mutant, verdict.site
        if id(mutant) not in rows:
            table = "failure" if mutant.informative else "sites" if site else "protocol"
            source = f"{mutant.file}:{mutant.line}"
            if mutant.informative and site:
                row = [f"`{site.name}`", source, site.order, mutant.orders[1]]
            elif site:
                row = [f"`{site.name}`", source, site.order, ", ".join(f"`{name}`" for name in site.partners), mutant.label]
            else:
                row = [mutant.name, source, mutant.why]
            row = [_cell(c) for c in row]
            row += [SKIPPED] * (len(COLUMNS[table]) - len(row))
            page.setdefault(mutant.module, empty())[table].append(row)
            rows[id(mutant)] = table, row
        table, row = rows[id(mutant)]
        row[COLUMNS[table].index(ENGINES[verdict.engine])] = _cell(_end(verdict))
    return page


def _key(table: str, row: Row) -> tuple[str, ...]:
    return (row[0], row[LABEL[table]]) if table in LABEL else (row[0],)


def keep_cells(old: Page, new: Page, ran: Iterable[str]) -> Page:
    """`new`, with the page's cells where an engine did not run: what was not run is not written anew."""
    ran = list(ran)
    titles = {title for engine, title in ENGINES.items() if engine not in ran}
    for module, section in new.items():
        if "explore" not in ran:  # which alone judges failure orders
            before = old.get(module, empty())
            section["failure"] = before["failure"]
            names = {row[0] for row in section["protocol"]}
            only = [row for row in before["protocol"] if row[0] not in names and row[-1].startswith(SKIPPED)]
            section["protocol"] = sorted(section["protocol"] + only)
        for table, rows in section.items():
            known = {_key(table, row): row for row in old.get(module, empty())[table]}
            for row in rows:
                before = known.get(_key(table, row))
                for at, column in enumerate(COLUMNS[table]):
                    if before and column in titles and before[2] == row[2]:
                        row[at] = before[at]
    return new


def _table(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def _summary(rows: Sequence[Row]) -> str:
    parts = [f"{len({row[0] for row in rows})} sites, {len(rows)} weakenings."]
    for title in ENGINES.values():
        said = [row[COLUMNS["sites"].index(title)].split()[0].rstrip(":") for row in rows]
        skipped = f", {said.count(SKIPPED)} skipped" if SKIPPED in said else ""
        parts.append(f"{title}: {said.count(KILLED)} killed, {said.count(KEPT)} kept{skipped}.")
    return " ".join(parts) + "\n"


def render(page: Page) -> str:
    out = [HEAD]
    for module in sorted(page):
        section = page[module]
        out += [f"## {module}\n", _summary(section["sites"])]
        for table, columns in COLUMNS.items():
            if section[table] or table == "sites":
                out += [INTRODUCTION[table]] if table in INTRODUCTION else []
                out += _table(columns, section[table])
    return "\n".join(out).rstrip("\n") + "\n"


def _split(line: str) -> Row:
    return [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def parse(text: str) -> Page:
    """Read a page back. Tables with other columns than ours are not read."""
    page: Page = {}
    section, table = empty(), ""
    for line in text.splitlines():
        heading = re.match(r"^## (\S+)$", line)
        if heading:
            section, table = page.setdefault(heading.group(1), empty()), ""
        elif line.startswith("| "):
            cells = _split(line)
            named = next((name for name, columns in COLUMNS.items() if columns == cells), "")
            if named:
                table = named
            elif table and len(cells) == len(COLUMNS[table]):
                section[table].append(cells)
        elif not line.startswith("|"):
            table = ""
    return page


def hints(page: Page, engine: str) -> dict[tuple[str, str], str]:
    """(name, weakened to) -> the harness that killed it when the page was written. Tried first: usually it still does."""
    found: dict[tuple[str, str], str] = {}
    for section in page.values():
        for table in ("sites", "protocol"):
            for row in section[table]:
                killer = re.match(r"KILLED by `([^`]+)`", row[COLUMNS[table].index(ENGINES[engine])])
                if killer:
                    found[row[0].strip("`"), row[4] if table == "sites" else ""] = killer.group(1)
    return found


def _changed_orders(before: Sequence[Row], after: Sequence[Row]) -> dict[str, str]:
    """Sites whose order is another one: said once, and not as rows that came and went."""
    order = {row[0]: row[2] for row in before}
    return {row[0]: f"{row[0]}: order at {row[1]} is {row[2]}, the page says {order[row[0]]}"
            for row in after if order.get(row[0], row[2]) != row[2]}


def _row_differences(table: str, before: Sequence[Row], after: Sequence[Row], changed: Container[str],
                     ignore: Container[str]) -> list[str]:
    out = []
    known = {_key(table, row): row for row in before}
    present = {_key(table, row): row for row in after}
    for key in [*known, *(k for k in present if k not in known)]:
        name = (" to " if table == "sites" else ", failure order alone to ").join(key)
        if key[0] in changed:
            continue
        if key not in present:
            out.append(f"{name}: on the page, not in the sources any more")
        elif key not in known:
            out.append(f"{name}: in the sources, not on the page")
        else:
            out += [f"{name}: {column} is {b or 'empty'}, the page says {a or 'empty'}"
                    for column, a, b in zip(COLUMNS[table], known[key], present[key]) if a != b and column not in ignore]
    return out


def differences(old: Page, new: Page, modules: Iterable[str], ran: Iterable[str]) -> list[str]:
    """What differs between the page and the present, one line per site or mutant; of the engines only those that ran."""
    ignore = {title for engine, title in ENGINES.items() if engine not in ran}
    out: list[str] = []
    for module in modules:
        before, after = old.get(module, empty()), new.get(module, empty())
        changed = _changed_orders(before["sites"], after["sites"])
        out += changed.values()
        for table in COLUMNS:
            out += _row_differences(table, before[table], after[table], changed, ignore)
    return out
