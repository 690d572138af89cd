# SPDX-License-Identifier: MIT
"""bench/run table: the table against the concurrent hash tables that there are, and against an array."""
import os

from measure import Candidate, Failure, Session, Table, promise

ABOUT = "the table against other concurrent hash tables and a bare array"
GROUPS = ["tbb", "cds", "boost"]  # of tools/setup
BUDGET = (230, 1200)  # seconds after which nothing is repeated: quick, full
SMALL, MIDDLE, LARGE = 10_000, 1_000_000, 30_000_000
NAME = {SMALL: "10^4", MIDDLE: "10^6", LARGE: "3x10^7"}
BATCH = 16

OURS, LIMIT, BOOST, NULL = "lade_table", "limit", "boost_flat", "null"
INLINED, LONGER = "limit_inlined", "limit_longer"
PEERS = [BOOST, "sharded", "urcu_lfht", "ck_ht", "ck_rhs", "tbb_hash", "tbb_unordered", "libcds_split"]
SLEEPS = ["sharded", "urcu_lfht", "ck_ht", "ck_rhs"]  # mutex, a separate thread
NO_REMOVAL = "tbb_unordered"
LARGE_PEERS = [BOOST, "sharded", "urcu_lfht", "ck_ht"]  # others take many bytes or minutes
ROOM = 12  # GB that LARGE takes with all of them

TITLES = {
    "hit": "look up keys that are there",
    "miss": "look up keys that are not there",
    "mark": "insert keys, of which 127 of 128 are there",
    "mixed": "90 % look-ups, 5 % inserts, 5 % removals",
    "batch": f"look up keys that are there, {BATCH} at a time",
    "insert": "insert from empty on, the table grows",
}
# Workload, keys: against which candidate, at least.
RATIOS = [
    ("hit", MIDDLE, [BOOST], 1.3), ("hit", MIDDLE, [LIMIT], 0.75),
    ("hit", LARGE, [BOOST], 1.3), ("hit", LARGE, [LIMIT], 0.75),
    ("mark", MIDDLE, [BOOST], 1.3), ("mark", MIDDLE, [LIMIT], 0.75),
    ("mark", LARGE, [BOOST], 1.3), ("mark", LARGE, [LIMIT], 0.75),
    ("batch", LARGE, [BOOST], 1.7), ("batch", LARGE, [LIMIT], 0.8),
    ("insert", MIDDLE, PEERS, 1.3),
]
LIMITS = {"memory": 40.0, "trim": 24.0}  # bytes
BLOCK, MOST = 256, "worst insert"  # cells moved by one operation, at most
REPEATED = {"hit": 15, "mark": 15, "insert": 11}  # ratios near their promise: so often, that luck does not decide
FAILED = 1e9  # stands for a figure that there is not


def program_of(name):
    return name if name == OURS else "table_" + name


def rate(amount, seconds):
    return amount / seconds / 1e6


def quotient(amount, divisor):
    return amount / divisor


def case_of(workload, keys, threads, skew="uniform"):
    return f"{workload} {NAME[keys]} {threads}t" + (" skewed" if skew == "skewed" else "")


def fits(name, workload, keys):
    """Why a candidate is not in a comparison, or nothing."""
    if name == NO_REMOVAL and (workload == "mixed" or (workload == "mark" and keys == SMALL)):
        return "cannot remove while others use it"
    return ""


def table_of(bench, workload, keys, threads, names, skew="uniform", sessions=None):
    words = ["hit" if workload == "batch" else workload, str(keys), skew, str(threads),
             str(BATCH) if workload == "batch" else "1"]
    candidates, left_out = [], {}
    for name in names:
        reason = fits(name, workload, keys)
        if not reason and not bench.has(program_of(name)):
            reason = "not installed"
        if not reason and sessions is not None and name not in sessions:
            reason = "cannot hold that many keys"
        if reason:
            left_out[name] = reason
        elif sessions is None:
            candidates.append(Candidate(name, program_of(name), words, threads, name in SLEEPS))
        else:
            candidates.append(Candidate(name, program_of(name), [words[0], *words[2:]], threads, name in SLEEPS,
                                        session=sessions[name]))
    many = f"{threads} thread" + ("s" if threads > 1 else "")
    table = Table(case_of(workload, keys, threads, skew),
                  f"{workload}: {TITLES[workload]}, {NAME[keys]} keys; {skew}; {many}", "M operations/s", candidates,
                  rate)
    table.left_out = left_out
    table.ratios = [(OURS, BOOST), (OURS, LIMIT)]
    return table


def counted(bench, case, title, unit, choice, rounds=1):
    """Figures that one repetition shows, or few. choice: name of the row: candidate and workload."""
    candidates, left_out = [], {}
    for row, (name, workload, keys) in choice.items():
        if bench.has(program_of(name)):
            candidates.append(Candidate(row, program_of(name), [workload, str(keys), "uniform", "1", "1"], 1))
        else:
            left_out[row] = "not installed"
    table = Table(case, title, unit, candidates, quotient, higher=False)
    table.left_out = left_out
    for number in range(rounds):
        table.rounds.append(bench.round(table, number))
    return table


