# SPDX-License-Identifier: MIT
"""Elastic training: torchrun with 2, 3 and 1 ranks, one of which is killed each time, and then the whole run is stopped.

Checks that the global batches that the model was trained on are those of a run of one process that nothing interrupted.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile

import torch

import lade
from elastic_worker import COUNT, GLOBAL_BATCH

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "elastic_worker.py")


def train(folder, ranks, last):
    """Kills one rank after some steps; after more steps, stops the run, or with last lets it end. Returns the kills."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "--max-restarts=3", WORKER, folder]
    # Otherwise restarted ranks may find the addresses of the killed ones (github.com/pytorch/pytorch/issues/135712).
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    process, steps, kills = {}, 0, 0
    for line in run.stdout:
        if found := re.search(r"rank (\d+) of \d+ is process (\d+)", line):
            process[int(found[1])], steps = int(found[2]), 0
        elif line.startswith("step") and len(process) == ranks:
            steps += 1
            if steps == 3 and kills == 0:
                os.kill(process[random.randrange(ranks)], signal.SIGKILL)  # torchrun then starts all ranks again
                process, kills = {}, 1
            elif steps == 3 and last:
                open(os.path.join(folder, "enough"), "w").close()
            elif steps == 3:
                run.terminate()
    if run.wait() != 0 and last:
        sys.exit(f"torchrun: exit code {run.returncode}")
    return kills


with tempfile.TemporaryDirectory() as folder:
    kills = sum(train(folder, ranks, ranks == 1) for ranks in (2, 3, 1))
    history = torch.load(os.path.join(folder, "checkpoint"))["history"]

steps = COUNT // GLOBAL_BATCH  # of an epoch
epochs = [sorted(i for step in history[first:first + steps] for i in step) for first in range(0, len(history), steps)]
assert all(epoch == list(range(COUNT)) for epoch in epochs), "samples are missing, or came twice"
with lade.Loader(f"synthetic:count={COUNT},shape=1", batch=GLOBAL_BATCH, seed=1) as alone:
    expected = [batch.ids.tolist() for _ in epochs for batch in alone]
assert history == expected, "not the batches of one process"
print(f"{kills} ranks killed, {len(epochs)} epochs: nothing lost, nothing twice, the batches of one process")
