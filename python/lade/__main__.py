# SPDX-License-Identifier: MIT
"""python -m lade: the command lade."""

import os
import sys


def main():
    """Runs the command that comes with the package in place of this process."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lade-command")
    os.execv(command, ["lade", *sys.argv[1:]])


if __name__ == "__main__":
    main()
