# SPDX-License-Identifier: MIT
"""CBMC: contracts of one thread with undetermined values, and sequentially consistent interleavings.

Memory orders mean nothing to it, and with threads it refuses shared pointers; see TOOLS.md. A loop that was cut
short would pass, hence --unwinding-assertions always. A cover point is a property that must fail (harness.h), so one
run decides all of them; the end of the program is such a point in every harness.
"""
from __future__ import annotations

import json
import re
import shlex
import time
from typing import Any, Optional

from .engine import Context, c_flags, compile_error, limit, missing, timed_out, vacuous_if
from .harness import Harness
from .process import Done, find_tool, run
from .result import FAIL, PASS, VACUOUS, Error, Outcome

END = "harness_end"
MEMORY_MB = 6000
UNWIND = "10"  # where the harness has none; without any, a loop whose end CBMC cannot see never ends
SEQUENTIAL_CHECKS = ["--memory-leak-check"]
THREAD_CHECKS = ["--no-standard-checks", "--bounds-check"]

# Description or property name -> kind, in order of precedence: the first that any failed property matches is reported.
SIGNS = [
    ("unwinding", r"unwinding assertion|\.unwind\."),
    ("double-free", r"double free"),
    ("use-after-free", r"deallocated dynamic object|dead object"),
    ("bounds", r"outside (dynamic )?object bounds|out of bounds|array.*(upper|lower) bound|\.array_bounds\."),
    ("overflow", r"arithmetic overflow|\.overflow\.|overflow on"),
    ("leak", r"never freed|memory.leak"),
    ("bad-free", r"free argument|free called"),
    ("undefined", r"division by zero|shift|undefined|NULL|invalid|uninitialized"),
    ("assertion", r"assertion|"),
]


def _json(text: str) -> Optional[list[dict[str, Any]]]:
    """CBMC's output; None where it ended in the middle of it."""
    start = text.find("[")
    try:
        return json.loads(text[start:]) if start >= 0 else None
    except json.JSONDecodeError:
        return None


def _kind(result: dict[str, Any]) -> tuple[int, str]:
    words = f"{result.get('property', '')} {result.get('description', '')}"
    for rank, (kind, sign) in enumerate(SIGNS):
        if re.search(sign, words):
            return rank, kind
    return len(SIGNS), "assertion"


def _error(result: dict[str, Any]) -> Error:
    place = result.get("sourceLocation", {})
    return Error(_kind(result)[1], f"{result.get('description', '')} [{result.get('property', '')}]",
                 place.get("file", ""), int(place.get("line", 0) or 0))


def _trace(command: list[str], prop: str, seconds: float, context: Context) -> str:
    """The counterexample, asked for only once there is one: traces of big arrays are long."""
    plain = [word for word in command if word != "--json-ui"]
    done = run([*plain, "--trace", "--compact-trace", "--property", prop], timeout=seconds, memory_mb=MEMORY_MB)
    text = context.relative(done.output)
    at = text.find("Trace for")
    return text[at if at >= 0 else 0:][:20000]


def _answer(done: Done, command: list[str], context: Context) -> tuple[Optional[Outcome], list[dict[str, Any]]]:
    """Either the reason why there is no result, or the list of properties."""
    if done.timed_out:
        return timed_out(done, command), []
    parts = _json(done.output)
    results = [r for part in parts or [] for r in part.get("result", [])]
    if results and done.code in (0, 10):
        return None, results
    said = [part["messageText"] for part in parts or [] if part.get("messageType") == "ERROR"]
    text = "\n".join(said) or done.output[-4000:]
    if done.code == 6 or "PARSING ERROR" in text or "CONVERSION ERROR" in text:
        return compile_error(text, context, command), []
    error = Error("tool", (said or [f"cbmc ended with code {done.code}"])[-1].strip(), trace=text)
    return Outcome(FAIL, errors=[error], command=shlex.join(command)), []


def run_cbmc(harness: Harness, model: str, context: Context) -> Outcome:
    """One row: one run of CBMC."""
    cbmc = find_tool("cbmc")
    if not cbmc:
        return missing("cbmc")
    began = time.monotonic()
    _, options = harness.flags("cbmc", model)
    if not any(word.startswith("--unwind") for word in options):
        options += ["--unwind", UNWIND]
    checks = SEQUENTIAL_CHECKS if harness.sequential else THREAD_CHECKS
    flags = [word for word in c_flags(harness, "cbmc", model, context) if not word.startswith("-std=")]
    command = [cbmc, "--json-ui", "--c11", "--unwinding-assertions", *checks, *options, *flags, str(harness.path)]
    done = run(command, timeout=limit(harness, "cbmc", model), memory_mb=MEMORY_MB)
    bad, results = _answer(done, command, context)
    if bad:
        bad.seconds = time.monotonic() - began
        return bad
    reached: set[str] = set()
    failed: list[dict[str, Any]] = []
    for result in results:
        point = re.fullmatch(r"cover (\w+)", result.get("description", ""))
        if result.get("status") == "FAILURE":
            reached.add(point.group(1)) if point else failed.append(result)
    outcome = Outcome(PASS, command=shlex.join(command))
    if failed:
        failed.sort(key=_kind)
        outcome.verdict = FAIL
        outcome.errors = [_error(result) for result in failed]
        for error in outcome.errors:
            error.file = context.relative(error.file)
        if outcome.kind == "unwinding":
            outcome.note = "a loop has more iterations than CBMC unrolled: `flags cbmc: --unwind N` or `--unwindset LOOP:N`"
        left = limit(harness, "cbmc", model)
        outcome.errors[0].trace = _trace(command, failed[0]["property"], left, context)
    elif END not in reached and "harness.h" in harness.path.read_text(encoding="utf-8"):
        outcome.verdict, outcome.note = VACUOUS, "no execution completes the harness"
    else:
        vacuous_if(outcome, harness, "cbmc", model, reached if context.cover else None)
    outcome.seconds = time.monotonic() - began
    return outcome
