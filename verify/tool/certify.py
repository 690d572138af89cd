# SPDX-License-Identifier: MIT
"""Judging mutants: each must make some harness fail, with a counterexample to show for it.

This module runs changed copies of the library, which works with every engine; weakening.py does without the copies
where the engine can change orders while it runs.
"""
from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from draw.execution import draw
from draw.graph import Graph

from . import cache
from .engine import Context
from .harness import Harness, collect
from .mutants import Mutant, write_copy
from .result import DEFECTS, FAIL, PASS, TIMEOUT, Outcome
from .rows import Row, run_row
from .sites import LIBRARIES, Site

KILLED, SURVIVED, KEPT, SKIPPED, NOT_NEEDED = "KILLED", "SURVIVED", "KEPT", "SKIP", "NOT NEEDED"
COUNTEREXAMPLES = DEFECTS - {"unwinding", "outcome"}
Work = Sequence[tuple[Mutant, Optional[Site]]]


@dataclass
class Verdict:
    """What became of one mutant under one engine. `site` is None for a protocol mutant."""

    mutant: Mutant
    site: Optional[Site]
    engine: str
    model: str
    verdict: str = SKIPPED
    killer: str = ""
    kind: str = ""
    note: str = ""
    seconds: float = 0.0
    outcome: Optional[Outcome] = None
    cached: bool = True  # nothing had to be run

    @property
    def status(self) -> str:
        """What the closing line counts. An informative mutant counts only where the engine could not judge it."""
        said = {KILLED: "passed", KEPT: "passed", NOT_NEEDED: "passed", SKIPPED: "skipped"}.get(self.verdict, "failed")
        return "" if self.mutant.informative and said == "passed" else said

    def what(self) -> str:
        """The change, for a person."""
        if not self.site:
            return f"{self.mutant.name} (protocol)"
        return f"{self.mutant.name} {self.site.order} -> {self.mutant.label}"


def harnesses_of(module: str, root: Path, engine: str, full: bool) -> list[Harness]:
    """The module's harnesses that this engine can run and that claim that all is well, quick ones first."""
    folder = root / "verify" / module
    found = collect([folder], root) if folder.is_dir() else []
    fit = [h for h in found if any(pair[0] == engine for pair in h.rows()) and h.expect(engine, "rc11") == PASS
           and (full or not h.full)]
    return sorted(fit, key=lambda h: (h.full, h.number("executions", engine, "rc11", 1), h.name))


@dataclass
class Certifier:
    """Holds what all mutants share. `hints` maps (module, name, label) to the harness that killed it last time."""

    root: Path
    engine: str
    model: str
    harnesses: dict[str, list[Harness]]
    hints: dict[tuple[str, str, str], str]
    use_cache: bool = True
    folders: Sequence[str] = LIBRARIES

    def context(self, root: Path, cover: bool = False) -> Context:
        return Context(root, cover=cover, folders=self.folders)

    def _run(self, harness: Harness, root: Path) -> Outcome:
        return run_row(Row(harness, self.engine, self.model), self.context(root), self.use_cache)

    def first_run(self, harness: Harness) -> Outcome:
        """The harness on the library as it is."""
        name = cache.key(harness, self.engine, self.model, self.context(self.root, cover=True)) if self.use_cache else None
        return cache.load(name) or self._run(harness, self.root)  # verify/run's result will do

    def baseline(self, jobs: int) -> list[str]:
        """Complaints about harnesses that do not pass on the library as it is: they could not distinguish a mutant from it."""
        every = [harness for group in self.harnesses.values() for harness in group]
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            outcomes = list(pool.map(self.first_run, every))
        out = []
        for harness, outcome in zip(every, outcomes):
            if outcome.verdict != PASS:
                detail = outcome.errors[0].message if outcome.errors else outcome.note
                where = f" at {outcome.errors[0].where()}" if outcome.errors else ""
                out.append(f"{harness.name} does not pass under {self.engine} on the library as it is: "
                           f"{outcome.verdict} {outcome.kind}{where}: {detail}")
        return out

    def take(self, verdict: Verdict, harness: Harness, outcome: Outcome, slow: list[str]) -> bool:
        """Note what one harness shows about a mutant; whether that settles it."""
        verdict.seconds += outcome.seconds
        verdict.cached &= outcome.cached
        if outcome.verdict == TIMEOUT:
            slow.append(harness.name)
        elif outcome.verdict == FAIL and outcome.kind not in COUNTEREXAMPLES:
            verdict.verdict, verdict.note = FAIL, f"{harness.name}: {outcome.kind}: {outcome.errors[0].message}"
            return True
        elif outcome.verdict == FAIL and outcome.errors[0].trace:
            verdict.verdict, verdict.killer, verdict.kind = KILLED, harness.name, outcome.kind
            verdict.outcome = outcome
            return True
        return False

    def unnoticed(self, verdict: Verdict, slow: list[str]) -> Verdict:
        """No harness has failed."""
        mutant, site = verdict.mutant, verdict.site
        if slow:
            verdict.verdict, verdict.note = TIMEOUT, "no result from " + " ".join(slow)
        elif mutant.informative:
            verdict.verdict = NOT_NEEDED
        elif site and site.keep:
            verdict.verdict, verdict.note = KEPT, site.keep
        elif not self.harnesses[mutant.module]:
            verdict.verdict, verdict.note = SURVIVED, f"verify/{mutant.module}/ has no harness for {self.engine}"
        else:
            verdict.verdict, verdict.note = SURVIVED, "no harness fails; write one that does"
            if site:
                verdict.note = ("not needed by any harness; weaken the order, write a harness that fails, or write in the tag why "
                                "none can: keep: reason")
        return verdict

    def judge(self, mutant: Mutant, site: Optional[Site]) -> Verdict:
        """Run harnesses on a changed copy until one finds a counterexample."""
        verdict = Verdict(mutant, site, self.engine, self.model)
        order = list(self.harnesses[mutant.module])
        hint = self.hints.get((mutant.module, mutant.name, mutant.label))
        order.sort(key=lambda h: h.name != hint)  # stable: the rest stays in order
        slow: list[str] = []
        with tempfile.TemporaryDirectory(prefix="lade-certify-") as folder:
            copy = Path(folder).resolve()
            write_copy(mutant, self.root, copy, self.folders)
            for harness in order:
                moved = Harness(copy / harness.path.relative_to(self.root), harness.name, harness.fields, harness.sequential)
                if self.take(verdict, harness, self._run(moved, copy), slow):
                    return verdict
        return self.unnoticed(verdict, slow)

    def judge_all(self, work: Work, jobs: int, ended: Callable[[Verdict], None]) -> list[Verdict]:
        def one(pair: tuple[Mutant, Optional[Site]]) -> Verdict:
            verdict = self.judge(*pair)
            ended(verdict)
            return verdict

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return list(pool.map(one, work))


