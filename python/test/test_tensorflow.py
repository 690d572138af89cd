# SPDX-License-Identifier: MIT
# imports: tensorflow
"""lade.tensorflow: a tf.data.Dataset."""

import os
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import lade
import lade.tensorflow

COUNT = 103


class Datasets(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.x, self.y = random.standard_normal((COUNT, 3, 4), np.float32), random.integers(0, 5, COUNT)

    def test_tuples(self):
        with lade.Loader((self.x, self.y), batch=8) as loader:
            data = lade.tensorflow.dataset(loader)
            self.assertEqual([spec.shape.as_list() for spec in data.element_spec], [[None, None, 4], [None]])
            for _ in range(2):  # each iteration is an epoch
                batches = list(data)
                self.assertEqual([len(y) for _, y in batches], [8] * 12 + [7])
                got = np.concatenate([x for x, _ in batches])
                np.testing.assert_array_equal(np.sort(got, axis=None), np.sort(self.x, axis=None))

    def test_dicts(self):
        with lade.Loader({"x": self.x, "i": np.arange(COUNT), "y": self.y}, batch=8) as loader:
            for batch in lade.tensorflow.dataset(loader):
                np.testing.assert_array_equal(batch["x"], self.x[batch["i"].numpy()])
                np.testing.assert_array_equal(batch["y"], self.y[batch["i"].numpy()])

    def test_an_epoch_of_one_batch(self):
        with lade.Loader((self.x, self.y), batch=COUNT) as loader:
            data = lade.tensorflow.dataset(loader)
            self.assertEqual([len(list(data)) for _ in range(3)], [1, 1, 1])

    def test_ragged(self):
        lengths = np.arange(COUNT) % 7
        values, offsets = np.arange(lengths.sum(), dtype=np.int32), np.concatenate([[0], np.cumsum(lengths)])
        with lade.Loader({"text": lade.Ragged(values, offsets), "i": np.arange(COUNT)}, batch=8) as loader:
            for batch in lade.tensorflow.dataset(loader):
                for row, length, i in zip(batch["text"].numpy(), batch["text_lengths"].numpy(), batch["i"].numpy()):
                    self.assertEqual(row[:length].tolist(), values[offsets[i]:offsets[i + 1]].tolist())

    def test_state(self):
        make = lambda **options: lade.Loader({"i": np.arange(COUNT)}, batch=8, **options)
        with make() as loader:
            seen = [batch["i"].numpy() for batch in lade.tensorflow.dataset(loader).take(5)]
            with make(state=loader.state_dict()) as rest:
                seen += [batch["i"].numpy() for batch in lade.tensorflow.dataset(rest)]
        self.assertEqual(sorted(np.concatenate(seen).tolist()), list(range(COUNT)))

    def test_pipelines(self):
        """Kept and prefetched tensors are not overwritten."""
        with lade.Loader((self.x, self.y), batch=8, slots=3) as loader:
            data = lade.tensorflow.dataset(loader).map(lambda x, y: (x * 2, y)).prefetch(4)
            kept = list(data)
        np.testing.assert_array_equal(np.sort(np.concatenate([x for x, _ in kept]), axis=None), np.sort(self.x * 2, axis=None))


if __name__ == "__main__":
    unittest.main()
