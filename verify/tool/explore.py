# SPDX-License-Identifier: MIT
"""Our own model checker, verify/explore: needs gcc, binutils and Python, so it is there nearly everywhere."""
from __future__ import annotations

import json
import os
import platform
import shlex
from pathlib import Path
from typing import Any, Optional

from draw.graph import from_explore

from .engine import Context, c_flags, compile_error, limit, timed_out, vacuous_if
from .harness import Harness
from .process import HOW_TO_GET, Done, find_tool, run
from .result import DEFECTS, FAIL, PASS, SKIP, VACUOUS, Error, Outcome

# Its kinds of error that have another name here; all others have the same one.
KINDS = {"out-of-bounds": "bounds", "invalid-free": "bad-free", "mutex": "misuse", "thread": "misuse"}
COMPILE, BOUND, NO_EXECUTION = 2, 3, 6  # exit codes
LONGEST = 240  # characters of a message
HERE = Path(__file__).resolve().parent.parent  # the runner's own verify/, also when the sources are a changed copy
ALWAYS = ("--all-leaks",)  # a harness keeps what it tests in static memory, and a destroy that frees too little must be seen
BUILD_OPTIONS = {"--allow": 1, "--allow-asm": 0}  # options of the wrapper, with their number of values


def explorer() -> Optional[Path]:
    path = HERE / "explore"
    return path if path.is_file() and os.access(path, os.X_OK) else None


def explore_missing() -> str:
    """Why this machine cannot run it, or nothing."""
    if not explorer():
        return "verify/explore is not in this checkout"
    if platform.machine() != "x86_64":
        return "explore runs on x86-64 only"
    for tool in ("gcc", "objcopy", "nm"):
        if not find_tool(tool):
            return f"{tool} not found: {HOW_TO_GET[tool]}"
    return ""


def split_options(harness: Harness, model: str) -> tuple[list[str], list[str]]:
    """The long options: those of the build and those of the run."""
    _, words = harness.flags("explore", model)
    build: list[str] = []
    rest: list[str] = list(ALWAYS)
    while words:
        word = words.pop(0)
        if word in BUILD_OPTIONS:
            build += [word, *words[:BUILD_OPTIONS[word]]]
            del words[:BUILD_OPTIONS[word]]
        else:
            rest.append(word)
    return build, rest


def _load(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}


def output_options(work: Path) -> list[str]:
    """Where a run leaves its result."""
    (work / "explore.json").unlink(missing_ok=True)
    return ["--quiet", "--json", str(work / "explore.json")]


def judge(done: Done, context: Context, command: list[str]) -> Outcome:
    """What a run that was given output_options(context.work) has shown. `command` is how a person repeats it."""
    if done.timed_out:
        return timed_out(done, command)
    answer = _load(context.work / "explore.json")
    text = context.relative(done.output)
    if done.code == COMPILE:
        return compile_error(text, context, command)
    outcome = Outcome(PASS, answer.get("executions"), answer.get("blocked", 0) or 0, done.seconds, command=shlex.join(command),
                      sites=answer.get("sites", []), covered=answer.get("covered", []))
    for said in answer.get("errors", []):
        kind = KINDS.get(said.get("kind", ""), said.get("kind", ""))
        message = "; ".join(filter(None, (said.get("message"), said.get("why"))))
        if len(message) > LONGEST:
            message = message[:LONGEST] + "…"  # the whole is in the trace
        graph = from_explore(said)
        outcome.errors.append(Error(kind if kind in DEFECTS else "tool", message, context.relative(said.get("file") or ""),
                                    said.get("line") or 0, text[-20000:], graph.to_json() if graph else None))
    if not outcome.errors and done.code == BOUND:
        outcome.errors = [Error("unwinding", "a bound cut the exploration short", trace=text[-8000:])]
    elif not outcome.errors and done.code == NO_EXECUTION:
        outcome.verdict, outcome.note = VACUOUS, "no execution completed"
    elif not outcome.errors and (done.code != 0 or answer.get("executions") is None):
        last = (text.strip().splitlines() or [""])[-1]
        outcome.errors = [Error("tool", f"explore ended with code {done.code}: {last}", trace=text[-8000:])]
    if outcome.errors:
        outcome.verdict = FAIL
    return outcome


def command_for(harness: Harness, model: str, context: Context, more: list[str]) -> list[str]:
    _, options = harness.flags("explore", model)
    return [str(explorer()), "--model", model, *ALWAYS, *options, *more,
            "--", *c_flags(harness, "explore", model, context), str(harness.path)]
