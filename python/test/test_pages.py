# SPDX-License-Identifier: MIT
"""The programs of README.md and docs/python.md that need no framework."""

import unittest

import pages


class Pages(unittest.TestCase):
    def test_programs(self):
        pages.check(self)


if __name__ == "__main__":
    unittest.main()
