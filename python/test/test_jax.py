# SPDX-License-Identifier: MIT
# imports: jax
"""lade.jax: arrays of JAX, also divided among devices."""

import os
import pickle
import unittest

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np

import lade
import lade.jax

COUNT = 103


class Spy(lade.jax.Loader):
    """Keeps the batches that arrays were made of."""

    def _arrays(self, batch):
        self.batch = batch
        return super()._arrays(batch)


class Arrays(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.x, self.y = random.standard_normal((COUNT, 4), np.float32), random.integers(0, 5, COUNT)

    def test_dicts(self):
        with lade.jax.Loader({"x": self.x, "y": self.y, "flag": self.y > 2}, batch=8, ids=True) as loader:
            seen = []
            for batch in loader:
                self.assertEqual({type(array) for array in batch.values()}, {type(jax.numpy.zeros(1))})
                i = np.asarray(batch["ids"])
                np.testing.assert_array_equal(batch["x"], self.x[i])
                np.testing.assert_array_equal(batch["y"], self.y[i])
                np.testing.assert_array_equal(batch["flag"], self.y[i] > 2)
                seen += i.tolist()
        self.assertEqual(sorted(seen), list(range(COUNT)))

    def test_types_are_those_of_the_configuration(self):
        for wide in (False, True):
            with jax.enable_x64(wide), lade.jax.Loader((self.x, self.y), batch=8) as loader:
                self.assertEqual([array.dtype for array in next(loader)], [np.float32, np.int64 if wide else np.int32])

    def test_no_copy(self):
        with Spy((self.x, self.x.sum(1)), batch=8) as loader:
            for x, _ in loader:
                self.assertEqual(x.unsafe_buffer_pointer(), np.asarray(loader.batch.sample).ctypes.data)

    def test_kept_arrays(self):
        with lade.jax.Loader((self.x, self.y), batch=8, ids=True, slots=3) as loader:
            kept = list(loader) + list(loader)
        for x, _, ids in kept:
            np.testing.assert_array_equal(x, self.x[np.asarray(ids)])

    def test_sharding(self):
        mesh = jax.make_mesh((4,), ("batch",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
        with lade.jax.Loader((self.x, self.y), batch=8, drop_last=True, sharding=sharding, ids=True) as loader:
            for x, y, ids in loader:
                self.assertEqual({shard.data.shape for shard in x.addressable_shards}, {(2, 4)})
                self.assertEqual(x.sharding, sharding)
                np.testing.assert_array_equal(x, self.x[np.asarray(ids)])
                np.testing.assert_array_equal(y, self.y[np.asarray(ids)])

    def test_state(self):
        make = lambda **options: lade.jax.Loader({"x": np.arange(COUNT, dtype=np.int32)}, batch=8, **options)
        with make() as loader, make() as other:
            head = [np.asarray(next(loader)["x"]) for _ in range(3)]
            for copy in (make(state=loader.state_dict()), pickle.loads(pickle.dumps(loader))):
                with copy:
                    rest = [np.asarray(batch["x"]) for batch in copy]
                self.assertEqual(sorted(np.concatenate(head + rest).tolist()), list(range(COUNT)))
            self.assertEqual(np.concatenate(head + rest).tolist(), np.concatenate([batch["x"] for batch in other]).tolist())


if __name__ == "__main__":
    unittest.main()
