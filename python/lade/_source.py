# SPDX-License-Identifier: MIT
"""What a loader can read, as sources of the C library."""

import os
from typing import NamedTuple

from . import _lade


class Ragged(NamedTuple):
    """A field whose samples differ in length: sample i has the steps from offsets[i] to offsets[i + 1] of values."""

    values: object
    offsets: object


def is_array(value):
    """Whether the memory of value can be read in place."""
    if isinstance(value, (str, bytes, bytearray)):
        return False
    if hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value).release()
    except (TypeError, ValueError, BufferError):
        return hasattr(value, "__array_interface__") # an array of a type that no buffer can have: the error names it
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


def open_source(source, label=None, key=None, group=None, classes=0):
    """The source of the C library for what a user passes as source."""
    if isinstance(source, _lade.Source):
        return source
    if isinstance(source, (str, os.PathLike)):
        if label or key or group or classes:
            raise TypeError("label, key, group and classes belong to arrays and sequences; a text names them itself")
        return _lade.open_source(os.fspath(source))
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
    raise TypeError(f"a loader cannot read {type(source).__name__}; it reads the text of a source, arrays, a tuple or "
                    "dict of arrays, a table (Arrow), or a sequence of samples")
