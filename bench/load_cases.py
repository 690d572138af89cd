# SPDX-License-Identifier: MIT
"""bench/run load: the loader against a bare gather loop and the loaders that there are."""
import os
import pathlib
import subprocess

from measure import Candidate, Failure, Session, Table, private, promise

ABOUT = "the loader against a bare gather loop, NumPy, FFCV, PyTorch, tf.data and Grain"
GROUPS = ["codecs"]  # of tools/setup; bench/setup installs the peers
BUDGET = (170, 900)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.25, 1.0)  # that a candidate runs in a repetition
HERE = pathlib.Path(__file__).resolve().parent

COUNT, BYTES, BATCH, IMAGE_BATCH = 50_000, 3072, 128, 32
LARGE, SMALL = "large", "small"  # folders of JPEG files of 224x224 and 32x32 pixels
IMAGES = {LARGE: (600, "3x224x224", IMAGE_BATCH), SMALL: (10_000, "3x32x32", BATCH)}  # files, shape, batch
RECORDS = {"10^5 records": 100_000, "10^7 records": 10_000_000}

OURS, APART, LIMIT, TAKE = "lade, 2 threads", "lade, 2 workers", "gather, 2 threads", "numpy take, clip"
FFCV = ["FFCV, array, 1 worker", "FFCV, array, 2 workers", "FFCV, image, 2 workers"]
LOADER = [f"DataLoader, {n} workers" for n in (0, 1, 2)]
IDIOM = [f"DataLoader, batch sampler, {n}" for n in (0, 1, 2)]
TF_DATA, TF_GATHER = "tf.data", "tf.data, gather"
GRAIN = [f"Grain, {n} threads" for n in (0, 1, 2)]
FOLDER = "lade"
HELP = "help"  # the consumer is one of the threads
STREAM, SAMPLES = "lade, 2 workers, stream", "lade, 2 workers, stream of samples"
READ = {"lade, 2 threads, read": HELP + "+read", "lade, 2 workers, read": "order+read"}  # every byte of every batch
LIMIT_READ = "gather, 2 threads, read"
TWO_BUFFERS = "gather, 65536 bytes, 2 buffers"  # each thread: no thread waits for the consumer to release the one that it made
FOLDER_STREAM = "lade, stream"
SERVERS = {"numpy": "torch", "torch": "torch", "grain": "torch", "ffcv": "ffcv", "tensorflow": "tensorflow"}

# Name of a row: which server, which variant.
PEERS = {
    TAKE: ("numpy", "clip"), "numpy take, raise": ("numpy", "raise"),
    FFCV[0]: ("ffcv", "array-1"), FFCV[1]: ("ffcv", "array-2"), FFCV[2]: ("ffcv", "image-2"),
    **{name: ("torch", f"each-{n}") for n, name in enumerate(LOADER)},
    **{name: ("torch", f"batch-{n}") for n, name in enumerate(IDIOM)},
    TF_DATA: ("tensorflow", "each"), TF_GATHER: ("tensorflow", "gather"),
    **{name: ("grain", str(n)) for n, name in enumerate(GRAIN)},
}
FULL_RUN = ["numpy take, raise", FFCV[0], GRAIN[2]]  # the slower variants of a peer
FROM_FILE = [TAKE, FFCV[1], LOADER[0], IDIOM[0], TF_DATA, GRAIN[1]]
OWN_FILE = "FFCV, from its own file"  # it reads no folders

