# SPDX-License-Identifier: MIT
"""lade.Loader."""

import atexit
import os
import weakref

from . import _lade, _source

_live = weakref.WeakSet()


@atexit.register
def _close_all():
    """Workers may call Python functions, so they end before the interpreter does."""
    for loader in list(_live):
        loader.close()


def _processors():
    return len(os.sched_getaffinity(0))


class Loader(_lade.Loader):
    """Batches of a data set, prepared ahead by threads.

    source          text that names a data set ("cifar10:DIR", "synthetic:count=1000"), an array, a tuple or dict of
                    arrays
    batch           samples of a batch
    seed            decides the order, and random transforms; None draws one
    label, key, group   names of fields of a dict: the class; what identifies a sample; what a split keeps together
    classes         number of classes; 0: the largest label + 1
    threads         workers; default: as many as there are processors
    in_order        batches come in the order of the plan, with the same bytes for any number of threads; otherwise the
                    same batches as soon as they are ready
    shuffle         False: samples by their numbers
    epochs          after so many iteration yields nothing; None: no limit
    drop_last       drop the last batch of an epoch if it is incomplete
    shard, shards   this process's number, and how many there are
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

    def __init__(self, source, batch=128, seed=1, *, label=None, key=None, group=None, classes=0, threads=None,
                 in_order=True, shuffle=True, epochs=None, drop_last=False, shard=0, shards=1, pad=False, draw=None,
                 weights=None, buffer=0, faults="fail", faults_max=None, slots=None, assist=False, timeout=60.0,
                 state=None):
        threads = threads or _processors()
        if draw is None:
            draw = "once" if weights is None else "weighted"
        options = {
            "batch": batch, "drop_last": drop_last, "in_order": in_order, "sequential": not shuffle, "threads": threads,
            "consumer_assists": assist, "slots": slots or 2 * threads + 3, "epochs": epochs or 0, "shard": shard,
            "shards": shards, "pad": pad, "draw": _choice("draw", draw, ("once", "weighted", "balanced")), "buffer": buffer,
            "fault": _choice("faults", faults, ("fail", "skip", "substitute")), "faults_max": faults_max or 0,
            "worker_timeout": -1 if timeout is None else max(1, round(timeout * 1e9)),
            "random_seed": seed is None, "seed": seed or 0,
        }
        if weights is not None:
            options["weights"] = weights
        super().__init__(_source.open_source(source, label, key, group, classes), options, _state_text(state))
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
