# SPDX-License-Identifier: MIT
"""The arrays of bench/run python: samples and labels of each case. peer.py is that of bench/load."""
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "load"))

CIFAR, OVERHEAD = 50_000, 1792  # samples; 1,792 are whole batches


def arrays(case):
    if case == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return (digits.data / 16).astype(numpy.float32), digits.target.astype(numpy.int64)
    draw = numpy.random.default_rng(1)
    if case == "overhead":
        return draw.random((OVERHEAD, 64), numpy.float32), draw.integers(0, 10, OVERHEAD)
    return draw.integers(0, 256, (CIFAR, 3, 32, 32), numpy.uint8), draw.integers(0, 10, CIFAR)


def size(batch):
    """The samples of a pair of arrays."""
    return len(batch[1])
