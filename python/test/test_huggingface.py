# SPDX-License-Identifier: MIT
# imports: datasets
"""Datasets of Hugging Face as sources."""

import os
import tempfile
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"

import datasets
import numpy as np
import pyarrow

import lade


class Sources(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.x = random.random(1000).astype(np.float32)
        self.text = [random.integers(0, 100, i % 7).tolist() for i in range(1000)]
        self.data = datasets.Dataset.from_dict(
            {"x": self.x, "text": self.text, "label": np.arange(1000) % 10},
            features=datasets.Features({"x": datasets.Value("float32"), "text": datasets.List(datasets.Value("int32")),
                                        "label": datasets.ClassLabel(num_classes=10)}))

    def check(self, data, numbers):
        """numbers: of the rows of data in self.data."""
        with lade.Loader(data, batch=64, label="label") as loader:
            self.assertEqual(loader.names, ("x", "text", "label", "text_lengths"))
            seen = []
            for batch in loader:
                rows = np.asarray(numbers)[batch.ids.numpy()]
                self.assertEqual((batch.x.dtype, batch.text.dtype), ("float32", "int32"))
                np.testing.assert_array_equal(batch.x.numpy(), self.x[rows])
                np.testing.assert_array_equal(batch.labels.numpy(), rows % 10)
                for row, length, i in zip(batch.text.tolist(), batch.text_lengths.tolist(), rows):
                    self.assertEqual(row[:length], self.text[i])
                seen += rows.tolist()
        self.assertEqual(sorted(seen), sorted(numbers))

    def test_in_memory(self):
        self.check(self.data, range(1000))

    def test_from_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            self.data.save_to_disk(folder, num_shards=3)
            self.check(datasets.load_from_disk(folder), range(1000))

    def test_rows_by_numbers(self):
        chosen = np.random.default_rng(2).permutation(1000)[:300]
        self.check(self.data.select(chosen), chosen)
        self.check(self.data.filter(lambda label: label == 3, input_columns="label"), [i for i in range(1000) if i % 10 == 3])

    def test_formats(self):
        """The columns that a format has, and what a transform makes of the rows."""
        data = self.data.select_columns(["x", "label"])
        doubled = data.with_transform(lambda rows: {"x": [2 * np.float32(x) for x in rows["x"]], "label": rows["label"]})
        for source, names, factor in ((data.with_format("numpy", columns=["x"]), ("x",), 1), (doubled, ("x", "label"), 2),
                                      (data.with_format("numpy", columns=["x"], output_all_columns=True), ("x", "label"), 1)):
            with lade.Loader(source, batch=1000, shuffle=False) as loader:
                self.assertEqual(loader.names, names)
                np.testing.assert_array_equal(next(loader).x.numpy(), factor * self.x)
        with self.assertRaisesRegex(TypeError, "without a transform"):
            lade.Loader(lade.Arrow(doubled))

    def test_copies(self):
        """The rows are read in place; those that were selected by numbers are copied."""
        data = datasets.Dataset.from_dict({"x": np.zeros(100_000)})
        for source, copied in ((data, False), (data.select(range(0, 100_000, 2)), True)):
            before = pyarrow.total_allocated_bytes()
            with lade.Loader(source, batch=64) as loader:
                next(loader)
                self.assertEqual(pyarrow.total_allocated_bytes() - before >= 400_000, copied)


if __name__ == "__main__":
    unittest.main()
