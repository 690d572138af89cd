# SPDX-License-Identifier: MIT
"""Our own model checker, verify/explore. Where it is not built, the engine does not exist."""
from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import Any, Optional

from .engine import Context, c_flags, compile_error, limit, timed_out, vacuous_if
from .graph import parse_explore
from .harness import Harness
from .process import run
from .result import DEFECTS, FAIL, PASS, SKIP, Error, Outcome

KINDS = {"out-of-bounds": "bounds", "invalid-free": "bad-free", "mutex": "misuse", "thread": "misuse"}
COMPILE = 2
HERE = Path(__file__).resolve().parent.parent  # the runner's own verify/, also when the sources are a changed copy


def explorer() -> Optional[Path]:
    path = HERE / "explore"
    return path if path.is_file() and os.access(path, os.X_OK) else None


def _load(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}


def _run(harness: Harness, model: str, context: Context, defines: list[str]) -> Outcome:
    _, options = harness.flags("explore", model)
    report = context.work / "explore.json"
    report.unlink(missing_ok=True)
    command = [str(explorer()), *options, "--json", str(report), "--",
               *c_flags(harness, "explore", model, context), *defines, str(harness.path)]
    done = run(command, timeout=limit(harness, "explore", model))
    if done.timed_out:
        return timed_out(done, command)
    answer = _load(report)
    text = context.relative(done.output)
    outcome = Outcome(PASS, answer.get("executions"), answer.get("blocked", 0) or 0, done.seconds, command=shlex.join(command))
    for said in answer.get("errors", []):
        kind = KINDS.get(said.get("kind", ""), said.get("kind", ""))
        message = "; ".join(filter(None, (said.get("message"), said.get("why"))))
        graph = parse_explore(said)
        outcome.errors.append(Error(kind if kind in DEFECTS else "tool", message, context.relative(said.get("file") or ""),
                                    said.get("line") or 0, text[-20000:], graph.to_json() if graph else None))
    if done.code == COMPILE:
        return compile_error(text, context, command)
    if not outcome.errors and (done.code != 0 or answer.get("executions") is None):
        outcome.errors = [Error("tool", f"explore ended with code {done.code}", trace=text[-8000:])]
    if outcome.errors:
        outcome.verdict = FAIL
    return outcome


def run_explore(harness: Harness, model: str, context: Context) -> Outcome:
    """One row: the run itself, then one per cover point, as under GenMC."""
    if not explorer():
        return Outcome(SKIP, note="verify/explore is not built")
    began = time.monotonic()
    outcome = _run(harness, model, context, [])
    most = harness.get("blocked", "explore", model)
    if outcome.verdict == PASS and most and outcome.blocked > int(most):
        outcome.verdict = FAIL
        outcome.errors = [Error("deadlock", f"{outcome.blocked} executions end blocked, want at most {most}")]
    reached: Optional[set[str]] = None
    if outcome.verdict == PASS and context.cover:
        reached = set()
        for name in harness.cover("explore", model):
            seen = _run(harness, model, context, [f"-DCOVER_{name}=1"])
            if any(error.kind == "assertion" and f"COVER_{name}" in error.message + error.trace for error in seen.errors):
                reached.add(name)
    vacuous_if(outcome, harness, "explore", model, reached)
    outcome.seconds = time.monotonic() - began
    return outcome
