# SPDX-License-Identifier: MIT
"""Many batches leave no memory behind, by the counts of the allocators and the resident size; a process that is killed at any
moment resumes with the same batches.

LADE_FULL: 10^6 batches and 200 kills instead of 10^5 and 10. LADE_SEED: the seed of the moments.
"""

import ctypes
import gc
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import lade

FULL = bool(os.environ.get("LADE_FULL"))
BATCHES = 10**6 if FULL else 10**5
KILLS = 200 if FULL else 10


class Counts(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                      "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes of the C library's allocator in use, and blocks of Python's."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Counts
    gc.collect()
    counts = mallinfo()
    return counts.uordblks + counts.hblkhd, sys.getallocatedblocks()


def resident():
    """Bytes of the process that are in memory (VmRSS)."""
    with open("/proc/self/status", encoding="ascii") as file:
        return 1024 * int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


class Memory(unittest.TestCase):
    def use(self, loader, batches):
        for _ in range(batches // len(loader)):
            for batch in loader:
                x, y = np.from_dlpack(batch.sample), np.asarray(batch.label)
                batch.ids, batch.labels, batch["sample"], batch.sample.__dlpack__()
        del batch, x, y

    def test_many_batches(self):
        with lade.Loader((np.zeros((1000, 8), np.float32), np.zeros(1000, np.int64)), batch=10) as loader:
            self.use(loader, 1000)
            before, resident_before = allocated(), resident()
            self.use(loader, BATCHES)
            after, resident_after = allocated(), resident()
        self.assertLess(after[0] - before[0], BATCHES)  # less than a byte for each batch
        self.assertLess(after[1] - before[1], BATCHES / 100)
        print(f"VmRSS {resident_before >> 10} KiB, after {BATCHES} batches {resident_after >> 10} KiB", file=sys.stderr)
        self.assertLess(resident_after - resident_before, 4 << 20)

    def test_many_kept_batches(self):
        with lade.Loader(np.zeros((1000, 8), np.float32), batch=10) as loader:
            for _ in range(3):
                list(loader)
            before = allocated()
            for _ in range(100):
                list(loader)
            after = allocated()
        self.assertLess(after[0] - before[0], 10000)

    def test_many_loaders(self):
        def once(i):
            with lade.Loader(np.zeros((10, 4, 4, 3), np.uint8), batch=5, transform=[lambda image: image]) as loader:
                next(loader)
            with self.assertRaises(ZeroDivisionError):
                next(lade.Loader(np.zeros((10, 4, 4, 3), np.uint8), batch=5, transform=[lambda image: 1 / 0]))
            with self.assertRaises(lade.ReadError):
                lade.Loader("cifar10:/nonexistent")
            with self.assertRaises(ValueError):
                lade.Loader({"x": np.zeros(3), "y": np.zeros(4)})

        for i in range(300):  # as many exceptions as are kept
            once(i)
        before = allocated()
        for i in range(200):
            once(i)
        after = allocated()
        self.assertLess(after[0] - before[0], 200 * 200)
        self.assertLess(after[1] - before[1], 200)


PROGRAM = """
import hashlib, json, os, sys, time
import lade
log, total = sys.argv[1], int(sys.argv[2])
lines = [b""]
if os.path.exists(log):
    with open(log, "rb") as file:
        lines = file.read().split(b"\\n")
with open(log, "wb") as file:  # without the line that was being written
    file.write(b"".join(line + b"\\n" for line in lines[:-1]))
state = json.loads(lines[-2])["state"] if len(lines) > 1 else None
done = len(lines) - 1
out = os.open(log, os.O_WRONLY | os.O_APPEND)
loader = lade.Loader("synthetic:count=1000,shape=3x8x8", batch=10, threads=int(sys.argv[3]), state=state,
                     transform=[lade.transforms.CropRandom(2, 8, 8), lade.transforms.Flip()])
while done < total:
    for batch in loader:
        digest = hashlib.sha256(memoryview(batch.sample).cast("B"))
        digest.update(memoryview(batch.label).cast("B"))
        os.write(out, json.dumps({"hash": digest.hexdigest(), "state": loader.state_dict()}).encode() + b"\\n")
        time.sleep(0.0005)
        done += 1
        if done == total:
            break
"""


class Kills(unittest.TestCase):
    def hashes(self, folder, kills):
        seed = int(os.environ.get("LADE_SEED", time.time_ns() % 10**6))
        print(f"LADE_SEED={seed}", file=sys.stderr)
        moments = random.Random(seed)
        log, total = os.path.join(folder, f"log{kills}"), 20 * KILLS
        while True:
            before = os.path.getsize(log) if os.path.exists(log) else 0
            child = subprocess.Popen([sys.executable, "-c", PROGRAM, log, str(total), str(moments.randint(1, 4))])
            if kills > 0:
                while child.poll() is None and (not os.path.exists(log) or os.path.getsize(log) <= before):
                    time.sleep(0.001)
                time.sleep(moments.uniform(0, 0.02))
                child.send_signal(signal.SIGKILL)
                kills -= 1
            if child.wait() == 0:
                break
            self.assertEqual(child.returncode, -signal.SIGKILL)
        with open(log, encoding="utf-8") as file:
            return [json.loads(line)["hash"] for line in file]

    def test_killed_and_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            whole, pieces = self.hashes(folder, 0), self.hashes(folder, KILLS)
        self.assertEqual(len(whole), 20 * KILLS)
        self.assertEqual(pieces, whole)


if __name__ == "__main__":
    unittest.main()
