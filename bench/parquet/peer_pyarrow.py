# SPDX-License-Identifier: MIT
"""
pyarrow on Parquet files, which it also writes, once. See bench/load/peer.py. Variants: scan (a threaded scan by
pyarrow.dataset, record batches as they come), read (read_row_groups of a window of row groups, in the order of the file), shuffle (the
same with the row groups permuted, and the rows of a window permuted by NumPy and taken as batches of 128).
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "load"))

import numpy  # noqa: E402
import peer  # noqa: E402
import pyarrow  # noqa: E402
import pyarrow.dataset  # noqa: E402
import pyarrow.parquet  # noqa: E402

GROUPS, WINDOW = 128, 16
ROWS = {"bytes-4096": 512, "bytes-1024": 1024, "doubles": 8192}  # of a row group


def columns_of(case, rows, draw):
    if case == "doubles":
        return {f"c{i}": draw.random(rows) for i in range(8)}
    size = int(case.split("-")[1])
    values = pyarrow.py_buffer(draw.bytes(rows * size))
    return {"row": pyarrow.Array.from_buffers(pyarrow.binary(size), rows, [None, values])}


def write(folder, case):
    path = folder / f"{case}.parquet"
    if path.exists():
        return
    draw, writer = numpy.random.default_rng(1), None
    for _ in range(GROUPS):
        table = pyarrow.table(columns_of(case, ROWS[case], draw))
        writer = writer or pyarrow.parquet.ParquetWriter(path.with_suffix(".unready"), table.schema, use_dictionary=False)
        writer.write_table(table)
    writer.close()
    path.with_suffix(".unready").rename(path)


def arrays(table):
    """The columns without a copy, if they are in one piece."""
    for column in table.combine_chunks().columns:
        chunk = column.chunk(0)
        if pyarrow.types.is_fixed_size_binary(chunk.type):
            yield numpy.frombuffer(chunk.buffers()[1], numpy.uint8).reshape(-1, chunk.type.byte_width)
        else:
            yield chunk.to_numpy()


def windows(file, groups):
    for begin in range(0, GROUPS, WINDOW):
        yield file.read_row_groups(groups[begin:begin + WINDOW], use_threads=True)


def shuffled(file, draw):
    for table in windows(file, draw.permutation(GROUPS).tolist()):
        columns, order = list(arrays(table)), draw.permutation(table.num_rows)
        for begin in range(0, len(order), peer.BATCH):
            yield [column[order[begin:begin + peer.BATCH]] for column in columns]


def make(folder, case, variant):
    path = f"{folder}/{case}.parquet"
    file = pyarrow.parquet.ParquetFile(path, memory_map=True)
    draw = numpy.random.default_rng(2)
    while True:
        if variant == "scan":
            for batch in pyarrow.dataset.dataset(path).scanner(use_threads=True).to_batches():
                if batch.num_rows > 0:
                    yield batch.num_rows
        elif variant == "read":
            for table in windows(file, list(range(GROUPS))):
                yield table.num_rows
        else:
            for batch in shuffled(file, draw):
                yield len(batch[0])


if __name__ == "__main__":
    for name in ROWS:
        write(pathlib.Path(sys.argv[1]), name)
    peer.serve(make)
