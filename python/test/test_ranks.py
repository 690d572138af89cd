# SPDX-License-Identifier: MIT
"""Ranks: the variables of launchers, and ranks that are killed while their number changes.

LADE_FULL: 100 kills instead of 10. LADE_SEED: the seed of sizes and moments.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
import unittest

import lade

FULL = bool(os.environ.get("LADE_FULL"))
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks_worker.py")
NAMES = [name for pair in lade.ranks._LAUNCHERS for name in pair]


class Rank:
    """A process with torchrun's environment."""

    def __init__(self, rank, size, *args):
        environment = {key: value for key, value in os.environ.items() if key not in NAMES}
        environment |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size)}
        self.process = subprocess.Popen([sys.executable, WORKER, *map(str, args)], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def batch(self):
        """The next one, or None at the end of the epoch."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def proceed(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.communicate()


def run(size, batch, samples, state, kills):
    """Starts ranks, takes kills[r] batches of rank r, and kills it. Returns their batches; kills None: to the end."""
    text = json.dumps(state)
    ranks = [Rank(r, size, samples, batch, text) for r in range(size)]
    taken = [[] for _ in ranks]
    for r, rank in enumerate(ranks):
        while kills is None or len(taken[r]) < kills[r]:
            if taken[r]:
                rank.proceed()
            got = rank.batch()
            if got is None:
                break
            taken[r].append(got)
        rank.kill()
    return taken


def in_order(taken):
    """The ids of batches of all ranks as one rank has them: number x of the order is rank x mod R's."""
    ids = [[i for got in rank for i in got["ids"]] for rank in taken]
    return [i for row in zip(*ids) for i in row]


class Kills(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("LADE_SEED", time.time_ns() % 2**32))
        self.random = random.Random(self.seed)
        self.epochs = 10 if FULL else 1

    def test_ranks_at_different_batches(self):
        """Each rank is killed after another number of batches; the states are joined."""
        samples, state = 1801, None
        for epoch in range(self.epochs):
            seen = []
            for _ in range(5):
                size = self.random.randint(1, 8)
                taken = run(size, self.random.randint(3, 9), samples, state, [self.random.randint(1, 4) for _ in range(size)])
                seen += [i for rank in taken for got in rank for i in got["ids"]]
                state = lade.ranks.join([rank[-1]["state"] for rank in taken])
            taken = run(1, 64, samples, state, None)
            seen += in_order(taken)
            state = lade.ranks.join([taken[0][-1]["state"]])
            self.assertEqual(sorted(seen), list(range(samples)), f"LADE_SEED={self.seed}, epoch {epoch}")

    def test_ranks_in_step(self):
        """All ranks are killed after as many batches; one state stands for all, and the global batches are those of one rank."""
        samples, world, state = 5 * 840 + 405, 840, None  # 840 is a multiple of 1 to 8
        with lade.Loader(f"synthetic:count={samples},shape=1", batch=world, seed=7) as loader:
            expected = [[batch.ids.tolist() for batch in loader] for _ in range(self.epochs)]
        for epoch in range(self.epochs):
            got = []
            while len(got) < len(expected[epoch]) - 1:
                size = self.random.randint(1, 8)
                taken = run(size, world // size, samples, state, [1] * size)
                got.append(in_order(taken))
                state = lade.ranks.join([taken[self.random.randrange(size)][-1]["state"]])
            taken = run(1, world, samples, state, None)
            got.append(in_order(taken))
            state = lade.ranks.join([taken[0][-1]["state"]])
            self.assertEqual(got, expected[epoch], f"LADE_SEED={self.seed}, epoch {epoch}")


class Detect(unittest.TestCase):
    def test_launchers(self):
        for environment, expected in [
            ({}, (0, 1)),
            ({"RANK": "3", "WORLD_SIZE": "8", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, (3, 8)),
            ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)),
            ({"PMI_RANK": "0", "PMI_SIZE": "4"}, (0, 4)),
            ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6", "SLURM_NTASKS": "6"}, (5, 6)),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "6"}, (0, 1)),  # a batch script, not a step
            ({"RANK": "3"}, (0, 1)),
        ]:
            with self.subTest(environment):
                self.assertEqual(lade.ranks.detect(environment), expected)

    def test_nonsense(self):
        with self.assertRaisesRegex(ValueError, "RANK='first', which is not a number"):
            lade.ranks.detect({"RANK": "first", "WORLD_SIZE": "2"})
        with self.assertRaisesRegex(ValueError, "RANK=2 and WORLD_SIZE=2"):
            lade.ranks.detect({"RANK": "2", "WORLD_SIZE": "2"})
        with self.assertRaisesRegex(ValueError, "shards is given"):
            lade.Loader("synthetic:count=10", shard="auto", shards=2)


class Communicator:
    """What gather() needs of mpi4py's, between threads."""

    def __init__(self, size):
        self.barrier, self.states = threading.Barrier(size), []

    def Get_size(self):
        return self.barrier.parties

    def allgather(self, state):
        self.states.append(state)
        self.barrier.wait()
        return list(self.states)


class Join(unittest.TestCase):
    def test_gather(self):
        communicator, seen, joined = Communicator(3), [], []

        def rank(number):
            with lade.Loader("synthetic:count=300,shape=1", batch=10, shard=number, shards=3) as loader:
                for batch in loader[:number + 1]:
                    seen.extend(batch.ids.tolist())
                joined.append(lade.ranks.join(lade.ranks.gather(loader.state_dict(), communicator)))

        threads = [threading.Thread(target=rank, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(joined, [joined[0]] * 3)
        with lade.Loader("synthetic:count=300,shape=1", batch=10, state=joined[0]) as loader:
            self.assertEqual(sorted(seen + [i for batch in loader for i in batch.ids.tolist()]), list(range(300)))

    def test_alone(self):
        with lade.Loader("synthetic:count=300,shape=1", batch=10) as loader:
            next(loader)
            self.assertEqual(lade.ranks.gather(loader.state_dict()), [loader.state_dict()])
        with self.assertRaisesRegex(TypeError, "mpi4py"):
            lade.ranks.gather({}, 3)

    def test_states_that_do_not_belong_together(self):
        states = []
        for seed in (1, 2):
            with lade.Loader("synthetic:count=300,shape=1", batch=10, seed=seed, shard=seed - 1, shards=2) as loader:
                next(loader)
                states.append(loader.state_dict())
        with self.assertRaises(lade.ConflictError):
            lade.ranks.join(states)
        with self.assertRaises(lade.DamagedError):
            lade.ranks.join([{"lade": "nonsense"}])
        with self.assertRaisesRegex(ValueError, "no state"):
            lade.ranks.join([])


if __name__ == "__main__":
    unittest.main()
