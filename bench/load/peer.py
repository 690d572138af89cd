# SPDX-License-Identifier: MIT
"""
What the peers' programs have in common: PROGRAM FOLDER CORES, where FOLDER holds the data sets of bench/run load.

Prints a line when it is ready, and then replies to lines "CASE VARIANT SECONDS" with samples, seconds and 1. A variant is
an endless generator, which yields the size of each batch and lives until the program ends. Its first epoch, or what it
does in WARM seconds, does not count, and neither do the batches that were prepared while others were measured.
"""
import os
import sys
import time
import traceback

BATCH = 128
IMAGE_BATCH = 32
COUNT, BYTES = 50_000, 3072
LARGE, SMALL = "large", "small"  # names of the image folders
WARM = 2.0  # seconds, at most
DRAIN = 8  # batches that a loader may have prepared


def batch_of(case):
    return IMAGE_BATCH if case == LARGE else BATCH


def endless(loader, size):
    """A loader that is iterated over for each epoch; size returns that of a batch."""
    while True:
        for batch in loader:
            yield size(batch)


def files_of(folder, case):
    """Paths and labels of a folder of images, as lade synth writes them."""
    top = os.path.join(folder, case)
    classes = sorted(os.listdir(top))
    return [(os.path.join(top, name, file), label) for label, name in enumerate(classes)
            for file in sorted(os.listdir(os.path.join(top, name)))]


def count_of(folder, case):
    return len(files_of(folder, case)) if case in (LARGE, SMALL) else COUNT


def take(batches, samples, seconds):
    """Consumes until both are reached; returns samples and seconds."""
    amount, begin = 0, time.monotonic()
    while True:
        amount += next(batches)
        now = time.monotonic()
        if amount >= samples and now - begin >= seconds:
            return amount, now - begin


def warm(batches, samples):
    end, amount = time.monotonic() + WARM, 0
    while amount < samples and time.monotonic() < end:
        amount += next(batches)


def serve(make):
    """make(folder, case, variant) is the generator."""
    folder, cores = sys.argv[1], int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no reply
    print("ready", file=answers, flush=True)
    made = {}
    for line in sys.stdin:
        case, variant, seconds = line.split()
        try:
            if (case, variant) not in made:
                made[case, variant] = make(folder, case, variant)
                warm(made[case, variant], count_of(folder, case))
            take(made[case, variant], DRAIN * batch_of(case), 0)
            amount, used = take(made[case, variant], 1, float(seconds))
            print(amount, f"{used:.6f}", 1, file=answers, flush=True)
        except Exception as error:  # whatever a library raises leaves this variant out and no other
            traceback.print_exc()
            print("failed:", " ".join(str(error).split())[:200] or type(error).__name__, file=answers, flush=True)
