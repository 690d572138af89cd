# SPDX-License-Identifier: MIT
"""Grain. See ../load/peer.py. The variant is the number of threads that read."""
import data
import grain
import peer


class Source:
    def __init__(self, case):
        self.x, self.y = data.arrays(case)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make(_, case, variant):
    samples = grain.MapDataset.source(Source(case)).shuffle(seed=1).repeat().batch(peer.BATCH)
    options = grain.ReadOptions(num_threads=int(variant), prefetch_buffer_size=peer.DRAIN)
    return peer.endless(samples.to_iter_dataset(options), data.size)


if __name__ == "__main__":
    peer.serve(make)
