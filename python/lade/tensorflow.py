# SPDX-License-Identifier: MIT
"""lade for TensorFlow."""

import numpy as np
import tensorflow as tf


def _arrays(batch, as_dict):
    arrays = {name: np.asarray(tensor) for name, tensor in batch.items()}
    return arrays if as_dict else tuple(arrays.values())


def _spec(array):
    """The first dimension is the batch, whose last one is shorter; those of ragged fields differ, too."""
    return tf.TensorSpec((None,) * min(array.ndim, 2) + array.shape[2:], array.dtype)


def dataset(loader, as_dict=None):
    """A tf.data.Dataset of the batches of a lade.Loader: each of its iterations is one loop over the loader.

        data = lade.tensorflow.dataset(lade.Loader((x, y), batch=128, seed=1))
        model.fit(data, epochs=10)

    as_dict: dicts by the names of the fields; default: tuples for a sample and its label, dicts for more fields.

    The loader's first batch is taken at once, to know types and shapes. The loader's state is after the last batch that
    TensorFlow took, which Model.fit() does ahead of the training. Without prefetch() the loader is in step.
    """
    if as_dict is None:
        as_dict = loader.names not in (("sample",), ("sample", "label"))
    waiting = [next(loader)]
    signature = tf.nest.map_structure(_spec, _arrays(waiting[0], as_dict))

    def batches():
        first = waiting.pop() if waiting else None
        if first is not None:
            yield _arrays(first, as_dict)
        if first is None or not first.last:
            for batch in loader:
                yield _arrays(batch, as_dict)

    return tf.data.Dataset.from_generator(batches, output_signature=signature)
