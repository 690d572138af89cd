# SPDX-License-Identifier: MIT
"""A rank of test_ranks.py: prints the ids of each batch and the state after it, and waits until it may take the next.

Arguments: samples, batch, and the state to continue from (JSON).
"""

import json
import sys

import lade


def main():
    samples, batch, state = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    with lade.Loader(f"synthetic:count={samples},shape=1", batch=batch, seed=7, shard="auto", threads=2, state=state) as loader:
        for got in loader:
            print(json.dumps({"ids": got.ids.tolist(), "state": loader.state_dict()}), flush=True)
            sys.stdin.readline()


main()
