# SPDX-License-Identifier: MIT
"""numpy.take into a buffer that is used again; the order is drawn beforehand. See peer.py."""
import os

import numpy

import peer


def rows_of(folder, case):
    if case == "memory":
        return numpy.load(os.path.join(folder, "npy", "samples.npy")).reshape(peer.COUNT, peer.BYTES)
    records = numpy.memmap(os.path.join(folder, "records", "samples.bin"), numpy.uint8, "r")
    return records.reshape(peer.COUNT, 1 + peer.BYTES)


def make(folder, case, variant):
    rows = rows_of(folder, case)
    order = numpy.random.default_rng(1).permutation(peer.COUNT)
    out = numpy.empty((peer.BATCH, rows.shape[1]), rows.dtype)
    while True:
        for first in range(0, peer.COUNT, peer.BATCH):
            chosen = order[first:first + peer.BATCH]
            numpy.take(rows, chosen, axis=0, out=out[:len(chosen)], mode=variant)
            yield len(chosen)


if __name__ == "__main__":
    peer.serve(make)
