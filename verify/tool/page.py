# SPDX-License-Identifier: MIT
"""docs/certificate.md, rendered from the certificate."""
from __future__ import annotations

from typing import Iterable, Sequence

from .certificate import ENGINES, FAILURE, PROTOCOL, SITES, Certificate, Row
from .certify import KEPT, KILLED, SKIPPED

HEAD = """# The order certificate

Every memory order stronger than relaxed in the libraries is a *site* with a name, its tag. Each site is weakened by each
single step, and the module's harnesses run on the weakened library, under two independent model checkers with the model
RC11: `verify/explore`, and GenMC. Protocol mutants are steps of an algorithm changed on purpose; the harnesses must notice
these too.

| verdict | means |
|---|---|
| KILLED | a harness found a counterexample: the order is needed, and the harness would notice its loss |
| KEPT | no harness did; the tag gives the reason why the order stays |
| SKIP | the checker was not available; or, with a reason, it cannot run the harness that kills this mutant |
| NOT NEEDED | for failure orders only: no harness needs it |

Rendered by `verify/certify` from [verify/certificate.json](../verify/certificate.json); do not edit it. `verify/certify --check`
repeats the runs with the checkers that are available, and fails where the sources, the data or this page differ, or where
two checkers do not agree. `verify/certify --render --html DIR` writes a page with a picture of each counterexample.
"""
FAILURE_ORDERS = """The failure order of a compare-exchange weakened alone, which only explore can judge. NOT NEEDED is no failure: the two
orders are written as a pair (failure = load part of success) so that GenMC, which ignores failure orders, checks the same
program.
"""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows), ""]


def in_module(rows: Certificate, module: str, table: str) -> list[Row]:
    """The rows of one table, by name."""
    return [rows[key] for key in sorted(rows) if key[:2] == (table, module)]


def modules_of(rows: Certificate) -> list[str]:
    return sorted({row.module for row in rows.values()})


def count(rows: Sequence[Row], engine: str) -> str:
    """How many of the rows an engine kills, and what became of the others."""
    verdicts = [row.verdict(engine) for row in rows]
    others = [f"{verdicts.count(verdict)} {word}" for verdict, word in ((KEPT, "kept"), (SKIPPED, "skipped")) if verdict in verdicts]
    return str(verdicts.count(KILLED)) + (f" ({', '.join(others)})" if others else "")


SUMMARY = ("module", "sites", "weakenings", *(f"needed: {title}" for title in ENGINES.values()),
           "protocol mutants", *(f"noticed: {title}" for title in ENGINES.values()))


def summary(rows: Certificate, module: str = "") -> list[str]:
    """Cells of the summary: of one module, or of all."""
    sites = [row for row in rows.values() if row.table == SITES and module in ("", row.module)]
    mutants = [row for row in rows.values() if row.table == PROTOCOL and module in ("", row.module)]
    return [module or "all", str(len({row.name for row in sites})), str(len(sites)), *(count(sites, e) for e in ENGINES),
            str(len(mutants)), *(count(mutants, e) for e in ENGINES)]


def _where(row: Row) -> str:
    file, function = row.facts["file"], row.facts["function"]
    return f"[{file}](../{file})" + (f" `{function}`" if function else "")


def _said(row: Row, engine: str) -> str:
    result, verdict = row.results[engine], row.verdict(engine)
    if verdict == KILLED:
        return f"KILLED by [{result['harness']}](../verify/{result['harness']}.c): {result['error']}"
    reason = row.facts.get({KEPT: "keep", SKIPPED: "skip"}.get(verdict, ""), "")
    return f"{verdict}: {reason}" if reason else verdict


def _module(rows: Certificate, module: str) -> list[str]:
    sites, failures, mutants = (in_module(rows, module, table) for table in (SITES, FAILURE, PROTOCOL))
    titles = list(ENGINES.values())
    out = [f"## {module}\n"]
    if sites:
        out += _table(["site", "where", "order", "partner", "weakened to", *titles],
                      ([f"`{row.name}`", _where(row), row.facts["order"], ", ".join(f"`{p}`" for p in row.facts["partners"]),
                        row.label, *(_said(row, e) for e in ENGINES)] for row in sites))
    if failures:
        out += [f"### Failure orders of {module}\n", FAILURE_ORDERS]
        out += _table(["site", "where", "order", "failure order alone", "explore"],
                      ([f"`{row.name}`", _where(row), row.facts["order"], row.label, _said(row, "explore")] for row in failures))
    if mutants:
        out += [f"### Protocol mutants of {module}\n"]
        out += _table(["mutant", "where", "what it shows", *titles],
                      ([row.name, _where(row), row.facts["why"], *(_said(row, e) for e in ENGINES)] for row in mutants))
    return out


def _skipped(rows: Certificate) -> list[str]:
    """What some checker has not judged, and why."""
    skips = [(row, engine) for _, row in sorted(rows.items()) for engine in row.engines if row.verdict(engine) == SKIPPED]
    table = ([f"[{row.module}](#{row.module})", f"`{row.name}`", ENGINES[engine], row.facts.get("skip", "not run")] for row, engine in skips)
    return ["## Skipped\n", *(_table(["module", "site or mutant", "checker", "reason"], table) if skips else ["Nothing.\n"])]


def render(rows: Certificate) -> str:
    """The page."""
    modules = modules_of(rows)
    table = [[f"[{module}](#{module})", *summary(rows, module)[1:]] for module in modules]
    out = [HEAD, "## Summary\n", *_table(SUMMARY, [*table, summary(rows)]), *_skipped(rows)]
    for module in modules:
        out += _module(rows, module)
    return "\n".join(out).rstrip("\n") + "\n"
