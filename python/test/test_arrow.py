# SPDX-License-Identifier: MIT
# needs: arrow
"""Tables of pyarrow as sources."""

import gc
import unittest

import pyarrow

import lade


class Tables(unittest.TestCase):
    def setUp(self):
        self.table = pyarrow.table({"x": [float(i) for i in range(100)], "y": [i % 3 for i in range(100)],
                                    "tokens": [list(range(i % 5)) for i in range(100)]})

    def test_columns(self):
        with lade.Loader(self.table, batch=8, label="y") as loader:
            self.assertEqual(loader.names, ("x", "y", "tokens", "tokens_lengths"))
            seen = []
            for batch in loader:
                for x, y, row, length, i in zip(batch.x.tolist(), batch.labels.tolist(), batch.tokens.tolist(),
                                                batch.tokens_lengths.tolist(), batch.ids.tolist()):
                    self.assertEqual((x, y, row[:length]), (float(i), i % 3, list(range(i % 5))))
                    seen.append(i)
        self.assertEqual(sorted(seen), list(range(100)))

    def test_memory_is_let_go(self):
        before = pyarrow.total_allocated_bytes()
        loader = lade.Loader(pyarrow.table({"x": pyarrow.array(range(100000))}), batch=10)
        next(loader)
        self.assertGreater(pyarrow.total_allocated_bytes(), before)
        del loader
        gc.collect()
        self.assertEqual(pyarrow.total_allocated_bytes(), before)

    def test_windows(self):
        table = pyarrow.Table.from_batches(pyarrow.table({"x": list(range(10000))}).to_batches(max_chunksize=100))
        with lade.Loader(lade.Arrow(table, memory=16000), batch=10) as loader:
            for _ in range(2):
                self.assertEqual(sorted(x for batch in loader for x in batch.x.tolist()), list(range(10000)))

    def test_options(self):
        with lade.Loader(lade.Arrow(self.table, columns=("y",)), batch=8) as loader:
            self.assertEqual(loader.names, ("y",))
        holes = pyarrow.table({"x": [1, None, 3]})
        with lade.Loader(lade.Arrow(holes, nulls="skip"), batch=8) as loader:
            self.assertEqual(sorted(next(loader).x.tolist()), [1, 3])
        with lade.Loader(lade.Arrow(holes, nulls="fill", fill=7), batch=8) as loader:
            self.assertEqual(sorted(next(loader).x.tolist()), [1, 3, 7])
        with self.assertRaisesRegex(lade.InvalidError, "nothing"):
            lade.Loader(lade.Arrow(self.table, columns=("nothing",)))


if __name__ == "__main__":
    unittest.main()