def needless_reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Sites with a reason for surviving, all of whose weakenings are killed: the reason is out of date."""
    by_site: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.site and verdict.site.keep and not verdict.mutant.informative and verdict.verdict != SKIPPED:
            by_site.setdefault(verdict.site.name, []).append(verdict)
    return [f"{group[0].mutant.file}:{group[0].mutant.line}: [{name}] gives a reason to survive, but every weakening is killed"
            for name, group in by_site.items() if all(v.verdict == KILLED for v in group)]


def disagreements(verdicts: Sequence[Verdict]) -> list[str]:
    """Mutants that one engine kills and another does not. One of the two is wrong, or its harnesses show less."""
    by_mutant: dict[int, list[Verdict]] = {}
    for verdict in verdicts:
        by_mutant.setdefault(id(verdict.mutant), []).append(verdict)
    out = []
    for group in by_mutant.values():
        killed = [v for v in group if v.verdict == KILLED]
        alive = [v for v in group if v.verdict in (SURVIVED, KEPT)]
        if killed and alive:
            out.append(f"ENGINES DISAGREE on {killed[0].what()} at {killed[0].mutant.file}:{killed[0].mutant.line}: "
                       f"{killed[0].engine} reports KILLED (by {killed[0].killer}: {killed[0].kind}), "
                       f"{alive[0].engine} reports {alive[0].verdict}")
    return out


def evidence(verdict: Verdict) -> tuple[str, str]:
    """A counterexample as text and as a picture."""
    assert verdict.outcome
    error, mutant = verdict.outcome.errors[0], verdict.mutant
    what = f"[{mutant.name}] {verdict.site.order} -> {mutant.label}" if verdict.site else f"{mutant.name}: {mutant.why}"
    title = f"{what}: {error.kind} found by {verdict.killer}"
    text = f"{title}\n{mutant.file}:{mutant.line}\n{verdict.engine} {verdict.model}: {error.message}\n\n{error.trace}\n"
    return text, draw(Graph.from_json(error.graph), title) if error.graph else ""


def keep_evidence(verdicts: Sequence[Verdict], folder: Path) -> int:
    """Write the counterexamples to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for verdict in verdicts:
        if verdict.verdict != KILLED or not verdict.outcome:
            continue
        text, picture = evidence(verdict)
        place = folder / f"{verdict.mutant.slug()}.{verdict.engine}"
        Path(f"{place}.txt").write_text(text, encoding="utf-8")
        if picture:
            Path(f"{place}.svg").write_text(picture, encoding="utf-8")
        count += 1
    return count
