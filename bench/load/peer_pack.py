# SPDX-License-Identifier: MIT
"""Grain's packer. See peer.py. The case is the number of steps of a row, the variant the number of packing bins."""
import grain
import numpy

import peer

COUNT, MEAN, SIGMA = 200_000, 400, 0.8
BATCH = 8


def sequences(row):
    """Log-normal lengths, as pack.c has them."""
    random = numpy.random.default_rng(1)
    lengths = random.lognormal(numpy.log(MEAN) - SIGMA**2 / 2, SIGMA, COUNT).clip(1, row).astype(int)
    ends = numpy.cumsum(lengths)
    values = numpy.arange(ends[-1], dtype=numpy.int32)
    return numpy.split(values, ends[:-1])


def make(_folder, case, variant):
    row = int(case)
    data = grain.MapDataset.source(sequences(row)).shuffle(seed=1).repeat()
    data = data.map(lambda sequence: {"tokens": sequence}).to_iter_dataset(
        grain.ReadOptions(num_threads=0, prefetch_buffer_size=0))  # the sequences are in memory: threads only cost
    data = grain.experimental.FirstFitPackIterDataset(data, length_struct={"tokens": row}, num_packing_bins=int(variant),
                                                      shuffle_bins=True)
    return peer.endless(data.batch(BATCH), lambda batch: len(batch["tokens"]))


if __name__ == "__main__":
    peer.serve(make)
