# SPDX-License-Identifier: MIT
"""Harness files and the comment block that states what they claim.

The block is the first comment of the file and begins with the word `harness`:

    /* harness
     * property: a taken word is one that was pushed
     * engines: native tsan genmc
     * executions: 6
     */

A field may be given for one engine, or one engine and model, and then overrides the general one:
`expect cbmc: FAIL overflow`, `expect genmc/imm: FAIL uninitialised`. A line that does not begin a field continues
with the one before it.
"""
from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable

from .result import DEFECTS

ENGINES = ("explore", "native", "tsan", "genmc", "cbmc", "herd")  # the order of the rows of a harness
MODELS = {"native": ("hardware",), "tsan": ("hardware",), "genmc": ("rc11", "imm"), "cbmc": ("sc",),
          "herd": ("rc11",), "explore": ("rc11",)}
DEFAULT_ENGINES = "explore native tsan genmc"

FIELDS = {
    "property": "one sentence: what the harness shows",
    "engines": f"engines that fit, of {' '.join(ENGINES)}; genmc/rc11 means this model only (default: {DEFAULT_ENGINES})",
    "threads": "number of threads, for the table",
    "bound": "sizes, for the table",
    "executions": "least number of complete executions under a model checker; fewer is VACUOUS (default 1)",
    "blocked": "most executions that may end blocked under a model checker; more is FAIL deadlock (default: any number)",
    "cover": "names of cover points, each of which must be reached; else VACUOUS",
    "expect": "PASS (default) or FAIL KIND",
    "flags": "words that begin with one dash go to the C compiler, with two dashes to the engine (flags explore: --stop-threads)",
    "allow": "warnings of the engine that do not matter here, as pieces of their text separated by commas",
    "timeout": "seconds that each process of the engine may need on a quiet machine (default 60); ended after five times that",
    "rounds": "rounds of native and tsan (default 2000)",
    "stall": "seconds without a finished round after which native and tsan report a deadlock or livelock (default 20)",
    "tier": "full: only with --full",
    "lin-spec": "specification harness whose outcomes GenMC collects first; this one is then checked to refine it",
    "outcome": "litmus only: Never, Sometimes or Always: how often the condition must hold",
}

_FIELD = re.compile(r"^([a-z][a-z-]*)(?: +([a-z]+(?:/[a-z0-9]+)?))? *:(?: +|$)(.*)$")

_WORD = re.compile(r"^([A-Za-z][A-Za-z-]*)(?: +[A-Za-z0-9/]+)? *[:=]")  # what was meant as a field


class HarnessError(Exception):
    """The block is missing or states something impossible."""


@dataclass
class Harness:
    """One harness file. `get` looks a field up for an engine and model."""

    path: Path
    name: str
    fields: dict[str, str] = field(default_factory=dict)
    sequential: bool = False

    def get(self, name: str, engine: str = "", model: str = "", default: str = "") -> str:
        for key in (f"{name} {engine}/{model}", f"{name} {engine}", name):
            if key in self.fields:
                return self.fields[key]
        return default

    def number(self, name: str, engine: str, model: str, default: int) -> int:
        return int(self.get(name, engine, model, str(default)))

    @property
    def litmus(self) -> bool:
        return self.path.suffix == ".litmus"

    @property
    def full(self) -> bool:
        return self.get("tier") == "full"

    def rows(self) -> list[tuple[str, str]]:
        """The (engine, model) pairs that the harness asks for."""
        pairs: list[tuple[str, str]] = []
        for word in self.get("engines", default="herd" if self.litmus else DEFAULT_ENGINES).split():
            engine, _, only = word.partition("/")
            pairs += [(engine, model) for model in MODELS[engine] if only in ("", model)]
        return sorted(pairs, key=lambda pair: ENGINES.index(pair[0]))

    def expect(self, engine: str, model: str) -> str:
        return self.get("expect", engine, model, "PASS")

    def cover(self, engine: str, model: str) -> list[str]:
        words = self.get("cover", engine, model).split()
        return [] if words == ["none"] else words

    def flags(self, engine: str, model: str) -> tuple[list[str], list[str]]:
        """C flags and engine options. The general field and the engine's own add up."""
        c_flags: list[str] = []
        options: list[str] = []
        for key in ("flags", f"flags {engine}", f"flags {engine}/{model}"):
            target = c_flags
            for word in shlex.split(self.fields.get(key, "")):
                if word.startswith("-"):
                    target = options if word.startswith("--") else c_flags
                target.append(word)
        return c_flags, options


