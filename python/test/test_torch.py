# SPDX-License-Identifier: MIT
# imports: torch
"""lade.torch: tensors, and the behaviours of stateful loaders (after what torchdata's tests cover), on both libraries."""

import json
import pickle
import unittest

import numpy as np
import torch

import lade
import lade.torch

COUNT = 103


class Spy(lade.torch.Loader):
    """Keeps the batches that tensors were made of."""

    def _arrays(self, batch):
        self.batch = batch
        return super()._arrays(batch)


class Tensors(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(1)
        self.x, self.y = random.standard_normal((COUNT, 3, 4), np.float32), random.integers(0, 5, COUNT)

    def test_tuples(self):
        with lade.torch.Loader((self.x, self.y), batch=8, ids=True) as loader:
            self.assertEqual(len(loader), 13)
            for x, y, ids in loader:
                self.assertEqual((x.dtype, y.dtype, ids.dtype), (torch.float32, torch.int64, torch.uint64))
                np.testing.assert_array_equal(x.numpy(), self.x[ids.numpy()])
                np.testing.assert_array_equal(y.numpy(), self.y[ids.numpy()])
        with lade.torch.Loader(torch.from_numpy(self.x), batch=8) as loader:
            self.assertEqual([len(batch) for batch in loader], [1] * 13)

    def test_dicts(self):
        with lade.torch.Loader({"image": self.x, "class": self.y, "flag": self.y > 2}, batch=8, ids=True) as loader:
            for batch in loader:
                self.assertEqual(sorted(batch), ["class", "flag", "ids", "image"])
                np.testing.assert_array_equal(batch["image"].numpy(), self.x[batch["ids"].numpy()])
                np.testing.assert_array_equal(batch["flag"].numpy(), self.y[batch["ids"].numpy()] > 2)
        with lade.torch.Loader((self.x, self.y), batch=8, as_dict=True) as loader:
            self.assertEqual(sorted(next(loader)), ["label", "sample"])
        with lade.torch.Loader({"a": self.x, "b": self.y}, batch=8, as_dict=False) as loader:
            self.assertEqual([t.shape for t in next(loader)], [(8, 3, 4), (8,)])

    def test_ragged(self):
        lengths = np.arange(COUNT) % 7
        values, offsets = np.arange(lengths.sum(), dtype=np.int32), np.concatenate([[0], np.cumsum(lengths)])
        with lade.torch.Loader({"text": lade.Ragged(values, offsets)}, batch=8, ids=True) as loader:
            for batch in loader:
                for row, length, i in zip(batch["text"], batch["text_lengths"], batch["ids"].tolist()):
                    self.assertEqual(row[:length].tolist(), values[offsets[i]:offsets[i + 1]].tolist())

    def test_no_copy(self):
        with Spy((self.x, self.y), batch=8) as loader:
            for x, y in loader:
                self.assertEqual(x.data_ptr(), np.asarray(loader.batch.sample).ctypes.data)
                self.assertEqual(y.data_ptr(), np.asarray(loader.batch.label).ctypes.data)

    def test_each_way_of_dlpack(self):
        with lade.Loader((self.x, self.y), batch=8) as loader:
            batch = next(loader)
            a = torch.from_dlpack(batch.sample)
            table = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
            if table is None:
                self.skipTest("torch has no __dlpack_c_exchange_api__")
            b = batch.sample._exchange(table)
            self.assertEqual((a.data_ptr(), a.dtype, a.shape, a.stride()), (b.data_ptr(), b.dtype, b.shape, b.stride()))
            del batch
            self.assertTrue(torch.equal(a, b))
            with self.assertRaises(ValueError):
                next(loader).sample._exchange(None)
        with lade.Loader({"a": self.x, "b": self.y}, batch=8, slots=3) as loader:
            kept = [batch.b._exchange(table) for batch in loader for _ in range(2)]
        self.assertEqual(sorted(torch.cat(kept[::2]).tolist()), sorted(self.y.tolist()))

    def test_kept_tensors(self):
        with lade.torch.Loader((self.x, self.y), batch=8, ids=True, slots=3) as loader:
            kept = list(loader) + list(loader)
        for x, _, ids in kept:
            np.testing.assert_array_equal(x.numpy(), self.x[ids.numpy()])

    def test_device(self):
        with lade.torch.Loader((self.x, self.y), batch=8, device="meta") as loader:
            self.assertEqual({t.device.type for t in next(loader)}, {"meta"})
        if torch.cuda.is_available():
            with lade.torch.Loader((self.x, self.y), batch=8, device="cuda", ids=True) as loader:
                for x, _, ids in loader:
                    np.testing.assert_array_equal(x.cpu().numpy(), self.x[ids.cpu().numpy()])

    def test_pickle(self):
        with lade.torch.Loader((self.x, self.y), batch=8, ids=True, as_dict=True, device="cpu") as loader:
            next(loader)
            with pickle.loads(pickle.dumps(loader)) as copy:
                for a, b in zip(loader, copy, strict=True):
                    self.assertEqual(a["ids"].tolist(), b["ids"].tolist())

    def test_torch_dataset(self):
        data = torch.utils.data.TensorDataset(torch.from_numpy(self.x), torch.from_numpy(self.y))
        with lade.torch.Loader(data, batch=8, ids=True) as loader:
            for x, _, ids in loader:
                np.testing.assert_array_equal(x.numpy(), self.x[ids.numpy()])


class Stateful:
    """What any stateful loader does; make() gives one, seen() the numbers of the samples of a batch."""

    def head(self, loader, batches):
        iterator, got = iter(loader), []
        for _ in range(batches):
            got.append(self.seen(next(iterator)))
        return got

    def rest(self, loader):
        return [self.seen(batch) for batch in loader]

    def reference(self, epochs, **options):
        loader = self.make(**options)
        return [self.rest(loader) for _ in range(epochs)]

    def test_middle(self):
        epoch = self.reference(1)[0]
        for at in (1, 5, 12):
            loader = self.make()
            self.assertEqual(self.head(loader, at), epoch[:at])
            resumed = self.make()
            resumed.load_state_dict(loader.state_dict())
            self.assertEqual(self.rest(resumed), epoch[at:])

    def test_json(self):
        loader = self.make()
        self.head(loader, 4)
        state = loader.state_dict()
        self.assertEqual(json.loads(json.dumps(state)), state)

    def test_initial_state(self):
        resumed = self.make()
        resumed.load_state_dict(self.make().state_dict())
        self.assertEqual(self.rest(resumed), self.reference(1)[0])

    def test_several_epochs(self):
        epochs = self.reference(4)
        loader = self.make()
        self.rest(loader), self.rest(loader)
        self.head(loader, 3)
        resumed = self.make()
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual([self.rest(resumed), self.rest(resumed)], [epochs[2][3:], epochs[3]])

    def test_end_of_epoch(self):
        loader = self.make()
        self.rest(loader)
        resumed = self.make()
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(self.rest(resumed), self.reference(2)[1])

    def test_state_after_load(self):
        loader = self.make()
        self.head(loader, 4)
        state = loader.state_dict()
        resumed = self.make()
        resumed.load_state_dict(state)
        again = self.make()
        again.load_state_dict(resumed.state_dict())
        self.assertEqual(self.rest(again), self.reference(1)[0][4:])

    def test_state_changes_nothing(self):
        loader, got, states = self.make(), [], set()
        for batch in loader:
            got.append(self.seen(batch))
            self.assertEqual(loader.state_dict(), loader.state_dict())
            states.add(json.dumps(loader.state_dict()))
        self.assertEqual(got, self.reference(1)[0])
        self.assertEqual(len(states), len(got))

    def test_chain(self):
        epoch, state, got = self.reference(1)[0], None, []
        while len(got) < len(epoch):
            loader = self.make()
            if state:
                loader.load_state_dict(state)
            got += self.head(loader, min(3, len(epoch) - len(got)))
            state = loader.state_dict()
        self.assertEqual(got, epoch)

    def test_load_into_a_loader_in_use(self):
        loader = self.make()
        self.head(loader, 2)
        state = loader.state_dict()
        self.rest(loader)
        loader.load_state_dict(state)
        self.assertEqual(self.rest(loader), self.reference(1)[0][2:])

    def test_drop_last(self):
        epoch = self.reference(1, drop_last=True)[0]
        self.assertEqual([len(batch) for batch in epoch], [8] * 12)
        loader = self.make(drop_last=True)
        self.head(loader, 11)
        resumed = self.make(drop_last=True)
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(self.rest(resumed), epoch[11:])

    def test_length(self):
        loader = self.make()
        self.assertEqual(len(loader), 13)
        self.head(loader, 4)
        resumed = self.make()
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(len(resumed), 13)


class OnLade(Stateful, unittest.TestCase):
    """shuffle is on: the order of each epoch is another one."""

    def make(self, **options):
        loader = lade.torch.Loader({"x": np.arange(COUNT)}, batch=options.pop("batch", 8), seed=3, **options)
        self.addCleanup(loader.close)
        return loader

    def seen(self, batch):
        return batch["x"].tolist()

    def test_epochs_differ(self):
        first, second = self.reference(2)
        self.assertNotEqual(first, second)
        self.assertEqual(sorted(sum(first, [])), sorted(sum(second, [])))

    def test_other_workers_and_batch(self):
        loader = self.make(threads=1)
        self.head(loader, 4)
        resumed = self.make(threads=5, batch=3)
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(sum(self.rest(resumed), []), sum(self.reference(1)[0][4:], []))

    def test_as_ready(self):
        loader = self.make(in_order=False)
        head = self.head(loader, 4)
        resumed = self.make(in_order=False)
        resumed.load_state_dict(loader.state_dict())
        self.assertEqual(sorted(sum(head + self.rest(resumed), [])), list(range(COUNT)))

    def test_ranks_of_other_numbers(self):
        """One state of two ranks in step, then of three."""
        ranks = [self.make(shard=r, shards=2) for r in range(2)]
        seen = [self.head(loader, 3) for loader in ranks]
        self.assertEqual(ranks[0].state_dict(), ranks[1].state_dict())
        more = [self.make(shard=r, shards=3, state=ranks[0].state_dict()) for r in range(3)]
        seen += [self.head(loader, 1) for loader in more]
        last = self.make(state=more[2].state_dict())
        self.assertEqual(sorted(i for batches in seen + [self.rest(last)] for batch in batches for i in batch), list(range(COUNT)))

    def test_ranks_that_are_not_in_step(self):
        ranks = [self.make(shard=r, shards=2, in_step=False) for r in range(2)]
        seen = [self.head(loader, batches) for loader, batches in zip(ranks, (1, 4))]
        last = self.make(state=lade.ranks.join([loader.state_dict() for loader in ranks]))
        self.assertEqual(sorted(i for batches in seen + [self.rest(last)] for batch in batches for i in batch), list(range(COUNT)))

    def test_a_state_of_something_else(self):
        loader = self.make()
        for state in ({}, {"_num_yielded": 3}, 7):
            with self.assertRaisesRegex(ValueError, "not one of Loader.state_dict"):
                loader.load_state_dict(state)


# imports: torch torchdata
class OnTorchdata(Stateful, unittest.TestCase):
    """Without shuffling, whose state holds a tensor there."""

    def make(self, drop_last=False):
        from torchdata.stateful_dataloader import StatefulDataLoader

        return StatefulDataLoader([{"x": i} for i in range(COUNT)], batch_size=8, drop_last=drop_last)

    def seen(self, batch):
        return batch["x"].tolist()


if __name__ == "__main__":
    unittest.main()
