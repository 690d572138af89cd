# SPDX-License-Identifier: MIT
# imports: jax
"""The programs of README.md and docs/python.md that need jax."""

import unittest

import pages


class Pages(unittest.TestCase):
    def test_programs(self):
        pages.check(self, "jax")


if __name__ == "__main__":
    unittest.main()