def _block(text: str, path: Path) -> str:
    """The inside of the first comment whose first word is `harness`."""
    opening, closing = (r"\(\*", r"\*\)") if path.suffix == ".litmus" else (r"/\*", r"\*/")
    for found in re.finditer(opening + r"(.*?)" + closing, text, re.S):
        if found.group(1).split()[:1] == ["harness"]:
            return found.group(1)
    raise HarnessError(f"{path}: no comment block that begins with `harness`")


def _check(harness: Harness) -> None:
    """Refuse what would otherwise be a silent misunderstanding."""
    where = harness.path
    for key, value in harness.fields.items():
        name = key.split()[0]
        if name == "expect":
            words = value.split()
            if words != ["PASS"] and not (len(words) == 2 and words[0] == "FAIL" and words[1] in DEFECTS):
                raise HarnessError(f"{where}: `{key}: {value}`: want PASS or FAIL with one of {' '.join(sorted(DEFECTS))}")
        if name in ("executions", "blocked", "timeout", "rounds", "stall") and not value.isdigit():
            raise HarnessError(f"{where}: `{key}: {value}`: want a number")
        if name == "engines":
            for word in value.split():
                engine, slash, model = word.partition("/")
                if engine not in ENGINES or (slash and model not in MODELS[engine]):
                    raise HarnessError(f"{where}: no engine `{word}`; there are {' '.join(ENGINES)}")
        if name == "outcome" and value not in ("Never", "Sometimes", "Always"):
            raise HarnessError(f"{where}: `outcome: {value}`: want Never, Sometimes or Always")
        if name == "tier" and value != "full":
            raise HarnessError(f"{where}: `tier: {value}`: only `full` exists")
    if harness.litmus and "outcome" not in harness.fields:
        raise HarnessError(f"{where}: a litmus file needs `outcome: Never`, Sometimes or Always")
    if "property" not in harness.fields:
        raise HarnessError(f"{where}: the block has no `property:`")


def parse(path: Path, root: Path) -> Harness:
    """Read the block of a harness file."""
    text = path.read_text(encoding="utf-8")
    resolved = path.resolve()
    try:
        name = str(resolved.relative_to(root / "verify").with_suffix(""))
    except ValueError:
        name = str(path.with_suffix(""))
    harness = Harness(resolved, name + (".litmus" if path.suffix == ".litmus" else ""))
    last = ""
    for line in _block(text, path).splitlines()[1:]:
        line = re.sub(r"^\s*\*? ?", "", line).rstrip()
        found = _FIELD.match(line)
        if found and found.group(1) in FIELDS:
            engine = (found.group(2) or "").split("/")[0]
            if engine and engine not in ENGINES:
                raise HarnessError(f"{path}: `{line}`: no engine `{engine}`")
            last = " ".join(filter(None, found.group(1, 2)))
            if last in harness.fields:
                raise HarnessError(f"{path}: `{last}:` is given twice")
            harness.fields[last] = found.group(3)
        elif found:
            raise HarnessError(f"{path}: no field `{found.group(1)}`; there are {' '.join(FIELDS)}")
        elif (word := _WORD.match(line)) and word.group(1).lower() in FIELDS:
            raise HarnessError(f"{path}: `{line}`: a field is written `{word.group(1).lower()}: VALUE`")
        elif last and line:
            harness.fields[last] += " " + line
    harness.fields = {key: value.strip() for key, value in harness.fields.items()}
    harness.sequential = bool(re.search(r"^\s*#\s*define\s+SEQUENTIAL\b", text, re.M)) or any(
        "-DSEQUENTIAL" in value for key, value in harness.fields.items() if key.startswith("flags"))
    _check(harness)
    return harness


def is_harness(path: Path) -> bool:
    """Whether a file has the block; sources that a harness only includes do not."""
    if path.suffix not in (".c", ".litmus"):
        return False
    try:
        _block(path.read_text(encoding="utf-8", errors="replace"), path)
    except HarnessError:
        return False
    return True


def collect(paths: Iterable[Path], root: Path) -> list[Harness]:
    """All harnesses in the given files and folders. A file that is named must be one; folders are searched."""
    found: dict[Path, Harness] = {}
    for path in paths:
        if path.is_dir():
            files = [p for p in sorted(path.rglob("*")) if p.is_file() and is_harness(p)]
        elif path.exists():
            files = [path]
        else:
            raise HarnessError(f"{path}: no such file or folder")
        for file in files:
            found.setdefault(file.resolve(), parse(file, root))
    return sorted(found.values(), key=lambda h: h.name)
