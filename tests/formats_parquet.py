#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/formats_parquet.py DUMP LADE FOLDER: Parquet files written by pyarrow, read by lade and by pyarrow.

DUMP is build/load/dump-source, which prints the samples of a source; LADE the command; FOLDER gets the files.
"""
import csv
import gzip
import importlib.resources
import io
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

DUMP, LADE, FOLDER = sys.argv[1:]
TYPES = {"bool": "u1", "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8",
         "f16": "f2", "f32": "f4", "f64": "f8"}
COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
counts = {"PASS": 0, "FAIL": 0}


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


def run(*words):
    result = subprocess.run([DUMP, *words], capture_output=True, text=True)
    if result.returncode:
        raise AssertionError(result.stderr.strip())
    return result.stdout.splitlines()


def inspect(source):
    """What lade inspect prints, as text and as JSON."""
    result = subprocess.run([LADE, "inspect", source, "--check", "--json", "-"], capture_output=True, text=True)
    if result.returncode:
        raise AssertionError(result.stderr.strip())
    return result.stderr, json.loads(result.stdout)


def refused(source, words):
    result = subprocess.run([DUMP, source], capture_output=True, text=True)
    assert result.returncode == 1 and words in result.stderr, result.stderr


def dump(source):
    """Samples as dictionaries of arrays."""
    lines = run(source)
    fields = [line.split(" ") for line in lines if line.startswith("field ")]
    samples = []
    for line in lines[1 + len(fields):]:
        sample = {}
        for (_, name, dtype, ragged, *dims), text in zip(fields, line.split(" ")[1:]):
            shape = ([-1] if int(ragged) else []) + [int(d) for d in dims]
            array = np.frombuffer(bytes.fromhex(text), TYPES[dtype])
            sample[name] = array.reshape(shape) if array.size or 0 not in shape else array
        samples.append(sample)
    return lines[0], samples


def same(a, b, what):
    if not np.array_equal(np.asarray(a), np.asarray(b)):
        raise AssertionError(f"{what}: {str(a)[:200]} is not {str(b)[:200]}")


def table(rows, seed, nulls=False):
    """Columns of every type that is a field."""
    draw = np.random.default_rng(seed)

    def some(values, type):
        return pa.array([None if nulls and draw.random() < 0.1 else v for v in values], type)

    columns = {}
    for type in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()):
        columns[str(type)] = some(draw.integers(0, 100, rows).tolist(), type)
    columns["f32"] = some(draw.random(rows).astype("f4").tolist(), pa.float32())
    columns["f64"] = some(draw.random(rows).tolist(), pa.float64())
    columns["flag"] = some((draw.random(rows) < 0.5).tolist(), pa.bool_())
    columns["list"] = some([draw.integers(0, 9, draw.integers(0, 5)).tolist() for _ in range(rows)], pa.list_(pa.int32()))
    columns["fixed"] = some([draw.random(3).tolist() for _ in range(rows)], pa.list_(pa.float64(), 3))
    columns["text"] = some(["x" * int(n) + "é" for n in draw.integers(0, 9, rows)], pa.string())
    columns["blob"] = some([draw.bytes(int(n)) for n in draw.integers(0, 9, rows)], pa.large_binary())
    columns["four"] = some([draw.bytes(4) for _ in range(rows)], pa.binary(4))
    columns["inner"] = pa.StructArray.from_arrays([some(draw.integers(0, 9, rows).tolist(), pa.int16())], ["n"])
    return pa.table(columns)


def expected(value, name):
    value = value["n"] if name == "inner" else value
    return np.frombuffer(value if isinstance(value, bytes) else value.encode(), "u1") if isinstance(value, (bytes, str)) else value


def every_type():
    """Parquet: columns of every type, in several files and row groups, slices; compressed or not"""
    whole = table(300, 1)
    for compression in ("none", "snappy", "zstd"):
        for n in range(3):
            pq.write_table(whole.slice(100 * n, 100), path(f"every-{n}.parquet"), row_group_size=37, compression=compression)
        for options in ("", ",memory=30000", ",memory=30000,window=1"):
            _, samples = dump("parquet:" + path("every-{0..2}.parquet") + options)
            assert len(samples) == 300
            for sample, row in zip(samples, whole.to_pylist()):
                for name, value in row.items():
                    same(sample["inner.n" if name == "inner" else name], expected(value, name), name)
    return f"{whole.num_columns} columns"


def nulls():
    """Parquet: nulls fail, are left out, or are filled"""
    rows = table(200, 2, nulls=True)
    pq.write_table(rows, path("nulls.parquet"), row_group_size=64)
    for name in rows.column_names:
        field = "inner.n" if name == "inner" else name
        values = [row[name] for row in rows.to_pylist()]
        missing = [v is None or v == {"n": None} for v in values]
        assert any(missing)
        refused(f"parquet:{path('nulls.parquet')},field={field}", f"column '{field}' of sample {missing.index(True)}")
        _, kept = dump(f"parquet:{path('nulls.parquet')},field={field},nulls=skip")
        for sample, value in zip(kept, [v for v, m in zip(values, missing) if not m], strict=True):
            same(sample[field], expected(value, name), name)
        _, filled = dump(f"parquet:{path('nulls.parquet')},field={field},nulls=fill")
        for sample, value, m in zip(filled, values, missing, strict=True):
            same(sample[field], np.zeros_like(sample[field]) if m else expected(value, name), name)


def dictionaries():
    """Parquet: a dictionary is a label with names; images are decoded"""
    names = ["cat", "dog", "cow", "owl"]
    picture = [np.random.default_rng(i).integers(0, 255, (6, 5, 3), np.uint8) for i in range(40)]
    coded = []
    for p in picture:
        out = io.BytesIO()
        Image.fromarray(p).save(out, "PNG")
        coded.append(out.getvalue())
    animals = [names[i * i % 4] for i in range(40)]
    pq.write_table(pa.table({"image": pa.StructArray.from_arrays([pa.array(coded)], ["bytes"]),
                             "animal": pa.array(animals).dictionary_encode()}), path("animals.parquet"), row_group_size=7)
    for options in ("", ",memory=9000"):
        first, samples = dump("parquet:" + path("animals.parquet") + ",field=image.bytes:image,field=animal,label=animal" + options)
        order = list(dict.fromkeys(animals))
        assert f"classes {len(order)} " in first, first
        for sample, p, animal in zip(samples, picture, animals, strict=True):
            same(sample["image.bytes"], p, "image")
            assert order[int(sample["animal"])] == animal


def digits():
    packed = importlib.resources.files("sklearn.datasets.data").joinpath("digits.csv.gz").read_bytes()
    rows = np.array([[float(x) for x in row] for row in csv.reader(io.StringIO(gzip.decompress(packed).decode()))])
    return rows[:, :64].astype(np.uint8), rows[:, 64].astype(np.int64)


def same_batches():
    """digits: Parquet and npy have the same samples, split by a named field and, in one window, batches"""
    x, y = digits()
    same(np.bincount(y), COUNTS, "classes")
    group = np.arange(len(x)) // 5
    np.save(path("dx.npy"), x)
    np.save(path("dy.npy"), y)
    np.save(path("dg.npy"), group)
    pixels = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 64)
    pq.write_table(pa.table({"pixels": pixels, "label": y, "group": group}), path("digits.parquet"), row_group_size=100)
    npy = f"npy:pixels={path('dx.npy')},label={path('dy.npy')},group={path('dg.npy')}"
    parquet = f"parquet:{path('digits.parquet')},field=pixels,field=label,field=group,label=label,group=group"
    whole = {}
    for part in ("0", "1", "all"):
        whole[part] = run(npy, "5", part)
        assert run(parquet, "5", part) == whole[part] and len(whole[part]) > 500, part
        windows = run(parquet + ",window=3", "5", part)
        assert windows != whole[part], "windows have another order"
        assert sorted(windows) == sorted(whole[part]), "the same samples"
        for threads in "123":
            assert run(parquet + ",window=3", "5", part, threads) == windows, "the same for any number of threads"


def shuffle():
    """windows of K row groups: what the shuffle costs, beside a full one"""
    groups, rows, n = 100, 200, 20000
    pq.write_table(pa.table({"id": np.arange(n)}), path("ids.parquet"), row_group_size=rows)
    figures = []
    for window in (1, 4, 16, 0):
        lines = run(f"parquet:{path('ids.parquet')},label=id" + (f",window={window}" if window else ""), "7", "all")
        order = np.array([int(line.split()[0]) for line in lines if line])
        assert len(order) == 2 * n and not np.array_equal(order[:n], order[n:])
        for epoch in (order[:n], order[n:]):
            same(np.sort(epoch), np.arange(n), "each once")
            correlation = np.corrcoef(epoch[:-1], epoch[1:])[0, 1]
            displacement = np.abs(epoch - np.arange(n)).mean() / n
            # A fixed seed: these are no chances. Two rows of a window are of one row group with probability 1 / K.
            assert abs(correlation - (1 / window if window else 0)) < 0.12, (window, correlation)
            assert 0.2 < displacement < 0.45, (window, displacement)
            seen = [set(epoch[from_:from_ + (window or groups) * rows] // rows) for from_ in range(0, n, (window or groups) * rows)]
            assert all(len(s) <= (window or groups) for s in seen) and sum(map(len, seen)) == groups, window
        figures.append(f"K={window or 'all'} {correlation:.2f}, {displacement:.2f}")
    return "correlation of neighbours, mean displacement: " + "; ".join(figures)


def described():
    """Parquet: lade inspect prints columns, lengths, class counts and names, as pyarrow counts them"""
    names = ["cat", "dog", "cow"]
    animals = [names[i * i % 3] for i in range(70)]
    lists = [list(range(i % 9)) for i in range(70)]
    pq.write_table(pa.table({"animal": pa.array(animals).dictionary_encode(), "list": pa.array(lists, pa.list_(pa.int16())),
                             "f32": pa.array(np.arange(70), pa.float32())}), path("described.parquet"), row_group_size=13)
    text, found = inspect("parquet:" + path("described.parquet") + ",label=animal")
    order = list(dict.fromkeys(animals))
    assert (found["kind"], found["count"], found["classes"]) == ("parquet", 70, len(order)), found
    same(found["class_names"], order, "names")
    same(found["frequencies"], [animals.count(name) for name in order], "class counts")
    fields = {field["name"]: field for field in found["fields"]}
    assert [fields[name]["dtype"] for name in ("animal", "list", "f32")] == ["i32", "i16", "f32"], fields
    lengths = fields["list"]["lengths"]
    assert (lengths["least"], lengths["most"], lengths["total"]) == (0, 8, sum(map(len, lists))), lengths
    powers = [sum((n == 0) if p == 0 else 2 ** (p - 1) <= n < 2 ** p for n in map(len, lists)) for p in range(5)]
    same(lengths["by_power"], powers, "histogram")
    assert found["label"] == 0 and found["damaged"] == 0 and found["index_use"] == "none", found
    for words in ("list i16 up to 8", "animal i32, the label", "samples   70", order[0]):
        assert words in text, (words, text)


def scaled_images():
    """Parquet: images that are scaled, without any column that must be read to open the file"""
    picture = np.random.default_rng(3).integers(0, 255, (8, 8, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG")
    pq.write_table(pa.table({"image": pa.array([out.getvalue()] * 5)}), path("scaled.parquet"), row_group_size=2)
    _, samples = dump("parquet:" + path("scaled.parquet") + ",field=image:image,size=8x8")
    for sample in samples:
        same(sample["image"], picture, "image")
    return f"{len(samples)} images"


def index_files():
    """Parquet: an index file is written once, read then, replaced when data changes or when it is damaged"""
    rows = table(500, 4)
    for n in range(2):
        pq.write_table(rows.slice(250 * n, 250), path(f"index-{n}.parquet"), row_group_size=60)
    source = "parquet:" + path("index-{0..1}.parquet") + ",label=int32,nulls=skip"
    whole = run(source + ",index=no")
    assert inspect(source)[1]["index_use"] == "none", "small data"
    text, first = inspect(source + ",index=yes")
    assert first["index_use"] == "written" and "written to" in text, first
    text, second = inspect(source + ",index=yes")
    assert second["index_use"] == "read" and "read from " + second["index_file"] in text, second
    assert first["digest"] == second["digest"] and first["fields"] == second["fields"]
    assert run(source + ",index=yes") == whole
    for memory in (",memory=60000,window=1", ",window=2"):
        assert run(source + ",index=yes" + memory) == whole, "other windows have the same index"
    file = second["index_file"]
    good = open(file, "rb").read()
    for at in list(range(0, len(good), max(1, len(good) // 40))) + [len(good) - 1]:
        open(file, "wb").write(good[:at] + bytes([good[at] ^ 4]) + good[at + 1:])
        assert run(source + ",index=yes") == whole, at
        assert open(file, "rb").read() == good, at
    open(file, "wb").write(good[:-9])
    assert inspect(source + ",index=yes")[1]["index_use"] == "written"
    at = os.stat(path("index-1.parquet"))
    os.utime(path("index-1.parquet"), ns=(at.st_atime_ns, at.st_mtime_ns + 1))
    assert inspect(source + ",index=yes")[1]["index_use"] == "written", "another time"
    pq.write_table(rows.slice(0, 250), path("index-1.parquet"), row_group_size=60)
    _, changed = inspect(source + ",index=yes")
    assert changed["index_use"] == "written" and changed["digest"] != first["digest"]
    pq.write_table(pa.table({"a": np.arange(10)}), path("fixed.parquet"))
    assert inspect("parquet:" + path("fixed.parquet") + ",index=yes")[1]["index_use"] == "none", "nothing is scanned"
    pq.ParquetWriter(path("no-groups.parquet"), pa.schema([("list", pa.list_(pa.int64()))])).close()
    refused("parquet:" + path("no-groups.parquet") + ",index=yes", "no samples")


def index_instead_of_data():
    """Parquet: a file with an index is opened without reading its pages, here since they are damaged"""
    rows = pa.table({"list": [list(range(i % 7)) for i in range(20000)]})
    pq.write_table(rows, path("pages.parquet"), row_group_size=1000, compression="none")
    source = "parquet:" + path("pages.parquet")
    assert inspect(source + ",index=yes")[1]["index_use"] == "written"
    at = os.stat(path("pages.parquet"))
    with open(path("pages.parquet"), "r+b") as file:
        file.seek(4)
        file.write(b"\xff" * (at.st_size // 2))
    os.utime(path("pages.parquet"), ns=(at.st_atime_ns, at.st_mtime_ns))
    words = [LADE, "inspect", source + ",index=yes", "--samples", "0"]
    opened = subprocess.run(words, capture_output=True, text=True)
    assert opened.returncode == 0 and "read from" in opened.stdout and "list i64 up to 6" in opened.stdout, opened
    refused(source + ",index=no", "row group 0")
    refused(source + ",index=yes", "row group 0")


def index_of_names_and_images():
    """Parquet: names of a dictionary and the size of images come from the index file, too"""
    source = "parquet:" + path("animals.parquet") + ",field=image.bytes:image,field=animal,label=animal"
    _, first = inspect(source + ",index=yes")
    _, second = inspect(source + ",index=yes")
    assert (first["index_use"], second["index_use"]) == ("written", "read")
    assert first["class_names"] == second["class_names"] and first["digest"] == second["digest"]
    assert run(source + ",index=yes") == run(source)


def errors():
    """Parquet: clear errors for what is damaged, too large, changed or not there"""
    pq.write_table(pa.table({"a": np.arange(10000)}), path("e.parquet"), row_group_size=1000)
    data = open(path("e.parquet"), "rb").read()
    with open(path("cut.parquet"), "wb") as file:
        file.write(data[:-9])
    refused("parquet:" + path("cut.parquet"), "cut.parquet")
    refused("parquet:" + path("none.parquet"), "none.parquet")
    refused("parquet:" + path("e.parquet") + ",field=b", "no column 'b'")
    refused("parquet:" + path("e.parquet") + ",memory=9000", "allow more memory")
    refused("parquet:" + path("e.parquet") + ",window=8,memory=40000", "or a smaller window")
    pq.write_table(pa.table({"a": np.arange(10.0)}), path("f.parquet"))
    refused(f"parquet:{path('e.parquet')},{path('f.parquet')}", "other types or places")
    at = len(data) // 3
    with open(path("bad.parquet"), "wb") as file:
        file.write(data[:at] + bytes(b ^ 0x55 for b in data[at:at + 3000]) + data[at + 3000:])
    refused("parquet:" + path("bad.parquet"), "row group")


for test in (every_type, nulls, dictionaries, described, scaled_images, index_files, index_instead_of_data,
             index_of_names_and_images, same_batches, shuffle, errors):
    check(test)
print(f"{counts['PASS']} passed, {counts['FAIL']} failed, 0 skipped")
sys.exit(1 if counts["FAIL"] else 0)
