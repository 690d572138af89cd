# SPDX-License-Identifier: MIT
"""What all engines share: where sources are looked for, which files a harness is made of, and the common rules."""
from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional, Sequence

from .harness import Harness
from .process import HOW_TO_GET, Done, find_tool, run, tool_version
from .result import FAIL, PASS, SKIP, TIMEOUT, VACUOUS, Error, Outcome
from .sites import LIBRARIES

MODELLING = ("genmc", "cbmc", "explore")
DEFAULT_TIMEOUT = 60
OWN = Path(__file__).resolve().parent.parent  # the runner's own verify/: its harness.h serves trees without one


@dataclass
class Context:
    """Where a run takes place. `root` holds the libraries and verify/; a weakening run points it at a changed copy."""

    root: Path
    includes: Sequence[Path] = ()
    full: bool = False
    cover: bool = True          # a weakening run asks only for a counterexample
    kept: bool = False          # explore: the program and its result are kept, for verify/certify
    folders: Sequence[str] = LIBRARIES  # below root, with the sources
    work: Path = field(default_factory=lambda: Path("."))  # scratch folder of the row

    def include_flags(self, harness: Harness, engine: str) -> list[str]:
        places = [harness.path.parent, *(Path(p).resolve() for p in self.includes)]
        places += [self.root / "verify", self.root / "lib" / "include", self.root / "lib"]
        module = harness.path.parent.name
        for i, library in enumerate(LIBRARIES[1:]):
            if (self.root / library / f"{module}.h").exists():  # where the module lives; it sees those above it
                places += [self.root / above for above in reversed(LIBRARIES[1:i + 2])]
                places += [self.root / above / "include" for above in LIBRARIES[1:i + 2]]
        places += [self.root / name / more for name in self.folders if name not in LIBRARIES for more in ("include", "")]
        own = next(place for place in (self.root / "verify", OWN) if (place / "harness.h").exists())
        places += [own] if own not in places else []
        if engine in MODELLING:
            places.insert(0, own / "model")
        return [f"-I{place}" for place in places]

    def relative(self, text: str) -> str:
        """Text without the folder in which the run took place."""
        return text.replace(str(self.work) + "/", "").replace(str(self.root) + "/", "")


Runner = Callable[[Harness, str, Context], Outcome]


def c_flags(harness: Harness, engine: str, model: str, context: Context) -> list[str]:
    """Flags of the C compiler, the same for listing the included files and for the run."""
    define = "NATIVE" if engine == "tsan" else engine.upper()
    own, _ = harness.flags(engine, model)
    return ["-std=gnu11", f"-DENGINE_{define}=1", *context.include_flags(harness, engine), *own]


def sources(harness: Harness, engine: str, model: str, context: Context) -> Optional[list[Path]]:
    """Every file outside the system's folders that the harness includes, itself first; None if it does not preprocess.

    -MG: a header that only an engine has (GenMC's) is no reason to stop.
    """
    files = [harness.path]
    if harness.litmus:
        return files
    heads = [harness.path]
    spec = harness.get("lin-spec", engine, model)
    if spec:
        heads.append((harness.path.parent / spec).resolve())
    gcc = find_tool("gcc") or "cc"
    for head in heads:
        done = run([gcc, *c_flags(harness, engine, model, context), "-MM", "-MG", str(head)], timeout=30)
        if done.code != 0:
            return None
        words = done.output.replace("\\\n", " ").split(":", 1)[-1].split()
        files += [path for path in map(Path, words) if path.is_file()]
    return list(dict.fromkeys(path.resolve() for path in files))


def missing(tool: str) -> Outcome:
    return Outcome(SKIP, note=f"{tool} not found: {HOW_TO_GET.get(tool, 'put it on PATH')}")


def version_of(tool: str) -> Optional[str]:
    path = find_tool(tool)
    return tool_version(path) if path else None


def limit(harness: Harness, engine: str, model: str) -> int:
    """What a quiet machine needs at most; a busy one gets five times as long before a row fails."""
    return 5 * harness.number("timeout", engine, model, DEFAULT_TIMEOUT)


def timed_out(done: Done, command: Sequence[str]) -> Outcome:
    return Outcome(TIMEOUT, seconds=done.seconds, note=f"no result after {done.seconds:.0f} s", command=shlex.join(command))


def vacuous_if(outcome: Outcome, harness: Harness, engine: str, model: str, reached: Optional[set[str]]) -> Outcome:
    """Turn a PASS that shows too little into VACUOUS. `reached` is None where cover points were not asked for."""
    if outcome.verdict != PASS:
        return outcome
    if engine in ("genmc", "explore") and outcome.executions is not None:
        least = harness.number("executions", engine, model, 1)
        if outcome.executions < least:
            outcome.verdict = VACUOUS
            outcome.note = f"{outcome.executions} complete executions, want at least {least}"
            return outcome
    if reached is not None:
        unseen = [name for name in harness.cover(engine, model) if name not in reached]
        if unseen:
            outcome.verdict = VACUOUS
            outcome.note = "never reached: " + " ".join(unseen)
    return outcome


_COMPILER_ERROR = re.compile(r"^(.*?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.M)


def compile_error(output: str, context: Context, command: Sequence[str]) -> Outcome:
    """A source that does not compile is a failure of kind `compile`, never a skip."""
    output = context.relative(output)
    found = _COMPILER_ERROR.search(output)
    error = Error("compile", found.group(3) if found else (output.strip().splitlines() or ["does not compile"])[-1],
                  found.group(1) if found else "", int(found.group(2)) if found else 0, trace=output[-8000:])
    return Outcome(FAIL, errors=[error], command=shlex.join(command))
