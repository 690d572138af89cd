# SPDX-License-Identifier: MIT
"""lade: batches for training loops.

    import lade

    loader = lade.Loader("cifar10:cifar-10-batches-bin", batch=128, seed=1)
    for epoch in range(10):
        for batch in loader:
            x, y = batch.sample.numpy(), batch.label.numpy()

A loader reads text that names a data set, arrays in memory (NumPy, torch, JAX; without a copy), tables (Arrow), or a
Python sequence. Threads of C prepare the batches ahead, in an order that the seed decides: the same bytes for any number
of threads. state_dict() continues an epoch at its exact place, also with another batch size or number of processes.

Batches hold tensors by name. Each is a DLPack object and a buffer: numpy.asarray(t), torch.from_dlpack(t) and
jax.dlpack.from_dlpack(t) do not copy.

Bag, Ring, Table and Split are the lock-free containers of the C library, for any number of threads. explore() checks a C program
with threads under the C11 memory model.
"""

from . import ranks, transforms
from ._containers import Bag, Ring, Split, Table
from ._errors import (CancelledError, ClosedError, ConflictError, DamagedError, DeviceError, EmptyError, Error, ForkError,
                      FullError, InvalidError, LimitedError, OutOfMemoryError, ReadError, TimedOutError)
from ._explore import Exploration, explore
from ._lade import Batch, Tensor, version as __version__
from ._loader import Field, Loader
from ._source import Arrow, Ragged

__all__ = ["Arrow", "Bag", "Batch", "CancelledError", "ClosedError", "ConflictError", "DamagedError", "DeviceError", "EmptyError",
           "Error", "Exploration", "Field", "ForkError", "FullError", "InvalidError", "LimitedError", "Loader",
           "OutOfMemoryError", "Ragged", "ReadError", "Ring", "Split", "Table", "Tensor", "TimedOutError", "explore",
           "ranks", "transforms"]
