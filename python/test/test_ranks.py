# SPDX-License-Identifier: MIT
"""Ranks: the variables of launchers, and ranks that are killed while their number changes.

Each of the two tests of class Kills kills 10 ranks or more (LADE_FULL: 100). LADE_SEED: the seed of sizes and moments.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import lade

KILLS = 100 if os.environ.get("LADE_FULL") else 10
WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ranks_worker.py")
NAMES = [name for pair in lade.ranks._LAUNCHERS for name in pair]


def start(rank, size, path, *args):
    """A process with torchrun's environment."""
    environment = {key: value for key, value in os.environ.items() if key not in NAMES}
    environment |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size)}
    return subprocess.Popen([sys.executable, WORKER, path, *map(str, args)], env=environment)


def complete_lines(path):
    """What a rank has saved, without the line that it was writing."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        return [json.loads(line) for line in file.read().split(b"\n")[:-1]]


def in_order(ids):
    """The ids of all ranks as one rank has them: number x of the order is rank x mod R's."""
    return [i for row in zip(*ids, strict=True) for i in row]


class Kills(unittest.TestCase):
    def setUp(self):
        seed = int(os.environ.get("LADE_SEED", time.time_ns() % 2**32))
        print(f"LADE_SEED={seed}", file=sys.stderr)
        self.random, self.kills = random.Random(seed), 0
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_ranks(self, size, batch, samples, state, to_the_end=False):
        """Starts ranks and kills each at a random moment. Returns what each has saved: lines with ids and state."""
        paths = [os.path.join(self.folder, f"rank{r}") for r in range(size)]
        for path in paths:
            if os.path.exists(path):
                os.remove(path)
        ranks = [start(r, size, path, samples, batch, json.dumps(state)) for r, path in enumerate(paths)]
        if not to_the_end:
            if self.random.random() < 0.75:  # otherwise also while they start
                while not complete_lines(paths[0]) and ranks[0].poll() is None:
                    time.sleep(0.001)
            moments = sorted((self.random.uniform(0, 0.05), r) for r in range(size))
            begin = time.monotonic()
            for moment, r in moments:
                time.sleep(max(0, begin + moment - time.monotonic()))
                ranks[r].kill()
        for rank in ranks:
            self.assertIn(rank.wait(), (0, -signal.SIGKILL))
            self.kills += rank.returncode == -signal.SIGKILL
        return [complete_lines(path) for path in paths]

    def last_states(self, lines, samples, state):
        """Those of all ranks; that of a rank which was killed before its first batch is where it began."""
        for r, saved in enumerate(lines):
            if saved:
                yield saved[-1]["state"]
                continue
            with lade.Loader(f"synthetic:count={samples},shape=1", seed=7, shard=r, shards=len(lines), state=state) as loader:
                yield loader.state_dict()

    def test_ranks_at_different_batches(self):
        """Each rank is killed at another moment; the states are joined. One rank ends each epoch, since several leave samples out."""
        samples, state = 50021, None
        while self.kills < KILLS:
            seen = []
            for left in range(self.random.randint(1, 5), -1, -1):
                size = self.random.randint(1, 8) if left else 1
                lines = self.run_ranks(size, self.random.randint(3, 9) if left else 500, samples, state, to_the_end=not left)
                seen += [i for saved in lines for line in saved for i in line["ids"]]
                state = lade.ranks.join(list(self.last_states(lines, samples, state)))
            self.assertEqual(sorted(seen), list(range(samples)))

    def test_ranks_in_step(self):
        """A checkpoint is after the last step that all ranks have made; one state stands for all. The global batches are those of
        one rank."""
        world, steps, state, epoch, got = 840, 60, None, 0, []  # 840 is a multiple of 1 to 8
        samples = world * steps
        with lade.Loader(f"synthetic:count={samples},shape=1", batch=world, seed=7) as loader:
            while self.kills < KILLS or epoch == 0 or got:
                last = self.kills >= KILLS
                size = 1 if last else self.random.randint(1, 8)
                lines = self.run_ranks(size, world // size, samples, state, last)
                done = min(map(len, lines))
                if done > 0:
                    got += [in_order([saved[step]["ids"] for saved in lines]) for step in range(done)]
                    state = lade.ranks.join([self.random.choice(lines)[done - 1]["state"]])
                if len(got) == steps:
                    self.assertEqual(got, [batch.ids.tolist() for batch in loader], f"epoch {epoch}")
                    epoch, got = epoch + 1, []


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
