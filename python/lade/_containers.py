# SPDX-License-Identifier: MIT
"""Bag, Ring, Table and Split: the lock-free containers of the C library. Any thread may call them."""

import array
from itertools import repeat

from . import _lade

try:
    import numpy as np
except ImportError:
    np = None


def _words(items):
    """Items as an array of 64-bit integers, in place where they are one."""
    try:
        memoryview(items).release()
    except TypeError:
        return array.array("Q", items)
    if np is not None and isinstance(items, np.ndarray):
        return np.ascontiguousarray(items)
    return items


def _new_words(count):
    if count < 0:
        raise ValueError("a negative number of items")
    return np.empty(count, np.uint64) if np is not None else array.array("Q", bytes(8 * count))


def _seed(seed):
    return (0, True) if seed is None else (seed, False)


def _one_of(name, value, values):
    if value not in values:
        raise ValueError(f"{name} is {value!r}; it is one of {', '.join(map(repr, values))}")
    return values.index(value)


class Bag(_lade.Bag):
    """A container that many threads fill and draw from uniformly at random, without a lock: a shuffle buffer (put until it
    is full, then exchange), a work pool (put and draw), a replay buffer (full="oldest" or "uniform", put and sample).

    capacity        the maximum number of items
    record          None: items are ints from 1 to 2**48 - 1. A number: items are bytes of that length. Anything that
                    numpy.dtype takes: items are NumPy records, copied in and out
    full            what put does if the bag is full: "reject" raises FullError, "uniform" replaces an item, each equally
                    likely, "oldest" replaces the oldest
    max_times_sampled   the sample that reaches it removes the item; 0: no limit
    samples_per_insert, ratio_slack     keep samples - samples_per_insert * puts within ratio_slack: the one that is ahead
                    raises LimitedError, or waits; 0: no limit
    seed            of the draws; None: a random one, which stats() has
    handles         the maximum number of threads inside the bag at a time; a thread that waits is inside. Each costs
                    about 1 KiB and four records

    Methods that end in _wait wait: up to timeout seconds, None: forever; then TimedOutError. The others return at once.
    len() is the number of items. An item is never seen half-written, and never changes while it is in the bag: there is
    no update in place. To change one, draw it and put it back, or exchange.
    """

    __slots__ = ("dtype", "record")

    def __new__(cls, capacity, *, record=None, full="reject", max_times_sampled=0, samples_per_insert=0.0, ratio_slack=0.0,
                seed=None, handles=16):
        dtype = pack = unpack = None
        size = 0
        if isinstance(record, int):
            size = record
            if size < 1:
                raise ValueError("record is a number of bytes, at least 1")
        elif record is not None:
            if np is None:
                raise TypeError("record is a number of bytes, or with NumPy installed what numpy.dtype takes")
            dtype = np.dtype(record)
            if dtype.hasobject or dtype.itemsize == 0:
                raise TypeError(f"record: {dtype} has no fixed number of bytes without references")
            size = dtype.itemsize
            base = dtype.base  # of an array of numbers as one record
            pack = lambda item: np.asarray(item, base).tobytes()  # noqa: E731
            unpack = lambda data: np.frombuffer(data, dtype)[0]  # noqa: E731
        bag = super().__new__(cls, capacity, size, handles, _one_of("full", full, ("reject", "uniform", "oldest")),
                              max_times_sampled, samples_per_insert, ratio_slack, *_seed(seed), pack, unpack)
        bag.dtype, bag.record = dtype, size or None
        return bag

    def put_many(self, items):
        """Puts the items of an array (bytes: one record after the other). Returns how many: fewer if the bag became full
        or closed."""
        if self.dtype is not None:
            items = np.ascontiguousarray(items, self.dtype.base).reshape(-1).view(np.uint8)
        return self._put_many(items if self.record else _words(items))

    def draw_many(self, count):
        """Draws up to count items, as an array (bytes: one record after the other). Fewer if no more were there."""
        return self._many(self._draw_into, count)

    def sample_many(self, count):
        """Samples count items, with replacement, as an array of copies. Fewer if the bag is empty, or limits it."""
        return self._many(self._sample_into, count)

    def _many(self, fill, count):
        if not self.record:
            out = _new_words(count)
            return out[:fill(out)]
        if self.dtype is not None:
            out = np.empty(count, self.dtype)
            raw = out.reshape(-1).view(np.uint8)
            return out[:fill(raw)]
        out = bytearray(count * self.record)
        done = fill(out)
        return bytes(memoryview(out)[:done * self.record])


class Ring(_lade.Ring):
    """A bounded queue of ints from 0 to 2**64 - 1, first in, first out, without a lock.

    capacity        the maximum number of ints, exact
    kind            "mpmc": any number of threads push and pop. "spsc": one at a time pushes, one at a time pops, another
                    gets ConflictError; each operation costs less
    handles         mpmc: the maximum number of threads inside the ring at a time; a thread that waits is inside

    Methods that end in _wait wait: up to timeout seconds, None: forever; then TimedOutError. len() is the number of ints.
    """

    __slots__ = ()

    def __new__(cls, capacity, *, kind="mpmc", handles=64):
        return super().__new__(cls, capacity, handles, _one_of("kind", kind, ("mpmc", "spsc")) == 1)

    def push_many(self, numbers):
        """Pushes the ints of an array in order, until the ring is full or closed. Returns how many."""
        return self._push_many(_words(numbers))

    def pop_many(self, count):
        """Pops up to count ints, as an array, oldest first."""
        out = _new_words(count)
        return out[:self._pop_into(out)]


