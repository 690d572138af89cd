# SPDX-License-Identifier: MIT
"""herd7 on litmus files: whether the condition holds never, sometimes or always, under rc11.cat."""
from __future__ import annotations

import re
import shlex

from .engine import Context, limit, missing, timed_out
from .harness import Harness
from .process import find_tool, run
from .result import FAIL, PASS, VACUOUS, Error, Outcome


def run_herd(harness: Harness, model: str, context: Context) -> Outcome:
    """Compare herd's observation with the one that the file declares; a data race is a failure by itself."""
    herd = find_tool("herd7")
    if not herd:
        return missing("herd7")
    _, options = harness.flags("herd", model)
    command = [herd, "-model", f"{model}.cat", *options, str(harness.path)]
    done = run(command, timeout=limit(harness, "herd", model))
    if done.timed_out:
        return timed_out(done, command)
    text = context.relative(done.output)
    seen = re.search(r"^Observation \S+ (Never|Sometimes|Always) (\d+) (\d+)", text, re.M)
    if done.code != 0 or not seen:
        error = Error("tool", (text.strip().splitlines() or ["herd7 printed nothing"])[-1], trace=text)
        return Outcome(FAIL, errors=[error], seconds=done.seconds, command=shlex.join(command))
    executions = int(seen.group(2)) + int(seen.group(3))
    outcome = Outcome(PASS, executions, seconds=done.seconds, command=shlex.join(command))
    wanted = harness.get("outcome")
    flags = re.findall(r"^Flag (.*)$", text, re.M)
    if any("race" in flag.lower() or "undef" in flag for flag in flags):  # rc11.cat: undefined_unless empty dr
        outcome.errors = [Error("race", "data race: " + ", ".join(flags), harness.path.name, 0, text)]
    elif seen.group(1) != wanted:
        outcome.errors = [Error("outcome", f"the condition holds {seen.group(1)}, want {wanted}", harness.path.name, 0, text)]
    elif executions < harness.number("executions", "herd", model, 1):
        outcome.verdict, outcome.note = VACUOUS, f"{executions} executions"
    if outcome.errors:
        outcome.verdict = FAIL
    return outcome
