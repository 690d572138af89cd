# SPDX-License-Identifier: MIT
"""bench/run formats: members of tar and records of TFRecord on one core, beside the packages that read them."""
import io
import os
import random
import subprocess
import tarfile

from load_cases import HELP, HERE, Servers, loader, thousands
from measure import Failure, Table, promise

ABOUT = "tar and TFRecord on one core, beside webdataset, tfrecord and tf.data"
GROUPS = ["codecs", "webdataset"]  # of tools/setup; tensorflow is used if it is there
BUDGET = (120, 600)  # seconds after which nothing is repeated: quick, full
SECONDS = (0.3, 1.0)  # that a candidate runs in a repetition
SERVERS = {"webdataset": "webdataset", "tensorflow": "tensorflow"}

OURS, BATCH = "lade, shuffled", 128
WEBDATASET, TFRECORD, TF_DATA = "webdataset", "tfrecord", "tf.data"
# Case: samples, bytes of one, title, peers, and what the ratio to each must be at least.
CASES = {
    "raw": (20_000, 1024, "raw: tar with members of 1,024 bytes and a class", {WEBDATASET: 10.0}),
    "records": (100_000, 64, "records: TFRecord with 64 bytes and a label", {TFRECORD: 10.0, TF_DATA: 1.0}),
    "jpeg": (600, 0, "jpeg: tar with JPEG files of 224x224 pixels and a class", {WEBDATASET: 1.5}),
}


def run(words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, check=False)
    if result.returncode != 0:
        raise Failure(result.stderr.strip())


def write_tar(path, samples):
    """Members as WebDataset names them; samples: name of the field, its bytes, the class."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for i, (name, data, label) in enumerate(samples):
            for end, content in ((name, data), ("cls", str(label).encode())):
                member = tarfile.TarInfo(f"{i:09}.{end}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def pictures(folder):
    for label, name in enumerate(sorted(os.listdir(folder))):
        for file in sorted((folder / name).iterdir()):
            yield "jpg", file.read_bytes(), label


def data_sets(bench):
    """Made once by the command lade and tarfile, beside the programs."""
    lade, top = bench.folder.parent / "cli" / "lade", bench.folder / "formats"
    if not os.access(lade, os.X_OK):
        raise Failure(f"no command lade in {lade.parent}")
    if (top / ".done").exists():
        return top
    top.mkdir(exist_ok=True)
    count, size = CASES["raw"][:2]
    draw = random.Random(1)
    write_tar(top / "raw.tar", (("bin", draw.randbytes(size), i % 10) for i in range(count)))
    count, size = CASES["records"][:2]
    run([lade, "convert", f"synthetic:count={count},shape={size}", top / "records.tfrecord", "--replace"])
    run([lade, "synth", "images", top / "pictures", "--samples", CASES["jpeg"][0], "--shape", "3x224x224", "--jpeg"])
    write_tar(top / "jpeg.tar", pictures(top / "pictures"))
    (top / ".done").touch()
    return top


def source_of(folder, case):
    fields = {"raw": ",field=bin:u8:1024,field=cls", "records": ",field=sample:u8:64,field=label", "jpeg": ",field=jpg,field=cls"}
    return f"tfrecord:{folder / 'records.tfrecord'}{fields[case]},classes=10" if case == "records" else \
        f"tar:{folder / case}.tar{fields[case]},classes=10"


def tables(bench):
    folder = data_sets(bench)
    servers = Servers(bench, folder, 1, SERVERS, HERE / "formats")
    try:
        for case, (count, _, title, peers) in CASES.items():
            table = Table(case, f"{title}; {count:,} samples, one core", "k samples/s",
                          [loader(OURS, source_of(folder, case), count, 1, BATCH, 1, HELP, 1)], thousands)
            servers.add(table, case, {row: ("tensorflow" if row == TF_DATA else "webdataset", "all") for row in peers}, 1)
            table.ratios = [(OURS, row) for row in peers]
            bench.measure(table)
            yield table
    finally:
        servers.end()


def promises(done):
    return [promise(table, OURS, table.ratio(OURS, row) if table.has(OURS) else [0.0], limit, "at least", row)
            for table in done for row, limit in CASES[table.case][3].items() if table.has(row)]
