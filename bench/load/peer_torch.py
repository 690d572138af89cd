# SPDX-License-Identifier: MIT
"""
PyTorch's DataLoader, shuffled. See peer.py. Variants are WORKERS, and a word before it: "each" fetches and collates
sample by sample, "batch" is the idiom with a batch sampler and no collation; images are decoded by torchvision or by
Pillow.
"""
import os
import sys

import numpy
import torch
import torchvision
from PIL import Image
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, TensorDataset

import peer


class Images(Dataset):
    def __init__(self, files, pillow):
        self.files, self.pillow = files, pillow

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        if self.pillow:
            with Image.open(path) as image:
                return torch.from_numpy(numpy.array(image.convert("RGB"))), label
        mode = torchvision.io.ImageReadMode.RGB
        return torchvision.io.decode_jpeg(torchvision.io.read_file(path), mode=mode), label


def tensors(folder, case):
    if case == "memory":
        rows = numpy.load(os.path.join(folder, "npy", "samples.npy")).reshape(peer.COUNT, peer.BYTES)
        labels = numpy.load(os.path.join(folder, "npy", "labels.npy"))
        return TensorDataset(torch.from_numpy(rows), torch.from_numpy(labels))
    records = numpy.memmap(os.path.join(folder, "records", "samples.bin"), numpy.uint8, "c")
    records = torch.from_numpy(records).reshape(peer.COUNT, 1 + peer.BYTES)
    return TensorDataset(records[:, 1:], records[:, 0])


def make(folder, case, variant):
    kind, workers = variant.rsplit("-", 1)
    options = {"num_workers": int(workers), "persistent_workers": int(workers) > 0}
    if case in (peer.LARGE, peer.SMALL):
        data = Images(peer.files_of(folder, case), kind == "pillow")
    else:
        data = tensors(folder, case)
    if kind == "batch":
        sampler = BatchSampler(RandomSampler(data), peer.batch_of(case), False)
        loader = DataLoader(data, sampler=sampler, batch_size=None, **options)
    else:
        loader = DataLoader(data, peer.batch_of(case), shuffle=True, **options)
    return peer.endless(loader, lambda batch: len(batch[1]))


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    peer.serve(make)
