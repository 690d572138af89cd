# SPDX-License-Identifier: MIT
# imports: tensorflow
"""The programs of README.md and docs/python.md that need tensorflow."""

import unittest

import pages


class Pages(unittest.TestCase):
    def test_programs(self):
        pages.check(self, "tensorflow")


if __name__ == "__main__":
    unittest.main()
