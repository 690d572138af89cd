#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/formats_read.py DUMP LADE FOLDER: files written by reference packages, read by lade and by those packages.

DUMP is build/load/dump-source, which prints the samples of a source; FOLDER gets the files.
"""
import csv
import gzip
import importlib.resources
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import types
import warnings

import numpy as np
import webdataset
from PIL import Image

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
COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
TYPES = {"u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8", "f32": "f4", "f64": "f8"}
counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}


def path(name):
    return os.path.join(FOLDER, name)


def check(function):
    """Runs one check, which fails by an exception."""
    try:
        note = function()
        verdict = "PASS"
    except Exception as error:  # a check that cannot run has failed
        note, verdict = f"{type(error).__name__}: {error}", "FAIL"
    counts[verdict] += 1
    print(f"  {verdict:5} {function.__doc__}{': ' + str(note) if note else ''}", flush=True)


def same(a, b, what):
    if not np.array_equal(a, b):
        raise AssertionError(f"{what}: {str(a)[:200]} is not {str(b)[:200]}")


def run(*words):
    result = subprocess.run([DUMP, *words], capture_output=True, text=True)
    if result.returncode:
        raise AssertionError(result.stderr.strip())
    return result.stdout.splitlines()


def dump(source):
    """Fields by name, and samples as dictionaries of arrays."""
    lines = run(source)
    first = dict(zip(lines[0].split()[::2], map(int, lines[0].split()[1::2])))
    fields = [line.split(" ") for line in lines if line.startswith("field ")]
    samples = []
    for line in lines[1 + len(fields):]:
        sample = {}
        for (_, name, dtype, ragged, *dims), text in zip(fields, line.split(" ")[1:]):
            shape = ([-1] if int(ragged) else []) + [int(d) for d in dims]
            array = np.frombuffer(bytes.fromhex(text), TYPES[dtype])
            sample[name] = array.reshape(shape) if array.size or 0 not in shape else array
        samples.append(sample)
    return first, fields, samples


def digits():
    """Pixels and labels of scikit-learn's digits."""
    packed = importlib.resources.files("sklearn.datasets.data").joinpath("digits.csv.gz").read_bytes()
    rows = np.array([[float(x) for x in row] for row in csv.reader(io.StringIO(gzip.decompress(packed).decode()))])
    return rows[:, :64].astype(np.uint8), rows[:, 64].astype(np.int64)


def jpeg(seed, size=(24, 32)):
    out = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    return out.getvalue()


def png(seed, size=(24, 32)):
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)).save(out, "PNG")
    return out.getvalue()


def tfrecord_numbers():
    """TFRecord: numbers and bytes, written and read by the package tfrecord"""
    draw = random.Random(1)
    writer = tfrecord.TFRecordWriter(path("numbers"))
    for i in range(200):
        writer.write({
            "ids": ([draw.randrange(-2 ** 63, 2 ** 63) for _ in range(draw.randrange(1, 9))], "int"),
            "x": ([draw.random() for _ in range(3)], "float"),
            "one": (i % 7, "int"),
            "text": (bytes(draw.randrange(256) for _ in range(draw.randrange(1, 20))), "byte"),
        })
    writer.close()
    theirs = list(tfrecord.tfrecord_loader(path("numbers"), None))
    first, fields, ours = dump("tfrecord:" + path("numbers") + ",label=one")
    assert first["count"] == len(theirs) == 200 and first["classes"] == 7, first
    for mine, yours in zip(ours, theirs):
        same(mine["ids"], yours["ids"], "ids")
        same(mine["x"], yours["x"], "x")
        same(mine["one"], yours["one"][0], "one")
        same(mine["text"].tobytes(), bytes(yours["text"]), "text")
    return f"{len(ours)} records, {len(fields)} fields"


def tfrecord_images():
    """TFRecord: PNG in an Example, against Pillow; JPEG decodes to the right size"""
    writer = tfrecord.TFRecordWriter(path("images"))
    for i in range(10):
        writer.write({"png": (png(i), "byte"), "jpg": (jpeg(i), "byte"), "label": (i % 3, "int")})
    writer.close()
    first, fields, ours = dump("tfrecord:" + path("images"))
    assert [field[1] for field in fields] == ["jpg", "png", "label"] and first["classes"] == 3, fields
    for i, sample in enumerate(ours):
        same(sample["png"], np.asarray(Image.open(io.BytesIO(png(i)))), "png")
        theirs = np.asarray(Image.open(io.BytesIO(jpeg(i)))).astype(int)
        assert np.abs(theirs - sample["jpg"]).max() <= 4, "JPEG differs by more than decoders do"


def write_tar(name, samples):
    with webdataset.TarWriter(path(name)) as writer:
        for sample in samples:
            writer.write(sample)


