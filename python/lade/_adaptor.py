# SPDX-License-Identifier: MIT
"""What loaders for frameworks share: batches as tuples or dicts of the framework's arrays, and ranks."""

from . import ranks
from ._loader import Loader

_PAIRS = (("sample",), ("sample", "label"))


class Adapted(Loader):
    """A loader whose batches are tuples or dicts of arrays that _convert() makes."""

    def __init__(self, source, batch=128, seed=1, *, as_dict=None, ids=False, in_step=True, shard="auto", **options):
        super().__init__(source, batch, seed, shard=shard, **options)
        self._made_of.update(as_dict=as_dict, ids=ids, in_step=in_step)
        self._as_dict = self.names not in _PAIRS if as_dict is None else as_dict
        self._ids, self._in_step = ids, in_step

    def __next__(self):
        return self._arrays(super().__next__())

    def _arrays(self, batch):
        arrays = {name: self._convert(tensor) for name, tensor in batch.items()}
        if self._ids:
            arrays["ids"] = self._convert(batch.ids)
        return arrays if self._as_dict else tuple(arrays.values())

    def state_dict(self):
        """The position after the last batch, as a dict that JSON can hold.

        With in_step it is the position of all ranks, which have taken as many batches, and any number of ranks continues
        from it. Otherwise it is that of this rank: see lade.ranks.gather() and join().
        """
        state = super().state_dict()
        return ranks.join([state]) if self._in_step else state
