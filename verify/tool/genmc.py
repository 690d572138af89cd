# SPDX-License-Identifier: MIT
"""GenMC: every execution of the harness under RC11 or IMM.

Its holes decide the rules here. A leak is only a warning, inline assembly is skipped with a warning, unknown
functions too: any warning that is not known to be harmless is a failure. --disable-mm-detector, because GenMC would
otherwise check a simpler model than the one named in the row.
"""
from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Optional

from draw.graph import Graph

from .engine import Context, c_flags, compile_error, limit, missing, timed_out, vacuous_if
from .graph import parse_genmc
from .harness import Harness
from .process import Done, find_tool, run
from .result import FAIL, PASS, Error, Outcome

FOUND = 42       # exit code: an error was found
COMPILE = 5      # exit code: the source does not compile
MEMORY_MB = 6000

KINDS = {
    "Safety violation": "assertion",
    "Liveness violation": "livelock",
    "Non-atomic race": "race",
    "Unordered writes": "race",
    "Unfreed memory": "leak",
    "Malloc-free race": "use-after-free",
    "Attempt to free non-allocated memory": "bad-free",
    "Double-free error": "double-free",
    "Attempt to read from uninitialized memory": "uninitialised",
    "Attempt to access non-allocated memory": "bounds",
    "Attempt to access freed memory": "use-after-free",
    "Mixed-size accesses": "mixed-size",
    "Linearizability error": "linearizability",
    "Invalid create() operation": "misuse",
    "Invalid join() operation": "misuse",
    "Invalid unlock() operation": "misuse",
    "Invalid barrier_init() operation": "misuse",
}
# A copy or fill of a structure that GenMC cannot check is an error where it is run.
HARMLESS = ("In-place revisiting and symmetry reduction have no effect under IMM", "Cannot get variable naming info",
            "Memory intrinsic found! Attempting to promote it", "Cannot promote")


def command_for(harness: Harness, model: str, context: Context, more: list[str], defines: list[str],
                file: Optional[Path] = None) -> list[str]:
    _, options = harness.flags("genmc", model)
    return [find_tool("genmc") or "genmc", f"--{model}", "--disable-estimation", "--disable-mm-detector",
            "--print-error-trace", *options, *more,
            "--", *c_flags(harness, "genmc", model, context), *defines, str(file or harness.path)]


def _call(command: list[str], harness: Harness, model: str) -> Done:
    """Two optimisations stop at unordered atomic writes, which are no error; then GenMC is run without them."""
    seconds = limit(harness, "genmc", model)
    done = run(command, timeout=seconds, memory_mb=MEMORY_MB)
    if done.code == FOUND and "This warning is treated as an error" in done.output:
        at = command.index("--")
        command[at:at] = ["--disable-ipr", "--disable-sr"]
        done = run(command, timeout=seconds, memory_mb=MEMORY_MB)
    return done


def _number(text: str, label: str) -> Optional[int]:
    found = re.search(re.escape(label) + r": (\d+)", text)
    return int(found.group(1)) if found else None


def _plain(graph: Graph) -> bool:
    """Whether one of the events blamed is not atomic."""
    return any(event and event.label.startswith("Wna") for event in map(graph.event, graph.culprits))


def errors_in(text: str, harness: Harness, model: str) -> list[Error]:
    """Errors, then warnings, of one run. Each starts a section that holds its graph and trace."""
    allowed = [piece.strip() for piece in harness.get("allow", "genmc", model).split(",") if piece.strip()]
    allowed += HARMLESS
    sections = re.split(r"^(?=(?:Error|Warning|WARNING): )", text, flags=re.M)[1:]
    errors: list[Error] = []
    for section in sections:
        section = re.split(r"^\*\*\* ", section, maxsplit=1, flags=re.M)[0]
        label, _, rest = section.partition(": ")
        title = rest.splitlines()[0].rstrip("!")
        if label != "Error" and any(piece in rest.splitlines()[0] for piece in allowed):
            continue
        kind = KINDS.get(title, "tool" if label == "Error" else "warning")
        graph = parse_genmc(section, harness.path.name)
        if title == "Unordered writes" and graph and not _plain(graph):
            if label == "Warning":
                continue  # atomic writes of two threads to one place: nothing wrong with that
            kind = "tool"
        message = title
        said = re.search(r"^(Assertion violation: .*|Non-terminating spinloop: .*|The library implementation .*)$", section, re.M)
        if said:
            message = said.group(1)
        error = Error(kind, message, harness.path.name, 0, section.strip(), graph.to_json() if graph else None)
        if graph and graph.culprits:
            event = graph.event(graph.culprits[0])
            if event and event.line:
                error.file, error.line = event.file, event.line
        errors.append(error)
    return sorted(errors, key=lambda e: e.kind in ("leak", "warning"))


