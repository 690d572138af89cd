# SPDX-License-Identifier: MIT
"""bench/run ring: the rings against ck_ring, liburcu's queues and Vyukov's."""
from measure import Candidate, Table, promise

ABOUT = "the rings against ck_ring, liburcu's queues and Vyukov's"
CAPACITIES = [63, 1023, 65535]  # ck_ring holds a power of two less one; all candidates get the same capacity
BATCH = 32
PEERS = ["ck_spsc", "ck_mpmc", "vyukov", "urcu_wfcq", "urcu_wfcq_apart", "urcu_lfq", "urcu_lfq_apart"]
SLEEPS = PEERS[3:]  # mutex, grace period

WORKLOADS = {
    "pair": ("one producer, one consumer", 2, ["lade_spsc", "lade_mpmc", *PEERS], True),
    "mixed": ("2 threads, each pushes and pops alternately, half full", 2, ["lade_mpmc", *PEERS[1:]], False),
    "crowd": ("2 producers, 2 consumers on 2 cores", 4, ["lade_mpmc", *PEERS[1:]], False),
    "alone": ("1 thread pushes and pops alternately", 1, ["lade_spsc", "lade_mpmc", *PEERS], True),
}
OURS = {"pair": "lade_spsc", "mixed": "lade_mpmc"}  # promised for two threads; the crowd is shown
BRIEF = ["pair 1023", "mixed 1023"]  # of --brief
PROMISE = {"pair 63": 0.5}  # 1 for all others

# How evenly threads are served that alternately push and pop for 0.3 s, every call timed: title, unit, what the program's number
# is divided by, whether more is better, and what is promised for two threads.
WAITS = {
    "worst": ("the longest call", "us", 1e3, False, 4000),
    "tail": ("the 99.99th percentile of the calls", "us", 1e3, False, None),
    "even": ("operations of the slowest thread, of an even share", "share", 1e6, True, 0.85),
}
WAIT_THREADS = [2, 4, 8]
WAIT_PEERS = ["lade_mpmc", "ck_mpmc", "vyukov", "urcu_wfcq", "urcu_lfq"]


def table_of(bench, workload, capacity):
    title, threads, names, batches = WORKLOADS[workload]
    candidates = [Candidate(name, name, [workload, str(capacity), "1"], threads, name in SLEEPS) for name in names
                  if bench.has(name)]
    batched = [name for name in names if name.startswith("lade_")] if batches else []
    candidates += [Candidate(f"{name} x{BATCH}", name, [workload, str(capacity), str(BATCH)], threads)
                   for name in batched]
    if threads == 1:
        unit, value, higher = "ns/operation", lambda words, seconds: seconds * 1e9 / words / 2, False
    else:
        unit, value, higher = "M words/s", lambda words, seconds: words / seconds / 1e6, True
    table = Table(f"{workload} {capacity}", f"{workload}: {title}, capacity {capacity}", unit, candidates, value,
                  higher)
    table.ratios = [(f"{name} x{BATCH}", name) for name in batched]
    table.left_out = {name: "not installed" for name in names if not bench.has(name)}
    return table


def tables(bench):
    for workload in WORKLOADS:
        for capacity in CAPACITIES if workload != "alone" else CAPACITIES[1:2]:
            table = table_of(bench, workload, capacity)
            bench.measure(table)
            if workload == "alone":
                bench.count_instructions(table)
                table.instructions = {name: round(count / 2, 1) for name, count in table.instructions.items()}
            yield table
    for figure in WAITS:
        for threads in WAIT_THREADS:
            table = wait_table(bench, figure, threads)
            bench.measure(table)
            yield table


def wait_table(bench, figure, threads):
    title, unit, scale, higher, _ = WAITS[figure]
    candidates = [Candidate(name, name, [figure, "1023", str(threads)], threads, threads > 2 or name in SLEEPS)
                  for name in WAIT_PEERS if bench.has(name) and (threads == 2 or name != "urcu_lfq")]  # starves for nodes
    return Table(f"{figure} {threads}", f"{title}, {threads} threads on 2 cores", unit, candidates,
                 lambda number, seconds: number / seconds / scale, higher)


def promises(done):
    """For each case of several threads: ours against the best peer; and how long a call may take."""
    rows = []
    for table in done:
        workload = table.case.split()[0]
        if workload in WAITS:
            limit = WAITS[workload][4] if table.candidates[0].threads == 2 else None
            if limit and table.has("lade_mpmc"):
                rows.append(promise(table, "lade_mpmc", table.values("lade_mpmc"), limit,
                                    "at least" if table.higher else "at most"))
            continue
        peers = [c.name for c in table.candidates if c.name in PEERS]
        if workload not in OURS or not peers:
            continue
        against = table.best(peers)
        ratios = table.ratio(OURS[workload], against) if table.has(OURS[workload]) else [0.0]
        rows.append(promise(table, OURS[workload], ratios, PROMISE.get(table.case, 1.0), "at least", against))
    return rows
