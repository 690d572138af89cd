# SPDX-License-Identifier: MIT
"""bench/run feed: batches to a device, by feeder and by loader, against the plain loop of copies and double buffering by hand."""
from measure import Candidate, Failure, Table, promise

ABOUT = "the feeder and the loader on OpenCL and on the host, against plain copies and double buffering by hand"
GROUPS = ["opencl"]  # of tools/setup
BUDGET = (90, 400)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.3, 0.8)  # that a candidate runs in a repetition

SIZES = {"384 KiB": 128 * 3072, "4 MiB": 4 << 20}  # of a batch; the first: 128 samples of CIFAR
DEPTHS, DEPTH = (1, 2, 3, 4), 3
PLAIN, HAND, MEMCPY = "loop of enqueued writes", "double buffering by hand", "memcpy loop"
HELPED = f"lade, depth {DEPTH}, consumer fills"
KINDS = {"used": "a queue uses it", "filled": "filled by memcpy"}  # more work for both, beside the empty way
COPY_LIMIT, OVERLAP, BY_HAND = 0.8, 1.6, 0.95
SAMPLE = 3072  # bytes; the path from source to device is measured with these
ALONE, TO_HOST, TO_OPENCL, GATHER = "loader alone", "loader to host", "loader to opencl", "loop of gathered and enqueued writes"
PATH_HOST, PATH_OPENCL = 0.9, {"384 KiB": 0.85, "4 MiB": 0.95}


def gigabytes(amount, seconds):
    return amount / seconds / 1e9


def quotient(amount, divisor):
    return amount / divisor


def feeder(depth):
    return f"lade, depth {depth}"


def copies(row, mode, size, depth, filled):
    return Candidate(row, "feed_copy", [mode, str(size), str(depth), filled], 2, sleeps=True)


def copy_of(label, size):
    """Nothing is written into the staging memory, and no queue uses a batch: only the way to the device counts."""
    candidates = [copies(feeder(depth), "feeder", size, depth, "empty") for depth in DEPTHS]
    candidates += [copies(HELPED, "helped", size, DEPTH, "empty"), copies(PLAIN, "plain", size, DEPTH, "empty")]
    for kind, words in KINDS.items():
        candidates += [copies(f"lade, {words}", "feeder", size, DEPTH, kind),
                       copies(f"lade, consumer fills, {words}", "helped", size, DEPTH, kind),
                       copies(f"loop, {words}", "plain", size, DEPTH, kind)]
    table = Table(f"copy {label}", f"copy: batches of {label} to the OpenCL device", "GB/s", candidates, gigabytes)
    table.ratios = [(feeder(depth), PLAIN) for depth in DEPTHS] + [(HELPED, PLAIN)]
    table.ratios += [(f"lade, consumer fills, {KINDS['used']}", PLAIN)]  # more work than the loop does
    table.ratios += [(row, f"loop, {words}") for words in KINDS.values()
                     for row in (f"lade, {words}", f"lade, consumer fills, {words}")]
    return table


def host_of(label, size):
    table = Table(f"host {label}", f"host: batches of {label} that stay on the host, filled by memcpy", "GB/s",
                  [copies(feeder(DEPTH), "host", size, DEPTH, "filled"),
                   copies(HELPED, "host-helped", size, DEPTH, "filled"),
                   copies(MEMCPY, "memcpy", size, DEPTH, "filled")], gigabytes)
    table.ratios = [(feeder(DEPTH), MEMCPY), (HELPED, MEMCPY)]
    return table


def overlap_of(label, size):
    words = {**{feeder(depth): ["feeder", str(size), str(depth)] for depth in DEPTHS},
             HELPED: ["helped", str(size), str(DEPTH)], HAND: ["double", str(size), "2"]}
    return Table(f"overlap {label}", f"overlap: batches of {label}, filled, copied, and a kernel as long as both: "
                 "time of the unoverlapped loop / time", "times",
                 [Candidate(row, "feed_overlap", rest, 2, sleeps=True) for row, rest in words.items()], quotient)


def path_of(label, size):
    """Source, loader, device. On OpenCL the device copies on a separate core, so one thread gathers, as in the loop."""
    def path(row, mode, threads, who):
        return Candidate(row, "feed_path", [mode, str(size // SAMPLE), str(threads), who], 2, sleeps=True)
    table = Table(f"path {label}", f"path: samples in memory to the device, in batches of {label}", "GB/s",
                  [path(ALONE, "loader", 2, "help"), path(TO_HOST, "host", 2, "help"), path(TO_OPENCL, "opencl", 1, "help"),
                   path(f"{TO_OPENCL}, 1 worker", "opencl", 1, "apart"), path(GATHER, "plain", 1, "help")], gigabytes)
    table.ratios = [(TO_HOST, ALONE), (TO_OPENCL, GATHER), (f"{TO_OPENCL}, 1 worker", GATHER)]
    return table


def tables(bench):
    if not bench.has("feed_copy"):
        raise Failure("no OpenCL in this build (tools/setup opencl)")
    for make in (copy_of, overlap_of, host_of, path_of):
        for label, size in SIZES.items():
            table = make(label, size)
            bench.measure(table)
            yield table


def promises(done):
    rows = []
    for table in done:
        name = feeder(DEPTH)
        if table.case.startswith("copy"):
            rows.append(promise(table, HELPED, table.ratio(HELPED, PLAIN), COPY_LIMIT, "at least", PLAIN))
            rows.append(promise(table, "lade, consumer fills, a queue uses it",
                                table.ratio("lade, consumer fills, a queue uses it", "loop, a queue uses it"), COPY_LIMIT,
                                "at least", "loop, a queue uses it"))
        elif table.case.startswith("overlap"):
            rows.append(promise(table, name, table.values(name), OVERLAP, "at least"))
            rows.append(promise(table, name, table.ratio(name, HAND), BY_HAND, "at least", HAND))
        elif table.case.startswith("path"):
            rows.append(promise(table, TO_HOST, table.ratio(TO_HOST, ALONE), PATH_HOST, "at least", ALONE))
            rows.append(promise(table, TO_OPENCL, table.ratio(TO_OPENCL, GATHER), PATH_OPENCL[table.case[5:]], "at least",
                                GATHER))
    return rows