def tar_samples():
    """tar: members of every kind, written and read by the package webdataset"""
    draw = np.random.default_rng(1)
    write_tar("kinds.tar", [{
        "__key__": f"folder/{'long' * (i % 3 * 30)}{i:05}",
        "png": Image.open(io.BytesIO(png(i))), "cls": i % 5, "txt": "é" * i,
        "npy": draw.standard_normal((1 + i % 4, 3)), "json": {"a": i / 3, "b": [i, 0.5], "c": "text"},
    } for i in range(50)])
    theirs = list(webdataset.WebDataset(path("kinds.tar"), shardshuffle=False).decode("rgb8"))
    first, fields, ours = dump("tar:" + path("kinds.tar"))
    assert first["count"] == len(theirs) == 50 and first["classes"] == 5, first
    for mine, yours in zip(ours, theirs):
        same(mine["png"], yours["png"], "png")
        same(mine["cls"], yours["cls"], "cls")
        same(mine["txt"].tobytes(), yours["txt"].encode(), "txt")
        same(mine["npy"], yours["npy"], "npy")
        same(mine["json.a"], yours["json"]["a"], "json.a")
        same(mine["json.b"], yours["json"]["b"], "json.b")
    return f"{len(ours)} samples, {len(fields)} fields"


def compressed():
    """tar and TFRecord, members and files compressed by gzip: read by webdataset and tfrecord as well"""
    write_tar("packed.tar", [{"__key__": f"{i:04}", "txt.gz": "é" * i, "json.gz": {"a": i / 4}, "cls": i % 3} for i in range(40)])
    with tarfile.open(path("packed.tar")) as archive:
        assert archive.extractfile("0003.txt.gz").read()[:2] == b"\x1f\x8b", "webdataset has compressed nothing"
    with gzip.open(path("packed.tar.gz"), "wb") as file:
        file.write(open(path("packed.tar"), "rb").read())
    for name in ("packed.tar", "packed.tar.gz"):
        theirs = list(webdataset.WebDataset(path(name), shardshuffle=False).decode())
        ours = dump("tar:" + path(name))[2]
        assert len(ours) == len(theirs) == 40, (len(ours), len(theirs))
        for mine, yours in zip(ours, theirs):
            same(mine["txt"].tobytes(), yours["txt.gz"].encode(), name)
            same(mine["json.a"], yours["json.gz"]["a"], name)
            same(mine["cls"], yours["cls"], name)
    writer = tfrecord.TFRecordWriter(path("plain.tfrecord"))
    for i in range(50):
        writer.write({"x": ([i, i * i], "int")})
    writer.close()
    with gzip.open(path("packed.tfrecord"), "wb") as file:
        file.write(open(path("plain.tfrecord"), "rb").read())
    theirs = list(tfrecord.tfrecord_loader(path("packed.tfrecord"), None, compression_type="gzip"))
    ours = dump("tfrecord:" + path("packed.tfrecord"))[2]
    same([sample["x"] for sample in ours], [sample["x"] for sample in theirs], "x")


def scaled_images():
    """tar and TFRecord: images are scaled as in a folder of images"""
    os.makedirs(path("pictures"))
    writer = tfrecord.TFRecordWriter(path("pictures.tfrecord"))
    for i in range(5):
        encoded = png(i, (20 + i, 30))
        with open(path(f"pictures/{i}.png"), "wb") as file:
            file.write(encoded)
        writer.write({"image": (encoded, "byte")})
    writer.close()
    with webdataset.TarWriter(path("pictures.tar")) as file:
        for i in range(5):
            file.write({"__key__": str(i), "png": png(i, (20 + i, 30))})
    theirs = [next(iter(sample.values())) for sample in dump(f"images:{path('pictures')},size=12x16")[2]]
    for source in (f"tar:{path('pictures.tar')},size=12x16", f"tfrecord:{path('pictures.tfrecord')},size=12x16"):
        same([next(iter(sample.values())) for sample in dump(source)[2]], theirs, source)
    try:
        dump("tar:" + path("pictures.tar"))
    except AssertionError as error:
        assert "size=HEIGHTxWIDTH scales all to one" in str(error), error
    else:
        raise AssertionError("images of several sizes were read without size=")


def npz_arrays():
    """npz: stored and compressed, written by NumPy"""
    x, y = digits()
    wide = np.arange(len(x) * 6, dtype=">f8").reshape(-1, 2, 3)
    for name, save in (("stored", np.savez), ("packed", np.savez_compressed)):
        save(path(name + ".npz"), y=y, x=x, wide=wide)
        first, fields, ours = dump("npz:" + path(name + ".npz"))
        assert first["classes"] == 10 and [field[1] for field in fields] == ["x", "wide", "y"], (first, fields)
        for i, sample in enumerate(ours):
            same(sample["x"], x[i], "x")
            same(sample["wide"], wide[i], "wide")
            same(sample["y"], y[i], "y")


