# SPDX-License-Identifier: MIT
"""Orders weakened while the program runs (explore): each harness is built once, a mutant costs one run.

The first run of a harness, on the library as it is, names the atomic calls that it executes. A harness that never comes
to the site cannot notice its order and is left out; a site that no harness comes to is an error, not a verdict. After
each weakened run the engine's list of calls must show that the site was executed with the weaker order.
"""
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Sequence

from .certify import Certifier, Verdict, Work
from .engine import vacuous_if
from .harness import Harness
from .mutants import Mutant
from .programs import Program, build, run_program
from .result import FAIL, Outcome
from .sites import Site

Call = dict[str, Any]  # one entry of `sites` in explore's JSON


def _kind(call: Call) -> str:
    op = call["op"]
    return {"load": "load", "store": "store", "compare_exchange": "cas", "fence": "fence"}.get(op, "rmw")


def _in_file(call: Call, file: str) -> bool:
    return ("/" + os.path.normpath(call["file"])).endswith("/" + file)


def _is(call: Call, site: Site) -> bool:
    """Whether a call is the site's, judged by its kind and orders."""
    orders = [call["order"], call["failure_order"]] if _kind(call) == "cas" else [call["order"]]
    return _kind(call) == site.kind and orders == [order.name for order in site.orders]


def lines_of(site: Site, calls: list[Call]) -> tuple[set[int], bool]:
    """The lines that the debug information gives to the site's call, of the lines that it spans, and whether no other
    atomic call has the same line (a weakening at run time changes all calls of a line)."""
    here = [call for call in calls if _in_file(call, site.file) and site.line <= call["line"] <= site.last_line]
    lines = {call["line"] for call in here if _is(call, site)}
    return lines, all(_is(call, site) for call in here if call["line"] in lines)


def took_effect(mutant: Mutant, outcome: Outcome) -> bool:
    changed = [call for call in outcome.sites if call["weakened"]]
    order, failure = mutant.orders
    return bool(changed) and all(_in_file(call, mutant.file) and order in ("", call["order"])
                                 and failure in ("", call.get("failure_order")) for call in changed)


@dataclass
class RunTimeCertifier(Certifier):
    """Judges weakened orders with explore's --weaken, everything else on a copy."""

    programs: dict[str, Program] = field(default_factory=dict)
    calls: dict[str, list[Call]] = field(default_factory=dict)

    def first_run(self, harness: Harness) -> Outcome:
        program, bad = build(harness, self.model, self.context(self.root))
        if not program:
            assert bad
            return bad
        outcome = run_program(program, "", self.use_cache)
        self.programs[harness.name], self.calls[harness.name] = program, outcome.sites
        return vacuous_if(outcome, harness, self.engine, self.model, None)

    def judge(self, mutant: Mutant, site: Optional[Site]) -> Verdict:
        if not site or mutant.orders == ("", ""):
            return super().judge(mutant, site)
        verdict = Verdict(mutant, site, self.engine, self.model)
        places = {h.name: lines_of(site, self.calls[h.name]) for h in self.harnesses[mutant.module]}
        if not any(lines for lines, _ in places.values()):
            verdict.verdict = FAIL
            verdict.note = f"the weakening hits nothing: no harness of verify/{mutant.module}/ executes this call under explore"
            return verdict
        if not all(alone for _, alone in places.values()):
            return super().judge(mutant, site)
        slow: list[str] = []
        for harness in self.harnesses[mutant.module]:
            lines, _ = places[harness.name]
            if not lines:
                continue
            if len(lines) > 1:
                return super().judge(mutant, site)
            order, failure = mutant.orders
            rule = f"{mutant.file}:{min(lines)}={order}" + (f",{failure}" if failure else "")
            outcome = run_program(self.programs[harness.name], rule, self.use_cache)
            if outcome.conclusive() and not took_effect(mutant, outcome):
                verdict.verdict, verdict.note = FAIL, f"{harness.name}: --weaken {rule} did not take effect"
                return verdict
            if self.take(verdict, harness, vacuous_if(outcome, harness, self.engine, self.model, None), slow):
                return verdict
        return self.unnoticed(verdict, slow)


def repeat(certifier: RunTimeCertifier, work: Work, killers: Sequence[str], jobs: int) -> list[Verdict]:
    """Each mutant again with the one harness that is known to kill it, for its counterexample. Results that are kept cost
    no run."""
    known = {harness.name: harness for group in certifier.harnesses.values() for harness in group}

    def one(pair: tuple[Mutant, Optional[Site]], killer: str) -> Verdict:
        mutant, site = pair
        alone = [known[killer]] if killer in known else []
        return replace(certifier, harnesses={mutant.module: alone}).judge(mutant, site)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(one, work, killers))
