# SPDX-License-Identifier: MIT
"""tf.data. See ../load/peer.py. Variants: "each" shuffles samples and makes batches of them, "gather" shuffles numbers and
gathers a batch at a time."""
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import data  # noqa: E402
import peer  # noqa: E402
import tensorflow as tf  # noqa: E402

AUTO = tf.data.AUTOTUNE


def make(_, case, variant):
    x, y = map(tf.constant, data.arrays(case))
    if variant == "gather":
        batches = tf.data.Dataset.range(len(y)).shuffle(len(y)).batch(peer.BATCH)
        batches = batches.map(lambda i: (tf.gather(x, i), tf.gather(y, i)), AUTO)
    else:
        batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).batch(peer.BATCH)
    return peer.endless(batches.prefetch(AUTO), lambda batch: int(batch[1].shape[0]))


if __name__ == "__main__":
    peer.serve(make)