def counts(bench):
    everybody = [OURS, *PEERS]
    yield counted(bench, "memory", "memory: resident bytes a key, mean over 10^6 to 2x10^6 keys", "bytes/key",
                  {**{name: (name, "memory", MIDDLE) for name in everybody},
                   OURS + ", by its count": (OURS, "counted", MIDDLE)})
    yield counted(bench, "trim", "trim: the same, each time after trim (Boost: rehash)", "bytes/key",
                  {OURS: (OURS, "trim", MIDDLE), BOOST: (BOOST, "trim", MIDDLE)})
    yield counted(bench, "peak", "peak: the most that was resident on the way to 2x10^6 keys", "bytes/key",
                  {name: (name, "peak", MIDDLE) for name in everybody})
    yield counted(bench, "moved", "moved: cells that growth moves in an insert, from empty to 10^6 keys, counted", "cells",
                  {"mean": ("moved", "mean", MIDDLE), MOST: ("moved", "most", MIDDLE)})
    for case, what in (("pause", "99.99 % of the inserts"), ("worst", "all inserts")):
        table = counted(bench, case, f"{case}: time that {what} stay within, from empty to 10^6 keys, 1 thread",
                        "microseconds", {name: (name, case, MIDDLE) for name in (NULL, OURS, *(PEERS[:2] if bench.quick else PEERS))},
                        3 if bench.quick else 9)
        table.ratios = [(OURS, NULL)]
        yield table


def available():
    """Memory in GB."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / 2**20


def large(bench):
    """Each candidate is filled once and then asked again and again: filling takes seconds."""
    names = [OURS, LIMIT, INLINED, LONGER, *(LARGE_PEERS if not bench.quick and available() > ROOM else [BOOST])]
    sessions = {}
    try:
        for name in names:
            if bench.has(program_of(name)):
                try:
                    sessions[name] = Session(bench, name, [bench.program(program_of(name)), "session", str(LARGE)]).wait()
                except Failure as failure:
                    print(f"\n{name} with {NAME[LARGE]} keys left out: {failure}")
        for workload in ("hit", "batch", "mark") if bench.quick else ("hit", "batch", "miss", "mark", "mixed"):
            for skew in ("uniform",) if bench.quick or workload in ("miss", "mixed") else ("uniform", "skewed"):
                for threads in (1, 2):
                    among = [OURS, LIMIT, BOOST] if workload == "batch" else names
                    among = [name for name in among if name not in (LIMIT, INLINED, LONGER) or workload != "mixed"]
                    yield table_of(bench, workload, LARGE, threads, among, skew, sessions)
    finally:
        for session in sessions.values():
            session.end()


def plan(bench):
    """Every timed table, not yet measured."""
    for workload in ("insert", "hit", "mark"):
        for threads in (1, 2):
            others = PEERS if workload == "insert" else [LIMIT, INLINED, LONGER, *(PEERS[:2] if bench.quick else PEERS)]
            yield table_of(bench, workload, MIDDLE, threads, [OURS, *others])
    yield from large(bench)
    if bench.quick:
        return
    for threads in (1, 2):
        yield table_of(bench, "batch", MIDDLE, threads, [OURS, LIMIT, BOOST])
        yield table_of(bench, "miss", MIDDLE, threads, [OURS, LIMIT, *PEERS])
        yield table_of(bench, "mixed", MIDDLE, threads, [OURS, *PEERS])
        for workload in ("hit", "mark"):
            yield table_of(bench, workload, MIDDLE, threads, [OURS, LIMIT, *PEERS], "skewed")
        yield table_of(bench, "mixed", MIDDLE, threads, [OURS, *PEERS], "skewed")
    for threads in (1, 2):
        for workload in ("hit", "miss", "mark"):
            yield table_of(bench, workload, SMALL, threads, [OURS, LIMIT, *PEERS])
        yield table_of(bench, "mixed", SMALL, threads, [OURS, *PEERS])
        yield table_of(bench, "insert", SMALL, threads, [OURS, *PEERS])


def tables(bench):
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled", encoding="ascii") as file:
            policy = file.read().strip()
    except OSError:
        policy = "unknown"
    print(f"pages: 4 KB for every candidate (huge pages switched off; the system's setting is: {policy}); "
          f"{os.sysconf('SC_PAGE_SIZE')} bytes")
    for table in plan(bench):
        bench.measure(table, REPEATED.get(table.case.split()[0]))
        yield table
    yield from counts(bench)


def promises(done):
    by_case = {table.case: table for table in done}
    rows = []
    for workload, keys, peers, limit in RATIOS:
        for threads in (1, 2):
            table = by_case.get(case_of(workload, keys, threads))
            there = [name for name in peers if table and table.has(name)]
            if there:
                against = table.best(there)
                ratios = table.ratio(OURS, against) if table.has(OURS) else [0.0]
                rows.append(promise(table, OURS, ratios, limit, "at least", against))
    for case, limit in LIMITS.items():
        if case in by_case:
            table = by_case[case]
            rows.append(promise(table, OURS, table.values(OURS) if table.has(OURS) else [FAILED], limit, "at most"))
    if "moved" in by_case:
        table = by_case["moved"]
        rows.append(promise(table, MOST, table.values(MOST) if table.has(MOST) else [FAILED], BLOCK, "at most"))
    return rows
