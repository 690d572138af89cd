# SPDX-License-Identifier: MIT
"""What Python brings along: sequences, functions, exceptions, signals, processes, the collector."""

import _thread
import ctypes
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import unittest
import weakref

import numpy as np

import lade
from lade import transforms


def ids(batches):
    return np.concatenate([b.ids.numpy() for b in batches]).tolist()


class Squares:
    """A data set as PyTorch's are."""

    def __init__(self, broken=()):
        self.broken = broken

    def __len__(self):
        return 100

    def __getitem__(self, i):
        if i in self.broken:
            raise KeyError(f"sample {i} is broken")
        return np.full(3, i * i, np.float32), i % 5


class Sequences(unittest.TestCase):
    def test_samples(self):
        with lade.Loader(Squares(), batch=8, classes=5) as loader:
            batches = list(loader)
        self.assertEqual(sorted(ids(batches)), list(range(100)))
        for batch in batches:
            i = batch.ids.numpy()
            np.testing.assert_array_equal(batch.sample.numpy(), np.repeat(i * i, 3).reshape(-1, 3).astype(np.float32))
            np.testing.assert_array_equal(batch.labels.numpy(), i % 5)

    def test_dicts_and_ragged_fields(self):
        texts = ["a" * (i % 7) for i in range(30)]
        with lade.Loader([{"text": t, "n": len(t)} for t in texts], batch=4, ragged={"text": 6}) as loader:
            self.assertEqual(loader.names, ("text", "n", "text_lengths"))
            for batch in loader:
                rows, lengths = batch.text.numpy(), batch.text_lengths.numpy()
                for row, length, i in zip(rows, lengths, batch.ids.numpy()):
                    self.assertEqual(bytes(row[:length]).decode(), texts[i])
        with self.assertRaisesRegex(TypeError, "pass ragged="):
            lade.Loader(["a", "bb"])

    def test_iterables(self):
        numbers = ((np.array([i], np.int16), i % 3) for i in range(500))
        with lade.Loader(numbers, batch=10, buffer=100, classes=3) as loader:
            batches = list(loader)
        seen = np.concatenate([b.sample.numpy()[:, 0] for b in batches])
        self.assertEqual(sorted(seen.tolist()), list(range(500)))
        np.testing.assert_array_equal(np.concatenate([b.labels.numpy() for b in batches]), seen % 3)

    def test_an_exception_comes_out_of_next(self):
        with lade.Loader(Squares(broken=[17]), batch=8) as loader:
            try:
                list(loader)
                trace = None
            except KeyError as error:
                self.assertIn("sample 17 is broken", str(error))
                trace = error.__traceback__
        frames = []
        while trace:
            frames.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        self.assertIn("__getitem__", frames)

    def test_faults_are_skipped(self):
        with lade.Loader(Squares(broken=[17, 4]), batch=8, faults="skip") as loader:
            self.assertEqual(sorted(ids(loader)), [i for i in range(100) if i not in (17, 4)])
            self.assertEqual(loader.stats()["faults"], 2)

    def test_another_shape(self):
        with lade.Loader([np.zeros(3), np.zeros(4)], batch=2) as loader:
            with self.assertRaisesRegex(TypeError, r"sample 1: field 'sample' is float64 \(4,\), in the first sample float64 \(3,\)"):
                list(loader)


class Commands(unittest.TestCase):
    def test_the_command(self):
        run = subprocess.run([sys.executable, "-m", "lade", "--version"], capture_output=True, text=True, timeout=300)
        self.assertEqual((run.returncode, run.stdout), (0, f"lade {lade.__version__}\n"))


