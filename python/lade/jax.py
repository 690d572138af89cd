# SPDX-License-Identifier: MIT
"""lade for JAX."""

import jax
import numpy as np

from . import ranks
from ._adaptor import Adapted


class Loader(Adapted):
    """Batches are tuples or dicts of jax arrays; on the host they use the loader's memory, where its type is one that
    jax.config admits (without jax_enable_x64, int64 becomes int32 by a copy).

        loader = lade.jax.Loader({"x": x, "y": y}, batch=128, seed=1)
        for batch in loader:
            state = step(state, batch["x"], batch["y"])

    The arguments are those of lade.Loader, and:

    as_dict     dicts by the names of the fields; default: tuples for a sample and its label, dicts for more fields
    ids         the numbers of the samples come along, as "ids" or as the last of the tuple
    sharding    of jax.sharding: batches are put on its devices. With several processes each gives its part of the global
                array, which has batch rows of each process
    in_step     all ranks take as many batches: the state of each stands for all
    shard       default "auto": jax.process_index() after jax.distributed.initialize(), else lade.ranks.detect()
    """

    def __init__(self, source, batch=128, seed=1, *, sharding=None, shard="auto", shards=1, **options):
        asked = {"shard": shard, "shards": shards, "sharding": sharding}
        if shard == "auto" and shards == 1 and jax.process_count() > 1:
            shard, shards = ranks.Rank(jax.process_index(), jax.process_count())
        self._sharding = sharding
        super().__init__(source, batch, seed, shard=shard, shards=shards, **options)
        self._made_of.update(asked)

    def _convert(self, tensor):
        if self._sharding is not None:
            return jax.make_array_from_process_local_data(self._sharding, np.asarray(tensor))
        dtype = np.dtype(tensor.dtype)
        if jax.dtypes.canonicalize_dtype(dtype) != dtype:
            return jax.numpy.asarray(np.asarray(tensor))
        return jax.dlpack.from_dlpack(tensor)
