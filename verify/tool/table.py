# SPDX-License-Identifier: MIT
"""The live table: on a terminal the rows at work are shown in place, in a pipe one line per row."""
from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import Sequence, TextIO

from .result import SKIP
from .rows import Row, explain

HEADER = ("name", "engine", "model", "threads", "bound", "executions", "seconds", "verdict")
COLOURS = {"passed": "\033[32m", "failed": "\033[31m", "skipped": "\033[33m"}


def cells(row: Row) -> tuple[str, ...]:
    """The row's columns as text."""
    harness, outcome = row.harness, row.outcome
    head = (harness.name, row.engine, row.model, harness.get("threads", default="1"), harness.get("bound", row.engine, row.model))
    if outcome is None:
        return (*head, "", "", "")
    executions = "" if outcome.executions is None else str(outcome.executions)
    if outcome.blocked:
        executions += f"+{outcome.blocked}"
    seconds = f"{outcome.seconds:.1f}" + ("=" if outcome.cached else "")
    return (*head, executions, "" if outcome.verdict == SKIP else seconds, row.verdict)


class Table:
    """Prints rows as they end. Thread-safe."""

    def __init__(self, rows: Sequence[Row], out: TextIO = sys.stdout) -> None:
        self.out = out
        self.live = out.isatty()
        self.lock = threading.Lock()
        self.active: dict[int, tuple[Row, float]] = {}
        self.left = len(rows)
        self.drawn = False
        columns = shutil.get_terminal_size((150, 24)).columns if self.live else 170
        name = max([4, *(len(row.harness.name) for row in rows)])
        self.widths = [min(name, 40), 7, 8, 7, 0, 11, 8, 0]
        self.widths[4] = max(10, min(44, columns - sum(self.widths) - 2 * len(HEADER) - 24))
        self._line(HEADER)
        if self.live:
            threading.Thread(target=self._tick, daemon=True).start()

    def _line(self, parts: Sequence[str], colour: str = "") -> None:
        text = []
        for i, (part, width) in enumerate(zip(parts, self.widths)):
            if width and len(part) > width:
                part = part[:width - 1] + "…"
            text.append(part.rjust(width) if i in (3, 5, 6) else part.ljust(width))
        line = "  ".join(text).rstrip()
        print(f"{colour}{line}\033[0m" if colour and self.live else line, file=self.out, flush=True)

    def _erase(self) -> None:
        if self.drawn:
            self.out.write("\r\033[K")
            self.drawn = False

    def _status(self) -> None:
        if not self.live:
            return
        now = time.monotonic()
        running = ", ".join(f"{row.harness.name} {row.engine}/{row.model} {now - since:.0f} s"
                            for row, since in self.active.values())
        columns = shutil.get_terminal_size((100, 24)).columns
        self.out.write(f"\r\033[K{self.left} left: {running}"[:columns + 3])
        self.out.flush()
        self.drawn = True

    def _tick(self) -> None:
        """Seconds count up while a long row runs."""
        while self.left:
            time.sleep(1)
            with self.lock:
                if self.left:
                    self._erase()
                    self._status()

    def started(self, row: Row) -> None:
        with self.lock:
            self.active[id(row)] = (row, time.monotonic())
            self._erase()
            self._status()

    def ended(self, row: Row) -> None:
        with self.lock:
            self.active.pop(id(row), None)
            self.left -= 1
            self._erase()
            self._line(cells(row), COLOURS[row.status])
            for line in explain(row):
                print(f"    {line}", file=self.out, flush=True)
            if self.left:
                self._status()
