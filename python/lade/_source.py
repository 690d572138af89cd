# SPDX-License-Identifier: MIT
"""What a loader can read, as sources of the C library."""

import os
from typing import NamedTuple

from . import _lade, _sequence


class Ragged(NamedTuple):
    """A field whose samples differ in length: sample i has the steps from offsets[i] to offsets[i + 1] of values."""

    values: object
    offsets: object


class Arrow(NamedTuple):
    """A table (Arrow: pyarrow, polars, pandas, datasets, duckdb) with options; Loader(table) reads all columns.

    columns         names; None: all
    images          those of the columns that hold JPEG or PNG, scaled to size (height, width) if that is given
    nulls           "fail", "skip" (a row with one is no sample) or "fill" (by fill)
    memory          None: the table is kept whole. Else this many bytes are in memory: the table is read in windows of
                    consecutive record batches, and rows are shuffled inside each; it must give its stream more than once
    """

    table: object
    columns: tuple | None = None
    images: tuple = ()
    size: tuple = (0, 0)
    pixels: int = 0
    nulls: str = "fail"
    fill: float = 0.0
    memory: int | None = None


def _is_hugging_face(value):
    """Whether it is a Dataset of Hugging Face whose rows are those of its table: with a transform it is a sequence."""
    named = any((c.__module__, c.__name__) == ("datasets.arrow_dataset", "Dataset") for c in type(value).__mro__)
    return named and value.format["type"] != "custom"


def _arrow_of(table):
    """The table of a Dataset of Hugging Face. Rows that it selected or reordered by numbers are copied, the others are not."""
    if not _is_hugging_face(table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise TypeError(f"lade.Arrow takes a table with __arrow_c_stream__, or a Dataset without a transform, not {type(table).__name__}")
        return table
    columns = None if table.format["output_all_columns"] else table.format["columns"]
    rows = table.with_format("arrow", columns=columns)[:]
    return rows if getattr(table, "_indices", None) is None else rows.combine_chunks()


def _table(table, label, key, group, classes):
    nulls = ("fail", "skip", "fill")
    if table.nulls not in nulls:
        raise ValueError(f"nulls is {table.nulls!r}; it is one of 'fail', 'skip', 'fill'")
    columns = table.columns
    if columns is None and table.images:
        raise ValueError("images needs columns: name all that are read")
    chosen = tuple((name, name in table.images) for name in columns or ())
    return _lade.arrow_source(_arrow_of(table.table), chosen, label, key, group, classes, nulls.index(table.nulls), table.fill,
                              table.memory or 0, *table.size, table.pixels)


def is_array(value):
    """Whether the memory of value can be read in place."""
    if isinstance(value, (str, bytes, bytearray)):
        return False
    if hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return hasattr(value, "__array_interface__")  # an array of a type that no buffer can have: the error names it
    return True


def _column(name, value):
    if not isinstance(name, str):
        raise TypeError(f"names of fields are text, not {name!r}")
    if isinstance(value, Ragged):
        return name, value.values, value.offsets
    return name, value, None


def _is_labels(value):
    """Whether an array can be labels of classes: one integer for each sample."""
    text = str(getattr(value, "dtype", ""))
    return len(getattr(value, "shape", ())) == 1 and ("int" in text)


def _arrays(columns, label, key, group, classes):
    for name in (label, key, group):
        if name is not None and name not in columns:
            raise ValueError(f"no field {name!r}; there are {', '.join(columns)}")
    return _lade.arrays_source(tuple(_column(*item) for item in columns.items()), label, key, group, classes)


def open_source(source, label=None, key=None, group=None, classes=0, ragged=None):
    """The source of the C library for what a user passes as source."""
    if isinstance(source, _lade.Source):
        return source
    if isinstance(source, (str, os.PathLike)):
        if label or key or group or classes:
            raise TypeError("label, key, group and classes belong to arrays and sequences; a text names them itself")
        return _lade.open_source(os.fspath(source))
    if isinstance(source, Arrow):
        return _table(source, label, key, group, classes)
    if hasattr(source, "__arrow_c_stream__") or _is_hugging_face(source):
        return _table(Arrow(source), label, key, group, classes)
    if isinstance(source, dict):
        if not source:
            raise ValueError("a dict without arrays")
        return _arrays(source, label, key, group, classes)
    if isinstance(source, tuple) and source and all(is_array(item) for item in source):
        if len(source) == 2 and _is_labels(source[1]) and not (key or group):
            return _lade.array_source(source[0], source[1], classes)
        names = ["sample", "label"] if len(source) == 2 else [f"field{i}" for i in range(len(source))]
        return _arrays(dict(zip(names, source)), label, key, group, classes)
    if is_array(source):
        return _lade.array_source(source, None, classes)
    if hasattr(source, "__getitem__") and hasattr(source, "__len__") and not isinstance(source, (bytes, bytearray)):
        return _sequence.open_sequence(source, ragged, label, key, group, classes)
    if hasattr(source, "__iter__") and not isinstance(source, (bytes, bytearray)):
        return _sequence.open_stream(source, classes)
    raise TypeError(f"a loader cannot read {type(source).__name__}; it reads the text of a source, arrays, a tuple or "
                    "dict of arrays, a table (Arrow), or a sequence of samples")
