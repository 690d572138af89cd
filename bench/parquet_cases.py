# SPDX-License-Identifier: MIT
"""bench/run parquet: row groups shuffled in windows, beside pyarrow's scan and the same shuffle in NumPy."""
import os

from load_cases import HELP, HERE, Servers, loader, thousands
from measure import Failure, Table, promise

ABOUT = "Parquet in shuffled windows, beside pyarrow's threaded scan and the same shuffle in NumPy"
GROUPS = ["arrow"]  # of tools/setup
BUDGET = (120, 600)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.5, 1.5)  # that a candidate runs in a repetition

OURS, SCAN, READ, SHUFFLE, BATCH = "lade, shuffled", "pyarrow, scan", "pyarrow, windows", "pyarrow + NumPy, shuffled", 128
GROUP_COUNT, WINDOW = 128, 16
# Case: rows of a row group, bytes of a row, title, and what the ratio to each peer must be at least.
CASES = {
    "bytes-4096": (512, 4096, "one column of 4,096 bytes", {SCAN: 0.9, SHUFFLE: 1.5}),
    "bytes-1024": (1024, 1024, "one column of 1,024 bytes", {SCAN: 0.9, SHUFFLE: 1.5}),
    "doubles": (8192, 64, "8 columns of doubles", {SCAN: 0.4, SHUFFLE: 1.5}),
}
VARIANTS = {SCAN: ("pyarrow", "scan"), READ: ("pyarrow", "read"), SHUFFLE: ("pyarrow", "shuffle")}


def tables(bench):
    objects = bench.folder.parent / "load"
    if not (objects / "liblade-parquet.so").exists():
        raise Failure("no liblade-parquet.so: tools/setup arrow, then build again")
    os.environ["LD_LIBRARY_PATH"] = ":".join([str(objects), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    folder = bench.folder / "parquet"
    folder.mkdir(exist_ok=True)
    servers = Servers(bench, folder, 2, {"pyarrow": "arrow"}, HERE / "parquet")
    try:
        for case, (rows, size, title, _) in CASES.items():
            count = GROUP_COUNT * rows
            table = Table(case, f"{title}; {count:,} rows in {GROUP_COUNT} row groups, windows of {WINDOW}, two cores", "k rows/s",
                          [], thousands)
            servers.add(table, case, VARIANTS, 2)
            table.candidates.insert(0, loader(OURS, f"parquet:{folder / case}.parquet,window={WINDOW}", count, size, BATCH, 2, HELP))
            table.ratios = [(OURS, row) for row in VARIANTS if table.has(row)]
            bench.measure(table)
            yield table
    finally:
        servers.end()


def promises(done):
    return [promise(table, OURS, table.ratio(OURS, row) if table.has(OURS) else [0.0], limit, "at least", row)
            for table in done for row, limit in CASES[table.case][3].items() if table.has(row)]
