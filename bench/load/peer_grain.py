# SPDX-License-Identifier: MIT
"""Grain, shuffled. See peer.py. The variant is the number of threads that read."""
import os

import grain
import numpy
from PIL import Image

import peer


class Source:
    def __init__(self, folder, case):
        self.files = peer.files_of(folder, case) if case in (peer.LARGE, peer.SMALL) else None
        if case == "memory":
            self.rows = numpy.load(os.path.join(folder, "npy", "samples.npy")).reshape(peer.COUNT, peer.BYTES)
            self.labels = numpy.load(os.path.join(folder, "npy", "labels.npy"))
        elif not self.files:
            records = numpy.memmap(os.path.join(folder, "records", "samples.bin"), numpy.uint8, "r")
            records = records.reshape(peer.COUNT, 1 + peer.BYTES)
            self.rows, self.labels = records[:, 1:], records[:, 0]

    def __len__(self):
        return len(self.files or self.labels)

    def __getitem__(self, i):
        if not self.files:
            return self.rows[i], self.labels[i]
        path, label = self.files[i]
        with Image.open(path) as image:
            return numpy.asarray(image.convert("RGB")), label


def make(folder, case, variant):
    data = grain.MapDataset.source(Source(folder, case)).shuffle(seed=1).repeat().batch(peer.batch_of(case))
    data = data.to_iter_dataset(grain.ReadOptions(num_threads=int(variant), prefetch_buffer_size=peer.DRAIN))
    return peer.endless(data, lambda batch: len(batch[1]))


if __name__ == "__main__":
    peer.serve(make)