class Transforms(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(1).integers(0, 256, (60, 6, 5, 3), np.uint8)

    def batches(self, *transform, **options):
        with lade.Loader(self.x, batch=7, transform=transform, **options) as loader:
            return [(b.ids.numpy().copy(), b.sample.numpy().copy()) for b in loader]

    def test_those_of_the_library(self):
        mean, deviation = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.6, 0.7])
        for i, got in self.batches(transforms.Crop(1, 2, 4, 3), transforms.Normalise(mean, deviation), transforms.Layout("chw")):
            expected = ((self.x[i][:, 1:5, 2:5] / 255 - mean) / deviation).transpose(0, 3, 1, 2)
            np.testing.assert_allclose(got, expected, atol=1e-5)

    def test_a_function(self):
        for i, got in self.batches(lambda image: 255 - image):
            np.testing.assert_array_equal(got, 255 - self.x[i])

        def in_place(image):
            image[0] = 9

        for i, got in self.batches(in_place):
            expected = self.x[i].copy()
            expected[:, 0] = 9
            np.testing.assert_array_equal(got, expected)

    def test_another_form(self):
        form = transforms.Form("float32", "hwc", 2, 5, 3)
        for i, got in self.batches(transforms.Call(lambda image: image[:2].astype(np.float32) / 2, output=form)):
            np.testing.assert_array_equal(got, self.x[i][:, :2].astype(np.float32) / 2)
        with self.assertRaisesRegex(ValueError, "Form"):
            self.batches(lambda image: image[:2])

    def test_random_numbers_depend_on_the_sample(self):
        def noise(image, number):
            return image ^ np.random.default_rng(number).integers(0, 256, image.shape, np.uint8)

        first = self.batches(transforms.Call(noise, random=True), threads=1)
        second = self.batches(transforms.Call(noise, random=True), threads=4)
        other = self.batches(transforms.Call(noise, random=True), seed=2)
        for (i, a), (j, b) in zip(first, second):
            np.testing.assert_array_equal(a, b)
        at = lambda batches, n: next(s[i.tolist().index(n)] for i, s in batches if n in i)
        self.assertFalse((at(first, 5) == at(other, 5)).all())

    def test_an_exception(self):
        def fail(image):
            raise ZeroDivisionError("on purpose")

        with self.assertRaisesRegex(ZeroDivisionError, "on purpose"):
            self.batches(fail)

    def test_a_compiled_function(self):
        type_of = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 6)

        @type_of
        def fill(context, input, source, output, to, random):
            ctypes.memset(to, context, 90)
            return 0

        for _, got in self.batches(transforms.Compiled(fill, context=7)):
            self.assertTrue((got == 7).all())
        with self.assertRaisesRegex(TypeError, "passed by Call"):
            self.batches(transforms.Compiled(lambda: 0))


class Slow(Squares):
    """Blocks until it is let go."""

    def __init__(self):
        super().__init__()
        self.go = threading.Event()

    def __getitem__(self, i):
        if i != 0:
            self.go.wait()
        return super().__getitem__(i)


class Waiting(unittest.TestCase):
    def test_keyboard_interrupt(self):
        source = Slow()
        loader = lade.Loader(source, batch=8)
        threading.Timer(0.2, _thread.interrupt_main).start()
        with self.assertRaises(KeyboardInterrupt):
            next(loader)
        source.go.set()
        self.assertEqual(sorted(ids(loader)), list(range(100)))
        loader.close()

    def test_a_handler_may_use_the_loader(self):
        import signal

        source, states = Slow(), []
        loader = lade.Loader(source, batch=8)

        def handler(*_):
            states.append(loader.state_dict())
            source.go.set()

        old = signal.signal(signal.SIGUSR1, handler)
        try:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            self.assertEqual(next(loader).count, 8)
        finally:
            signal.signal(signal.SIGUSR1, old)
        self.assertEqual(len(states), 1)
        loader.close()

    def test_close_by_another_thread(self):
        source = Slow()
        loader = lade.Loader(source, batch=8)
        thread = threading.Timer(0.2, loader.close)
        thread.start()
        threading.Timer(0.4, source.go.set).start()
        with self.assertRaises((lade.CancelledError, ValueError)):
            next(loader)
        thread.join()
        self.assertTrue(loader.closed)

    def test_threads_share_a_loader(self):
        with lade.Loader("synthetic:count=2000,shape=4", batch=10, epochs=1) as loader:
            seen, lock = [], threading.Lock()

            def consume():
                for batch in loader:
                    with lock:
                        seen.extend(batch.ids.numpy().tolist())

            threads = [threading.Thread(target=consume) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(seen), list(range(2000)))


def count_in_child(loader, queue):
    queue.put(sorted(ids(loader)))