def npz_groups():
    """npz: split by a named array as npy is, and every group on one side"""
    x, y = digits()
    group, key = np.arange(len(x)) // 7, np.arange(len(x))[::-1].copy()
    np.savez_compressed(path("groups.npz"), label=y, x=x, group=group, key=key)
    for name, array in (("gx", x), ("gy", y), ("gg", group), ("gk", key)):
        np.save(path(name + ".npy"), array)
    for role, name, file, values in (("group", "group", "gg", group), ("key", "key", "gk", key)):
        npz = f"npz:{path('groups.npz')},field=x,field={name},field=label,{role}={name}"
        npy = f"npy:x={path('gx.npy')},{name}={path(file + '.npy')},label={path('gy.npy')}"
        of = {row.tobytes().hex(): set(values[(x == row).all(axis=1)].tolist()) for row in x}
        sides = []
        for part in "01":
            lines = run(npz, "5", part)
            assert lines == run(npy, "5", part) and len(lines) > 500, (role, part)
            sides.append(set().union(*(of[line.split()[1]] for line in lines if line)))
        assert not sides[0] & sides[1] and sides[0] | sides[1] == set(values.tolist()), role
    try:
        dump("npz:" + path("groups.npz") + ",group=none")
    except AssertionError as error:
        assert "there is no array 'none'" in str(error), error
    else:
        raise AssertionError("a group that is not there")


def idx_bytes(array):
    return struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def gzip_idx():
    """IDX: files that Python's gzip has compressed, also in several members, are those that are not"""
    x, y = digits()
    for name, data in (("images", idx_bytes(x.reshape(-1, 8, 8))), ("labels", idx_bytes(y.astype(np.uint8)))):
        with open(path(name), "wb") as file:
            file.write(data)
        with open(path(name + ".gz"), "wb") as file:
            file.write(gzip.compress(data[:1000], 9) + gzip.compress(data[1000:], 1))
    first, _, ours = dump(f"idx:{path('images.gz')},{path('labels.gz')}")
    assert first["classes"] == 10 and len(ours) == len(x), first
    same([sample["sample"] for sample in ours], x.reshape(-1, 8, 8), "images")
    same([sample["label"] for sample in ours], y, "labels")
    assert run(f"idx:{path('images.gz')},{path('labels.gz')}", "5", "0") == run(f"idx:{path('images')},{path('labels')}", "5", "0")


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, capture_output=True, check=True).stdout


def zstd_everywhere():
    """tar, TFRecord, npy and IDX: members and files that the command zstd has compressed"""
    x, y = digits()
    x, y = x[:200], y[:200]
    texts = [("é" * i).encode() for i in range(200)]
    options = [["-1"], ["-19", "--no-check"], ["--no-content-size"], ["--long=27", "-3"]]
    with tarfile.open(path("zstd.tar"), "w") as archive:
        for i, text in enumerate(texts):
            halves = zstd(text[:i], *options[i % 4]) + zstd(text[i:], *options[i % 3])
            for name, data in ((f"{i:04}.txt.zst", halves), (f"{i:04}.cls", str(y[i]).encode())):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    whole = open(path("zstd.tar"), "rb").read()
    with open(path("zstd.tar.zst"), "wb") as file:
        file.write(zstd(whole[:5000]) + zstd(whole[5000:], "-9"))
    for name in ("zstd.tar", "zstd.tar.zst"):
        for sample, text, label in zip(dump("tar:" + path(name))[2], texts, y, strict=True):
            assert sample["txt"].tobytes() == text and sample["cls"] == label, name
    writer = tfrecord.TFRecordWriter(path("plain.tfrecord"))
    for row, label in zip(x, y):
        writer.write({"pixels": (row.tobytes(), "byte"), "label": (int(label), "int")})
    writer.close()
    np.save(path("plain.npy"), x)
    with open(path("plain.idx"), "wb") as file:
        file.write(idx_bytes(x))
    for name, kind in (("plain.tfrecord", "tfrecord"), ("plain.npy", "npy"), ("plain.idx", "idx")):
        with open(path(name + ".zst"), "wb") as file:
            file.write(zstd(open(path(name), "rb").read(), "-5"))
        ours = dump(f"{kind}:{path(name + '.zst')}")[2]
        same([next(iter(sample.values())) for sample in ours], x, name)