# Factor: at least this many times the best of these, batches from memory.
RATIOS = [([LIMIT], 0.85), ([TAKE], 1.5), (FFCV, 4.0), (LOADER, 15.0), (IDIOM, 7.0)]
IMAGE_RATIO, OVERLAP, GROWTH = 1.0, 0.9, 1.05
# At least so much of another row of the same case.
SHARES = [("memory", APART, LIMIT, 0.75), ("memory", STREAM, LIMIT, 0.3),
          *(("threads", f"lade, {n} threads", f"gather, {n} threads", 0.7) for n in (4, 8)),
          ("sample", "lade, 256 bytes", "gather, 256 bytes", 0.45),
          ("sample", "lade, 65536 bytes", TWO_BUFFERS, 0.8), ("set", "lade, 1000 samples", "gather, 1000 samples", 0.6),
          *((f"jpeg {case} 1 core", FOLDER_STREAM, FOLDER, 0.75) for case in IMAGES)]


def rate(amount, seconds):
    return amount / seconds / 1e6


def thousands(amount, seconds):
    return amount / seconds / 1e3


def quotient(amount, divisor):
    return amount / divisor


def decoders(cores):
    """The peers that decode JPEG files."""
    workers = (0, 1) if cores == 1 else (1, 2)
    return {**{f"DataLoader, torchvision, {n}": ("torch", f"torchvision-{n}") for n in workers},
            f"DataLoader, Pillow, {workers[0]}": ("torch", f"pillow-{workers[0]}"),
            TF_DATA: ("tensorflow", "each"),
            f"Grain, Pillow, {cores}": ("grain", str(cores)),
            OWN_FILE: ("ffcv", f"image-{cores}")}


def synthetic(bench):
    """The data sets, made once by lade synth beside the programs."""
    lade, top = bench.folder.parent / "cli" / "lade", bench.folder / "load"
    if not os.access(lade, os.X_OK):
        raise Failure(f"no command lade in {lade.parent}")
    sets = {"npy": ["npy"], "records": ["records"],
            **{name: ["images", "--samples", str(count), "--shape", shape, "--jpeg"]
               for name, (count, shape, _) in IMAGES.items()}}
    top.mkdir(exist_ok=True)
    for name, (form, *options) in sets.items():
        if (top / name).exists():
            continue
        command = [str(lade), "synth", form, str(top / (name + ".unready")), *options]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if answer.returncode != 0:
            raise Failure(answer.stderr.strip())
        (top / (name + ".unready")).rename(top / name)
    return top


class Servers:
    """The programs of the peers, each started once for each number of cores."""

    def __init__(self, bench, folder, cores, servers=None, programs=HERE / "load"):
        self.sessions, self.reasons = {}, {}
        for name, group in (servers or SERVERS).items():
            environment = private(group)
            if not environment:
                self.reasons[name] = "not installed (bench/setup)"
                continue
            command = [str(environment / "bin" / "python"), "-B", str(programs / f"peer_{name}.py"), str(folder),
                       str(cores)]
            self.sessions[name] = Session(bench, name, command)
        for name, session in list(self.sessions.items()):
            try:
                session.wait()
            except Failure as failure:
                self.reasons[name] = str(failure)
                del self.sessions[name]

    def candidate(self, row, case, name, variant, threads):
        """Or why there is none. The first reply takes long and does not count."""
        if name not in self.sessions:
            raise Failure(self.reasons[name])
        answer = self.sessions[name].ask([case, variant, "0"], 180)
        if answer.startswith("failed"):
            raise Failure(answer.strip())
        return Candidate(row, name, [case, variant], threads, sleeps=True, session=self.sessions[name])

    def add(self, table, case, rows, threads):
        for row, (name, variant) in rows.items():
            try:
                table.candidates.append(self.candidate(row, case, name, variant, threads))
            except Failure as failure:
                table.left_out[row] = str(failure)

    def end(self):
        for session in self.sessions.values():
            session.end()


def loader(row, name, count, size, batch, threads, mode="order", cores=2):
    words = [name, str(count), str(size), str(batch), str(threads), mode, str(cores)]
    return Candidate(row, "load_feed", words, threads, sleeps=not mode.startswith(HELP) or threads > 2)


def gather(row, name, count, size, batch, threads, mode="copy"):
    return Candidate(row, "load_gather", [name, str(count), str(size), str(batch), str(threads), mode], threads,
                     sleeps=threads > 2)


