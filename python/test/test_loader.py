# SPDX-License-Identifier: MIT
"""Loaders over text and arrays: what is in the batches, epochs, states."""

import ctypes
import json
import tempfile
import unittest

import numpy as np

import lade


def ids(batches):
    return np.concatenate([b.ids.numpy() for b in batches]).tolist()


class Arrays(unittest.TestCase):
    def setUp(self):
        self.x = np.arange(300, dtype=np.float32).reshape(100, 3)
        self.y = np.arange(100) % 7

    def test_rows_are_those_of_the_array(self):
        with lade.Loader((self.x, self.y), batch=8) as loader:
            seen = []
            for batch in loader:
                i = batch.ids.numpy()
                np.testing.assert_array_equal(batch.sample.numpy(), self.x[i])
                np.testing.assert_array_equal(batch.label.numpy(), self.y[i])
                np.testing.assert_array_equal(batch.labels.numpy(), self.y[i])
                seen += i.tolist()
        self.assertEqual(sorted(seen), list(range(100)))
        self.assertNotEqual(seen, list(range(100)))

    def test_a_dict_names_the_fields(self):
        wide = self.x.astype(np.float64)
        with lade.Loader({"x": wide, "y": self.y.astype(np.uint8), "flag": self.y == 3}, batch=8, label="y") as loader:
            self.assertEqual(loader.names, ("x", "y", "flag"))
            for batch in loader:
                i = batch.ids.numpy()
                np.testing.assert_array_equal(batch.x.numpy(), wide[i])
                np.testing.assert_array_equal(np.from_dlpack(batch["flag"]), self.y[i] == 3)
                self.assertEqual(batch.y.dtype, "uint8")
                np.testing.assert_array_equal(batch.labels.numpy(), self.y[i])

    def test_the_arrays_stay_alive(self):
        loader = lade.Loader(np.full((1000, 1000), 7, np.uint8), batch=100)
        for batch in loader:
            self.assertTrue((batch.sample.numpy() == 7).all())
            self.assertIsNone(batch.labels)

    def test_refused_arrays(self):
        for source, error, text in [
            (self.x[:, ::2], ValueError, "contiguous"),
            (self.x.astype(">f4"), TypeError, "byte order"),
            (np.array(["a", "b"], object), TypeError, "elements of this type"),
            (np.array(["2020-01-01"], "M8[D]"), TypeError, "elements of this type"),
            ({"x": self.x, "y": self.y[:5]}, ValueError, "y: 5 samples, where other arrays have 100"),
            ({"x": np.float32(3)}, ValueError, "first dimension"),
            ({}, ValueError, "without arrays"),
            (42, TypeError, "cannot read int"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                lade.Loader(source)


class Tensors(unittest.TestCase):
    def setUp(self):
        self.loader = lade.Loader((np.arange(24, dtype=np.float32).reshape(4, 3, 2), np.arange(4)), batch=4, shuffle=False)
        self.batch = next(self.loader)

    def tearDown(self):
        self.loader.close()

    def test_capsules(self):
        valid = ctypes.pythonapi.PyCapsule_IsValid
        valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
        tensor = self.batch.sample
        for options, name in [({}, b"dltensor"), ({"max_version": None}, b"dltensor"), ({"max_version": (0, 8)}, b"dltensor"),
                              ({"max_version": (1, 0)}, b"dltensor_versioned"), ({"max_version": (2, 3)}, b"dltensor_versioned")]:
            self.assertEqual(valid(tensor.__dlpack__(**options), name), 1, options)
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        for options, error in [({"stream": 1}, ValueError), ({"dl_device": (2, 0)}, BufferError), ({"copy": True}, BufferError)]:
            with self.assertRaises(error):
                tensor.__dlpack__(**options)

    def test_views_are_of_one_memory(self):
        tensor = self.batch.sample
        first, second = np.from_dlpack(tensor), np.asarray(tensor)
        self.assertTrue(np.shares_memory(first, second) and np.shares_memory(first, tensor.numpy()))
        np.testing.assert_array_equal(first, np.arange(24).reshape(4, 3, 2))
        view = memoryview(tensor)
        self.assertEqual((view.format, view.shape, view.strides, view.itemsize), ("f", (4, 3, 2), (24, 8, 4), 4))

    def test_attributes(self):
        tensor, batch = self.batch.sample, self.batch
        self.assertEqual((tensor.shape, tensor.dtype, tensor.ndim, tensor.nbytes, len(tensor)), ((4, 3, 2), "float32", 3, 96, 4))
        self.assertEqual(batch.label.tolist(), [0, 1, 2, 3])
        self.assertEqual(tensor[1, 2, 0], 10)
        x, y = batch
        self.assertIs(x, batch[0])
        self.assertIs(y, batch["label"])
        self.assertEqual(list(dict(batch.items())), ["sample", "label"])
        for key, error in [("nothing", KeyError), (2, IndexError), (-3, IndexError), (1.5, TypeError)]:
            with self.assertRaises(error):
                batch[key]
        with self.assertRaisesRegex(AttributeError, "nothing"):
            batch.nothing

    def test_all_types(self):
        types = "? u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16".split()
        arrays = {t: np.arange(12).reshape(4, 3).astype(t) for t in types}
        with lade.Loader(arrays, batch=4, shuffle=False, fields=types[:8]) as first, \
                lade.Loader(arrays, batch=4, shuffle=False, fields=types[8:]) as second:
            for batch in (next(first), next(second)):
                for name in batch.keys():
                    for view in (batch[name].numpy(), np.from_dlpack(batch[name])):
                        self.assertEqual(view.dtype, np.dtype(name))
                        np.testing.assert_array_equal(view, arrays[name])

    def test_names_that_batches_have(self):
        with lade.Loader({"count": np.arange(3), "labels": np.arange(3) + 5}, batch=3, shuffle=False) as loader:
            batch = next(loader)
            self.assertEqual((batch.count, batch["count"].tolist(), batch.labels.tolist()), (3, [0, 1, 2], [5, 6, 7]))

    def test_ragged_arrays(self):
        values, offsets = np.arange(10, dtype=np.int32), np.array([0, 3, 3, 10])
        source = {"t": lade.Ragged(values, offsets)}
        with lade.Loader(source, batch=3, shuffle=False) as loader:
            batch = next(loader)
            self.assertEqual(batch.t.tolist(), [[0, 1, 2, 0, 0, 0, 0], [0] * 7, [3, 4, 5, 6, 7, 8, 9]])
            self.assertEqual(batch.t_lengths.tolist(), [3, 0, 7])
        field = lade.Field("t", concatenate=True, wide=True)
        with lade.Loader(source, batch=3, shuffle=False, fields=[field]) as loader:
            batch = next(loader)
            self.assertEqual((batch.t.tolist(), batch.t_offsets.tolist()), (list(range(10)), [0, 3, 3, 10]))
            self.assertEqual(batch.t_offsets.dtype, "int64")
        field = lade.Field("t", buckets=(4, 8), padding=np.int32(-1).tobytes())
        with lade.Loader(source, batch=1, shuffle=False, fields=[field]) as loader:
            self.assertEqual([b.t.tolist() for b in loader], [[[0, 1, 2, -1]], [[-1] * 4], [[3, 4, 5, 6, 7, 8, 9, -1]]])

    def test_packing(self):
        lengths = np.arange(200) % 9
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = np.arange(offsets[-1], dtype=np.int32)
        with lade.Loader({"t": lade.Ragged(values, offsets)}, batch=4, pack=10) as loader:
            self.assertEqual(loader.names, ("t", "segments", "positions", "rows"))
            seen = []
            for batch in loader:
                t, segments, rows, ids = (x.numpy() for x in (batch.t, batch.segments, batch.rows, batch.ids))
                for r in range(len(t)):
                    for s, i in enumerate(ids[rows[r]:rows[r + 1]], 1):
                        np.testing.assert_array_equal(t[r][segments[r] == s], values[offsets[i]:offsets[i + 1]])
                        seen.append(int(i))
            self.assertEqual(sorted(seen), list(range(200)))
            self.assertEqual(loader.stats()["packed_steps"], len(values))

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            report = self.loader.report(folder + "/page.html")
            with open(folder + "/page.html", encoding="utf-8") as file:
                page = file.read()
        self.assertEqual((report["samples"], report["batches"]), (4, 1))
        self.assertNotIn("@REPORT@", page)
        self.assertIn(json.dumps(report["claim"]), page)


class Epochs(unittest.TestCase):
    def test_one_loop_is_one_epoch(self):
        with lade.Loader("synthetic:count=1000,shape=4", batch=128) as loader:
            self.assertEqual(len(loader), 8)
            first, second = list(loader), list(loader)
            self.assertEqual([b.count for b in first], 7 * [128] + [104])
            self.assertEqual({b.epoch for b in second}, {1})
            self.assertEqual(sorted(ids(first)), list(range(1000)))
            self.assertEqual(sorted(ids(second)), list(range(1000)))
            self.assertNotEqual(ids(first), ids(second))
            self.assertEqual([b.last for b in first], 7 * [False] + [True])

    def test_a_loop_continues_the_epoch_that_was_left(self):
        with lade.Loader("synthetic:count=100,shape=4", batch=10) as loader:
            head = []
            for batch in loader:
                head.append(batch)
                if len(head) == 3:
                    break
            self.assertEqual(sorted(ids(head + list(loader))), list(range(100)))

    def test_slices(self):
        make = lambda: lade.Loader("synthetic:count=100,shape=4", batch=10)
        with make() as loader:
            epoch = [ids([batch]) for batch in loader]
        for part in (slice(3, 6), slice(4), slice(8, None), slice(None), slice(5, 2), slice(7, 30), slice(np.int64(1), 3, 1)):
            with self.subTest(part), make() as loader:
                self.assertEqual([ids([batch]) for batch in loader[part]], epoch[part])
        with make() as loader:  # what a slice leaves is what the next one counts from
            self.assertEqual([ids([batch]) for batch in loader[2:4]] + [ids([batch]) for batch in loader[:3]], epoch[2:7])
            self.assertEqual([ids([batch]) for batch in loader], epoch[7:])
            for key, error, text in [(3, TypeError, r"loader\[10:20\]"), (slice(0, 9, 2), TypeError, "with step 1"), ("a", TypeError, "sliced"),
                                     (slice(-3, None), ValueError, "cannot be negative"), (slice(0, -1), ValueError, "cannot be negative"),
                                     (slice(1.5, None), TypeError, "float"), (slice(None, "b"), TypeError, "str")]:
                with self.subTest(key), self.assertRaisesRegex(error, text):
                    loader[key]

    def test_epochs_are_limited(self):
        with lade.Loader("synthetic:count=100,shape=4", batch=10, epochs=2) as loader:
            self.assertEqual([len(list(loader)) for _ in range(4)], [10, 10, 0, 0])

    def test_kept_batches_keep_their_memory(self):
        with lade.Loader("synthetic:count=1000,shape=4", batch=10, slots=3) as loader:
            kept = [b for _ in range(3) for b in loader]
        with lade.Loader("synthetic:count=1000,shape=4", batch=10, threads=1) as loader:
            for i, batch in enumerate(b for _ in range(3) for b in loader):
                np.testing.assert_array_equal(kept[i].sample.numpy(), batch.sample.numpy())

    def test_state(self):
        make = lambda **k: lade.Loader("synthetic:count=1000,shape=4", **k)
        with make(batch=50) as loader:
            for _ in range(7):
                next(loader)
            state = json.loads(json.dumps(loader.state_dict()))
            rest = [b.sample.numpy().copy() for b in loader]
        with make(batch=50, threads=3, state=state) as loader:
            np.testing.assert_array_equal(np.concatenate(rest), np.concatenate([b.sample.numpy() for b in loader]))
        with make(batch=13) as loader:
            next(loader)
            loader.load_state_dict(state)
            np.testing.assert_array_equal(np.concatenate(rest), np.concatenate([b.sample.numpy() for b in loader]))
            with self.assertRaises(lade.DamagedError):
                loader.load_state_dict({"lade": "nonsense"})
        with self.assertRaises(lade.ConflictError):
            make(batch=50, seed=2, state=state)


class Parts(unittest.TestCase):
    """A split and shards: each rank keeps a bit for each sample, and delivers its share of the part."""

    def setUp(self):
        self.split = lade.Split([3, 1], seed=5)
        self.members = {part: [i for i in range(1000) if self.split.route(i) == part] for part in range(2)}

    def ranks(self, count, **options):
        for rank in range(count):
            with lade.Loader(np.arange(1000), batch=7, split=self.split, shard=rank, shards=count, **options) as loader:
                yield [ids([batch]) for batch in loader], loader

    def test_ranks_share_a_part(self):
        for part, members in self.members.items():
            for count in (1, 3, 8):
                with self.subTest(part=part, ranks=count):
                    seen = [sum(batches, []) for batches, _ in self.ranks(count, part=part)]
                    self.assertEqual({len(rank) for rank in seen}, {len(members) // count})
                    self.assertEqual(len({i for rank in seen for i in rank} & set(members)), len(members) // count * count)
                    padded = [sum(batches, []) for batches, _ in self.ranks(count, part=part, pad=True)]
                    self.assertEqual({len(rank) for rank in padded}, {-(-len(members) // count)})
                    self.assertEqual(sorted({i for rank in padded for i in rank}), members)

    def test_order_is_that_of_one_rank(self):
        (whole, _), = self.ranks(1)
        for count in (2, 5):
            shares = [sum(batches, []) for batches, _ in self.ranks(count)]
            self.assertEqual([i for row in zip(*shares) for i in row], sum(whole, [])[:len(shares[0]) * count])

    def test_another_number_of_ranks_continues(self):
        seen, states = [], []
        for rank in range(3):
            with lade.Loader(np.arange(1000), batch=7, split=self.split, shard=rank, shards=3) as loader:
                seen += ids(list(loader[:4 + rank]))
                states.append(loader.state_dict())
        state = lade.ranks.join(states)
        for batches, _ in self.ranks(1, state=state):
            seen += sum(batches, [])
        self.assertEqual(sorted(seen), self.members[0])


class Errors(unittest.TestCase):
    def test_options(self):
        for options, error, text in [
            ({"batch": 0}, lade.InvalidError, "batch"),
            ({"batch": -1}, ValueError, "batch is -1"),
            ({"batch": 1.5}, TypeError, "batch is 1.5"),
            ({"draw": "twice"}, ValueError, "'once', 'weighted', 'balanced'"),
            ({"weights": np.ones(3)}, ValueError, "one float64 for each of the 100"),
            ({"state": 7}, ValueError, "state_dict"),
            ({"nonsense": 7}, TypeError, "nonsense"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                lade.Loader("synthetic:count=100", **options)

    def test_the_file_is_named(self):
        with self.assertRaisesRegex(lade.ReadError, "/nonexistent: cannot be opened") as caught:
            lade.Loader("cifar10:/nonexistent")
        self.assertIsInstance(caught.exception, OSError)
        self.assertEqual(caught.exception.status, -13)

    def test_closed(self):
        loader = lade.Loader("synthetic:count=100")
        loader.close()
        loader.close()
        for call in (lambda: next(loader), loader.state_dict, loader.stats, lambda: len(loader)):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()


if __name__ == "__main__":
    unittest.main()