class Processes(unittest.TestCase):
    def test_fork(self):
        loader = lade.Loader("synthetic:count=100,shape=4", batch=10)
        kept = next(loader)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                next(loader)
            except lade.ForkError as error:
                code = 0 if "spawn" in str(error) and kept.sample.numpy().shape == (10, 4) else 2
            loader.close()
            del kept
            own = lade.Loader("synthetic:count=100,shape=4", batch=10)
            os._exit(code if len(list(own)) == 10 else 3)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(len(list(loader)), 9)

    def test_spawn(self):
        context = multiprocessing.get_context("spawn")
        queue = context.SimpleQueue()
        with lade.Loader("synthetic:count=100,shape=4", batch=10) as loader:
            first = ids([next(loader)])
            process = context.Process(target=count_in_child, args=(loader, queue))
            process.start()
            self.assertEqual(sorted(first + queue.get()), list(range(100)))
            process.join()

    def test_pickle(self):
        with lade.Loader("synthetic:count=100,shape=4", batch=10) as loader:
            next(loader)
            copy = pickle.loads(pickle.dumps(loader))
            self.assertEqual(ids(copy), ids(loader))

    def test_the_end_of_the_interpreter(self):
        for text in ["loader = lade.Loader(Squares(), batch=8); next(loader)",
                     "loader = lade.Loader(Squares(), batch=8); kept = list(loader); sys.kept = kept, loader",
                     "loader = lade.Loader(Squares(), batch=8); loader.own = loader; next(loader)",
                     "x = [next(lade.Loader(Squares(), batch=8))]; raise SystemExit(0)"]:
            program = "import sys; sys.path.insert(0, sys.argv[1]); import lade; from test_python import Squares\n" + text
            with self.subTest(text):
                run = subprocess.run([sys.executable, "-c", program, os.path.dirname(os.path.abspath(__file__))],
                                     capture_output=True, text=True, timeout=300)
                self.assertEqual((run.returncode, run.stderr), (0, ""))


def threads_of_process():
    return len(os.listdir("/proc/self/task"))


class Memory(unittest.TestCase):
    def test_no_thread_is_left(self):
        before = threads_of_process()
        for _ in range(5):
            loader = lade.Loader("synthetic:count=100,shape=4", batch=10)
            next(loader)
            self.assertGreater(threads_of_process(), before)
            del loader
            self.assertEqual(threads_of_process(), before)

    def test_a_cycle_is_collected(self):
        uses = []
        loader = lade.Loader(np.zeros((10, 4, 4, 3), np.uint8), transform=[lambda image, used=uses: image],
                             batch=5)
        uses.append(loader)
        next(loader)
        gone = weakref.ref(loader)
        before = threads_of_process()
        loader.itself = loader
        loader = uses = None
        gc.collect()
        self.assertIsNone(gone())
        self.assertLess(threads_of_process(), before)

    def test_a_worker_collects_its_loader(self):
        deleted, done = threading.Event(), threading.Event()

        class Collecting(Squares):
            calls = 0

            def __getitem__(self, i):
                self.calls += 1
                if self.calls == 20:  # the first is for the form of the samples; this one is of the third batch
                    deleted.wait()
                    gc.collect()
                    done.set()
                return super().__getitem__(i)

        before = threads_of_process()
        gc.disable()
        try:
            loader = lade.Loader(Collecting(), batch=8, threads=1, slots=4)
            loader.itself = loader
            gone = weakref.ref(loader)
            next(loader)
            del loader
            deleted.set()
            self.assertTrue(done.wait(60))
        finally:
            gc.enable()
        while gone() is not None or threads_of_process() > before:
            gc.collect()

    def test_arrays_are_let_go(self):
        x = np.zeros((100, 4), np.float32)
        before = sys.getrefcount(x)
        with lade.Loader(x, batch=10) as loader:
            kept = list(loader)
        del loader
        gc.collect()
        self.assertEqual(sys.getrefcount(x), before)
        self.assertEqual(float(kept[0].sample.numpy().sum()), 0)

    def test_memory_outlives_the_loader(self):
        loader = lade.Loader("synthetic:count=1000,shape=4", batch=10)
        views = [np.asarray(batch.sample) for batch in loader]
        expected = [view.copy() for view in views]
        del loader
        gc.collect()
        for view, copy in zip(views, expected):
            np.testing.assert_array_equal(view, copy)


if __name__ == "__main__":
    unittest.main()
