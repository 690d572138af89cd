# SPDX-License-Identifier: MIT
"""Weakened copies of the library: one order made weaker by one step, or one protocol step changed on purpose."""
from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .sites import LIBRARIES, LOAD_PART, Site, Source

STEPS = {
    "load": {"seq_cst": ["acquire"], "acquire": ["relaxed"], "consume": ["relaxed"]},
    "store": {"seq_cst": ["release"], "release": ["relaxed"]},
    "rmw": {"seq_cst": ["acq_rel"], "acq_rel": ["acquire", "release"], "acquire": ["relaxed"], "release": ["relaxed"],
            "consume": ["relaxed"]},
    "fence": {"seq_cst": ["acq_rel"], "acq_rel": ["acquire", "release"], "acquire": [], "release": []},
}
STEPS["cas"] = STEPS["rmw"]
STRENGTH = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]


@dataclass
class Mutant:
    """One changed file. `label` is what was done to it, `name` is what the certificate calls it."""

    module: str
    name: str
    file: str
    line: int
    label: str
    text: str
    why: str = ""
    orders: tuple[str, str] = ("", "")  # what to set at run time: order, failure order; empty: leave it, or not by an order
    informative: bool = False           # shows something about the site, but may survive
    only: str = ""                      # the engine that can run the code; empty: all can
    because: str = ""                   # why others cannot
    function: str = ""                  # that holds the change; empty: it is outside of all

    def fits(self, engine: str) -> bool:
        return engine == "explore" if self.informative else self.only in ("", engine)

    def slug(self) -> str:
        """A file name; modules may have protocol mutants of one name."""
        return re.sub(r"[^\w.]+", "-", f"{self.name}-{self.label}" if self.label else f"{self.module}-{self.name}").strip("-")


def _edit(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, word in sorted(edits, reverse=True):
        text = text[:start] + word + text[end:]
    return text


def weaken(site: Site, root: Path, pair_together: bool) -> list[Mutant]:
    """All single steps down from a site. The two orders of a CAS go down as one. The failure order alone is a step only
    where the engine knows it (not `pair_together`) and it is not the load part of the success order, which is what it
    has to be for GenMC."""
    text = (root / site.file).read_text(encoding="utf-8")

    def made(label: str, edits: Sequence[tuple[int, int, str]], orders: tuple[str, str]) -> Mutant:
        return Mutant(site.module, site.name, site.file, site.line, label, _edit(text, edits), orders=orders,
                      function=site.function)

    first = site.orders[0]
    out = []
    for weaker in STEPS[site.kind].get(first.name, []):
        edits = [(first.start, first.end, f"memory_order_{weaker}")]
        label, failure = weaker, ""
        if site.kind == "cas":
            failure = min(site.orders[1].name, LOAD_PART[weaker], key=STRENGTH.index)
            edits.append((site.orders[1].start, site.orders[1].end, f"memory_order_{failure}"))
            label = f"{weaker}/{failure}"
        out.append(made(label, edits, (weaker, failure)))
    if site.kind == "cas" and not pair_together and site.orders[1].name != LOAD_PART[first.name]:
        out += _failure_alone(site, text)[:1]
    if site.kind == "fence":
        out.append(made("removed", [(*site.span, "((void)0)")], ("relaxed", "")))  # a relaxed fence does nothing
    return out


def _failure_alone(site: Site, text: str) -> list[Mutant]:
    """The failure order of a CAS made weaker by one step, two steps, ..."""
    first, failure = site.orders
    out = []
    name = failure.name
    while STEPS["load"].get(name):
        name = STEPS["load"][name][0]
        changed = _edit(text, [(failure.start, failure.end, f"memory_order_{name}")])
        out.append(Mutant(site.module, site.name, site.file, site.line, f"{first.name}/{name}", changed, orders=("", name),
                          function=site.function))
    return out


def weaken_failure(site: Site, root: Path) -> list[Mutant]:
    """For an engine that knows failure orders: is the one of this CAS needed? It is the load part of the success order
    so that GenMC is exact, so these mutants may survive. (Where it is not, weaken() has a step for it that may not.)"""
    if site.kind != "cas" or site.orders[1].name != LOAD_PART[site.orders[0].name]:
        return []
    out = _failure_alone(site, (root / site.file).read_text(encoding="utf-8"))
    for mutant in out:
        mutant.informative = True
    return out


class MutantError(Exception):
    """A protocol mutant that does not apply."""


def parse_mutant(path: Path) -> dict[str, str]:
    """Fields of a mutant file. `replace:` and `with:` take the lines up to the next field, the others one line."""
    fields: dict[str, list[str]] = {}
    current = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(r"^(file|name|why|engine|because|replace|with):(?: (.*))?$", line)
        if found:
            current = found.group(1)
            fields[current] = [found.group(2)] if found.group(2) else []
        elif current:
            fields[current].append(line)
    missing = {"file", "name", "why", "replace", "with"} - fields.keys()
    if missing:
        raise MutantError(f"{path}: no `{sorted(missing)[0]}:`")
    engine = " ".join(fields.get("engine", []))
    if engine not in ("", "explore", "genmc"):
        raise MutantError(f"{path}: no engine `{engine}`: write explore or genmc, or leave the line out")
    if bool(engine) != ("because" in fields):
        raise MutantError(f"{path}: `engine:` and `because:`, the reason for it, need each other")
    return {name: ("\n" if name in ("replace", "with") else " ").join(lines).strip("\n") for name, lines in fields.items()}


def _first_change(old: str, new: str) -> int:
    """How many characters of a replaced text come before the first one that differs."""
    return next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))


def protocol_mutants(module: str, root: Path) -> list[Mutant]:
    """The changes that people thought of: verify/MODULE/mutants/*."""
    out = []
    for path in sorted((root / "verify" / module / "mutants").glob("*")):
        if not path.is_file() or path.name.startswith("."):
            continue
        fields = parse_mutant(path)
        source = Source(root / fields["file"], root)
        text, old = source.text, fields["replace"]
        if not old.strip() or text.count(old) != 1:
            raise MutantError(f"{path}: the text to replace occurs {text.count(old)} times in {fields['file']}, want once")
        at = text.index(old)
        out.append(Mutant(module, fields["name"].strip(), fields["file"], source.line(at), "",
                          text.replace(old, fields["with"]), fields["why"].strip(), only=fields.get("engine", "").strip(),
                          because=fields.get("because", "").strip(),
                          function=source.function(at + _first_change(old, fields["with"]))))
    return out


NOT_COPIED = ("tool", "draw", "engine", "negative", "litmus", "oracle")  # folders of this project's verify/


def write_copy(mutant: Mutant, root: Path, target: Path, folders: Sequence[str] = LIBRARIES) -> None:
    """A copy of the libraries and verify/ with the changed file. All, because a quoted include looks next to the includer first."""
    skip = {"__pycache__", "build", "test", "mutants"}
    own = {name for name in NOT_COPIED if name != mutant.module}

    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if name in skip or (name in own and Path(folder) == root / "verify")}

    for folder in (*folders, "verify"):
        if (root / folder).is_dir():
            shutil.copytree(root / folder, target / folder, ignore=ignored, symlinks=True, dirs_exist_ok=True)
    (target / mutant.file).write_text(mutant.text, encoding="utf-8")
