# SPDX-License-Identifier: MIT
"""What a run of one harness under one engine and model has shown."""
from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Optional

PASS, FAIL, TIMEOUT, SKIP, VACUOUS = "PASS", "FAIL", "TIMEOUT", "SKIP", "VACUOUS"

# Kinds of error that come with a counterexample. `compile`, `tool` and `warning` do not: they mean that the engine
# could not do its work, and are never what a harness means by an expected failure.
DEFECTS = frozenset("""race assertion leak use-after-free double-free bad-free deadlock livelock overflow bounds
    uninitialised unwinding linearizability undefined outcome crash mixed-size misuse blocking""".split())
TROUBLE = frozenset(("compile", "tool", "warning"))


@dataclass
class Error:
    """One reported error: its kind, place and message, with what a person needs to follow it."""

    kind: str
    message: str
    file: str = ""
    line: int = 0
    trace: str = ""                        # text of the counterexample
    graph: Optional[dict[str, Any]] = None  # see draw/graph.py

    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


@dataclass
class Outcome:
    """The verdict of an engine. `expected` is what the harness asked for, `ok` whether they agree."""

    verdict: str
    executions: Optional[int] = None
    blocked: int = 0
    seconds: float = 0.0
    note: str = ""
    errors: list[Error] = field(default_factory=list)
    command: str = ""
    cached: bool = False
    sites: list[dict[str, Any]] = field(default_factory=list)  # explore: atomic calls that were executed
    covered: list[str] = field(default_factory=list)           # explore: cover points that were reached

    @property
    def kind(self) -> str:
        return self.errors[0].kind if self.errors else ""

    def agrees(self, expect: str) -> bool:
        """Whether this is what the harness expects: PASS, or FAIL with a kind of defect."""
        words = expect.split()
        if words[0] == PASS:
            return self.verdict == PASS
        return self.verdict == FAIL and self.kind == words[1]

    def conclusive(self) -> bool:
        return self.verdict == PASS or (self.verdict == FAIL and self.kind in DEFECTS)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Outcome":
        errors = [Error(**e) for e in data.pop("errors")]
        return Outcome(errors=errors, **data)


def failed(kind: str, message: str, trace: str = "", **more: Any) -> Outcome:
    return Outcome(FAIL, errors=[Error(kind, message, trace=trace)], **more)
