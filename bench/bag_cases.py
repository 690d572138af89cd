# SPDX-License-Identifier: MIT
"""bench/run bag: the bag against a mutex, the buckets of Lin 2026, queues and a replay buffer."""
import os
import pathlib

from measure import Candidate, Table, private, promise

ABOUT = "the bag against a mutex, the buckets of Lin 2026, queues and cpprb"
GROUPS = ["tbb", "cpprb"]  # of tools/setup
BUDGET = (130, 720)  # seconds after which nothing is repeated: quick, full
CAPACITIES = [1000, 100_000, 1_000_000]
FILLS = [10, 50, 90]
BATCH = 64
RECORDS = 10_000  # slots, of 3,072 bytes

OURS, MUTEX = "lade_bag", "mutex"
PAPER = [f"paper_{buckets}" for buckets in (16, 64, 256, 1024)]
IN_ORDER = ["ck_ring", "urcu_wfcq", "tbb_queue"]  # for reference: queues, which draw nothing at random
SLEEPS = [MUTEX, "urcu_wfcq"]

WORKLOADS = {  # title, threads, candidates
    "mixed": ("2 threads, each puts and draws alternately", 2, [OURS, MUTEX, *PAPER]),
    "pair": ("one producer, one consumer", 2, [OURS, MUTEX, *PAPER]),
    "worn": ("mixed, after it was full once", 2, [OURS, MUTEX, *PAPER]),
    "coin": ("mixed, each operation by the toss of a coin", 2, [OURS, MUTEX, *PAPER]),
    "exchange": ("2 threads, each replaces a random element by another", 2, [OURS, MUTEX, *PAPER]),
    "alone": ("1 thread puts and draws alternately", 1, [OURS, MUTEX, "paper_64"]),
    "bulk_put": ("1 thread puts", 1, [OURS, MUTEX]),
    "bulk_draw": ("1 thread draws", 1, [OURS, MUTEX]),
    "bulk_put2": ("2 threads put", 2, [OURS, MUTEX]),
    "bulk_draw2": ("2 threads draw", 2, [OURS, MUTEX]),
    "poll": ("1 thread draws from an empty one, after it was full", 1, [OURS, MUTEX, *PAPER[1::2]]),
    "last": ("1 thread draws the last element", 1, [OURS, MUTEX, *PAPER[1::2]]),
    "scan": ("1 thread, the first draw that scans all slots", 1, [OURS]),
}

# Workload: ours over which peers, at least how much, at which capacities and fills.
RATIOS = [
    ("mixed", PAPER, 1.0, CAPACITIES, FILLS),
    ("mixed", [MUTEX], 2.0, CAPACITIES, FILLS),
    ("pair", PAPER, 1.0, CAPACITIES, FILLS),
    ("exchange", PAPER, 1.5, CAPACITIES[1:], [100]),
    ("alone", [MUTEX], 0.8, CAPACITIES, FILLS[1:]),
    ("bulk_put", [OURS], 1.5, CAPACITIES[1:], [50]),
]
# Case: at most, in the unit of its table.
LIMITS = {"poll": 1.0, "last": 200.0, "scan": 5000.0}
COUNTS = {"allocations": 0, "put": 1, "draw": 1}
NARROW, REPEATED = "bulk_put ", 15  # the ratio lies near its promise: more repetitions, so that luck does not decide
FAILED = 1e9  # stands for a figure that there is not


def program_of(name):
    return name if name.startswith("lade") else "bag_" + name


def label(name):
    return name + ", in order" if name in IN_ORDER else name


def rate(amount, seconds):
    return amount / seconds / 1e6


def nanoseconds(amount, seconds):
    return seconds * 1e9 / amount


def microseconds(amount, seconds):
    return seconds * 1e6 / amount


