# SPDX-License-Identifier: MIT
"""A rank of an elastic training run, which torchrun starts: it continues from the checkpoint, with as many ranks as there are.

    torchrun --standalone --nproc-per-node=2 --max-restarts=3 examples/python/elastic_worker.py FOLDER

The checkpoint holds the model, the state of the loader, and here also the numbers of the samples of each step, so that
elastic.py can check what the model was trained on. Training ends with the epoch in which FOLDER/enough is there.
"""

import os
import sys

import torch
import torch.distributed

import lade.torch

COUNT, GLOBAL_BATCH = 48 * 40, 48


def report(text):
    """A line in one piece: several ranks write to the same pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def save(path, **checkpoint):
    torch.save(checkpoint, path + ".new")
    os.replace(path + ".new", path)


def main(folder):
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(1)
    rank, ranks = torch.distributed.get_rank(), torch.distributed.get_world_size()
    path, enough = os.path.join(folder, "checkpoint"), os.path.join(folder, "enough")
    report(f"rank {rank} of {ranks} is process {os.getpid()}")

    loader = lade.torch.Loader(f"synthetic:count={COUNT},shape=64", batch=GLOBAL_BATCH // ranks, seed=1, ids=True)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    if os.path.exists(path):
        checkpoint = torch.load(path)
        model.module.load_state_dict(checkpoint["model"])
        loader.load_state_dict(checkpoint["loader"])  # of whichever rank saved it, for any number of ranks
        history = checkpoint["history"]

    done = False
    while not done:
        for x, y, ids in loader:
            loss = torch.nn.functional.cross_entropy(model(x.float() / 255), y)
            optimizer.zero_grad()
            loss.backward()  # the ranks exchange gradients here, so all are in step
            optimizer.step()
            seen = [None] * ranks
            torch.distributed.all_gather_object(seen, ids.tolist())
            history.append([i for row in zip(*seen) for i in row])  # number x of the order is rank x mod R's
            if rank == 0 and len(history) % 5 == 0:
                save(path, model=model.module.state_dict(), loader=loader.state_dict(), history=history)
                report(f"step {len(history)} loss {loss.item():.3f}")
        end = [os.path.exists(enough)]
        torch.distributed.broadcast_object_list(end)  # rank 0 decides for all
        done = end[0]
    if rank == 0:
        save(path, model=model.module.state_dict(), loader=loader.state_dict(), history=history)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
