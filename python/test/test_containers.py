# SPDX-License-Identifier: MIT
"""Bag, Ring, Table and Split: contents, threads, waits, exceptions, files."""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import numpy as np

import lade


def run(*functions):
    """Runs each in a thread; raises what one of them raised."""
    errors = []

    def call(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def run_python(code):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)


class Bags(unittest.TestCase):
    def test_ints(self):
        bag = lade.Bag(3, seed=0)
        for i in (1, 2, 2**48 - 1):
            bag.put(i)
        self.assertEqual(len(bag), 3)
        with self.assertRaises(queue.Full) as raised:
            bag.put(7)
        self.assertIsInstance(raised.exception, lade.FullError)
        self.assertIn(bag.sample(), {1, 2, 2**48 - 1})
        self.assertEqual({bag.draw() for _ in range(3)}, {1, 2, 2**48 - 1})
        with self.assertRaises(queue.Empty):
            bag.draw()
        for wrong in (0, 2**48):
            with self.assertRaisesRegex(lade.InvalidError, "1 to 2"):
                bag.put(wrong)
            with self.assertRaisesRegex(lade.InvalidError, "item 1 "):
                bag.put_many([5, wrong])
        self.assertEqual(len(bag), 0)
        with self.assertRaises(TypeError):
            bag.put("1")

    def test_records_of_numpy(self):
        step = np.dtype([("state", "f4", 3), ("action", "i2"), ("reward", "f8")])
        bag = lade.Bag(100, record=step, full="oldest")
        for i in range(250):
            bag.put((np.full(3, i), i, i / 2))
        self.assertEqual(len(bag), 100)
        one = bag.sample()
        self.assertEqual(one.dtype, step)
        self.assertEqual(one["reward"], one["action"] / 2)
        many = bag.sample_many(1000)
        self.assertEqual(many.shape, (1000,))
        self.assertGreaterEqual(many["action"].min(), 150)
        np.testing.assert_array_equal(many["state"], np.repeat(many["action"], 3).reshape(-1, 3))
        self.assertEqual(sorted(bag.draw_many(1000)["action"]), list(range(150, 250)))

    def test_bytes_and_exchange(self):
        bag = lade.Bag(2, record=4)
        bag.put(b"aaaa")
        self.assertEqual(bag.exchange(b"bbbb"), b"aaaa")
        with self.assertRaisesRegex(lade.InvalidError, "has 4 bytes, not 3"):
            bag.put(b"ccc")
        self.assertEqual(bag.put_many(b"ccccdddd"), 1)
        self.assertEqual(sorted([bag.draw(), bag.draw()]), [b"bbbb", b"cccc"])
        with self.assertRaisesRegex(lade.InvalidError, "whole number"):
            bag.put_many(b"ccccd")

    def test_threads_lose_nothing(self):
        bag = lade.Bag(64)
        drawn = [[], []]

        def produce(first):
            for i in range(first, first + 5000):
                bag.put_wait(i)

        def consume(out):
            try:
                while True:
                    out.append(bag.draw_wait())
            except lade.ClosedError:
                pass

        consumers = [threading.Thread(target=consume, args=(out,)) for out in drawn]
        for thread in consumers:
            thread.start()
        run(lambda: produce(1), lambda: produce(5001), lambda: produce(10001))
        bag.close()
        for thread in consumers:
            thread.join()
        self.assertEqual(sorted(drawn[0] + drawn[1]), list(range(1, 15001)))
        counts = bag.stats()
        self.assertEqual((counts["put"], counts["drawn"], counts["held"]), (15000, 15000, 0))

    def test_samples_are_whole(self):
        """A record is never half of one put and half of another."""
        bag = lade.Bag(8, record=np.dtype(("u8", 64)), full="uniform")
        bag.put(np.zeros(64))
        stop = threading.Event()

        rows = np.repeat(np.arange(512, dtype="u8"), 64).reshape(512, 64)

        def write():
            while not stop.is_set():
                bag.put_many(rows)

        def read():
            try:
                for _ in range(100):
                    copies = bag.sample_many(16)
                    self.assertTrue((copies == copies[:, :1]).all())
            finally:
                stop.set()

        run(write, read)

    def test_waits(self):
        bag = lade.Bag(1)
        with self.assertRaises(TimeoutError) as raised:
            bag.draw_wait(timeout=0.01)
        self.assertIsInstance(raised.exception, lade.TimedOutError)
        for wrong in (-1, float("nan")):
            with self.assertRaisesRegex(ValueError, "number of seconds"):
                bag.draw_wait(wrong)
        bag.put(1)
        bag.close()
        with self.assertRaises(lade.ClosedError):
            bag.put(2)
        self.assertEqual(bag.draw(), 1)
        with self.assertRaises(lade.ClosedError):
            bag.draw_wait()

    def test_cancel_wakes_a_waiting_thread(self):
        for make in (lambda: lade.Bag(1).draw_wait, lambda: lade.Ring(1).pop_wait, lambda: lade.Ring(1, kind="spsc").pop_wait):
            wait = make()
            ended = threading.Event()

            def work():
                with self.assertRaises(lade.CancelledError):
                    wait()
                ended.set()

            thread = threading.Thread(target=work)
            thread.start()
            while not ended.is_set():  # a cancel before the wait begins is not seen
                wait.__self__.cancel()
            thread.join()

    def test_too_many_threads(self):
        bag = lade.Bag(1, handles=1)
        errors = queue.Queue()

        def work():
            try:
                bag.draw_wait()
            except lade.Error as error:
                errors.put(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        self.assertRegex(str(errors.get()), "more than 1 threads are inside the bag")
        bag.close()
        for thread in threads:
            thread.join()
        self.assertIsInstance(errors.get(), lade.ClosedError)

    def test_limits(self):
        bag = lade.Bag(10, max_times_sampled=2)
        bag.put(5)
        self.assertEqual([bag.sample(), bag.sample()], [5, 5])
        with self.assertRaises(lade.EmptyError):
            bag.sample()
        bag = lade.Bag(10, samples_per_insert=1, ratio_slack=1)
        bag.put(1)
        with self.assertRaises(lade.LimitedError):
            bag.put(2)
        with self.assertRaises(lade.InvalidError):
            lade.Bag(0)
        with self.assertRaisesRegex(ValueError, "'reject', 'uniform', 'oldest'"):
            lade.Bag(1, full="never")
        with self.assertRaisesRegex(TypeError, "without references"):
            lade.Bag(1, record=object)

    def test_snapshot(self):
        bag = lade.Bag(1000, record=np.dtype("f4"))
        bag.put_many(np.arange(1000, dtype="f4"))
        data = bag.snapshot()
        again = lade.Bag(1000, record=np.dtype("f4"))
        again.restore(data)
        self.assertEqual(sorted(again.draw_many(2000)), list(range(1000)))
        for bad in (data[:-1], data[:50] + b"x" + data[51:], b""):
            with self.assertRaises(lade.DamagedError):
                lade.Bag(1000, record=np.dtype("f4")).restore(bad)
        self.assertEqual(bag.clear(), 1000)


class Rings(unittest.TestCase):
    def test_order(self):
        for kind in ("mpmc", "spsc"):
            ring = lade.Ring(3, kind=kind)
            self.assertEqual(ring.push_many([0, 2**64 - 1, 2, 3]), 3)
            with self.assertRaises(queue.Full):
                ring.push(9)
            self.assertEqual(len(ring), 3)
            self.assertEqual(ring.pop(), 0)
            self.assertEqual(ring.pop_many(5).tolist(), [2**64 - 1, 2])
            with self.assertRaises(queue.Empty):
                ring.pop()
            with self.assertRaises(lade.TimedOutError):
                ring.pop_wait(timeout=0)
            ring.push(4)
            ring.close()
            with self.assertRaises(lade.ClosedError):
                ring.push(5)
            self.assertEqual(ring.pop_wait(), 4)
            with self.assertRaises(lade.ClosedError):
                ring.pop_wait()

    def test_threads(self):
        """Nothing is lost, and the numbers of each producer come in its order."""
        ring = lade.Ring(16)
        out = [[], []]

        def consume(mine):
            try:
                while True:
                    mine.append(ring.pop_wait())
            except lade.ClosedError:
                pass

        def produce(first):
            for i in range(first, first + 5000):
                ring.push_wait(i)

        consumers = [threading.Thread(target=consume, args=(mine,)) for mine in out]
        for thread in consumers:
            thread.start()
        run(lambda: produce(0), lambda: produce(10000))
        ring.close()
        for thread in consumers:
            thread.join()
        self.assertEqual(sorted(out[0] + out[1]), [*range(5000), *range(10000, 15000)])
        for mine in out:
            for first in (0, 10000):
                part = [i for i in mine if first <= i < first + 5000]
                self.assertEqual(part, sorted(part))

    def test_spsc_threads(self):
        ring = lade.Ring(7, kind="spsc")
        got = []
        run(lambda: [ring.push_wait(i) for i in range(20000)],
            lambda: [got.append(ring.pop_wait()) for _ in range(20000)])
        np.testing.assert_array_equal(got, np.arange(20000))

    def test_spsc_refuses_a_second_consumer(self):
        ring = lade.Ring(1, kind="spsc")
        errors = queue.Queue()

        def work():
            try:
                ring.pop_wait()
            except lade.Error as error:
                errors.put(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        self.assertRegex(str(errors.get()), "another thread pops")
        ring.close()
        for thread in threads:
            thread.join()
        self.assertIsInstance(errors.get(), lade.ClosedError)

    def test_arguments(self):
        ring = lade.Ring(4)
        with self.assertRaises(OverflowError):
            ring.push(-1)
        with self.assertRaisesRegex(lade.InvalidError, "element 1 is negative"):
            ring.push_many(np.array([1, -1]))
        with self.assertRaisesRegex(TypeError, "64-bit"):
            ring.push_many(np.zeros(2, "f8"))
        self.assertEqual(ring.push_many(np.arange(8)[::2]), 4)
        self.assertEqual(ring.pop_many(4).tolist(), [0, 2, 4, 6])
        with self.assertRaises(lade.InvalidError):
            lade.Ring(0)


class Tables(unittest.TestCase):
    def test_keys(self):
        for keys, one, other in ((int, 2**64 - 1, 0), (bytes, b"one", "zwei")):
            table = lade.Table(keys)
            self.assertEqual(table.insert(one, 1), 1)
            self.assertEqual(table.insert(one, 2), 1)
            self.assertEqual(table.insert(other, 2**63 - 3), 2**63 - 3)
            self.assertEqual((table[one], table.get(one), len(table), one in table), (1, 1, 2, True))
            self.assertEqual(table.replace(one, 7), 1)
            self.assertEqual(table.remove(one), 7)
            for call in (lambda: table[one], lambda: table.remove(one), lambda: table.replace(one, 1)):
                with self.assertRaises(KeyError) as raised:
                    call()
                self.assertEqual(raised.exception.args, (one,))
            self.assertEqual((table.get(one), table.get(one, "none")), (None, "none"))
            with self.assertRaisesRegex(lade.InvalidError, "2..63 - 3"):
                table.insert(one, 2**63 - 2)
            key = other.encode() if keys is bytes else other
            self.assertEqual(table.items(), [(key, 2**63 - 3)])
        with self.assertRaises(TypeError):
            lade.Table(bytes).insert(3, 4)
        with self.assertRaises(TypeError):
            lade.Table(int).insert(b"3", 4)

    def test_arrays(self):
        table = lade.Table()
        keys = np.arange(5000) * 3
        winners, inserted = table.insert_many(keys, keys + 1)
        self.assertEqual(inserted, 5000)
        np.testing.assert_array_equal(winners, keys + 1)
        winners, inserted = table.insert_many(keys[:10], keys[:10] * 0)
        self.assertEqual(inserted, 0)
        np.testing.assert_array_equal(winners, keys[:10] + 1)
        values, found = table.get_many(np.arange(15000))
        np.testing.assert_array_equal(found, np.arange(15000) % 3 == 0)
        np.testing.assert_array_equal(values, np.where(found, np.arange(15000) + 1, 0))
        self.assertEqual(sorted(table.items()), [(k, k + 1) for k in keys.tolist()])
        with self.assertRaisesRegex(lade.InvalidError, "10 keys and 9 values"):
            table.insert_many(keys[:10], keys[:9])
        with self.assertRaisesRegex(lade.InvalidError, "value 1 "):
            table.insert_many([1, 2], [1, 2**63])
        with self.assertRaises(TypeError):
            lade.Table(bytes).get_many([1])

    def test_the_first_insert_wins_in_all_threads(self):
        table = lade.Table(bytes)
        got = [[] for _ in range(4)]

        def work(thread):
            for i in range(3000):
                got[thread].append(table.insert(b"key %d" % i, 10 * i + thread))

        run(*(lambda t=t: work(t) for t in range(4)))
        for i, answers in enumerate(zip(*got)):
            self.assertEqual(len(set(answers)), 1)
            self.assertEqual(answers[0] // 10, i)
            self.assertEqual(table[b"key %d" % i], answers[0])

    def test_files(self):
        for keys, name in ((int, 17), (bytes, b"17")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "table")
                table = lade.Table(keys)
                table.insert(name, 3)
                table.save(path)
                again = lade.Table(keys)
                again.load(path)
                self.assertEqual(again.items(), [(name, 3)])
                with open(path, "r+b") as file:
                    file.truncate(os.path.getsize(path) - 1)
                with self.assertRaises(lade.DamagedError) as raised:
                    lade.Table(keys).load(path)
                self.assertIn(path, str(raised.exception))
                with self.assertRaises(OSError):
                    table.save(folder + "/none/table")


class Splits(unittest.TestCase):
    def test_shares_and_stability(self):
        split = lade.Split([8, 1, 1], seed=3)
        keys = np.arange(20000)
        parts = split.route_many(keys)
        again = lade.Split([8, 1, 1], seed=3)
        np.testing.assert_array_equal([again.route(int(k)) for k in keys[::-1]], parts[::-1])
        counts = np.bincount(parts, minlength=3)
        self.assertEqual(split.stats()["part_keys"], tuple(counts))
        # 8 standard deviations: false alarms below 1e-14
        for count, share in zip(counts, (0.8, 0.1, 0.1)):
            self.assertLess(abs(count - 20000 * share), 8 * (20000 * share * (1 - share)) ** 0.5)
        self.assertEqual((split.seed, split.weights), (3, (8, 1, 1)))
        self.assertEqual(split.find(5), parts[5])
        self.assertIsNone(split.find(20001))

    def test_names(self):
        split = lade.Split(2, seed=1)
        self.assertEqual(split.route(5), split.route((5).to_bytes(8, "little")))
        self.assertEqual(split.route("ä"), split.route("ä".encode()))
        self.assertEqual(split.route(np.int64(5)), split.route(5))
        groups = [f"person {i % 7}" for i in range(500)]
        parts = split.route_many([f"picture {i}" for i in range(500)], groups)
        for group in set(groups):
            self.assertEqual(len({p for p, g in zip(parts, groups) if g == group}), 1)
        self.assertEqual(split.stats()["groups"], 7)
        self.assertLess(split.fold(5, 10), 10)
        split.pin("new", 1)
        self.assertEqual(split.route("new"), 1)
        with self.assertRaises(lade.ConflictError):
            split.pin("new", 0)
        with self.assertRaises(TypeError):
            split.route(1.5)

    def test_contents(self):
        split = lade.Split(2, content="drop")
        self.assertIsNotNone(split.route("a", content=b"same"))
        self.assertIsNone(split.route("b", content=b"same"))
        self.assertEqual(split.route_many(["c"], contents=[b"same"]).tolist(), [-1])

    def test_quota(self):
        rows = [lade.Split.shares([3, 1], 40), [10, 10]]
        self.assertEqual(rows[0], [30, 10])
        split = lade.Split([3, 1], rule="quota", quota=rows)
        parts = [[split.route(i, class_number=0) for i in range(40)], [split.route(100 + i, class_number=1) for i in range(20)]]
        self.assertEqual([[p.count(0), p.count(1)] for p in parts], rows)
        with self.assertRaises(lade.FullError):
            split.route(41, class_number=0)
        tests = lade.Split.audit(rows, [3, 1])
        self.assertAlmostEqual(tests["shares"], (40 - 45) ** 2 / 45 + (20 - 15) ** 2 / 15)

    def test_threads_agree(self):
        split = lade.Split(5, rule="coin", seed=None)
        results = [None] * 4

        def work(i):
            results[i] = split.route_many(np.arange(5000)).tolist() if i % 2 else [split.route(k) for k in range(5000)]

        run(*(lambda i=i: work(i) for i in range(4)))
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])

    def test_files_and_merges(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "split")
            split = lade.Split([1, 1], seed=9)
            before = split.route_many(np.arange(100)).tolist()
            split.save(path)
            again = lade.Split.load(path)
            self.assertIsInstance(again, lade.Split)
            self.assertEqual([again.find(i) for i in range(100)], before)
            with self.assertRaises(lade.ReadError):
                lade.Split.load(folder + "/none")
        one, other = lade.Split(2, seed=9), lade.Split(2, seed=9)
        one.pin("a", 0)
        other.pin("a", 1)
        other.pin("b", 1)
        with self.assertRaises(lade.ConflictError):
            one.merge(other)
        self.assertIsNone(one.find("b"))
        difference, = one.merge(other, resolve=True)
        self.assertEqual(difference[1:4], ("key", 0, 1))
        self.assertEqual((one.find("a"), one.find("b")), (difference[4], 1))
        with self.assertRaises(lade.InvalidError):
            one.merge(lade.Split(2, seed=8))

    def test_loader_takes_a_split(self):
        split = lade.Split([1, 1], seed=4)
        x = np.arange(1000)
        ids = []
        for part in (0, 1):
            with lade.Loader(x, batch=10, split=split, part=part) as loader:
                ids.append(np.concatenate([b.ids.numpy() for b in loader]).tolist())
        self.assertEqual(sorted(ids[0] + ids[1]), list(range(1000)))
        self.assertTrue(ids[0] and ids[1])
        loader = lade.Loader(x, batch=10, split=lade.Split(1), part=0)  # which keeps the split
        self.assertEqual(len(list(loader)), 100)


class Processes(unittest.TestCase):
    def test_an_interrupt_ends_a_wait(self):
        for make in ("lade.Bag(1).draw_wait", "lade.Ring(1).pop_wait"):
            interrupts = []

            def interrupt(number, frame):
                interrupts.append(number)
                if len(interrupts) == 1:
                    raise KeyboardInterrupt

            old = signal.signal(signal.SIGUSR1, interrupt)
            self.addCleanup(signal.signal, signal.SIGUSR1, old)
            wait = eval(make)
            done = threading.Event()

            def send():
                while not done.wait(0.02):
                    os.kill(os.getpid(), signal.SIGUSR1)

            sender = threading.Thread(target=send)
            try:
                with self.assertRaises(KeyboardInterrupt):
                    sender.start()
                    wait()
            finally:
                done.set()
                sender.join()

    def test_a_child_has_its_own_copy(self):
        bag, ring, table, split = lade.Bag(4), lade.Ring(4), lade.Table(), lade.Split(2, seed=1)
        bag.put(1)
        ring.push(2)
        table.insert(3, 4)
        part = split.route(5)
        child = os.fork()
        if child == 0:
            good = bag.draw() == 1 and ring.pop() == 2 and table[3] == 4 and split.route(5) == part
            table.insert(6, 7)
            os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual((bag.draw(), ring.pop(), table.get(6)), (1, 2, None))

    def test_the_interpreter_ends_with_objects_and_a_waiting_thread(self):
        result = run_python("""
            import threading, lade
            keep = [lade.Bag(9), lade.Ring(9), lade.Table(), lade.Table(bytes), lade.Split(3)]
            keep[2].insert(1, 2)
            begun = threading.Event()
            def work():
                keep[4].route(1)
                begun.set()
                keep[0].draw_wait()
            threading.Thread(target=work, daemon=True).start()
            begun.wait()
            print("end")
        """)
        self.assertEqual((result.returncode, result.stdout), (0, "end\n"), result.stderr)

    def test_threads_and_objects_leave_no_memory(self):
        result = run_python("""
            import gc, resource, threading, lade
            def use():
                bag, table, split, ring = lade.Bag(1000, record=1000), lade.Table(), lade.Split(2), lade.Ring(60000)
                bag.put_many(bytes(1000000)); bag.sample(); ring.push_many(range(60000))
                table.insert_many(range(20000), range(20000)); split.route_many(list(range(20000)))
            def many(n):
                for _ in range(n):
                    thread = threading.Thread(target=use)
                    thread.start()
                    thread.join()
                gc.collect()
                return int(open("/proc/self/statm").read().split()[1]) * 4
            many(20)
            before = many(20)
            print(many(100) - before)
        """)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(int(result.stdout), 40000)  # KiB; 100 of any of them take more


if __name__ == "__main__":
    unittest.main()