class Table(_lade.HashTable):
    """A hash table from ints (or bytes) to ints that many threads read and write at the same time, and that grows while
    they do. Of several inserts of a key the first wins: insert() returns the winner's value to all.

    keys            int: 0 to 2**64 - 1. bytes: any length; str is taken as UTF-8
    reserve         the number of keys for which memory is allocated at once
    max_bytes       of the arrays; 0: no limit

    Values are 0 to 2**63 - 3. table[key], key in table, and len(table), which scans the table.
    """

    __slots__ = ("keys",)

    def __new__(cls, keys=int, *, reserve=0, max_bytes=0):
        if keys not in (int, bytes):
            raise ValueError("keys is int or bytes")
        table = super().__new__(cls, keys is bytes, reserve, max_bytes)
        table.keys = keys
        return table

    def get_many(self, keys):
        """The values of an array of keys, and an array of whether each was present. The value is 0 where it was not."""
        keys = _words(keys)
        values = _new_words(len(keys))
        found = np.empty(len(keys), bool) if np is not None else bytearray(len(keys))
        self._get_many(keys, values, found)
        return values, found

    def insert_many(self, keys, values):
        """Inserts arrays of keys and values. Returns the values that the keys have, and how many keys were inserted."""
        keys, values = _words(keys), _words(values)
        winners = _new_words(len(keys))
        return winners, self._insert_many(keys, values, winners)


def _weights(parts):
    weights = [1] * parts if isinstance(parts, int) else list(parts)
    if not 1 <= len(weights) <= 255:
        raise ValueError(f"{len(weights)} parts; a split has 1 to 255")
    return array.array("I", weights)


class Split(_lade.Split):
    """Assigns each item to a part (training, test, ...), once and for all threads and later runs.

    parts           a number of equal parts, or the weights of the parts: Split([8, 1, 1])
    rule            "hash": by key and seed, the same on every machine; a changed weight moves as few items as possible.
                    "coin": also by key and seed, exact. "quota": exact counts for each class, in order of arrival
    store           "exact": every decision is recorded, the first wins. "pure": nothing is. "compact", "arrays": two
                    parts, rule "coin", and a fixed capacity
    seed            an int; None: a random one, see .seed
    content         of items with equal content: "follow" puts them into one part, "drop" leaves all but the first out
                    (None), "reject" raises ConflictError
    conflict        group and content recorded with different parts: "refuse" (ConflictError), "group" or "content" wins
    capacity        items; bits_per_item: of store "arrays"
    quota           a row for each class, with the number of items of each part; threads: that decide at a time

    Keys, groups and contents are ints (from 0), str or bytes; an int is its eight bytes, little endian. Items of a group go
    to one part. A loader takes the split as split= and part=.
    """

    __slots__ = ()

    def __new__(cls, parts, *, rule="hash", store="exact", seed=1, content="follow", conflict="refuse", capacity=0,
                bits_per_item=0, quota=None, threads=0):
        weights = _weights(parts)
        rows = [list(row) for row in quota or ()]
        if any(len(row) != len(weights) for row in rows):
            raise ValueError(f"quota: each row has one number for each of the {len(weights)} parts")
        return super().__new__(
            cls, weights, _one_of("rule", rule, ("hash", "coin", "quota")),
            _one_of("store", store, ("exact", "pure", "compact", "arrays")), *_seed(seed),
            _one_of("content", content, ("follow", "drop", "reject")),
            _one_of("conflict", conflict, ("refuse", "group", "content")), capacity, bits_per_item,
            array.array("Q", [n for row in rows for n in row]), len(rows), threads)

    def route_many(self, keys, groups=None, contents=None, classes=None):
        """The parts of many items, as an array of int32; -1: left out (content="drop"). An array of ints alone is routed
        without the GIL. An exception keeps what was decided before it."""
        plain = groups is None and contents is None and classes is None
        try:
            plain = plain and memoryview(keys).itemsize == 8
        except (TypeError, ValueError):
            plain = False
        if plain:
            keys = _words(keys)
            parts = np.empty(len(keys), np.int32) if np is not None else array.array("i", bytes(4 * len(keys)))
            self._route_into(keys, parts)
            return parts
        rows = zip(keys, repeat(None) if groups is None else groups, repeat(None) if contents is None else contents,
                   repeat(0) if classes is None else classes)
        parts = array.array("i")
        for row in rows:
            part = self.route(*row)
            parts.append(-1 if part is None else part)
        return np.frombuffer(parts, np.int32) if np is not None and parts else parts

    def merge(self, other, *, salt=0, resolve=False):
        """Adds the decisions of another split with the same seed and parts. Returns the differences: tuples (hash of the
        key, kind of name, part here, part there, part chosen). With resolve=False a difference is a ConflictError, and
        nothing changes. The chosen part depends on salt and name only, not on the order of merges."""
        return self._merge(other, salt, resolve)

    @staticmethod
    def shares(parts, count):
        """count items divided among parts by weight: a row of quota."""
        return _lade.Split._shares(_weights(parts), count)

    @staticmethod
    def audit(counts, parts=None):
        """Chi-square tests of counts[class][part]: do classes have the same shares in all parts, do parts have their
        weights. Values with _p are probabilities that chance alone deviates as much."""
        rows = [list(row) for row in counts]
        weights = _weights(len(rows[0]) if parts is None and rows else parts or 1)
        if any(len(row) != len(weights) for row in rows):
            raise ValueError(f"each row has one number for each of the {len(weights)} parts")
        return _lade.Split._audit(array.array("Q", [n for row in rows for n in row]), len(rows), len(weights), weights)
