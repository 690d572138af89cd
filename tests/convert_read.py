#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/convert_read.py DUMP LADE FOLDER: what lade convert writes, read by NumPy, tarfile and the packages webdataset and tfrecord.

DUMP is build/load/dump-source, which prints the samples of a source; FOLDER gets the files.
"""
import glob
import io
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tarfile
import types
import warnings

import numpy as np
import webdataset

# The package tfrecord imports PyTorch for data sets that are not used here. Others must not see the empty module.
torch = {name: types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data")}
torch["torch"].utils, torch["torch.utils"].data = torch["torch.utils"], torch["torch.utils.data"]
torch["torch.utils.data"].IterableDataset = object
sys.modules.update(torch)
import tfrecord

for name in torch:
    del sys.modules[name]

warnings.filterwarnings("ignore")
DUMP, LADE, FOLDER = sys.argv[1:]
SEED = int(os.environ.get("LADE_SEED", random.randrange(2 ** 32)))
TYPES = {"bool": "?", "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8",
         "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}
counts = {"PASS": 0, "FAIL": 0}


def path(name):
    return os.path.join(FOLDER, name)


def check(function):
    """Runs one check, which fails by an exception."""
    try:
        note = function()
        verdict = "PASS"
    except Exception as error:  # a check that cannot run has failed
        note, verdict = f"{type(error).__name__}: {error} (LADE_SEED={SEED})", "FAIL"
    counts[verdict] += 1
    print(f"  {verdict:5} convert, {function.__doc__}{': ' + str(note) if note else ''}", flush=True)


def same(a, b, what):
    if not np.array_equal(a, b):
        raise AssertionError(f"{what}: {str(a)[:200]} is not {str(b)[:200]}")


def run(*words, code=0):
    result = subprocess.run([LADE, *words], capture_output=True, text=True)
    if result.returncode != code:
        raise AssertionError(f"lade {' '.join(words)}: exit code {result.returncode}: {result.stderr.strip()}")
    return result.stdout if code == 0 else result.stderr


def convert(source, out, *options):
    return json.loads(run("convert", source, out, "--json", "-", *options))


def dump(source):
    """Samples as dictionaries of arrays."""
    result = subprocess.run([DUMP, source], capture_output=True, text=True)
    if result.returncode:
        raise AssertionError(result.stderr.strip())
    lines = result.stdout.splitlines()
    fields = [line.split(" ") for line in lines if line.startswith("field ")]
    samples = []
    for line in lines[1 + len(fields):]:
        sample = {}
        for (_, name, dtype, ragged, *dims), text in zip(fields, line.split(" ")[1:]):
            array = np.frombuffer(bytes.fromhex(text), TYPES[dtype])
            sample[name] = array.reshape(([-1] if int(ragged) else []) + [int(d) for d in dims]) if array.size else array
        samples.append(sample)
    return samples


def make_fields(count=60):
    """A source with fields of every kind, and its samples."""
    draw = np.random.default_rng(SEED)
    steps = draw.integers(0, 9, count)
    steps[:2] = 0, 8
    offsets = np.concatenate([[0], np.cumsum(steps)])
    arrays = {"half": draw.standard_normal((count, 2, 3)).astype("f2"), "wave": draw.standard_normal((count, 4)).astype("c8"),
              "big": draw.integers(0, 2 ** 64, count, dtype="u8"), "key": np.arange(count, dtype="i4") - 7,
              "group": (np.arange(count) // 4).astype("u2"), "truth": draw.integers(0, 2, (count, 5)).astype("?"),
              "x": draw.standard_normal((count, 3)).astype("f4"), "ids": draw.integers(-2 ** 63, 2 ** 63, (count, 2)),
              "label": draw.integers(0, 7, count).astype("u1")}
    ragged = {"blob": draw.integers(0, 256, offsets[-1]).astype("u1"), "path": draw.standard_normal((offsets[-1], 2)),
              "score": draw.standard_normal(offsets[-1]).astype("f4"), "tokens": draw.integers(0, 2 ** 40, offsets[-1])}
    np.save(path("offsets.npy"), offsets)
    for name, array in {**arrays, **ragged}.items():
        np.save(path(name + ".npy"), array)
    source = "npy:" + ",".join(f"{name}={path(name)}.npy" for name in {**arrays, **ragged})
    source += "".join(f",{name}.offsets={path('offsets.npy')}" for name in ragged)
    samples = [{**{name: array[i] for name, array in arrays.items()},
                **{name: array[offsets[i]:offsets[i + 1]] for name, array in ragged.items()}} for i in range(count)]
    return source, samples


def bare(name):
    """The field that a member of tar has."""
    return "label" if name == "cls" else name.removesuffix(".cls").removesuffix(".npy")


def equal_samples(ours, samples, what, numbered=False):
    assert len(ours) == len(samples), (what, len(ours), len(samples))
    for i, (mine, yours) in enumerate(zip(ours, samples)):
        mine = {bare(name): value for name, value in mine.items()}
        for name in yours:
            value = mine.get(name, np.zeros(0))
            same(np.ravel(value), np.ravel(yours[name]), f"{what}, sample {i}, {name}")


def fields_to_all():
    """fields of every type, fixed and ragged, to npy, tar and TFRecord and back"""
    source, samples = make_fields()
    for end in ("npy", "tar", "tfrecord"):
        report = convert(source, path("all." + end))
        assert report["checked"] and report["samples"] == len(samples), report
        equal_samples(dump(report["source"]), samples, end)
    for end in ("tar", "tfrecord", "npy"):  # and from one to the next
        report = convert(convert(source, path("all." + end))["source"], path("again." + end))
        equal_samples(dump(report["source"]), samples, "again " + end)
    return f"{len(samples)} samples, {len(samples[0])} fields"


def tar_read():
    """tar, read by webdataset and by tarfile with NumPy"""
    source, samples = make_fields()
    convert(source, path("wds.tar"))
    theirs = list(webdataset.WebDataset(path("wds.tar"), shardshuffle=False).decode())
    assert len(theirs) == len(samples)
    for i, (yours, mine) in enumerate(zip(theirs, samples)):
        assert yours["__key__"] == f"{i:09}" and yours["cls"] == mine["label"], yours
        assert bytes(yours["blob"]) == mine["blob"].tobytes(), "blob"
        for name in ("half", "wave", "big", "truth", "x", "ids"):
            same(np.ravel(yours[name + ".npy"]), np.ravel(mine[name]), name)
        for name in ("path", "score", "tokens"):
            same(yours.get(name + ".npy", mine[name][:0]), mine[name], name)
    with tarfile.open(path("wds.tar")) as archive:
        for member in archive:
            number, name = member.name.split(".", 1)
            data = archive.extractfile(member).read()
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data))
                assert array.dtype == samples[int(number)][bare(name)].dtype, name
            assert member.mode == 0o644 and member.isfile()
    return f"{len(samples)} samples"


def tfrecord_read():
    """TFRecord, read by the package tfrecord, and its checksums by a bitwise CRC-32C"""
    source, samples = make_fields()
    convert(source, path("read.tfrecord"))
    for yours, mine in zip(tfrecord.tfrecord_loader(path("read.tfrecord"), None), samples):
        for name in ("x", "ids", "score", "tokens", "label", "key", "group"):
            same(np.ravel(yours[name]) if name in yours else [], np.ravel(mine[name]), name)
        for name in ("half", "wave", "big", "truth", "blob", "path"):
            assert bytes(yours[name]) == mine[name].tobytes(), name
    data, at, records = open(path("read.tfrecord"), "rb").read(), 0, 0

    def masked(part):
        crc = 0xffffffff
        for byte in part:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
        crc ^= 0xffffffff
        return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff

    while at < len(data):
        size, first = struct.unpack_from("<QI", data, at)
        assert first == masked(data[at:at + 8]), "checksum of a length"
        last, = struct.unpack_from("<I", data, at + 12 + size)
        assert records > 5 or last == masked(data[at + 12:at + 12 + size]), "checksum of a record"
        at, records = at + 16 + size, records + 1
    assert records == len(samples)
    return f"{records} records"


def npy_read():
    """npy, read by NumPy"""
    source, samples = make_fields()
    convert(source, path("arrays.npy"))
    for name in samples[0]:
        array = np.load(path(f"arrays.{name}.npy"))
        if os.path.exists(path(f"arrays.{name}.offsets.npy")):
            ends = np.load(path(f"arrays.{name}.offsets.npy"))
            array = [array[a:b] for a, b in zip(ends, ends[1:])]
        assert len(array) == len(samples)
        for mine, yours in zip(array, samples):
            assert mine.dtype == yours[name].dtype, name
            same(mine, yours[name], name)


def records_read():
    """records of one tensor and one label, read as bytes"""
    report = convert("synthetic:count=200,classes=300,shape=5x7", path("r.records"))
    data = np.frombuffer(open(path("r.records"), "rb").read(), np.dtype([("label", "<u2"), ("sample", "u1", (5, 7))]))
    for mine, yours in zip(data, dump("synthetic:count=200,classes=300,shape=5x7")):
        assert mine["label"] == yours["label"]
        same(mine["sample"], yours["sample"], "sample")
    equal_samples(dump(report["source"]), dump("synthetic:count=200,classes=300,shape=5x7"), "records")


def orders_and_parts():
    """parts are those of lade feed, have every sample once, and a shuffled order is a permutation"""
    _, samples = make_fields()
    source = "npy:" + ",".join(f"{name}={path(name)}.npy" for name in ("x", "key", "group", "label"))
    samples = [{name: sample[name] for name in ("x", "key", "group", "label")} for sample in samples]
    keys = {int(sample["key"]): sample for sample in samples}
    seen, groups = [], []
    for part in ("train", "test"):
        report = convert(source, path(part + ".tfrecord"), "--split", "60:40", "--part", part, "--order", "shuffled", "--seed", "3")
        mine = dump(report["source"])
        fed = json.loads(run("feed", source, "--split", "60:40", "--part", part, "--epochs", "1", "--consumer", "null", "--json", "-"))
        assert fed["samples"] == len(mine), (part, len(mine), fed["samples"])
        equal_samples(mine, [keys[int(sample["key"])] for sample in mine], part)
        seen += [int(sample["key"]) for sample in mine]
        groups.append({int(sample["group"]) for sample in mine})
    assert sorted(seen) == sorted(keys) and seen != sorted(seen)
    assert not groups[0] & groups[1], "a group is in both parts"
    orders = [[int(s["key"]) for s in dump(convert(source, path(f"order{n}.npy"), "--order", "shuffled", "--seed", str(n))["source"])]
              for n in (1, 2)]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(keys) and orders[0] != orders[1]
    return f"{len(groups[0])} and {len(groups[1])} groups"


def whole(name):
    return {file: open(file, "rb").read() for file in sorted(glob.glob(path(name)))}


def killed():
    """killed at any point: what has its name is whole, and the same command ends with the same bytes"""
    draw, landed = random.Random(SEED), 0
    source = "synthetic:count=6000"
    for end, pattern, shards in (("tar", "k-*.tar", ["--shard-size", "250"]), ("npy", "k.*.npy", []), ("tfrecord", "k-*.tfrecord", ["--shard-size", "400"])):
        words = ["convert", source, path("k." + end), "--order", "shuffled", *shards]
        run(*words, "--no-check")
        expected = whole(pattern)
        for _ in range(4):
            for file in glob.glob(path("k*")):
                os.remove(file)
            files = draw.randrange(len(expected))
            process = subprocess.Popen([LADE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and len(glob.glob(path(pattern))) < files:
                pass
            for _ in range(draw.randrange(400)):  # a while of no fixed length
                glob.glob(path(pattern))
            process.send_signal(signal.SIGKILL)
            landed += process.wait() == -signal.SIGKILL
            for file, data in whole(pattern).items():
                assert data == expected[file], f"{file} is torn"
            report = convert(*words[1:3], *words[3:])
            assert whole(pattern) == expected, "other bytes after the kill"
            assert report["checked"] and not glob.glob(path(".lade-*")), "a temporary file is left"
    return f"{landed} of 12 killed before the end"


def checks_result():
    """a bit that changes in a shard that was kept is found, and that shard is written again"""
    words = ["convert", "synthetic:count=1000", path("bit.tar"), "--shard-size", "100"]
    run(*words)
    expected = whole("bit-*.tar")
    data = bytearray(expected[path("bit-00003.tar")])
    data[700] ^= 1  # of the first array
    open(path("bit-00003.tar"), "wb").write(data)
    assert "bit-00003.tar: field 'sample.npy' does not read back" in run(*words, code=1)
    report = convert(*words[1:3], *words[3:])
    assert report["kept"] == 9 and whole("bit-*.tar") == expected, report
    os.remove(path("bit-00005.tar"))
    assert convert(*words[1:3], *words[3:])["kept"] == 9 and whole("bit-*.tar") == expected


def states():
    """a state that is cut or changed anywhere, or of another conversion, is refused"""
    words = ["convert", "synthetic:count=300,shape=4", path("state.tfrecord"), "--shard-size", "100"]
    run(*words)
    state = open(path("state.tfrecord.convert"), "rb").read()
    bad = [state[:size] for size in range(len(state))] + [state + b"x"]
    for at in range(len(state)):
        bad.append(state[:at] + bytes([state[at] ^ 1 << at % 8]) + state[at + 1:])
    for data in bad[::3]:
        open(path("state.tfrecord.convert"), "wb").write(data)
        assert "another conversion, or damaged" in run(*words, code=2)
    open(path("state.tfrecord.convert"), "wb").write(state)
    assert "another conversion" in run(*words, "--order", "shuffled", code=2)
    run(*words, "--order", "shuffled", "--replace")
    return f"{len(bad[::3])} states"


def refusals():
    """what a format cannot hold, and wrong use, are refused with what to do"""
    source, _ = make_fields()
    for words, code, reason in (
            ([source, path("no.records")], 2, "records hold one tensor and one label, not 13 fields; write npy, tar or tfrecord"),
            ([source, path("no.records"), "--field", "path"], 2, "'path' is ragged, and records have one size"),
            ([source, path("no.tar"), "--field", "x", "--field", "x"], 2, "'x' is given twice"),
            ([source, path("no.tar"), "--field", "x=a", "--field", "half=a"], 2, "'a.npy' would be there twice"),
            ([source, path("no.tar"), "--field", "x=a/b"], 2, "'a/b' cannot be an extension of a member; --field NAME=AS"),
            ([source, path("no.npy"), "--field", "x=a b"], 2, "'a b' cannot be named in npy:NAME=FILE"),
            ([source, path("no.tfrecord"), "--field", "x=a:b"], 2, "'a:b' cannot be declared in tfrecord"),
            ([source, path("no.tar"), "--field", "score"], 1, "sample 0 is empty in all fields"),
            ([source, path("no.tar"), "--field", "none"], 2, "there is no field 'none'"),
            ([source, path("no.npy"), "--shard-size", "5"], 2, "--shard-size is for tar and tfrecord"),
            ([source, path("no.zip")], 2, "ends with no format"),
            ([source, path("no{1..2}.tar")], 2, "OUT has a brace"),
            ([source, path("none/no.tar")], 3, "No such file"),
            (["synthetic:count=endless", path("no.tar")], 2, "the source is endless; give it a number of samples with count=N"),
            ([source, path("no.tar"), "--part", "test"], 2, "the whole source is one part"),
            ([source], 2, "give SOURCE and OUT")):
        said = run("convert", *words, code=code)
        assert reason in said, (words[1:], said)
    open(path("mine.tar"), "wb").write(b"mine")
    assert "--replace overwrites it" in run("convert", "synthetic:count=5", path("mine.tar"), code=2)
    assert open(path("mine.tar"), "rb").read() == b"mine"
    return "16 kinds"


def encoded_images():
    """JPEG bytes pass from tar to TFRecord and back unchanged when they are declared as bytes"""
    from PIL import Image
    pictures = []
    for i in range(12):
        out = io.BytesIO()
        Image.fromarray(np.random.default_rng(i).integers(0, 255, (20 + i, 30, 3), np.uint8)).save(out, "JPEG")
        pictures.append(out.getvalue())
    with webdataset.TarWriter(path("jpeg.tar")) as writer:
        for i, picture in enumerate(pictures):
            writer.write({"__key__": f"{i:04}", "jpg": picture, "cls": i % 3})
    first = convert(f"tar:{path('jpeg.tar')},field=jpg:u8:*,field=cls,label=cls", path("jpeg.tfrecord"))
    for yours, picture in zip(tfrecord.tfrecord_loader(path("jpeg.tfrecord"), None), pictures):
        assert bytes(yours["jpg"]) == picture
    convert(first["source"], path("jpeg-again.tar"))
    theirs = list(webdataset.WebDataset(path("jpeg-again.tar"), shardshuffle=False))
    assert [sample["jpg"] for sample in theirs] == pictures and [sample["cls"] for sample in theirs][:4] == [b"0", b"1", b"2", b"0"]


def text_sequences():
    """a text of bytes as token sequences: tokens to TFRecord, tar and npy keep every token in order"""
    words, draw = "in the beginning was a word and it was long".split(), random.Random(SEED)
    text = " ".join(draw.choice(words) for _ in range(40000)).encode()
    open(path("text.bin"), "wb").write(text)
    for end in ("tfrecord", "tar", "npy", "records"):
        report = convert(f"tokens:{path('text.bin')},length=100,dtype=u8", path("text." + end))
        mine = b"".join(next(iter(sample.values())).tobytes() for sample in dump(report["source"]))
        assert mine == text[:len(text) // 100 * 100], end
    return f"{len(text)} bytes"


def inspect(source):
    return json.loads(run("inspect", source, "--json", "-"))


def powers(lengths):
    """How many lengths are 0, 1, 2 to 3, 4 to 7, ..."""
    return np.bincount([int(n).bit_length() for n in lengths]).tolist()


def inspected():
    """lade inspect: fields, lengths and classes of each kind, against NumPy; classes of any integer field"""
    source, samples = make_fields()
    labels = np.array([int(sample["label"]) for sample in samples])
    groups = np.array([int(sample["group"]) for sample in samples])
    lengths = [len(sample["blob"]) for sample in samples]
    for end in ("tar", "tfrecord", "npy"):
        opens = convert(source, path("look." + end))["source"]
        seen = inspect(opens)
        assert seen["count"] == len(samples) and seen["damaged"] == 0 and seen["kind"] == end, seen
        same(seen["frequencies"], np.bincount(labels, minlength=seen["classes"]), end)
        field = next(field for field in seen["fields"] if field["name"] == "blob")
        about = field["lengths"]
        assert (about["least"], about["most"], about["total"]) == (min(lengths), max(lengths), sum(lengths)), about
        assert about["by_power"] == powers(lengths), (about, powers(lengths))
        if end == "npy":
            continue
        by_group = opens.replace(",label=cls", ",label=group.cls").replace(",label=label", ",label=group")
        same(inspect(by_group[:by_group.rindex(",classes=")])["frequencies"], np.bincount(groups), end + " by group")
    np.savez(path("look.npz"), x=np.zeros((len(labels), 3)), label=labels, group=groups)
    same(inspect("npz:" + path("look.npz"))["frequencies"], np.bincount(labels), "npz")
    same(inspect("npz:" + path("look.npz") + ",label=group")["frequencies"], np.bincount(groups), "npz by group")
    np.arange(1000, dtype=np.uint16).tofile(path("look.bin"))
    seen = inspect(f"tokens:{path('look.bin')},length=64")
    assert (seen["count"], seen["dtype"], seen["shape"], seen["classes"]) == (15, "u16", [64], 0), seen
    cuts = [0, 1, 3, 3, 200, 1000]
    with open(path("look.idx"), "wb") as file:
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(cuts) - 1, len(cuts)))
        file.write(np.diff(cuts).astype("<i4").tobytes() + (2 * np.array(cuts[:-1])).astype("<i8").tobytes())
        file.write(np.arange(len(cuts)).astype("<i8").tobytes())
    seen = inspect("megatron:" + path("look"))
    assert seen["fields"][0]["lengths"]["by_power"] == powers(np.diff(cuts)), seen
    seen = inspect(convert("synthetic:count=50,classes=5", path("look.records"))["source"])
    same(seen["frequencies"], inspect("synthetic:count=50,classes=5")["frequencies"], "records")
    return "7 kinds"


for function in (fields_to_all, tar_read, tfrecord_read, npy_read, records_read, orders_and_parts, killed, checks_result, states,
                 refusals, encoded_images, text_sequences, inspected):
    check(function)
    for file in os.listdir(FOLDER):
        os.remove(path(file))
print(f"{counts['PASS']} passed, {counts['FAIL']} failed, 0 skipped")
sys.exit(1 if counts["FAIL"] else 0)
