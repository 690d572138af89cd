# SPDX-License-Identifier: MIT
"""bench/run pack: sequences packed into rows of fixed length, beside Grain's packer."""
import pathlib

from measure import Candidate, Failure, Session, Table, private, promise

ABOUT = "sequences packed into rows, beside Grain's packer"
BUDGET = (60, 240)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.25, 1.0)  # that a candidate runs in a repetition
HERE = pathlib.Path(__file__).resolve().parent

ROW, BATCH = 2048, 8
OURS, FILL = "lade, 2 workers", "lade"
BINS = {"Grain, 8 bins": "8", "Grain, 64 bins": "64"}
FASTER, FILLED = 50.0, 0.99


def rate(rows, seconds):
    return rows / seconds / 1e3


def ours(name, threads, mode):
    return Candidate(name, "load_pack", [str(ROW), str(BATCH), str(threads), mode], threads, sleeps=True)


def peer(bench):
    """The program of the peer; it comes with the group torch of tools/setup."""
    environment = private("torch")
    if not environment:
        raise Failure("not installed (bench/setup)")
    command = [str(environment / "bin" / "python"), "-B", str(HERE / "load" / "peer_pack.py"), "-", "2"]
    return Session(bench, "grain", command).wait()


def add_peer(table, session):
    for name, bins in BINS.items():
        answer = session.ask([str(ROW), bins, "0"], 180)  # the first reply takes long and does not count
        if answer.startswith("failed"):
            table.left_out[name] = answer.strip()
        else:
            table.candidates.append(Candidate(name, "grain", [str(ROW), bins], 1, sleeps=True, session=session))


def tables(bench):
    shape = f"rows of {ROW:,} int32, lengths log-normal with mean 400 and sigma 0.8"
    table = Table("pack", f"pack: {shape}, batches of {BATCH} rows, shuffled", "k rows/s",
                  [ours("lade, 1 worker", 1, "rows"), ours(OURS, 2, "rows")], rate)
    session = None
    try:
        session = peer(bench)
        add_peer(table, session)
    except Failure as failure:
        table.left_out.update({name: str(failure) for name in BINS})
    try:
        table.ratios = [(OURS, name) for name in BINS if name not in table.left_out]
        bench.measure(table)
        yield table
    finally:
        if session:
            session.end()
    fill = Table("fill", f"fill: share of the steps of {shape}", "share", [ours(FILL, 2, "fill")], lambda a, b: a / b)
    bench.measure(fill)
    yield fill


def promises(done):
    pack, fill = done
    rows = [promise(fill, FILL, fill.values(FILL), FILLED, "at least")]
    there = [name for name in BINS if pack.has(name)]
    if there:
        against = pack.best(there)
        rows.insert(0, promise(pack, OURS, pack.ratio(OURS, against) if pack.has(OURS) else [0.0], FASTER, "at least",
                               against))
    return rows
