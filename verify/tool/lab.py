# SPDX-License-Identifier: MIT
"""The lab's engine as a command: built once for its sources, then run on programs in the lab's language (docs/lab.md)."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("rc11", "ra", "tso", "sc")
EXECUTIONS = 20000  # of a program, as in the page
OUTCOMES = 512  # that the engine lists (lab.c)
COST = {"relaxed": 0, "consume": 1, "acquire": 1, "release": 1, "acq_rel": 2, "seq_cst": 3}
PARTS = {"relaxed": "", "consume": "a", "acquire": "a", "release": "r", "acq_rel": "ar", "seq_cst": "ars"}


class Refused(Exception):
    """The program cannot be explored: its text has an error, or it is too large."""


class TooLarge(Refused):
    pass


class Vacuous(Refused):
    pass


@functools.lru_cache(maxsize=None)
def build() -> str:
    """The path of lade-lab: $LADE_LAB_ENGINE, or in the cache."""
    if os.environ.get("LADE_LAB_ENGINE"):
        return os.environ["LADE_LAB_ENGINE"]
    sources = sorted([*(ROOT / "lab").glob("*.[ch]"), *(ROOT / "verify/engine/core").glob("*.[ch]")])
    digest = hashlib.sha256(b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in sources)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lade" / ("lab-" + digest)
    target = cache / "lade-lab"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as tmp:
            compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
            done = subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-fms-extensions", "-O2", "-w", "-I", ROOT / "lab", "-I", ROOT / "verify/engine/core",
                                   "-o", tmp + "/lab", *[path for path in sources if path.suffix == ".c"]], stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise Refused(done.stderr)
            os.replace(tmp + "/lab", target)
    return str(target)


def engine(what: str, text: str) -> subprocess.CompletedProcess[str]:
    """lade-lab on a text. Each character is one byte, so that offsets are those of the text, and none is zero, which would end it."""
    return subprocess.run([build(), what, "/dev/stdin", str(EXECUTIONS)], input=re.sub(r"[^\x01-\x7f]", "?", text), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def explore(text: str, model: str = "rc11") -> dict[str, Any]:
    """The engine's JSON: verdict "pass" or "error"."""
    done = engine(model, text)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise Refused(done.stderr or "the engine failed") from None
    if found["verdict"] == "text":
        raise Refused("line %d, column %d: %s" % (found["line"], found["column"], found["message"]))
    if found["verdict"] == "bound":
        raise TooLarge("the program is too large for the lab")
    if found["verdict"] == "vacuous":
        raise Vacuous("no execution completes: an assume always fails")
    if found["verdict"] not in ("pass", "error"):
        raise Refused(found["verdict"])
    return found


def orders(text: str) -> list[dict[str, Any]]:
    """The orders in the text: at, length, order, call, failure, and kinds, what each may be."""
    found: list[dict[str, Any]] = json.loads(engine("orders", text).stdout)
    return found


def as_c(text: str) -> str:
    return engine("c", text).stdout


def stronger(a: str, b: str) -> bool:
    """Whether a is b or stronger."""
    return set(PARTS[b]) <= set(PARTS[a])


def change(text: str, found: list[dict[str, Any]], chosen: list[str]) -> str:
    for site, order in reversed(list(zip(found, chosen))):
        text = text[:site["at"]] + order + text[site["at"] + site["length"]:]
    return text


def needless(text: str, model: str = "rc11") -> list[dict[str, Any]]:
    """The orders of a program that passes which can be weakened by one step, each with `enough`, the weaker one."""
    found, rows = orders(text), []
    for i, site in enumerate(found):
        weaker = [k for k in site["kinds"] if stronger(site["order"], k) and not stronger(k, site["order"])]
        for order in weaker:
            if any(other != order and stronger(other, order) for other in weaker):
                continue
            chosen = [order if j == i else other["order"] for j, other in enumerate(found)]
            if explore(change(text, found, chosen), model)["verdict"] == "pass":
                rows.append({"line": text.count("\n", 0, site["at"]) + 1, "call": site["call"] + (" on failure" if site["failure"] else ""),
                             "order": site["order"], "enough": order})
    return rows


def strongest(text: str) -> str:
    found = orders(text)
    return change(text, found, [max(site["kinds"], key=COST.__getitem__) for site in found])


def fixed_part(text: str, free: bool = False) -> str:
    """What a solution of an exercise must leave alone: all but comments, orders and fences; of a problem, the assertions."""
    text = re.sub(r"//[^\n]*|\s", "", text)
    if free:
        return "".join(sorted(re.findall(r"assert\([^;]*;", text)))
    text = re.sub(r"fence\(\w+\);", "", text)
    return re.sub(r"\b(?:memory_order_)?(?:relaxed|consume|acquire|release|acq_rel|seq_cst)\b", "ORDER", text)
