# SPDX-License-Identifier: MIT
"""verify/certificate.json: what each weakening and each protocol mutant breaks. Written, read back, compared.

A row is one change under all engines. Its facts are read from the sources (where it is, in which function, the order,
the partners); its results come from runs. No fact is a line number: moving code within a file changes nothing.
"""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Container, Iterable, Sequence

from .certify import KILLED, SKIPPED, Verdict, Work
from .mutants import Mutant

FORMAT = 1
ENGINES = {"explore": "explore", "genmc": "GenMC"}  # engine, its name on the page
# Names of the tables, and what they are called in the file.
SITES, FAILURE, PROTOCOL = "weakened", "failure", "mutants"

Result = dict[str, str]             # verdict; of KILLED also harness and error
Key = tuple[str, str, str, str]     # table, module, tag or name, weakened to


@dataclass
class Row:
    """One change. `label` is what a site is weakened to."""

    table: str
    module: str
    name: str
    label: str
    facts: dict[str, Any]
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.table, self.module, self.name, self.label

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that judge it: of failure orders only explore knows anything."""
        return ("explore",) if self.table == FAILURE else tuple(ENGINES)

    def title(self) -> str:
        if self.table == PROTOCOL:
            return f"{self.module}/{self.name}"
        return f"`{self.name}`" + (", failure order alone to " if self.table == FAILURE else " to ") + self.label

    def verdict(self, engine: str) -> str:
        return self.results[engine]["verdict"] if engine in self.results else SKIPPED


Certificate = dict[Key, Row]


def said(row: Row, engine: str) -> str:
    """A result for a person."""
    result = row.results[engine]
    return f"KILLED by {result['harness']}: {result['error']}" if result["verdict"] == KILLED else result["verdict"]


def key_of(mutant: Mutant) -> Key:
    if mutant.informative:
        return FAILURE, mutant.module, mutant.name, mutant.orders[1]
    return SITES if mutant.label else PROTOCOL, mutant.module, mutant.name, mutant.label


def unjudged(work: Work) -> Certificate:
    """The rows of the sources, without results."""
    out: Certificate = {}
    for mutant, site in work:
        where = {"file": mutant.file, "function": mutant.function}
        if site:
            facts = {**where, "order": site.order, "partners": site.partners, **({"keep": site.keep} if site.keep else {})}
        else:
            facts = {**where, "why": mutant.why, **({"skip": mutant.because} if mutant.because else {})}
        row = Row(*key_of(mutant), facts)
        row.results = {engine: {"verdict": SKIPPED} for engine in row.engines}
        out[row.key] = row
    return out


def judged(work: Work, verdicts: Sequence[Verdict], old: Certificate, ran: Container[str]) -> Certificate:
    """The rows of the sources with what the engines found. An engine that did not run keeps what the old certificate has
    for the same order: what was not run is not written anew."""
    out = unjudged(work)
    for verdict in verdicts:
        result = {"verdict": verdict.verdict}
        if verdict.verdict == KILLED:
            result |= {"harness": verdict.killer, "error": verdict.kind}
        out[key_of(verdict.mutant)].results[verdict.engine] = result
    for key, row in out.items():
        before = old.get(key)
        if before and before.facts.get("order") == row.facts.get("order"):
            row.results |= {e: result for e, result in before.results.items() if e not in ran}
    return out


def refresh(old: Certificate, now: Certificate) -> Certificate:
    """The old results with the facts of the sources."""
    return {key: Row(*key, now[key].facts if key in now else row.facts, row.results) for key, row in old.items()}


def hints(rows: Certificate, engine: str) -> dict[tuple[str, str, str], str]:
    """(module, name, label) -> the harness that killed it. Tried first: usually it still does."""
    return {row.key[1:]: row.results[engine]["harness"] for row in rows.values()
            if row.table != FAILURE and row.verdict(engine) == KILLED}


# The file: keyed by tag, sorted, one line for each thing that changes alone.

def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _members(pairs: Iterable[tuple[str, str]], indent: int) -> str:
    return "{" + ",".join(f"\n{' ' * indent}{_line(name)}: {text}" for name, text in pairs) + "}"


def _facts(row: Row) -> str:
    return ", ".join(f"{_line(name)}: {_line(value)}" for name, value in row.facts.items())


def _results(row: Row) -> str:
    return ", ".join(f"{_line(engine)}: {_line(row.results[engine])}" for engine in row.engines)


def _site(rows: Sequence[Row]) -> str:
    parts = [_facts(rows[0])]
    for table in (SITES, FAILURE):
        mine = [(row.label, "{" + _results(row) + "}") for row in rows if row.table == table]
        if mine:
            parts.append(f"\n   {_line(table)}: {_members(mine, 4)}")
    return "{" + ",".join(parts) + "}"


def dump(rows: Certificate) -> str:
    """The text of the file."""
    sites: dict[str, list[Row]] = {}
    mutants: dict[str, list[tuple[str, str]]] = {}
    for key in sorted(rows):
        row = rows[key]
        if row.table == PROTOCOL:
            mutants.setdefault(row.module, []).append((row.name, "{" + _facts(row) + ",\n    " + _results(row) + "}"))
        else:
            sites.setdefault(row.name, []).append(row)
    parts = [("format", str(FORMAT)), ("sites", _members([(tag, _site(sites[tag])) for tag in sorted(sites)], 2)),
             (PROTOCOL, _members([(module, _members(mutants[module], 3)) for module in sorted(mutants)], 2))]
    return _members(parts, 1).removesuffix("}") + "\n}\n"


class CertificateError(Exception):
    """The file does not hold a certificate."""


def load(text: str) -> Certificate:
    """Read a file back; no text is an empty certificate."""
    out: Certificate = {}
    if not text:
        return out
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise CertificateError(f"format {data['format']}, want {FORMAT}")
        for tag, site in data["sites"].items():
            facts = {name: value for name, value in site.items() if name not in (SITES, FAILURE)}
            for table in (SITES, FAILURE):
                for label, results in site.get(table, {}).items():
                    row = Row(table, tag.split(".")[0], tag, label, facts, results)
                    out[row.key] = row
        for module, name, mutant in ((m, n, x) for m, mutants in data[PROTOCOL].items() for n, x in mutants.items()):
            row = Row(PROTOCOL, module, name, "", {n: v for n, v in mutant.items() if n not in ENGINES},
                      {n: v for n, v in mutant.items() if n in ENGINES})
            out[row.key] = row
        for row in out.values():
            for engine in row.engines:
                row.results.setdefault(engine, {"verdict": SKIPPED})
                said(row, engine)  # which needs all fields
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CertificateError(f"it cannot be read: {type(error).__name__} {error}") from error
    return out


# What differs between two certificates.

def claims(old: Certificate, now: Certificate, modules: Container[str]) -> list[str]:
    """Orders that changed, rows that came and rows that went: what only a run can put right."""
    out: dict[str, None] = {}  # a set in order: a site is named once though it has several rows
    order = {row.name: row.facts["order"] for row in old.values() if row.table == SITES}
    changed = set()
    for row in now.values():
        if row.table == SITES and row.module in modules and order.get(row.name, row.facts["order"]) != row.facts["order"]:
            changed.add(row.name)
            out[f"`{row.name}`: order in {row.facts['file']}, {row.facts['function']}() is {row.facts['order']}, "
                f"the certificate has {order[row.name]}"] = None
    for key in [*old, *(k for k in now if k not in old)]:
        row = old.get(key) or now[key]
        if row.module not in modules or row.name in changed:
            continue
        if key not in now:
            out[f"{row.title()}: in the certificate, not in the sources"] = None
        elif key not in old:
            out[f"{row.title()}: in the sources, not in the certificate"] = None
    return list(out)


def moved(old: Certificate, now: Certificate, modules: Container[str]) -> list[str]:
    """Other facts that differ: rendering puts them right."""
    out: dict[str, None] = {}
    for key, row in now.items():
        before = old.get(key)
        if not before or row.module not in modules or before.facts == row.facts:
            continue
        name = row.title() if row.table == PROTOCOL else f"`{row.name}`"
        for fact in dict.fromkeys([*before.facts, *row.facts]):
            a, b = before.facts.get(fact), row.facts.get(fact)
            if a != b and fact != "order":
                out[f"{name}: {fact} is {_line(b) if b else 'empty'}, the certificate has {_line(a) if a else 'empty'}"] = None
    return list(out)


def results(old: Certificate, now: Certificate, modules: Container[str], ran: Container[str]) -> list[str]:
    """Verdicts that differ, of the engines that ran."""
    return [f"{row.title()}: {ENGINES[engine]} is {said(row, engine)}, the certificate has {said(old[key], engine)}"
            for key, row in now.items() if key in old and row.module in modules
            for engine in row.engines if engine in ran and said(row, engine) != said(old[key], engine)]
