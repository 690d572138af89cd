# SPDX-License-Identifier: MIT
"""accelerate, Lightning and the Hugging Face Trainer in two processes: a checkpoint in mid-epoch loses and repeats nothing."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frameworks_worker.py")


def train(framework, folder, stop, processes):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDEVMODE": "", "HF_HUB_OFFLINE": "1"}
    run = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", WORKER,
                          framework, folder, str(stop)], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(run.stdout[-4000:] + run.stderr[-8000:])


class Checkpoints:
    def check(self, framework, then=2):
        with tempfile.TemporaryDirectory() as folder:
            train(framework, folder, 6, 2)
            train(framework, folder, 0, then)
            seen = {}
            for path in glob.glob(os.path.join(folder, "seen-*")):
                with open(path, encoding="utf-8") as file:
                    seen[os.path.basename(path)] = [[int(float(x)) for x in line.split()] for line in file]
        self.assertEqual([len(seen[f"seen-6-{rank}"]) for rank in range(2)], [6, 6])
        self.assertEqual(sorted(i for steps in seen.values() for step in steps for i in step), list(range(120)))


# imports: torch accelerate
class Accelerate(Checkpoints, unittest.TestCase):
    def test_checkpoint(self):
        self.check("accelerate")

    def test_another_number_of_ranks(self):
        self.check("accelerate", then=3)


# imports: torch lightning
class Lightning(Checkpoints, unittest.TestCase):
    def test_checkpoint(self):
        self.check("lightning")


# imports: torch transformers accelerate
class Trainer(Checkpoints, unittest.TestCase):
    def test_checkpoint(self):
        self.check("trainer")


if __name__ == "__main__":
    unittest.main()
