# SPDX-License-Identifier: MIT
# imports: torch sklearn
"""The programs of examples/python/."""

import os
import re
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")


def run(*command):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDEVMODE": "", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(run.stdout + run.stderr)
    return run.stdout


class Examples(unittest.TestCase):
    def check_digits(self, name):
        percent, count = re.fullmatch(r"test accuracy ([\d.]+) % of (\d+)\n", run(os.path.join(FOLDER, name))).groups()
        self.assertGreaterEqual(float(percent), 97)
        self.assertGreater(int(count), 300)

    def test_digits_torch(self):
        self.check_digits("digits_torch.py")


if __name__ == "__main__":
    unittest.main()
