# SPDX-License-Identifier: MIT
"""The execution graph that GenMC prints."""
from __future__ import annotations

import re
from typing import Optional

from draw.graph import Event, Graph

_THREAD = re.compile(r"^<-?\d+, (\d+)> (.+):$")
_EVENT = re.compile(r"^\s+\((\d+), (\d+)\): (.*)$")
_PLACE = re.compile(r"\s+(?:L\.|(\S+):)(\d+)$")
_READS = re.compile(r"\s*\[(?:\((\d+), (\d+)\)|INIT|BOTTOM)\]")
_TRACE = re.compile(r"^\[[^\]]+\] (\S+): (\d+): (.*)$", re.M)


def parse_genmc(text: str, main_file: str, blocked: bool = False) -> Optional[Graph]:
    """Read the graph that GenMC prints with an error; with `blocked`, the first one that ends in a blocked thread."""
    if blocked:
        parts = [part for part in re.split(r"^(?=<-1, 0>)", text, flags=re.M) if "BLOCK" in part]
        if not parts:
            return None
        text = parts[0]
    graph = Graph(title=text.splitlines()[0] if text else "")
    source = {(file, int(line)): code.strip() for file, line, code in _TRACE.findall(text)}
    current: list[Event] = []
    for line in text.splitlines():
        thread, event = _THREAD.match(line), _EVENT.match(line)
        if thread:
            if int(thread.group(1)) in graph.threads:
                break  # a second graph
            current = []
            graph.threads[int(thread.group(1))] = (thread.group(2), current)
        elif event and graph.threads:
            label, rf, file, number = event.group(3), None, "", 0
            place = _PLACE.search(label)
            if place:
                file, number = place.group(1) or main_file, int(place.group(2))
                label = label[:place.start()]
            reads = _READS.search(label)
            if reads:
                rf = (int(reads.group(1)), int(reads.group(2))) if reads.group(1) else None
                label = label[:reads.start()]
            where = (int(event.group(1)), int(event.group(2)))
            current.append(Event(where, label.strip(), rf, file, number, source.get((file, number), "")))
        elif re.match(r"^[^:\t]*: \[ ", line):
            chain = [(int(a), int(b)) for a, b in re.findall(r"\((\d+), (\d+)\): ", line)]
            if len(chain) > 1:
                graph.mo.append(chain)
    blamed = re.search(r"^Event \((\d+), (\d+)\)(?: conflicts with event \((\d+), (\d+)\))?", text, re.M)
    if blamed:
        numbers = [int(n) for n in blamed.groups() if n is not None]
        graph.culprits = [(numbers[i], numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return graph if graph.threads else None
