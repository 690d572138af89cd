# SPDX-License-Identifier: MIT
"""
tf.data, shuffled over the whole set. See peer.py. Variants: "each" shuffles samples and makes batches of them, "gather"
shuffles numbers and gathers a batch at a time; images and records have "each" only.
"""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

import peer  # noqa: E402

AUTO = tf.data.AUTOTUNE


def arrays(folder):
    rows = numpy.load(os.path.join(folder, "npy", "samples.npy")).reshape(peer.COUNT, peer.BYTES)
    return tf.constant(rows), tf.constant(numpy.load(os.path.join(folder, "npy", "labels.npy")))


def data_of(folder, case, variant):
    size = peer.batch_of(case)
    if case in (peer.LARGE, peer.SMALL):
        paths, labels = zip(*peer.files_of(folder, case))
        data = tf.data.Dataset.from_tensor_slices((list(paths), list(labels))).shuffle(len(paths))
        data = data.map(lambda path, label: (tf.io.decode_jpeg(tf.io.read_file(path), 3), label), AUTO)
        return data.batch(size)
    if case == "mapped":
        file = os.path.join(folder, "records", "samples.bin")
        data = tf.data.FixedLengthRecordDataset(file, 1 + peer.BYTES).shuffle(peer.COUNT)
        return data.batch(size).map(lambda record: (tf.io.decode_raw(record, tf.uint8), record), AUTO)
    rows, labels = arrays(folder)
    if variant == "gather":
        data = tf.data.Dataset.range(peer.COUNT).shuffle(peer.COUNT).batch(size)
        return data.map(lambda i: (tf.gather(rows, i), tf.gather(labels, i)), AUTO)
    return tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(peer.COUNT).batch(size)


def make(folder, case, variant):
    data = data_of(folder, case, variant).prefetch(AUTO)
    return peer.endless(data, lambda batch: int(batch[1].shape[0]))


if __name__ == "__main__":
    peer.serve(make)
