# SPDX-License-Identifier: MIT
"""Running the weakened copies: each must make some harness fail, with a counterexample to show for it."""
from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from . import cache
from .engine import Context
from .graph import Graph
from .harness import Harness, collect
from .mutants import Mutant, write_copy
from .result import DEFECTS, FAIL, PASS, TIMEOUT, Outcome
from .rows import Row, run_row
from .sites import Site
from .svg import draw

KILLED, SURVIVED, KEPT, SKIPPED = "KILLED", "SURVIVED", "KEPT", "SKIP"
COUNTEREXAMPLES = DEFECTS - {"unwinding", "outcome"}


@dataclass
class Verdict:
    """What became of one mutant. `site` is None for a protocol mutant."""

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

    @property
    def status(self) -> str:
        return {KILLED: "passed", KEPT: "passed", SKIPPED: "skipped"}.get(self.verdict, "failed")


def harnesses_of(module: str, root: Path, engine: str, full: bool) -> list[Harness]:
    """The module's harnesses that this engine can run and that claim that all is well, quick ones first."""
    folder = root / "verify" / module
    found = collect([folder], root) if folder.is_dir() else []
    fit = [h for h in found if any(pair[0] == engine for pair in h.rows()) and h.expect(engine, "rc11") == PASS
           and (full or not h.full)]
    return sorted(fit, key=lambda h: (h.full, h.number("executions", engine, "rc11", 1), h.name))


@dataclass
class Certifier:
    """Holds what all mutants share. `hints` maps (name, label) to the harness that killed it last time."""

    root: Path
    engine: str
    model: str
    harnesses: dict[str, list[Harness]]
    hints: dict[tuple[str, str], str]
    use_cache: bool = True

    def _run(self, harness: Harness, root: Path, cover: bool) -> Outcome:
        return run_row(Row(harness, self.engine, self.model), Context(root, cover=cover), self.use_cache)

    def baseline(self, jobs: int) -> list[tuple[Harness, Outcome]]:
        """Harnesses that do not pass on the library as it is: they could not tell a mutant from it."""
        def one(harness: Harness) -> tuple[Harness, Outcome]:
            name = cache.key(harness, self.engine, self.model, Context(self.root)) if self.use_cache else None
            return harness, cache.load(name) or self._run(harness, self.root, cover=False)  # verify/run's result will do

        every = [harness for group in self.harnesses.values() for harness in group]
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return [(harness, outcome) for harness, outcome in pool.map(one, every) if outcome.verdict != PASS]

    def judge(self, mutant: Mutant, site: Optional[Site]) -> Verdict:
        """Run harnesses until one finds a counterexample."""
        verdict = Verdict(mutant, site, self.engine, self.model, SURVIVED)
        order = list(self.harnesses[mutant.module])
        hint = self.hints.get((mutant.name, mutant.label))
        order.sort(key=lambda h: h.name != hint)  # stable: the rest stays in order
        slow = []
        with tempfile.TemporaryDirectory(prefix="lade-certify-") as folder:
            copy = Path(folder).resolve()
            write_copy(mutant, self.root, copy)
            for harness in order:
                moved = Harness(copy / harness.path.relative_to(self.root), harness.name, harness.fields, harness.sequential)
                outcome = self._run(moved, copy, cover=False)
                verdict.seconds += outcome.seconds
                if outcome.verdict == TIMEOUT:
                    slow.append(harness.name)
                elif outcome.verdict == FAIL and outcome.kind not in COUNTEREXAMPLES:
                    verdict.verdict, verdict.note = FAIL, f"{harness.name}: {outcome.kind}: {outcome.errors[0].message}"
                    return verdict
                elif outcome.verdict == FAIL and outcome.errors[0].trace:
                    verdict.verdict, verdict.killer, verdict.kind = KILLED, harness.name, outcome.kind
                    verdict.outcome = outcome
                    return verdict
        if slow:
            verdict.verdict, verdict.note = TIMEOUT, "no answer from " + " ".join(slow)
        elif site and site.keep:
            verdict.verdict, verdict.note = KEPT, site.keep
        elif not order:
            verdict.note = f"verify/{mutant.module}/ has no harness for {self.engine}"
        else:
            verdict.note = "no harness fails; write one that does, or say why none can: keep: reason, in the tag"
        return verdict

    def judge_all(self, work: Sequence[tuple[Mutant, Optional[Site]]], jobs: int,
                  ended: Callable[[Verdict], None]) -> list[Verdict]:
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
        if verdict.site and verdict.site.keep:
            by_site.setdefault(verdict.site.name, []).append(verdict)
    return [f"{group[0].mutant.file}:{group[0].mutant.line}: [{name}] gives a reason to survive, but every weakening is killed"
            for name, group in by_site.items() if all(v.verdict == KILLED for v in group)]


def keep_evidence(verdicts: Sequence[Verdict], folder: Path) -> int:
    """Write each counterexample as text and, where the engine gives a graph, as a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for verdict in verdicts:
        if verdict.verdict != KILLED or not verdict.outcome:
            continue
        error, mutant = verdict.outcome.errors[0], verdict.mutant
        what = f"[{mutant.name}] {verdict.site.order} -> {mutant.label}" if verdict.site else f"{mutant.name}: {mutant.why}"
        title = f"{what}: {error.kind} found by {verdict.killer}"
        place = folder / mutant.slug()
        text = (f"{title}\n{mutant.file}:{mutant.line}\n{verdict.engine} {verdict.model}: {error.message}\n\n{error.trace}\n")
        Path(f"{place}.txt").write_text(text, encoding="utf-8")
        if error.graph:
            Path(f"{place}.svg").write_text(draw(Graph.from_json(error.graph), title), encoding="utf-8")
        count += 1
    return count
