# SPDX-License-Identifier: MIT
"""Execution graphs: events by thread, which event reads from which, the order of writes to each location."""
from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Optional

Id = tuple[int, int]  # thread, index


@dataclass
class Event:
    """One event. `rf` is the write that a read takes its value from; `source` the text of its line."""

    id: Id
    label: str
    rf: Optional[Id] = None
    file: str = ""
    line: int = 0
    source: str = ""


@dataclass
class Graph:
    """`threads[t]` is (name, events); `mo` the writes to one location, oldest first; `culprits` the events blamed."""

    threads: dict[int, tuple[str, list[Event]]] = field(default_factory=dict)
    mo: list[list[Id]] = field(default_factory=list)
    culprits: list[Id] = field(default_factory=list)
    title: str = ""

    def event(self, wanted: Id) -> Optional[Event]:
        for _, events in self.threads.values():
            for event in events:
                if event.id == wanted:
                    return event
        return None

    def stale(self, event: Event, row: dict[Id, int]) -> int:
        """How many newer writes stand above a read that does not see them, in the given order of events."""
        for chain in self.mo:
            if event.rf in chain and event.id in row:
                later = chain[chain.index(event.rf) + 1:]
                return sum(1 for write in later if row.get(write, len(row)) < row[event.id])
        return 0

    def rows(self) -> list[Event]:
        """One order of all events that agrees with the threads and with reads-from, as far as there is one."""
        left = {t: list(events) for t, (_, events) in self.threads.items()}
        done: set[Id] = set()
        order: list[Event] = []
        started, known = {0}, {e.id for _, events in self.threads.values() for e in events}

        def ready(event: Event) -> bool:
            join = re.match(r"THREAD_JOIN \[thread (\d+)\]", event.label)
            if join and left.get(int(join.group(1))):
                return False
            return event.id[0] in started and (event.rf is None or event.rf in done or event.rf not in known)

        def take(thread: int) -> None:
            event = left[thread].pop(0)
            done.add(event.id)
            order.append(event)
            create = re.match(r"THREAD_CREATE \[thread (\d+)\]", event.label)
            if create:
                started.add(int(create.group(1)))

        while any(left.values()):
            moved = False
            for thread in sorted(left):
                while left[thread] and ready(left[thread][0]):
                    take(thread)
                    moved = True
            if not moved:  # a cycle, as IMM allows: any order will do
                take(next(t for t in sorted(left) if left[t]))
        return order

    def to_json(self) -> dict[str, Any]:
        return {"threads": [[t, name, [asdict(e) for e in events]] for t, (name, events) in self.threads.items()],
                "mo": self.mo, "culprits": self.culprits, "title": self.title}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Graph":
        def pair(value: Any) -> Optional[Id]:
            return (value[0], value[1]) if value else None
        threads = {t: (name, [Event(**{**e, "id": pair(e["id"]), "rf": pair(e["rf"])}) for e in events])
                   for t, name, events in data["threads"]}
        return Graph(threads, [[(a, b) for a, b in chain] for chain in data["mo"]],
                     [(a, b) for a, b in data["culprits"]], data["title"])


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


def parse_explore(error: dict[str, Any]) -> Optional[Graph]:
    """The graph in an error of verify/explore. Plain accesses are not among its events, so the one that failed is added."""
    graph = Graph(title=error.get("message", ""))
    place: dict[int, Id] = {}
    writers: dict[str, dict[int, Id]] = {}
    said = error.get("events", [])
    for event in said:
        thread = event["thread"]
        _, events = graph.threads.setdefault(thread, ("main" if thread == 0 else f"thread {thread - 1}", []))
        if event["text"] in ("start", "end"):
            continue
        label = re.sub(r"^(create|join) T(\d+)$", lambda m: f"THREAD_{m.group(1).upper()} [thread {m.group(2)}]", event["text"])
        own = place[event["id"]] = (thread, len(events) + 1)
        source = event.get("reads_from")
        events.append(Event(own, label, place.get(source) if not label.startswith("THREAD_") else None,
                            Path(event.get("file") or "").name, event.get("line") or 0))
        age = event.get("mo", 0)
        reads_only = source is not None and said[source].get("mo") == age
        if event.get("location") and age and not reads_only:
            writers.setdefault(event["location"], {})[age] = own
    graph.mo = [[chain[age] for age in sorted(chain)] for chain in writers.values() if len(chain) > 1]
    thread, file, line = error.get("thread", 0), Path(error.get("file") or "").name, error.get("line") or 0
    events = graph.threads.setdefault(thread, (f"thread {thread}", []))[1]
    if not (events and (events[-1].file, events[-1].line) == (file, line)):
        events.append(Event((thread, len(events) + 1), error.get("address") or error.get("kind", ""), None, file, line))
    graph.culprits = [events[-1].id]
    return graph if said else None