def table_of(bench, workload, capacity, fill, batches=(1,), more=()):
    title, threads, names = WORKLOADS[workload]
    names = [*names, *more]
    words = [str(capacity), str(capacity * fill // 100)]
    candidates = [Candidate(label(name) + (f" x{batch}" if batch > 1 else ""), program_of(name),
                            [workload, *words, str(batch)], threads, name in SLEEPS)
                  for batch in batches for name in names if bench.has(program_of(name))]
    if workload in ("poll", "last", "scan"):
        unit, value, higher = "microseconds", microseconds, False
    elif workload == "alone":
        unit, value, higher = "ns/operation", lambda amount, seconds: nanoseconds(amount, seconds) / 2, False
    elif workload.startswith("bulk"):
        unit, value, higher = "ns/element", nanoseconds, False
    else:
        unit, value, higher = "M elements/s", rate, True
    level = f" {fill} % full" if workload not in ("exchange", "poll", "last", "scan") else ""
    case = f"{workload} {capacity}" + (f" {fill}%" if level else "")
    table = Table(case, f"{workload}: {title}, {capacity:,} slots{level}", unit, candidates, value, higher)
    if len(batches) > 1:
        table.ratios = [(f"{name} x{batches[-1]}", name) for name in names]
    table.left_out = {label(name): "not installed" for name in names if not bench.has(program_of(name))}
    return table


def records_of(bench, workload):
    """Elements of 3,072 bytes, copied in and out; in the scratch memory they are made and read where they lie."""
    title, threads, names = WORKLOADS[workload]
    programs = {"lade_bag": "lade_bag_records", "lade_bag in scratch": "lade_bag_scratch",
                **{name: f"bag_{name}_records" for name in names[1:]}}
    words = [workload, str(RECORDS), str(RECORDS // 2), "1"]
    candidates = [Candidate(name, program, words, threads, name in SLEEPS) for name, program in programs.items()
                  if bench.has(program)]
    return Table(f"records {workload}", f"records of 3,072 bytes: {title}, 50 % full, {RECORDS:,} slots",
                 "M elements/s", candidates, rate)


def cpprb():
    """The Python that has cpprb, in the private cache of tools/setup."""
    folder = private("cpprb")
    python = folder / "bin" / "python" if folder else None
    return str(python) if python and os.access(python, os.X_OK) else None


def replay_of(batch):
    candidates = [Candidate(f"lade_bag, {kind}", "replay", [kind, str(batch)], 1) for kind in ("words", "records")]
    python = cpprb()
    if python:
        script = pathlib.Path(__file__).resolve().parent / "bag" / "replay.py"
        candidates.append(Candidate("cpprb", "replay", [str(batch)], 1, command=[python, str(script)]))
    table = Table(f"replay {batch}", f"replay: 1 thread samples batches of {batch} from 100,000 transitions of "
                  "168 bytes", "M samples/s", candidates, rate)
    if not python:
        table.left_out["cpprb"] = "not installed (tools/setup cpprb)"
    table.ratios = [("lade_bag, words", "cpprb"), ("lade_bag, records", "cpprb")]
    return table


def counted(bench):
    """Not timed: each count is taken once."""
    names = ["allocations", "put", "put_mean", "draw", "draw_mean", "exchange", "exchange_mean"]
    candidates = [Candidate(name, "lines", [name], 1) for name in names]
    table = Table("counts", "counts: allocations after creation; contended lines written by an operation (9 of 10 stay "
                  "within it, mean)", "count", candidates, lambda amount, divisor: amount / divisor, False)
    table.rounds.append(bench.round(table, 0))
    return table


def plan(bench):
    """Every table, not yet measured."""
    quick = bench.quick
    for workload in ("mixed", "pair", "alone"):
        for capacity in CAPACITIES:
            for fill in FILLS:
                yield table_of(bench, workload, capacity, fill, more=IN_ORDER if fill == 50 and not quick else ())
    for capacity in CAPACITIES:
        yield table_of(bench, "exchange", capacity, 100)
    for workload in ("bulk_put", "bulk_draw", "bulk_put2", "bulk_draw2"):
        for capacity in CAPACITIES[1:]:
            if not quick or workload == "bulk_put":
                yield table_of(bench, workload, capacity, 50, (1, BATCH))
    for capacity in CAPACITIES:
        yield table_of(bench, "poll", capacity, 100)
    yield table_of(bench, "last", CAPACITIES[-1], 100)
    yield table_of(bench, "scan", CAPACITIES[-1], 100)
    for workload in ("mixed", "pair"):
        yield records_of(bench, workload)
    for batch in (32, 256):
        yield replay_of(batch)
    if not quick:
        for capacity in CAPACITIES:
            for fill in FILLS[:2]:
                yield table_of(bench, "worn", capacity, fill)
            yield table_of(bench, "coin", capacity, 50)


def tables(bench):
    for table in plan(bench):
        bench.measure(table, REPEATED if table.case.startswith(NARROW) else None)
        if table.case == f"alone {CAPACITIES[1]} 50%":
            bench.count_instructions(table)
            table.instructions = {name: round(count / 2, 1) for name, count in table.instructions.items()}
        yield table
    yield counted(bench)


def promises(done):
    by_case = {table.case: table for table in done}
    rows = []
    for workload, peers, limit, capacities, fills in RATIOS:
        for capacity in capacities:
            for fill in fills:
                table = by_case.get(f"{workload} {capacity}" + (f" {fill}%" if fill < 100 else ""))
                if not table:
                    continue
                ours = f"{OURS} x{BATCH}" if workload == "bulk_put" else OURS
                there = [name for name in peers if table.has(name)]
                if there:
                    against = table.best(there)
                    ratios = table.ratio(ours, against) if table.has(ours) else [0.0]
                    rows.append(promise(table, ours, ratios, limit, "at least", against))
    for table in done:
        workload = table.case.split()[0]
        if workload in LIMITS:
            values = table.values(OURS) if table.has(OURS) else [FAILED]
            rows.append(promise(table, OURS, values, LIMITS[workload], "at most"))
        if workload == "counts":
            rows += [promise(table, name, table.values(name) if table.has(name) else [FAILED], limit, "at most")
                     for name, limit in COUNTS.items()]
    return rows
