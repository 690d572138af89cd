# SPDX-License-Identifier: MIT
"""Several processes that train together: which one this is, and one state of the states of all.

    loader = lade.Loader(source, shard="auto")      # under torchrun, mpirun, srun, Ray Train
    ...
    state = lade.ranks.join(lade.ranks.gather(loader.state_dict()))     # all ranks call it
    loader = lade.Loader(source, shard="auto", state=state)             # any number of ranks

Where all ranks have taken as many batches, as in data-parallel training, nothing has to be gathered:
join([loader.state_dict()]) of any rank stands for all.
"""

import os
import sys
from typing import NamedTuple

from . import _lade

# Variables of launchers. SLURM_PROCID alone is also set in a batch script, whose step has no number of tasks.
_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
              ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))


class Rank(NamedTuple):
    """The number of this process, from 0, and how many there are."""

    rank: int
    size: int


def _number(name, text):
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"the environment has {name}={text!r}, which is not a number; pass shard and shards") from None


def _ray():
    """Of a worker of Ray Train, whose context has no rank in other processes."""
    if "ray.train" not in sys.modules:
        return None
    try:
        context = sys.modules["ray.train"].get_context()
        return context.get_world_rank(), context.get_world_size()
    except (RuntimeError, AttributeError):
        return None


def _torch():
    """torch.distributed, if this process has joined a group."""
    distributed = sys.modules.get("torch.distributed")
    return distributed if distributed and distributed.is_available() and distributed.is_initialized() else None


def detect(environment=None):
    """The rank of this process: that of torch.distributed, if it is initialised; of Ray Train; or what torchrun, Open MPI,
    MPICH and Intel MPI (PMI), or SLURM put into the environment. Rank(0, 1) if there is none of these.

    environment: look only there, instead of in os.environ.
    """
    if environment is None:
        environment = os.environ
        found = _torch()
        found = (found.get_rank(), found.get_world_size()) if found else _ray()
        if found and None not in found:
            return Rank(*found)
    for names in _LAUNCHERS:
        if all(name in environment for name in names):
            rank, size = (_number(name, environment[name]) for name in names)
            if not 0 <= rank < size:
                raise ValueError(f"the environment has {names[0]}={rank} and {names[1]}={size}; pass shard and shards")
            return Rank(rank, size)
    return Rank(0, 1)


def join(states):
    """One state of the states of all ranks, in any order; any number of ranks continues from it.

    The samples that no rank has delivered in this epoch are divided again. A single state stands for all ranks of its
    run, which then must have taken as many batches each.
    """
    return {"lade": _lade.merge_states(*[state["lade"] for state in states])}


def gather(state, group=None):
    """The states of all ranks, as a list. All ranks call it.

    group: a communicator of mpi4py, a group of torch.distributed, or None: all of torch.distributed, and if that is not
    initialised this process alone. With Ray, the driver collects: join(ray.get([w.state_dict.remote() for w in workers])).
    """
    if hasattr(group, "allgather") and hasattr(group, "Get_size"):
        return group.allgather(state)
    distributed = _torch()
    if distributed is None:
        if group is not None:
            raise TypeError(f"{type(group).__name__} is neither a communicator of mpi4py nor a group of torch.distributed")
        if detect().size != 1:
            raise RuntimeError("the environment has other ranks, but nothing to reach them: initialise torch.distributed, "
                               "or pass a communicator of mpi4py")
        return [state]
    states = [None] * distributed.get_world_size(group)
    distributed.all_gather_object(states, state, group=group)
    return states
