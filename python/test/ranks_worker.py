# SPDX-License-Identifier: MIT
"""A rank of test_ranks.py: appends the ids of each batch and the state after it to a file, one line for each, to the end of the epoch.

Arguments: the file, samples, batch, and the state to continue from (JSON).
"""

import json
import os
import sys
import time

import lade


def main():
    path, samples, batch, state = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with lade.Loader(f"synthetic:count={samples},shape=1", batch=batch, seed=7, shard="auto", threads=2, state=state) as loader:
        for got in loader:
            os.write(out, json.dumps({"ids": got.ids.tolist(), "state": loader.state_dict()}).encode() + b"\n")
            time.sleep(0.0005)  # stands for a training step


main()