def memory_of(servers, quick):
    shape = ("memory", COUNT, BYTES, BATCH)
    ours = [loader(OURS, *shape, 2, HELP), loader(APART, *shape, 2), loader("lade, 1 thread", *shape, 1, HELP),
            loader("lade, 1 worker", *shape, 1), loader("lade, 2 workers, as ready", *shape, 2, "ready"),
            loader(STREAM, *shape, 2, "stream"), loader(SAMPLES, *shape, 2, "samples"), gather(LIMIT, *shape, 2),
            gather("gather, 1 thread", *shape, 1), *(loader(row, *shape, 2, mode) for row, mode in READ.items()),
            gather(LIMIT_READ, *shape, 2, "read")]
    title = f"memory: {COUNT:,} samples of {BYTES:,} bytes, batches of {BATCH}, shuffled"
    table = Table("memory", title, "M samples/s", ours, rate)
    servers.add(table, "memory", {row: peer for row, peer in PEERS.items() if not quick or row not in FULL_RUN}, 2)
    table.ratios = [(OURS, row) for row in (LIMIT, TAKE, TF_DATA, TF_GATHER, GRAIN[0])]
    table.ratios += [(APART, row) for row in (LIMIT, TAKE)]
    table.ratios += [(STREAM, LIMIT), (SAMPLES, LIMIT)] + [(row, LIMIT_READ) for row in READ]
    return table


def mapped_of(servers, folder):
    shape = (str(folder / "records" / "samples.bin"), COUNT, BYTES, BATCH)
    table = Table("mapped", "mapped: the same from a file of records, mapped", "M samples/s",
                  [loader(OURS, *shape, 2, HELP), loader(APART, *shape, 2), gather(LIMIT, *shape, 2)], rate)
    servers.add(table, "mapped", {row: PEERS[row] for row in FROM_FILE}, 2)
    table.ratios = [(OURS, LIMIT), (OURS, TAKE)]
    return table


def images_of(servers, folder, case, cores):
    count, shape, batch = IMAGES[case]
    ours, stream = (loader(row, f"images:{folder / case}", count, 1, batch, cores, mode, cores)
                    for row, mode in ((FOLDER, "order"), (FOLDER_STREAM, "stream")))
    where = "1 core" if cores == 1 else f"{cores} cores"
    table = Table(f"jpeg {case} {where}", f"jpeg: {count:,} files, {shape}, in folders, batches of {batch}, {where}",
                  "k samples/s", [ours, stream], thousands)
    servers.add(table, case, decoders(cores), cores)
    table.ratios = [(ours.name, OWN_FILE), (stream.name, ours.name)]
    return table


def curve(case, title, points):
    """points: label, what both get as their data, threads."""
    candidates = []
    for label, shape, threads in points:
        candidates += [loader(f"lade, {label}", *shape, threads, HELP), gather(f"gather, {label}", *shape, threads)]
    table = Table(case, f"{case}: {title}, from memory, in order", "M samples/s", candidates, rate)
    table.ratios = [(f"lade, {label}", f"gather, {label}") for label, _, _ in points]
    return table


