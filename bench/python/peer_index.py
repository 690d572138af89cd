# SPDX-License-Identifier: MIT
"""NumPy's X[i]. See ../load/peer.py."""
import data
import numpy
import peer


def make(_, case, __):
    x, y = data.arrays(case)
    draw = numpy.random.default_rng(1)
    while True:
        order = draw.permutation(len(y))
        for first in range(0, len(y), peer.BATCH):
            chosen = order[first:first + peer.BATCH]
            yield data.size((x[chosen], y[chosen]))


if __name__ == "__main__":
    peer.serve(make)
