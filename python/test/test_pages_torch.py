# SPDX-License-Identifier: MIT
# imports: torch
"""The programs of README.md and docs/python.md that need torch."""

import unittest

import pages


class Pages(unittest.TestCase):
    def test_programs(self):
        pages.check(self, "torch")


if __name__ == "__main__":
    unittest.main()