def curves(quick):
    threads = [1, 2, 4, 8] if quick else [1, 2, 3, 4, 8, 16]
    batches = [16, 1024] if quick else [1, 4, 16, 64, 256, 1024, 4096]
    sizes = [256, 65_536] if quick else [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144]
    counts = [1000, 300_000] if quick else [1000, 10_000, 100_000, 300_000, 1_000_000]
    total = COUNT * BYTES
    yield curve("threads", f"samples of {BYTES:,} bytes, batches of {BATCH}",
                [(f"{n} threads", ("memory", COUNT, BYTES, BATCH), n) for n in threads])
    yield curve("batch", f"samples of {BYTES:,} bytes, 2 threads",
                [(f"batches of {n}", ("memory", COUNT, BYTES, n), 2) for n in batches])
    sample = curve("sample", f"{total // 10**6} MB or a million samples, batches of {BATCH}, 2 threads",
                   [(f"{n} bytes", ("memory", min(total // n, 10**6), n, BATCH), 2) for n in sizes])
    sample.candidates.append(gather(TWO_BUFFERS, "memory", total // 65_536, 65_536, BATCH, 2, "copy+2"))
    sample.ratios.append(("lade, 65536 bytes", TWO_BUFFERS))
    yield sample
    yield curve("set", f"samples of {BYTES:,} bytes, batches of {BATCH}, 2 threads",
                [(f"{n} samples", ("memory", n, BYTES, BATCH), 2) for n in counts])


def overlap_of(folder):
    count, _, batch = IMAGES[LARGE]
    words = {"batches from memory": ["memory", str(COUNT), str(BYTES), str(BATCH), "1"],
             "JPEG files": [f"images:{folder / LARGE}", str(count), "1", str(batch), "1"]}
    candidates = [Candidate(row, "load_overlap", rest, 2) for row, rest in words.items()]
    title = "overlap: 1 worker, a consumer that computes as long as loading takes: max(t1, t2) / T of a batch"
    return Table("overlap", title, "share", candidates, quotient)


def growth_of(bench, folder):
    candidates = [Candidate(row, "load_memory", [str(folder / f"hole-{count}"), str(count)], 2, sleeps=True)
                  for row, count in RECORDS.items()]
    table = Table("growth", "growth: most RssAnon in an epoch, records of 64 bytes, pure hash split, 2 threads", "KiB",
                  candidates, quotient, higher=False)
    for number in range(3):
        table.rounds.append(bench.round(table, number))
    return table


def with_servers(bench, folder, cores, plan):
    servers = Servers(bench, folder, cores)
    try:
        for table in plan(servers):
            bench.measure(table)
            yield table
    finally:
        servers.end()


def tables(bench):
    folder = synthetic(bench)

    def rows(servers):
        yield memory_of(servers, bench.quick)
        yield mapped_of(servers, folder)
        if not bench.quick:
            yield from (images_of(servers, folder, case, 2) for case in IMAGES)

    yield from with_servers(bench, folder, 2, rows)
    yield from with_servers(bench, folder, 1, lambda servers: (images_of(servers, folder, case, 1) for case in IMAGES))
    overlap = overlap_of(folder)
    bench.measure(overlap)
    yield overlap
    yield growth_of(bench, folder)
    for table in curves(bench.quick):
        bench.measure(table, 3 if bench.quick else 5)
        yield table


def ratio_promise(table, ours, peers, limit):
    """Against the best of those that are there. When ours failed the promise is missed."""
    there = [name for name in peers if table.has(name)]
    if not there:
        return []
    against = table.best(there)
    return [promise(table, ours, table.ratio(ours, against) if table.has(ours) else [0.0], limit, "at least", against)]


def promises(done):
    by_case = {table.case: table for table in done}
    rows = []
    for peers, limit in RATIOS:
        rows += ratio_promise(by_case["memory"], OURS, peers, limit)
    for case, ours, other, limit in SHARES:
        rows += ratio_promise(by_case[case], ours, [other], limit)
    for case in IMAGES:
        table = by_case[f"jpeg {case} 1 core"]
        rows += ratio_promise(table, FOLDER, list(decoders(1)), IMAGE_RATIO)
    overlap, growth = by_case["overlap"], by_case["growth"]
    rows += [promise(overlap, c.name, overlap.values(c.name), OVERLAP, "at least") for c in overlap.candidates]
    few, many = RECORDS
    ratios = [max(a / b, b / a) for a, b in zip(growth.values(many), growth.values(few))]
    rows.append(promise(growth, many, ratios, GROWTH, "at most", few))
    return rows
