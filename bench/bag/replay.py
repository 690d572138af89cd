# SPDX-License-Identifier: MIT
"""replay.py BATCH SECONDS: cpprb's ReplayBuffer, as replay.c does it; batches come as arrays of each field."""
import os
import sys
import time

import cpprb
import numpy

CAPACITY = 100_000
FIELDS = {"obs": {"shape": 17}, "act": {"shape": 6}, "rew": {}, "next_obs": {"shape": 17}, "done": {}}


def fill():
    buffer = cpprb.ReplayBuffer(CAPACITY, FIELDS)
    wide, narrow = numpy.zeros((CAPACITY, 17), numpy.float32), numpy.zeros((CAPACITY, 6), numpy.float32)
    reward = numpy.arange(1, CAPACITY + 1, dtype=numpy.float32)
    buffer.add(obs=wide, act=narrow, rew=reward, next_obs=wide, done=numpy.zeros(CAPACITY, numpy.float32))
    return buffer


def sample(buffer, size, batches):
    begin = time.thread_time()
    for _ in range(batches):
        buffer.sample(size)
    return time.thread_time() - begin


def main():
    size, seconds = int(sys.argv[1]), float(sys.argv[2])
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    buffer = fill()
    batches = 16
    while (used := sample(buffer, size, batches)) < seconds / 4:
        batches *= 4
    batches = max(1, int(batches * seconds / used))
    wall = time.monotonic()
    used = sample(buffer, size, batches)
    print(batches * size, f"{used:.6f} {used / (time.monotonic() - wall):.3f}")


if __name__ == "__main__":
    main()
