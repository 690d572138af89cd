# SPDX-License-Identifier: MIT
"""The programs of examples/python/."""

import os
import re
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")


def run(*command):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDEVMODE": "", "JAX_PLATFORMS": "cpu", "RAY_AUTH_MODE": "disabled"}
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(run.stdout + run.stderr)
    return run.stdout


class Example:
    def check(self, name, pattern, *args):
        """The numbers of the line that the program prints."""
        output = run(os.path.join(FOLDER, name), *args)
        match = re.fullmatch(pattern + "\n", output)
        self.assertTrue(match, output)
        return [float(number.replace(",", "")) for number in match.groups()]

    def check_digits(self, name):
        percent, count = self.check(name, r"test accuracy ([\d.]+) % of (\d+)")
        self.assertGreaterEqual(percent, 97)
        self.assertGreater(count, 300)


class Replay(Example, unittest.TestCase):
    def test_replay_buffer(self):
        steps, least, samples, puts = self.check(
            "replay_buffer.py", r"(\d+) steps to the goal, of at least (\d+); ([\d,]+) samples of ([\d,]+) puts")
        self.assertEqual(steps, least)
        self.assertLess(abs(samples - 8 * puts), 16_000 + 64)


# imports: torch sklearn
class Torch(Example, unittest.TestCase):
    def test_digits(self):
        self.check_digits("digits_torch.py")

    def test_packed_language_model(self):
        steps, used, first, last, far = self.check(
            "packed_language_model.py",
            r"(\d+) steps, (\d+) % of them text; loss ([\d.]+), ([\d.]+); packed - alone ([\d.e-]+)")
        self.assertGreater(steps, 100)
        self.assertGreaterEqual(used, 95)
        self.assertLess(last, 0.6 * first)
        self.assertLess(far, 1e-4)


# imports: torch
class Elastic(Example, unittest.TestCase):
    def test_elastic(self):
        kills, _ = self.check("elastic.py", r"(\d+) ranks killed, (\d+) epochs: nothing lost, nothing twice, the batches of one process")
        self.assertEqual(kills, 3)


# imports: jax sklearn
class Jax(Example, unittest.TestCase):
    def test_digits(self):
        self.check_digits("digits_jax.py")


class OfEngines(Example):
    def check_split(self, engine):
        tables, items = self.check("split_engines.py", engine + r": (\d+) tables, ([\d,]+) items, .* %: as in one process", engine)
        self.assertGreater(tables, 1)
        self.assertEqual(items, 200_000)


# imports: --full ray
class Ray(OfEngines, unittest.TestCase):
    def test_split(self):
        self.check_split("ray")


# imports: --full dask
class Dask(OfEngines, unittest.TestCase):
    def test_split(self):
        self.check_split("dask")


# imports: --full pyspark
class Spark(OfEngines, unittest.TestCase):
    def test_split(self):
        self.check_split("spark")


if __name__ == "__main__":
    unittest.main()
