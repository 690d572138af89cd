# SPDX-License-Identifier: MIT
"""lade for PyTorch."""

import torch

from ._adaptor import Adapted

# DLPack's table of C functions, of versions of PyTorch that have it: quicker than torch.from_dlpack.
_TABLE = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)


class Loader(Adapted):
    """Takes the place of a DataLoader: batches are tuples or dicts of tensors, in the loader's memory (no copy).

        loader = lade.torch.Loader((x, y), batch=128, seed=1)
        for epoch in range(10):
            for x, y in loader:
                ...

    The arguments are those of lade.Loader, and:

    as_dict     dicts by the names of the fields; default: tuples for a sample and its label, dicts for more fields
    ids         the numbers of the samples come along, as "ids" or as the last of the tuple
    device      tensors go there; to CUDA through pinned memory, with non_blocking copies
    in_step     all ranks take as many batches, as data-parallel training does: the state of each stands for all
    shard       default "auto": this process's rank, by lade.ranks.detect()

    state_dict() and load_state_dict() are as those of torchdata's StatefulDataLoader. Frameworks that divide a DataLoader
    among ranks (accelerate) leave this loader alone: it has divided the samples itself.
    """

    def __init__(self, source, batch=128, seed=1, *, device=None, **options):
        self._device = None if device is None else torch.device(device)
        super().__init__(source, batch, seed, **options)
        self._made_of["device"] = device

    def _convert(self, tensor):
        tensor = torch.from_dlpack(tensor) if _TABLE is None else tensor._exchange(_TABLE)
        if self._device is None:
            return tensor
        if self._device.type == "cuda":
            tensor = tensor.pin_memory()
        return tensor.to(self._device, non_blocking=True)
