# SPDX-License-Identifier: MIT
"""tf.data on TFRecord, in the order of the file, batches parsed at once. See bench/load/peer.py."""
import os
import pathlib
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "load"))

import peer  # noqa: E402
import tensorflow as tf  # noqa: E402

AUTO = tf.data.AUTOTUNE


def parse(records):
    fields = tf.io.parse_example(records, {"sample": tf.io.FixedLenFeature([], tf.string),
                                           "label": tf.io.FixedLenFeature([], tf.int64)})
    return tf.io.decode_raw(fields["sample"], tf.uint8), fields["label"]


def make(folder, case, variant):
    data = tf.data.TFRecordDataset(os.path.join(folder, "records.tfrecord")).batch(peer.BATCH).map(parse, AUTO)
    return peer.endless(data.prefetch(AUTO), lambda batch: int(batch[1].shape[0]))


if __name__ == "__main__":
    peer.serve(make)
