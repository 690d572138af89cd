# SPDX-License-Identifier: MIT
"""The engines that run a harness on the machine: plain, under AddressSanitizer and UBSan, under ThreadSanitizer.

`native` is two builds in one row. The sanitized one goes first, because it names a defect that the plain one would
at best crash on. Sanitized builds are not optimised: what the optimiser removes is not checked. Native runs are
samples, so they are not asked for cover points: whether a moment comes that only timing brings would be luck.
"""
from __future__ import annotations

import re
import shlex
import shutil
import time
from pathlib import Path
from typing import Optional

from .engine import Context, c_flags, compile_error, limit, missing, timed_out
from .harness import Harness
from .process import Done, find_tool, pkg_config, run
from .result import FAIL, PASS, SKIP, Error, Outcome

BUILDS = {
    "native": (("asan", ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"], 4),
               ("plain", ["-O2"], 1)),
    "tsan": (("tsan", ["-O0", "-fsanitize=thread"], 4),),
}
DEFAULT_ROUNDS = 2000
DEFAULT_STALL = 20
PROCESS_SECONDS = 10  # a run of the harness starts no new round after that
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:exitcode=66",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66:second_deadlock_stack=1",
}
BROKEN = ("LeakSanitizer has encountered a fatal error", "FATAL: ThreadSanitizer")  # the tool, not the program
STALLED = 43  # exit code of native.h

# First match wins.
SIGNS = [
    ("double-free", r"AddressSanitizer: (attempting double-free)|(free\(\): double free detected)"),
    ("bad-free", r"AddressSanitizer: (attempting free on address which was not malloc)|(free\(\): invalid pointer)"),
    ("use-after-free", r"Sanitizer: (heap-use-after-free|stack-use-after-return|stack-use-after-scope)"),
    ("bounds", r"AddressSanitizer: ([a-z-]*(?:buffer-overflow|buffer-underflow))|runtime error: (index .* out of bounds.*)"),
    ("overflow", r"runtime error: (signed integer overflow.*|negation of .* cannot be represented.*)"),
    ("deadlock", r"ThreadSanitizer: (lock-order-inversion.*)"),
    ("race", r"ThreadSanitizer: (data race.*)"),
    ("leak", r"(?:Leak|Thread)Sanitizer: (detected memory leaks|thread leak)"),
    ("undefined", r"runtime error: (.*)"),
    ("assertion", r"(Assertion [`'].*?' failed)"),
    ("crash", r"Sanitizer: (SEGV.*|DEADLYSIGNAL|[A-Z]{3,}.*)"),
]


def _place(text: str, harness: Harness) -> tuple[str, int]:
    """Best guess at the source line: an assertion's own, else the first frame that is not the system's."""
    found = re.search(r"(?:^|: )([^\s:]+\.[ch]):(\d+): .*Assertion", text, re.M) \
        or re.search(r"^([^\s:]+\.[ch]):(\d+):\d+: runtime error", text, re.M)
    if found:
        return found.group(1), int(found.group(2))
    for file, line in re.findall(r"\s#\d+ .*?(\S+\.[ch]):(\d+)", text):
        if not file.startswith("/usr") and "sanitizer" not in file and not file.endswith("native.h"):
            return file, int(line)
    return harness.path.name, 0


def classify(done: Done, harness: Harness, context: Context) -> Optional[Error]:
    """The error that a run has shown, or None."""
    if done.code == 0:
        return None
    text = context.relative(done.output)
    if done.code == STALLED:
        found = re.search(r"^stalled .*: (deadlock|livelock)$", text, re.M)
        if found:
            return Error(found.group(1), found.group(0), harness.path.name, 0, text[-8000:])
    for kind, sign in SIGNS:
        found = re.search(sign, text)
        if found:
            file, line = _place(text, harness)
            return Error(kind, next(g for g in found.groups() if g), file, line, text[-8000:])
    return Error("crash", f"ended with {'signal' if done.code < 0 else 'code'} {abs(done.code)}", harness.path.name, 0,
                 text[-8000:])


def _compile(harness: Harness, engine: str, model: str, context: Context, name: str, extra: list[str]
             ) -> tuple[list[str], Done]:
    binary = context.work / name
    urcu = pkg_config("liburcu-memb", "--libs") or ()
    command = [find_tool("gcc") or "gcc", "-g", "-pthread", *extra, *c_flags(harness, engine, model, context),
               str(harness.path), "-o", str(binary), "-Wl,--as-needed", *urcu, "-lm"]
    return command, run(command, timeout=120)


def _start(binary: Path, rounds: int, stall: int, seconds: float, longest: int, name: str) -> Done:
    env = {**OPTIONS, "HARNESS_ROUNDS": str(rounds), "HARNESS_STALL": str(stall), "HARNESS_SECONDS": str(longest)}
    done = run([str(binary)], timeout=seconds, env=env)
    if name == "tsan" and "unexpected memory mapping" in done.output and shutil.which("setarch"):
        done = run(["setarch", "-R", str(binary)], timeout=seconds, env=env)  # ASLR with more bits than TSan expects
    return done


def run_native(harness: Harness, model: str, context: Context, engine: str = "native") -> Outcome:
    """Build and run; the row passes when every build does."""
    if not find_tool("gcc"):
        return missing("gcc")
    began = time.monotonic()
    seconds = limit(harness, engine, model)
    stall = harness.number("stall", engine, model, DEFAULT_STALL)
    asked = harness.number("rounds", engine, model, DEFAULT_ROUNDS) * (10 if context.full else 1)
    executions = 0
    command: list[str] = []
    for name, extra, share in BUILDS[engine]:
        command, made = _compile(harness, engine, model, context, name, extra)
        if made.timed_out:
            return timed_out(made, command)
        if made.code != 0:
            if re.search(r"cannot find (-l[at]san|-lubsan|lib[at]san)", made.output):
                return Outcome(SKIP, note=f"no {name} runtime: install the Debian package libgcc-12-dev or its like")
            return compile_error(made.output, context, command)
        rounds = max(1, asked // share)
        longest = PROCESS_SECONDS * (6 if context.full else 1)
        spent = time.monotonic() - began
        done = _start(context.work / name, rounds, stall, max(seconds - spent, seconds / 2), longest, name)
        if done.timed_out:
            return timed_out(done, command)
        error = classify(done, harness, context)
        if error and any(broken in error.trace for broken in BROKEN):
            return Outcome(SKIP, note=f"{name} does not work on this machine: {error.trace.strip().splitlines()[-1]}")
        if error:
            return Outcome(FAIL, executions, errors=[error], seconds=time.monotonic() - began, note=f"{name} build",
                           command=f"HARNESS_ROUNDS={rounds} HARNESS_STALL={stall} after {shlex.join(command)}")
        said = re.search(r"^executions (\d+)$", done.output, re.M)
        executions += int(said.group(1)) if said else 1
    return Outcome(PASS, executions, seconds=time.monotonic() - began, command=shlex.join(command))


def run_tsan(harness: Harness, model: str, context: Context) -> Outcome:
    return run_native(harness, model, context, "tsan")
