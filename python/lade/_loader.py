# SPDX-License-Identifier: MIT
"""lade.Loader."""

import atexit
import importlib.resources
import itertools
import json
import operator
import os
import struct
import weakref
from typing import NamedTuple

from . import _lade, _source, ranks, transforms

_live = weakref.WeakSet()


@atexit.register
def _close_all():
    """Workers may call Python functions, so they end before the interpreter does."""
    for loader in list(_live):
        loader.close()


def _processors():
    return len(os.sched_getaffinity(0))


class Field(NamedTuple):
    """How a field of the source is batched. All but name is for ragged fields.

    concatenate     the steps of all samples one after another, with the offsets as a further tensor; otherwise rows are
                    padded to one length, and their lengths are a further tensor
    max, cut        steps of a sample; a longer one is a fault, or cut
    total           steps of a batch, padding included: a batch ends before the sample that would exceed it
    multiple        rows are rounded up to a multiple of this
    buckets         rows have the smallest of these lengths that fits
    padding         what rows are filled with: the bytes of one element, such as numpy.int32(-1).tobytes()
    wide            lengths and offsets are int64 instead of int32
    """

    name: str
    concatenate: bool = False
    max: int = 0
    cut: bool = False
    total: int = 0
    multiple: int = 0
    buckets: tuple = ()
    padding: bytes | None = None
    wide: bool = False


def _field(field, packed):
    field = Field(field) if isinstance(field, str) else field
    buckets = struct.pack(f"={len(field.buckets)}Q", *field.buckets) if field.buckets else None
    return (field.name, 2 if packed else int(field.concatenate), field.wide, field.cut, field.max, field.total, field.multiple, buckets,
            field.padding)


def _image(source, name, layout):
    """Number and form of the field that is transformed."""
    fields = source.fields
    names = [field[0] for field in fields]
    if name is not None and name not in names:
        raise ValueError(f"no field {name!r}; there are {', '.join(names)}")
    number = names.index(name) if name else 0
    return number, transforms.form_of(*fields[number][1:3], layout)


