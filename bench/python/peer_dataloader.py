# SPDX-License-Identifier: MIT
"""PyTorch. See ../load/peer.py. Variants: "index", X[i] of tensors; "each-N" and "batch-N", a DataLoader with N workers, by
samples or with a batch sampler."""
import sys

import data
import peer
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


def index(x, y):
    while True:
        for chosen in torch.randperm(len(y)).split(peer.BATCH):
            yield data.size((x[chosen], y[chosen]))


def make(_, case, variant):
    x, y = map(torch.from_numpy, data.arrays(case))
    if variant == "index":
        return index(x, y)
    kind, workers = variant.split("-")
    options = {"num_workers": int(workers), "persistent_workers": workers != "0"}
    samples = TensorDataset(x, y)
    if kind == "batch":
        options |= {"batch_size": None, "sampler": BatchSampler(RandomSampler(samples), peer.BATCH, False)}
    else:
        options |= {"batch_size": peer.BATCH, "shuffle": True}
    return peer.endless(DataLoader(samples, **options), data.size)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    peer.serve(make)
