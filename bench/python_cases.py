# SPDX-License-Identifier: MIT
"""bench/run python: the package for Python in a training loop, beside the loaders that people use there."""
import os
import subprocess

from load_cases import HELP, HERE, LARGE, Servers, loader, ratio_promise, synthetic, thousands
from measure import Failure, Table, private, promise

ABOUT = "the package for Python beside DataLoader, X[i], Grain, tf.data and SPDL"
GROUPS = ["codecs", "numpy"]  # of tools/setup; bench/setup installs frameworks and ffmpeg
BUDGET = (150, 900)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.15, 0.5)  # that a candidate runs in a repetition
BATCH, OVERHEAD = 128, 1792
PROGRAMS = ["lade", "dataloader", "index", "grain", "tfdata", "spdl"]

OURS, ASSIST, VIEWS = "lade, torch tensors", "lade, torch tensors, assist", "lade, NumPy views"
NUMPY_INDEX, TORCH_INDEX, C_LOOP, SPDL_IMAGES = "NumPy, X[i]", "torch, X[i]", "C loop", "SPDL"
DATALOADER = {f"DataLoader, {n} workers": ("dataloader", f"each-{n}") for n in (0, 2)}
DATALOADER |= {f"DataLoader, batch sampler, {n}": ("dataloader", f"batch-{n}") for n in (0, 2)}
ROWS = {OURS: ("lade", "torch"), ASSIST: ("lade", "assist"), VIEWS: ("lade", "numpy"), NUMPY_INDEX: ("index", "all"),
        TORCH_INDEX: ("dataloader", "index"), **DATALOADER, **{f"Grain, {n} threads": ("grain", str(n)) for n in (0, 2)},
        "tf.data": ("tfdata", "each"), "tf.data, gather": ("tfdata", "gather"),
        **{f"SPDL, {n} threads": ("spdl", str(n)) for n in (1, 2)}}
TITLES = {"digits": "digits: 1,797 samples of 64 float32", "cifar": "cifar: 50,000 samples of 3x32x32 bytes"}
LATER = ["DataLoader, 2 workers", "Grain, 2 threads", "SPDL, 2 threads", "tf.data"]  # full run only: slower here than their other variants
# Case: the better of our two ways is at least this many times the best of these.
RATIOS = {"digits": [(list(DATALOADER), 5.0), ([TORCH_INDEX], 1.0)], "cifar": [(list(DATALOADER), 8.0), ([NUMPY_INDEX], 1.5)]}
MICROSECONDS, IMAGE_RATIO = 10.0, 1.2


def microseconds(samples, seconds):
    """Of a batch."""
    return seconds / samples * BATCH * 1e6


def install(bench):
    """The package, by pip beside the measuring programs, for all programs in Python."""
    site, environment = bench.folder.parent / "python-site", private("numpy")
    if not private("frameworks"):
        raise Failure("the frameworks are not installed: bench/setup")
    if not environment:
        raise Failure("no environment to build the package in: tools/setup numpy")
    command = ["pip", "-q", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-deps", "--no-index",
               "--upgrade", "--target", str(site), f"-Cbuild-dir={bench.folder.parent / 'python'}", "."]
    path = f"{environment / 'bin'}:{os.environ['PATH']}"
    answer = subprocess.run(command, cwd=HERE.parent, env=os.environ | {"PATH": path}, capture_output=True, text=True,
                            timeout=900, check=False)
    if answer.returncode != 0:
        raise Failure(f"pip install: {answer.stderr.strip()[-500:]}")
    os.environ["PYTHONPATH"] = str(site)


def servers_of(bench, folder, cores, names):
    return Servers(bench, folder, cores, dict.fromkeys(names, "frameworks"), HERE / "python")


def arrays_of(servers, case, quick):
    table = Table(case, f"{TITLES[case]}, batches of {BATCH}, shuffled, 2 cores", "us/batch", [], microseconds, higher=False)
    servers.add(table, case, {row: peer for row, peer in ROWS.items() if not quick or row not in LATER}, 2)
    table.ratios = [(ours, row) for ours in (OURS, ASSIST) for row in (TORCH_INDEX, NUMPY_INDEX)]
    return table


def overhead_of(servers):
    ours = loader(C_LOOP, "memory", OVERHEAD, 256, BATCH, 1, HELP, 1)
    table = Table("overhead", f"overhead: {OVERHEAD:,} samples of 256 bytes, batches of {BATCH}, 1 thread, 1 core", "us/batch", [ours],
                  microseconds, higher=False)
    servers.add(table, "overhead", {ASSIST: ("lade", "assist"), VIEWS: ("lade", "numpy")}, 1)
    return table


def images_of(servers):
    table = Table("images", "images: a folder of JPEG files of 224x224 pixels, batches of 32, 1 core", "k samples/s", [], thousands)
    servers.add(table, LARGE, {OURS: ("lade", "torch"), SPDL_IMAGES: ("spdl", "1")}, 1)
    return table


def tables(bench):
    folder = synthetic(bench)
    install(bench)
    for cores, names, plan in ((2, PROGRAMS, [lambda servers, case=case: arrays_of(servers, case, bench.quick) for case in TITLES]),
                               (1, ["lade", "spdl"], [overhead_of, images_of])):
        servers = servers_of(bench, folder, cores, names)
        try:
            for table_of in plan:
                table = table_of(servers)
                bench.measure(table)
                yield table
        finally:
            servers.end()


def promises(done):
    rows = []
    for table in done:
        ours = table.best([name for name in (OURS, ASSIST) if table.has(name)] or [table.candidates[0].name])
        for peers, limit in RATIOS.get(table.case, []):
            rows += ratio_promise(table, ours, peers, limit)
    overhead, images = done[-2:]
    if overhead.has(ASSIST):
        more = [ours - bare for ours, bare in zip(overhead.values(ASSIST), overhead.values(C_LOOP))]
        rows.append(promise(overhead, f"{ASSIST} - {C_LOOP}", more, MICROSECONDS, "at most"))
    if images.has(OURS) and images.has(SPDL_IMAGES):
        rows.append(promise(images, OURS, images.ratio(OURS, SPDL_IMAGES), IMAGE_RATIO, "at least", SPDL_IMAGES))
    return rows
