# SPDX-License-Identifier: MIT
"""SPDL. See ../load/peer.py. The variant is the number of threads. Arrays are gathered a batch at a time; images are decoded
a batch at a time by FFmpeg's libraries."""
import sys

import data
import peer
import torch
from spdl.pipeline import PipelineBuilder


def pipeline(items, operation, threads):
    builder = PipelineBuilder().add_source(items).pipe(operation, concurrency=threads).add_sink(peer.DRAIN)
    running = builder.build(num_threads=threads)
    with running.auto_stop():
        for batch in running:
            yield data.size(batch)


def numbers(count, batch):
    while True:
        yield from torch.randperm(count).split(batch)


def images(folder, threads):
    import spdl.io

    files = peer.files_of(folder, peer.LARGE)

    def load(chosen):
        paths, labels = zip(*(files[i] for i in chosen))
        buffer = spdl.io.load_image_batch(paths, width=None, height=None, pix_fmt="rgb24")
        return spdl.io.to_torch(buffer), torch.tensor(labels)

    return pipeline((chosen.tolist() for chosen in numbers(len(files), peer.IMAGE_BATCH)), load, threads)


def make(folder, case, variant):
    if case == peer.LARGE:
        return images(folder, int(variant))
    x, y = map(torch.from_numpy, data.arrays(case))
    return pipeline(numbers(len(y), peer.BATCH), lambda chosen: (x[chosen], y[chosen]), int(variant))


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    peer.serve(make)
