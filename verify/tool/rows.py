# SPDX-License-Identifier: MIT
"""Rows of the table: one harness under one engine and model."""
from __future__ import annotations

import dataclasses
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, Optional, Sequence

from . import cache
from .cbmc import run_cbmc
from .engine import Context, Runner
from .genmc import run_genmc
from .harness import Harness
from .herd import run_herd
from .native import run_native, run_tsan
from .programs import run_explore
from .result import FAIL, PASS, SKIP, TIMEOUT, Outcome, failed

RUNNERS: dict[str, Runner] = {"native": run_native, "tsan": run_tsan, "genmc": run_genmc, "cbmc": run_cbmc,
                              "herd": run_herd, "explore": run_explore}


@dataclass
class Row:
    """A cell of work and, once done, what came of it."""

    harness: Harness
    engine: str
    model: str
    outcome: Optional[Outcome] = None

    @property
    def expect(self) -> str:
        return self.harness.expect(self.engine, self.model)

    @property
    def status(self) -> str:
        """passed, failed or skipped: what the closing line counts."""
        if self.outcome is None or self.outcome.verdict == SKIP:
            return "skipped"
        return "passed" if self.outcome.agrees(self.expect) else "failed"

    @property
    def verdict(self) -> str:
        """For a person: the verdict, and how it compares with what was expected where that is not PASS."""
        assert self.outcome is not None
        verdict, kind = self.outcome.verdict, self.outcome.kind
        said = f"{verdict} {kind}" if verdict == FAIL and kind else verdict
        if self.status == "passed" and verdict == FAIL:
            return f"{said} (expected)"
        if self.status == "failed" and self.expect != PASS:
            return f"{said} (want {self.expect})"
        return said


def make_rows(harnesses: Iterable[Harness], engines: Sequence[str], full: bool) -> list[Row]:
    """All rows that fit, those of explore first: they are there everywhere and quick. A missing tool gives SKIP rows."""
    rows = []
    for harness in harnesses:
        if harness.full and not full:
            continue
        for engine, model in harness.rows():
            wanted = not engines or engine in engines or f"{engine}/{model}" in engines
            if wanted:
                rows.append(Row(harness, engine, model))
    return sorted(rows, key=lambda row: row.engine != "explore")


def run_row(row: Row, context: Context, use_cache: bool) -> Outcome:
    """Run one row, or find its result in the cache."""
    name = cache.key(row.harness, row.engine, row.model, context) if use_cache else None
    outcome = cache.load(name)
    if outcome is None:
        with tempfile.TemporaryDirectory(prefix="lade-verify-") as work:
            try:
                outcome = RUNNERS[row.engine](row.harness, row.model, dataclasses.replace(context, work=Path(work)))
            except Exception:  # a row that breaks the runner is a failed row, not a lost table
                outcome = failed("tool", "the runner broke", trace=traceback.format_exc())
        cache.store(name, outcome, row.engine, outcome.agrees(row.expect))
    row.outcome = outcome
    return outcome


def run_rows(rows: Sequence[Row], context: Context, jobs: int, use_cache: bool,
             started: Callable[[Row], None], ended: Callable[[Row], None]) -> None:
    """Run rows side by side. Callbacks come from the worker threads."""
    def work(row: Row) -> None:
        started(row)
        run_row(row, context, use_cache)
        ended(row)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for future in [pool.submit(work, row) for row in rows]:
            future.result()


def closing(statuses: Iterable[str]) -> tuple[str, int]:
    """The last line and the exit code."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for status in statuses:
        counts[status] += 1
    line = f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    return line, 1 if counts["failed"] else 0


def explain(row: Row) -> list[str]:
    """Lines under a row that did not go as expected: what, where, and how to see it again."""
    outcome = row.outcome
    assert outcome is not None
    if row.status == "passed":
        return []
    lines = [outcome.note] if outcome.note else []
    for error in outcome.errors[:3]:
        where = f"{error.where()}: " if error.where() else ""
        lines.append(f"{error.kind}: {where}{error.message}")
    if outcome.verdict == TIMEOUT:
        lines.append("a longer limit is set by `timeout:` in the harness")
    if row.status == "failed" and outcome.errors and outcome.errors[0].kind in ("tool", "compile"):
        lines += outcome.errors[0].trace.strip().splitlines()[-6:]
    if outcome.command and row.status == "failed":
        lines.append("again: " + outcome.command)
    return lines
