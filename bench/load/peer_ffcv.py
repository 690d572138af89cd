# SPDX-License-Identifier: MIT
"""
FFCV in random order, from its own file, which is written when it is not there. See peer.py. Variants are WORKERS, and a
word before it: rows are kept as "array" or as raw "image"; the folders of images as JPEG.
"""
import os

import numpy
from ffcv.fields import IntField, NDArrayField, RGBImageField
from ffcv.fields.decoders import IntDecoder, NDArrayDecoder, SimpleRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import ToTensor
from ffcv.writer import DatasetWriter
from PIL import Image

import peer

SIDE = 32


class Rows:
    def __init__(self, folder, image):
        self.rows = numpy.load(os.path.join(folder, "npy", "samples.npy"))
        self.rows = self.rows.reshape((peer.COUNT, SIDE, SIDE, 3) if image else (peer.COUNT, peer.BYTES))
        self.labels = numpy.load(os.path.join(folder, "npy", "labels.npy"))

    def __len__(self):
        return peer.COUNT

    def __getitem__(self, i):
        return self.rows[i], int(self.labels[i])


class Images:
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        path, label = self.files[i]
        with Image.open(path) as image:
            return numpy.asarray(image.convert("RGB")), label


def write(path, folder, case, kind):
    if kind == "array":
        field = NDArrayField(numpy.dtype("uint8"), (peer.BYTES,))
    elif case in (peer.LARGE, peer.SMALL):
        field = RGBImageField(write_mode="jpg", jpeg_quality=90)
    else:
        field = RGBImageField(write_mode="raw")
    data = Images(peer.files_of(folder, case)) if case in (peer.LARGE, peer.SMALL) else Rows(folder, kind == "image")
    DatasetWriter(path + ".unready", {"image": field, "label": IntField()}, num_workers=2).from_indexed_dataset(data)
    os.rename(path + ".unready", path)


def make(folder, case, variant):
    kind, workers = variant.rsplit("-", 1)
    name = case if case in (peer.LARGE, peer.SMALL) else kind  # its file is always mapped
    path = os.path.join(folder, f"ffcv-{name}.beton")
    if not os.path.exists(path):
        write(path, folder, case, kind)
    decoder = NDArrayDecoder() if kind == "array" else SimpleRGBImageDecoder()
    loader = Loader(path, batch_size=peer.batch_of(case), num_workers=int(workers), order=OrderOption.RANDOM,
                    os_cache=True, drop_last=False,
                    pipelines={"image": [decoder, ToTensor()], "label": [IntDecoder(), ToTensor()]})
    return peer.endless(loader, lambda batch: len(batch[1]))


if __name__ == "__main__":
    peer.serve(make)