def tokens():
    """tokens: a flat file by NumPy, and Megatron's two files"""
    ids = np.random.default_rng(1).integers(0, 50257, 10007).astype(np.uint16)
    ids.tofile(path("train.bin"))
    _, _, ours = dump("tokens:" + path("train.bin") + ",length=64")
    same(np.concatenate([next(iter(sample.values())) for sample in ours]), ids[:156 * 64], "tokens")
    cuts = np.sort(np.random.default_rng(2).integers(0, len(ids), 300))
    lengths = np.diff(np.concatenate([[0], cuts, [len(ids)]])).astype("<i4")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype("<i8") * 2
    documents = np.arange(0, len(lengths) + 1, 7)
    documents = np.concatenate([documents, [len(lengths)]] if documents[-1] != len(lengths) else [documents]).astype("<i8")
    with open(path("train.idx"), "wb") as file:
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, len(lengths), len(documents)))
        file.write(lengths.tobytes() + starts.tobytes() + documents.tobytes())
    for samples, ends in (("sequences", np.cumsum(lengths)), ("documents", np.cumsum(np.add.reduceat(lengths, documents[:-1])))):
        _, _, ours = dump(f"megatron:{path('train')},samples={samples}")
        same([len(sample["tokens"]) for sample in ours], np.diff(np.concatenate([[0], ends])), "lengths")
        same(np.concatenate([sample["tokens"] for sample in ours]), ids, "tokens")


def digits_everywhere():
    """digits: npy, compressed npy, npz, TFRecord and tar have the same samples, split and batches"""
    x, y = digits()
    same(np.bincount(y), COUNTS, "classes")
    np.save(path("x.npy"), x)
    np.save(path("y.npy"), y)
    np.savez_compressed(path("digits.npz"), x=x, y=y)
    for name in ("x", "y"):
        with gzip.open(path(name + ".npy.gz"), "wb") as file:
            file.write(open(path(name + ".npy"), "rb").read())
    writer = tfrecord.TFRecordWriter(path("digits.tfrecord"))
    for i in range(len(x)):
        writer.write({"pixels": (x[i].tobytes(), "byte"), "label": (int(y[i]), "int"), "id": (i, "int")})
    writer.close()
    write_tar("digits.tar", [{"__key__": f"{i:04}", "bin": x[i].tobytes(), "cls": int(y[i]), "id.cls": i} for i in range(len(x))])
    sources = [
        f"npy:{path('x.npy')},labels={path('y.npy')}",
        f"npy:{path('x.npy.gz')},labels={path('y.npy.gz')}",
        f"npz:{path('digits.npz')}",
        f"tfrecord:{path('digits.tfrecord')},field=pixels:u8:64,field=label,field=id,key=id",
        f"tar:{path('digits.tar')},field=bin:u8:64,field=cls,field=id.cls,label=cls,key=id.cls",
    ]
    for source in sources:
        report = json.loads(subprocess.run([LADE, "inspect", source, "--json", "-"], capture_output=True, text=True, check=True).stdout)
        same(report["frequencies"], COUNTS, source)
    known = set()
    for part in "01":
        batches = [run(source, "5", part) for source in sources]
        for source, other in zip(sources, batches):
            assert other == batches[0] and len(other) > 500, source
        known |= {line.split()[1] for line in batches[0] if line}
    assert known == {row.tobytes().hex() for row in x}, "the two parts have all samples"
    return f"{len(sources)} sources, 2 parts, 2 epochs"


def index_files():
    """tar and TFRecord: the same samples from files with an index as without, those of the checks before"""
    sources = [f"tar:{path('packed.tar')}", f"tar:{path('packed.tar.gz')}", f"tfrecord:{path('packed.tfrecord')}",
               f"tar:{path('pictures.tar')},size=12x16", f"tfrecord:{path('pictures.tfrecord')},size=12x16",
               f"tar:{path('digits.tar')},field=bin:u8:64,field=cls,field=id.cls,label=cls,key=id.cls",
               f"tfrecord:{path('digits.tfrecord')},field=pixels:u8:64,field=label,field=id,key=id"]
    for source in sources:
        whole = run(source)
        for use in ("written", "read"):
            words = [LADE, "inspect", source + ",index=yes", "--check", "--json", "-"]
            found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
            assert found["index_use"] == use, (source, found["index_use"])
            assert run(source + ",index=yes") == whole, (source, use)
    return f"{len(sources)} sources"


for function in (tfrecord_numbers, tfrecord_images, tar_samples, compressed, gzip_idx, zstd_everywhere, scaled_images, npz_arrays,
                 npz_groups, tokens, digits_everywhere, index_files):
    if function is zstd_everywhere and not shutil.which("zstd"):
        print("  SKIP  files of zstd: there is no command zstd", flush=True)
        counts["SKIP"] += 1
    else:
        check(function)
print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
sys.exit(1 if counts["FAIL"] else 0)
