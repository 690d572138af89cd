# SPDX-License-Identifier: MIT
"""Harnesses under explore: built once and run many times with other orders (`PROG --weaken FILE:LINE=ORDER`).

A program is kept below the cache folder by content of its sources, flags, compiler and checker. That is not a result:
it is kept and used with --no-cache too, as an object file would be.
"""
from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from . import cache
from .engine import Context, c_flags, compile_error, limit, sources, vacuous_if, version_of
from .explore import COMPILE, command_for, explore_missing, explorer, judge, output_options, split_options
from .harness import Harness
from .process import Done, cache_home, run
from .result import FAIL, PASS, SKIP, Error, Outcome

BUILD_SECONDS = 120
KEPT_PROGRAMS = 1000
CANNOT_START = 127  # the dynamic linker's exit code: the checker's library has been thrown away


@dataclass
class Program:
    """A harness that can be run at once. `key` stands for everything that it is made of."""

    harness: Harness
    model: str
    context: Context
    path: Path
    key: str


def _folder() -> Path:
    return cache_home() / "programs"


def _key(harness: Harness, model: str, context: Context) -> Optional[str]:
    files = sources(harness, "explore", model, context)
    if files is None:
        return None
    build, _ = split_options(harness, model)
    head = [cache.version("explore"), version_of("gcc"), c_flags(harness, "explore", model, context), build]
    digest = hashlib.sha256(json.dumps(head).encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\n{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _prune() -> None:
    """The least recently used programs go."""
    try:
        old = sorted(_folder().iterdir(), key=lambda p: p.stat().st_mtime)[:-KEPT_PROGRAMS]
        for path in old:
            path.unlink(missing_ok=True)
    except OSError:
        pass


def build(harness: Harness, model: str, context: Context, again: bool = False) -> tuple[Optional[Program], Optional[Outcome]]:
    """The program, or the outcome that shows why there is none. `again`: even if it is there."""
    key = _key(harness, model, context)
    words, _ = split_options(harness, model)
    arguments = ["--", *c_flags(harness, "explore", model, context), str(harness.path)]
    if key is None:
        command = [str(explorer()), *words, *arguments]
        return None, compile_error(run([sys.executable, *command], timeout=BUILD_SECONDS).output, context, command)
    program = Program(harness, model, context, _folder() / key, key)
    if program.path.exists() and not again:
        os.utime(program.path)
        return program, None
    _folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_folder().parent, prefix="building-") as place:
        made = Path(place) / "program"
        command = [str(explorer()), "--build", str(made), *words, *arguments]
        done = run([sys.executable, *command], timeout=BUILD_SECONDS)
        if done.code == COMPILE:
            return None, compile_error(done.output, context, command)
        if done.code != 0 or not made.exists():
            return None, judge(done, context, command)
        os.replace(made, program.path)
    _prune()
    return program, None


def run_program(program: Program, weaken: str, use_cache: bool) -> Outcome:
    """One exploration, with one order changed unless `weaken` is empty."""
    _, options = split_options(program.harness, program.model)
    changed = ["--weaken", weaken] if weaken else []
    said = json.dumps([cache.runner(), program.key, program.model, options, changed])
    name = hashlib.sha256(said.encode()).hexdigest() if use_cache else None
    outcome = cache.load(name)
    if outcome:
        return outcome
    shown = command_for(program.harness, program.model, program.context, changed)
    seconds = limit(program.harness, "explore", program.model)
    with tempfile.TemporaryDirectory(prefix="lade-explore-") as work:
        context = replace(program.context, work=Path(work))
        command = [str(program.path), "--model", program.model, *options, *changed, *output_options(context.work)]
        try:
            os.utime(program.path)
            done = run(command, timeout=seconds)
        except FileNotFoundError:  # pruned by another run
            done = Done(CANNOT_START, "", 0.0)
        if done.code == CANNOT_START:
            _, bad = build(program.harness, program.model, program.context, again=True)
            if bad:
                return bad
            done = run(command, timeout=seconds)
        outcome = judge(done, context, shown)
    if outcome.verdict == FAIL and outcome.kind == "compile":  # exit code 2 of a program that is built: wrong use
        outcome.errors[0].kind = "tool"
    cache.store(name, outcome, "explore", True)
    return outcome


def _first_run(harness: Harness, model: str, context: Context) -> Outcome:
    if context.kept:
        program, bad = build(harness, model, replace(context, cover=False))
        return run_program(program, "", True) if program else bad or Outcome(SKIP)
    shown = command_for(harness, model, context, [])
    command = command_for(harness, model, context, output_options(context.work))
    return judge(run([sys.executable, *command], timeout=limit(harness, "explore", model)), context, shown)


def run_explore(harness: Harness, model: str, context: Context) -> Outcome:
    """One row."""
    why = explore_missing()
    if why:
        return Outcome(SKIP, note=why)
    began = time.monotonic()
    outcome = _first_run(harness, model, context)
    most = harness.get("blocked", "explore", model)
    if outcome.verdict == PASS and most and outcome.blocked > int(most):
        outcome.verdict = FAIL
        outcome.errors = [Error("deadlock", f"{outcome.blocked} executions end blocked, want at most {most}")]
    vacuous_if(outcome, harness, "explore", model, set(outcome.covered) if context.cover else None)
    outcome.seconds = time.monotonic() - began
    return outcome
