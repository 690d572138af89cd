# SPDX-License-Identifier: MIT
"""Results by content: the same sources, flags and tools give the same result, so it is kept.

Only conclusive results are kept; for engines that sample, only those that the harness expects. The key holds paths
relative to the root, so that a changed copy of the tree (verify/certify) shares what has not changed.
"""
from __future__ import annotations

import hashlib
import json
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Optional

from .engine import Context, c_flags, sources, version_of
from .explore import explorer
from .harness import Harness
from .process import cache_home, pkg_config
from .result import FAIL, Outcome

TOOLS = {"native": "gcc", "tsan": "gcc", "genmc": "genmc", "cbmc": "cbmc", "herd": "herd7"}
SAMPLING = ("native", "tsan")


@lru_cache(maxsize=None)
def runner() -> str:
    """This package and the form of graphs are part of the key: a change of how output is judged must not be hidden by old
    results."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for path in [*sorted(here.glob("*.py")), here.parent / "draw" / "graph.py"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=None)
def version(engine: str) -> Optional[str]:
    if engine == "explore":
        return _explore_version()
    said = version_of(TOOLS[engine])
    if said and engine in SAMPLING:
        said += " urcu " + "".join(pkg_config("liburcu-memb", "--modversion") or ("none",))
    return said


def _explore_version() -> Optional[str]:
    """The checker's own sources and the compiler stand for its version: it is built from them, and builds with it."""
    path, gcc = explorer(), version_of("gcc")
    if not path or not gcc:
        return None
    digest = hashlib.sha256(path.read_bytes() + gcc.encode())
    engine = path.parent / "engine"
    for source in sorted(path for part in ("", "core", "native", "include") for path in (engine / part).iterdir()):
        if source.suffix in (".c", ".h", ".S", ".py"):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def key(harness: Harness, engine: str, model: str, context: Context) -> Optional[str]:
    """Name of the result, or None where it cannot be kept (no tool, sources that do not preprocess)."""
    tool = version(engine)
    files = sources(harness, engine, model, context) if tool else None
    if not tool or files is None:
        return None
    digest = hashlib.sha256()
    _, options = harness.flags(engine, model)
    flags = [flag.replace(str(context.root), "") for flag in c_flags(harness, engine, model, context)]
    said = sorted(harness.fields.items())
    head = [runner(), engine, model, tool, flags, options, said, context.full, context.cover]
    digest.update(json.dumps(head).encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\n{str(path).replace(str(context.root), '')} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _place(name: str) -> Path:
    return cache_home() / "verify" / name[:2] / (name + ".json")


def load(name: Optional[str]) -> Optional[Outcome]:
    if not name:
        return None
    try:
        outcome = Outcome.from_json(json.loads(_place(name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    outcome.cached = True
    return outcome


def store(name: Optional[str], outcome: Outcome, engine: str, expected: bool) -> None:
    """Keep a result. Written to a temporary file and renamed: several runs may share the folder."""
    if not name or not outcome.conclusive() or (engine in SAMPLING and not expected):
        return
    if outcome.verdict == FAIL and any(error.kind in ("tool", "compile") for error in outcome.errors):
        return
    place = _place(name)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(outcome.to_json(), file)
        os.replace(temporary, place)
    except OSError:
        pass  # a cache that cannot be written costs time, nothing else
