# SPDX-License-Identifier: MIT
"""Each place that notifies waiting threads is changed by a protocol mutant, so that one that is lost is noticed."""
from __future__ import annotations

import re
import unittest
from pathlib import Path

from ..mutants import parse_mutant
from ..sites import LIBRARIES

ROOT = Path(__file__).resolve().parents[3]
CALL = re.compile(r"\s+(return )?(\w*notify\w*|lade_event_wake_all|lade_ring_wake)\(.*\);")


def changed(root: Path) -> set[tuple[str, int]]:
    """File and line of all that protocol mutants replace."""
    out = set()
    for path in root.glob("verify/*/mutants/*.txt"):
        fields = parse_mutant(path)
        before = (root / fields["file"]).read_text(encoding="utf-8").partition(fields["replace"])[0]
        first = before.count("\n") + 1
        out |= {(fields["file"], first + i) for i in range(fields["replace"].count("\n") + 1)}
    return out


def calls(root: Path) -> set[tuple[str, int]]:
    """File and line of each notification outside the event's own module."""
    return {(path.relative_to(root).as_posix(), number) for folder in LIBRARIES for path in (root / folder).glob("*.[ch]")
            if path.stem != "event"
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if CALL.match(line)}


class Notify(unittest.TestCase):
    def test_each_call_has_a_mutant(self) -> None:
        found = calls(ROOT)
        self.assertGreater(len(found), 50)
        self.assertEqual(sorted(found - changed(ROOT)), [], "add a mutant that leaves the notification out, and a harness")
