# SPDX-License-Identifier: MIT
"""Python sequences and iterables as sources.

Workers call Python for every sample: with a GIL one at a time, so this is as fast as one thread of Python. Arrays and files
that the library reads itself are many times faster.
"""

import struct
import threading

from . import _lade

_NAMES = {"?": "bool", "e": "float16", "f": "float32", "d": "float64", "Zf": "complex64", "Zd": "complex128"}
_NUMBERS = {bool: ("bool", "?"), int: ("int64", "q"), float: ("float64", "d")}


def _dtype(view):
    code = (view.format or "B").lstrip("@=<")
    if code in _NAMES:
        return _NAMES[code]
    if code in tuple("bhilqn"):
        return f"int{8 * view.itemsize}"
    if code in tuple("BHILQNc"):
        return f"uint{8 * view.itemsize}"
    raise TypeError(f"elements of format {view.format!r} cannot be read")


def _view(value):
    """(dtype, shape, buffer) of one field of a sample."""
    if type(value) in _NUMBERS:
        dtype, code = _NUMBERS[type(value)]
        return dtype, (), struct.pack(code, value)
    if isinstance(value, str):
        value = value.encode()
    try:
        view = memoryview(value)
    except TypeError:
        if hasattr(value, "numpy"):
            view = memoryview(value.detach().cpu().numpy() if hasattr(value, "detach") else value.numpy())
        elif hasattr(value, "__array__"):
            view = memoryview(value.__array__())
        else:
            raise TypeError(f"a sample holds {type(value).__name__}; a field is a number, text, bytes or an array") from None
    return _dtype(view), view.shape, view if view.c_contiguous else view.tobytes()


def _items(sample):
    """Pairs of a name and a value."""
    if isinstance(sample, dict):
        return list(sample.items())
    if isinstance(sample, (tuple, list)):
        names = ["sample", "label"] if len(sample) == 2 else [f"field{i}" for i in range(len(sample))]
        return list(zip(names, sample))
    return [("sample", sample)]


class Reader:
    """What the workers call."""

    def __init__(self, source, first, ragged):
        self.source, self.ragged, self.local = source, ragged, threading.local()
        self.form = []
        for name, value in _items(first):
            dtype, shape, _ = _view(value)
            if name not in ragged and isinstance(value, (str, bytes, bytearray)):
                raise TypeError(f"field {name!r} is text of different lengths: pass ragged={{{name!r}: N}} with the largest "
                                "number of bytes")
            self.form.append((name, dtype, shape[1:] if name in ragged else shape))
        for name in ragged:
            if name not in [form[0] for form in self.form]:
                raise ValueError(f"ragged names {name!r}; the fields of a sample are {[form[0] for form in self.form]}")

    def fields(self):
        """For the extension."""
        return tuple((name, dtype, tuple(shape), self.ragged.get(name, 0)) for name, dtype, shape in self.form)

    def views(self, sample, number):
        items = _items(sample)
        if [item[0] for item in items] != [form[0] for form in self.form]:
            raise TypeError(f"sample {number} has the fields {[item[0] for item in items]}, the first one "
                            f"{[form[0] for form in self.form]}")
        result = []
        for (name, value), (_, dtype, shape) in zip(items, self.form):
            view = _view(value)
            if view[0] != dtype or tuple(view[1][1:] if name in self.ragged else view[1]) != tuple(shape):
                raise TypeError(f"sample {number}: field {name!r} is {view[0]} {tuple(view[1])}, in the first sample "
                                f"{dtype} {tuple(shape)}" + (" for each step" if name in self.ragged else ""))
            result.append(view)
        return result

    def sample(self, i):
        """The views of sample i; the last one is kept, because its lengths are asked for before its bytes."""
        if getattr(self.local, "number", None) != i:
            self.local.views, self.local.number = self.views(self.source[i], i), i
        return self.local.views

    def read(self, i):
        return tuple(view[2] for view in self.sample(i))

    def length(self, i, field):
        return self.sample(i)[field][1][0] if self.form[field][0] in self.ragged else 1


class Stream:
    """An iterable, which one worker at a time advances."""

    def __init__(self, iterable):
        self.iterator, self.lock, self.number = iter(iterable), threading.Lock(), 0
        try:
            self.first = next(self.iterator)
        except StopIteration:
            raise ValueError("the iterable is empty") from None
        items = _items(self.first)
        if len(items) > 2:
            raise TypeError("a sample of an iterable is a tensor, or a tensor and an integer label")
        self.reader = Reader(None, self.first, {})

    def read(self):
        with self.lock:
            if self.number == 0:
                sample, self.first = self.first, None
            else:
                sample = next(self.iterator)
            number, self.number = self.number, self.number + 1
        views = self.reader.views(sample, number)
        label = _items(sample)[1][1] if len(views) == 2 else -1
        return views[0][2], int(label), number


def open_sequence(source, ragged, label, key, group, classes):
    if len(source) == 0:
        raise ValueError("the sequence is empty")
    reader = Reader(source, source[0], ragged or {})
    names = [form[0] for form in reader.form]
    if classes and label is None and "label" in names:
        label = "label"
    return _lade.custom_source(reader.read, reader.length, len(source), reader.fields(), label, key, group, classes)


def open_stream(source, classes):
    stream = Stream(source)
    if len(stream.reader.form) == 2 and not classes:
        raise ValueError("pass classes=N: labels of an iterable are integers below N")
    return _lade.custom_source(stream.read, None, 2**64 - 1, stream.reader.fields()[:1], None, None, None, classes)