def judge(done: Done, harness: Harness, model: str, context: Context, command: list[str]) -> Outcome:
    """Verdict of one run, cover points aside."""
    if done.timed_out:
        return timed_out(done, command)
    text = context.relative(done.output)
    if done.code == COMPILE or (done.code != FOUND and "*** Compilation complete" not in text):
        return compile_error(text, context, command)
    outcome = Outcome(PASS, _number(text, "Number of complete executions explored"),
                      _number(text, "Number of blocked executions seen") or 0, done.seconds, command=shlex.join(command))
    outcome.errors = errors_in(text, harness, model)
    if not outcome.errors and (done.code != 0 or "No errors were detected" not in text):
        tail = "\n".join(text.strip().splitlines()[-15:])
        outcome.errors = [Error("tool", f"genmc ended with code {done.code} and no verdict", trace=tail)]
    most = harness.get("blocked", "genmc", model)
    if not outcome.errors and most and outcome.blocked > int(most):
        outcome.errors = [_blocked(command, outcome, int(most), harness, model, context)]
    if outcome.errors:
        outcome.verdict = FAIL
    return outcome


def _blocked(command: list[str], outcome: Outcome, most: int, harness: Harness, model: str, context: Context) -> Error:
    """GenMC does not call a deadlock an error; the number of blocked executions shows it. Fetch one to show."""
    at = command.index("--")
    text = context.relative(_call([*command[:at], "--print-blocked-execs", *command[at:]], harness, model).output)
    graph = parse_genmc(text, harness.path.name, blocked=True)
    return Error("deadlock", f"{outcome.blocked} executions end blocked, want at most {most}", harness.path.name, 0,
                 text[:20000], graph.to_json() if graph else None)


def _collect(harness: Harness, model: str, context: Context, spec: str) -> tuple[Optional[Outcome], list[str]]:
    """First half of a refinement check: the outcomes of the specification, into a file."""
    target = context.work / "outcomes.spec"
    file = (harness.path.parent / spec).resolve()
    command = command_for(harness, model, context, [f"--collect-lin-spec={target}"], ["-DLIN_SPEC=1"], file)
    done = _call(command, harness, model)
    outcome = judge(done, harness, model, context, command)
    if outcome.verdict != PASS:
        outcome.note = "while collecting the specification " + spec
        return outcome, []
    if not (_number(done.output, "Number of collected outcomes") or 0) or not target.exists():
        return Outcome(FAIL, errors=[Error("tool", f"the specification {spec} has no outcomes; does it mark its methods?")],
                       command=shlex.join(command)), []
    return None, [f"--check-lin-spec={target}"]


def run_genmc(harness: Harness, model: str, context: Context) -> Outcome:
    """One row: the run itself, then one run per cover point, which must find the point's assertion violated."""
    if not find_tool("genmc"):
        return missing("genmc")
    began = time.monotonic()
    more: list[str] = []
    spec = harness.get("lin-spec", "genmc", model)
    if spec:
        bad, more = _collect(harness, model, context, spec)
        if bad:
            return bad
    command = command_for(harness, model, context, more, [])
    outcome = judge(_call(command, harness, model), harness, model, context, command)
    if outcome.verdict == PASS and context.cover:
        reached: set[str] = set()
        for name in harness.cover("genmc", model):
            probe = command_for(harness, model, context, [], [f"-DCOVER_{name}=1"])
            seen = judge(_call(probe, harness, model), harness, model, context, probe)
            if any(e.kind == "assertion" and f"COVER_{name}" in e.trace + e.message for e in seen.errors):
                reached.add(name)
        vacuous_if(outcome, harness, "genmc", model, reached)
    else:
        vacuous_if(outcome, harness, "genmc", model, None)
    outcome.seconds = time.monotonic() - began
    return outcome
