# SPDX-License-Identifier: MIT
"""
The packages webdataset and tfrecord, in the order of the file. See bench/load/peer.py. A variant yields the size of each group of 128
samples; the samples are not joined to batches.
"""
import os
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "load"))

import peer  # noqa: E402
import webdataset  # noqa: E402

# The package tfrecord imports PyTorch for data sets that are not used here. Others must not see the empty module.
torch = {name: types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data")}
torch["torch"].utils, torch["torch.utils"].data = torch["torch.utils"], torch["torch.utils.data"]
torch["torch.utils.data"].IterableDataset = object
sys.modules.update(torch)
import tfrecord  # noqa: E402

for name in torch:
    del sys.modules[name]


def samples_of(folder, case):
    """One pass over the file."""
    if case == "records":
        return tfrecord.tfrecord_loader(os.path.join(folder, "records.tfrecord"), None)
    data = webdataset.WebDataset(os.path.join(folder, case + ".tar"), shardshuffle=False)
    return data.decode("rgb8") if case == "jpeg" else data


def make(folder, case, variant):
    while True:
        count = 0
        for sample in samples_of(folder, case):
            count += 1
            if count == peer.BATCH:
                yield count
                count = 0
        if count:
            yield count


if __name__ == "__main__":
    peer.serve(make)