class Loader(_lade.Loader):
    """Batches of a data set, prepared ahead by threads.

    source          text that names a data set ("cifar10:DIR", "synthetic:count=1000"); an array, or a tuple or dict of
                    arrays, which are read in place and must not change; a table (Arrow), or lade.Arrow; a sequence of samples (slow: Python is called for
                    each), or an iterable (a stream: needs buffer). A sample is a tensor, a tuple or a dict
    batch           samples of a batch
    seed            decides the order, and random transforms; None draws one
    label, key, group   names of fields of a dict: the class; what identifies a sample; what a split keeps together
    classes         number of classes; 0: the largest label + 1
    ragged          of a sequence: names of fields whose first dimension differs between samples, with its maximum
    split, part     a lade.Split, and the number of the part to deliver
    fields          of a source with several: names, or lade.Field with how a ragged field is batched
    pack            more than 0: ragged fields are packed into rows of this many steps, and batch counts rows
    pack_window, pack_samples   samples that are packed together; the most in a row
    longer          a sample that is longer than a row: "fault", "cut", "split" or "drop"
    transform       a list of lade.transforms, or functions, applied to images by the workers
    transform_field, layout   the field that is transformed; "hwc" or "chw" if its shape does not show it
    threads         workers; default: as many as there are processors
    in_order        batches come in the order of the plan, with the same bytes for any number of threads; otherwise the
                    same batches as soon as they are ready
    shuffle         False: samples by their numbers
    epochs          after N epochs iteration yields nothing; None: no limit
    drop_last       drop the last batch of an epoch if it is incomplete
    shard, shards   this process's number, and how many there are; shard="auto": those of lade.ranks.detect()
    pad             make shards equally long by repeating samples, instead of leaving some out
    draw            "once", "weighted" (by weights) or "balanced" (all classes alike)
    weights         one float64 for each sample
    buffer          more than 0: stream mode, samples are drawn from a buffer of this many
    faults          a sample that cannot be read: "fail", "skip" or "substitute"
    faults_max      that many are tolerated; None: any number
    slots           batches that are ready or held; default 2 * threads + 3
    assist          the consumer makes batches, too, where it would wait
    timeout         seconds without a batch after which a worker is replaced
    state           of state_dict(): continue there

    Iterating yields the rest of the current epoch, and the next epoch when that has ended.
    """

    def __init__(self, source, batch=128, seed=1, *, label=None, key=None, group=None, classes=0, ragged=None,
                 split=None, part=0, fields=None, pack=0, pack_window=0,
                 pack_samples=0, longer="fault", transform=None, transform_field=None, layout=None, threads=None,
                 in_order=True, shuffle=True, epochs=None, drop_last=False, shard=0, shards=1, pad=False, draw=None,
                 weights=None, buffer=0, faults="fail", faults_max=None, slots=None, assist=False, timeout=60.0,
                 state=None):
        self._made_of = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        if shard == "auto":
            if shards != 1:
                raise ValueError("shards is given, but shard is 'auto': give both or none")
            shard, shards = ranks.detect()
        threads = threads or _processors()
        if draw is None:
            draw = "once" if weights is None else "weighted"
        options = {
            "batch": batch, "drop_last": drop_last, "in_order": in_order, "sequential": not shuffle, "threads": threads,
            "consumer_assists": assist, "slots": slots or 2 * threads + 3, "epochs": epochs or 0, "shard": shard,
            "shards": shards, "pad": pad, "draw": _choice("draw", draw, ("once", "weighted", "balanced")), "buffer": buffer,
            "fault": _choice("faults", faults, ("fail", "skip", "substitute")), "faults_max": faults_max or 0,
            "worker_timeout": -1 if timeout is None else max(1, round(timeout * 1e9)),
            "pack_row": pack, "pack_window": pack_window, "pack_samples": pack_samples,
            "pack_longer": _choice("longer", longer, ("fault", "cut", "split", "drop")), "random_seed": seed is None, "seed": seed or 0,
        }
        if weights is not None:
            options["weights"] = weights
        if split is not None:
            options["split"], options["part"] = split._lade_split, part
        opened = _source.open_source(source, label, key, group, classes, ragged)
        if fields is not None:
            options["fields"] = tuple(_field(field, pack > 0) for field in fields)
        if transform:
            number, form = _image(opened, transform_field, layout)
            options["pipeline_field"] = number
            options["pipeline"] = _lade.make_pipeline(form.packed(), transforms.steps_of(transform, form))
        super().__init__(opened, options, _state_text(state))
        _live.add(self)

    def __len__(self):
        batches = self._stats()["batches"]
        if batches == 0:
            raise TypeError("the number of batches depends on the lengths of the samples")
        return batches

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        return _again, (type(self), {**self._made_of, "state": None if self._made_of["buffer"] else self.state_dict()})

    def __getitem__(self, key):
        """loader[a:b] is an iterator over the batches a to b - 1 of what a loop yields; those before are read, too."""
        if not isinstance(key, slice) or key.step not in (None, 1):
            raise TypeError("a loader is sliced, as loader[10:20], with step 1")
        first, end = (None if bound is None else operator.index(bound) for bound in (key.start, key.stop))
        if min(first or 0, end or 0) < 0:
            raise ValueError("a slice of a loader counts from the next batch: a bound cannot be negative")
        return itertools.islice(iter(self), first, end)

    def state_dict(self):
        """The position after the last batch, as a dict that JSON can hold."""
        return {"lade": self._state()}

    def load_state_dict(self, state):
        """Continues after the last batch of the loader that returned the state."""
        self._resume(_state_text(state))

    def stats(self):
        """What the loader measured: a dict. Times are seconds, those of workers sums over all of them."""
        stats = self._stats()
        return {name: value / 1e9 if name.endswith("_time") else value for name, value in stats.items()}

    def report(self, html=None):
        """The report of lade feed about what the loops got: rates, waits, the bottleneck, as a dict.

        html: the path of a page to write as well.
        """
        source = self._made_of["source"]
        text = os.fspath(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__
        order = "stream" if self._made_of["buffer"] else "in order" if self._made_of["in_order"] else "as ready"
        report = self._report(text, order)
        if html is not None:
            page = importlib.resources.files(__package__).joinpath("report.html").read_text()
            version = _lade.version
            with open(html, "w", encoding="utf-8") as file:
                file.write(page.replace("@VERSION@", version).replace("@REPORT@", report))
        return json.loads(report)


def _choice(name, value, choices):
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it is one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def _state_text(state):
    if state is None or isinstance(state, str):
        return state
    try:
        return state["lade"]
    except (TypeError, KeyError):
        raise ValueError("the state is not one of Loader.state_dict()") from None


def _again(cls, options):
    return cls(**options)
