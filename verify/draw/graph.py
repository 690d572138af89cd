# SPDX-License-Identifier: MIT
"""Execution graphs: events by thread, the write that each read takes its value from, the order of writes to each location."""
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
    synchronises: bool = False  # with rf
    weakened: bool = False


@dataclass
class Graph:
    """`threads[t]` is (name, events); `mo` the writes to one location, oldest first; `fr` from a read to the write that overwrites what it
    has read, where the engine gives it; `culprits` the events blamed.

    `order` has all events in one order that agrees with the threads and with reads-from, where the engine gives it.
    """

    threads: dict[int, tuple[str, list[Event]]] = field(default_factory=dict)
    mo: list[list[Id]] = field(default_factory=list)
    fr: list[tuple[Id, Id]] = field(default_factory=list)
    culprits: list[Id] = field(default_factory=list)
    title: str = ""
    order: list[Id] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

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
        if self.order:
            known = {e.id: e for _, events in self.threads.values() for e in events}
            return [known[wanted] for wanted in self.order]
        left = {t: list(events) for t, (_, events) in self.threads.items()}
        done: set[Id] = set()
        order: list[Event] = []
        started, ids = {0}, {e.id for _, events in self.threads.values() for e in events}

        def ready(event: Event) -> bool:
            join = re.match(r"THREAD_JOIN \[thread (\d+)\]", event.label)
            if join and left.get(int(join.group(1))):
                return False
            return event.id[0] in started and (event.rf is None or event.rf in done or event.rf not in ids)

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
                "mo": self.mo, "fr": self.fr, "culprits": self.culprits, "title": self.title, "order": self.order, "notes": self.notes}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Graph":
        def pair(value: Any) -> Optional[Id]:
            return (value[0], value[1]) if value else None

        def pairs(values: Any) -> list[Id]:
            return [(a, b) for a, b in values]
        threads = {t: (name, [Event(**{**e, "id": pair(e["id"]), "rf": pair(e["rf"])}) for e in events])
                   for t, name, events in data["threads"]}
        return Graph(threads, [pairs(chain) for chain in data["mo"]], [(tuple(a), tuple(b)) for a, b in data.get("fr", [])], pairs(data["culprits"]),
                     data["title"], pairs(data["order"]), data["notes"])


def from_explore(error: dict[str, Any]) -> Optional[Graph]:
    """The graph in an error of verify/explore, with the accesses of the error, which are not among its events if they are plain."""
    graph = Graph(title=f"{error.get('kind', 'error')}: {error.get('message', '')}", notes=[error["why"]] if error.get("why") else [])
    place: dict[int, Id] = {}
    writers: dict[str, dict[int, Id]] = {}
    said = error.get("events", [])
    other = error.get("other", {})

    def add(thread: int, label: str, where: dict[str, Any], **more: Any) -> Event:
        _, events = graph.threads.setdefault(thread, (f"T{thread}", []))
        event = Event((thread, len(events) + 1), label, file=Path(where.get("file") or "").name, line=where.get("line") or 0,
                      source=where.get("code", ""), **more)
        events.append(event)
        graph.order.append(event.id)
        return event

    for event in said:
        thread = event["thread"]
        graph.threads.setdefault(thread, (f"T{thread}", []))
        if other.get("text") and event["id"] == other.get("before"):
            graph.culprits.append(add(other["thread"], other["text"], other).id)
        if "shown_with" in event:
            if event["shown_with"] in place:
                place[event["id"]] = place[event["shown_with"]]
        elif event["text"] not in ("start", "end"):
            reads = place.get(event.get("reads_from", -1)) if "location" in event else None
            place[event["id"]] = add(thread, event["text"], event, rf=reads, synchronises=event.get("synchronises", False),
                                     weakened=event.get("weakened", False)).id
        if event.get("writes") and event["id"] in place:
            writers.setdefault(event["location"], {})[event["mo"]] = place[event["id"]]
    for event in said:
        after = writers.get(event.get("location", ""), {}).get(event.get("mo", 0) + 1)
        if event.get("reads") and after and event["id"] in place and place[event["id"]] != after:
            graph.fr.append((place[event["id"]], after))
    graph.mo = [[chain[age] for age in sorted(chain)] for chain in writers.values() if len(chain) > 1]
    if other.get("text") and "before" not in other:
        graph.culprits.append(add(other["thread"], other["text"], other).id)
    at = [place[e["id"]] for e in said if e["id"] in place and all(e.get(k) == error.get(k) for k in ("thread", "line", "column"))]
    if error.get("kind") == "race" and at:  # an atomic access
        graph.culprits += at
    elif error.get("kind") != "shown":
        graph.culprits.append(add(error.get("thread", 0), error.get("text") or error.get("kind", "error"), error).id)
    return graph if said else None
