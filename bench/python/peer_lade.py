# SPDX-License-Identifier: MIT
"""The package lade. See ../load/peer.py. Variants: "torch" and "assist", tensors of PyTorch; "numpy", views of NumPy."""
import os
import sys

import data
import numpy
import peer
import torch

import lade
import lade.torch


def views(loader):
    while True:
        for batch in loader:
            x, y = numpy.asarray(batch[0]), numpy.asarray(batch[1])
            del x
            yield len(y)


def make(folder, case, variant):
    threads = int(sys.argv[2])
    if case == peer.LARGE:
        return peer.endless(lade.torch.Loader(f"images:{os.path.join(folder, case)}", peer.IMAGE_BATCH, threads=threads), data.size)
    options = {"threads": threads, "assist": variant == "assist", "slots": 2 * threads + 2}
    if variant == "numpy":
        return views(lade.Loader(data.arrays(case), peer.BATCH, **options))
    return peer.endless(lade.torch.Loader(data.arrays(case), peer.BATCH, **options), data.size)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    peer.serve(make)
