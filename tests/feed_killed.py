#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""feed_killed.py LADE [KILLS]: kills lade feed at random moments and resumes it from the last saved state.

What the runs delivered, each counted up to the state that the next one began from, must be every sample of every epoch
exactly once; with batches in order it must also be what a run delivers that is left alone. A state is never broken, and
never older than the last one that was saved.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

SAMPLES, EPOCHS, BATCH = 600, 2, 16
COMMON = [f"synthetic:count={SAMPLES},shape=16", "--split", "none", "--epochs", str(EPOCHS), "--batch", str(BATCH),
          "--consumer", "null", "--threads", "2", "--work", "100", "--no-check"]


class Wrong(Exception):
    pass


def segments(path):
    """For each run in a log: the (epoch, sample) pairs that came, and how many of them were saved."""
    runs = open(path).read().split("# resumed\n")
    out = []
    for number, text in enumerate(runs):
        killed = number + 1 < len(runs)
        if killed:
            text = text[:-1]  # the line end that the next run put there
        lines = text.split("\n")[:-1]  # what has no line end was cut by the kill
        pairs, saved = [], 0
        for line in lines:
            if line == "# saved":
                saved = len(pairs)
            elif line:
                epoch, *ids = line.split()
                pairs += [(int(epoch), int(i)) for i in ids]
        out.append((pairs, saved))
    return out


def everything():
    return sorted((epoch, i) for epoch in range(EPOCHS) for i in range(SAMPLES))


def check_in_order(runs, reference):
    """Each run continues at a place of the reference that the one before had reached, and had not saved beyond."""
    if sorted(reference) != everything():
        raise Wrong("the run that was left alone did not deliver each sample once")
    place = {pair: at for at, pair in enumerate(reference)}
    end, saved = 0, 0
    for pairs, kept in runs:
        if not pairs:  # killed before its first batch, or everything had come
            continue
        begin = place[pairs[0]]
        if not saved <= begin <= end:
            raise Wrong(f"resumed at {begin}, but {saved} were saved and {end} delivered")
        if pairs != reference[begin:begin + len(pairs)]:
            raise Wrong(f"other samples than expected from {begin} on")
        saved = begin + kept if kept else saved
        end = begin + len(pairs)
    if end != len(reference):
        raise Wrong(f"ended after {end} of {len(reference)}")


def check_as_ready(runs):
    """Of two runs: what the second delivered is just what the first had not, up to the state."""
    (first, saved), (second, _) = runs
    kept = EPOCHS * SAMPLES - len(second)
    if not saved <= kept <= len(first):
        raise Wrong(f"the second run delivered {len(second)}, but {saved} were saved and {len(first)} delivered before")
    if sorted(first[:kept] + second) != everything():
        raise Wrong("a sample was lost or repeated")


class Feed:
    def __init__(self, lade, folder, more):
        self.command = [lade, "feed", *COMMON, *more]
        self.state, self.log = os.path.join(folder, "state"), os.path.join(folder, "log")
        self.kills = 0

    def start(self):
        files = ["--save", self.state, "--log", self.log]
        if os.path.exists(self.state):
            files += ["--resume", self.state]
        return subprocess.Popen(self.command + files, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def clean(self):
        for path in (self.state, self.log):
            if os.path.exists(path):
                os.unlink(path)

    def run(self, patience=None):
        """To the end, or for the given seconds. True: it completed."""
        process = self.start()
        try:
            error = process.communicate(timeout=patience if patience is not None else 120)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.kills += 1
            return False
        if process.returncode:
            raise Wrong(f"exit code {process.returncode}: {error.decode()}")
        return True


def in_order(lade, folder, kills):
    feed = Feed(lade, folder, ["--save-every", "3"])
    begin = time.monotonic()
    feed.run()
    length = time.monotonic() - begin
    reference = segments(feed.log)[0][0]
    resumed = 0
    while feed.kills < kills:
        feed.clean()
        while not feed.run(random.uniform(0, length)):
            if feed.kills >= kills:
                feed.run()
                break
        runs = segments(feed.log)
        check_in_order(runs, reference)
        resumed += len(runs) - 1
    # The checks themselves: a sample less, one twice, a state that is too old.
    for broken in (reference[:-2] + reference[-1:], reference + reference[-1:]):
        try:
            check_in_order([(broken, 0)], reference)
        except Wrong:
            continue
        raise Wrong("a broken log was not noticed")
    try:
        check_in_order([(reference, len(reference))] + [(reference[50:], 0)], reference)
    except Wrong:
        return resumed
    raise Wrong("a state that is too old was not noticed")


def as_ready(lade, folder, kills):
    feed = Feed(lade, folder, ["--save-every", "3", "--as-ready"])
    begin = time.monotonic()
    feed.run()
    length = time.monotonic() - begin
    checked = 0
    while feed.kills < kills:
        feed.clean()
        if feed.run(random.uniform(0, length)):
            continue
        fresh = not os.path.exists(feed.state)
        feed.run()
        runs = segments(feed.log)
        if not fresh:
            check_as_ready(runs)
            checked += 1
    return checked


def main():
    lade, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = random.randrange(1 << 32)
    random.seed(seed)
    try:
        with tempfile.TemporaryDirectory() as folder:
            resumed = in_order(lade, folder, kills * 4 // 5)
        with tempfile.TemporaryDirectory() as folder:
            checked = as_ready(lade, folder, kills - kills * 4 // 5)
    except Wrong as wrong:
        print(f"{wrong} (seed {seed})")
        return 1
    print(f"note: {kills} kills, {resumed + checked} states resumed")
    return resumed + checked == 0


if __name__ == "__main__":
    sys.exit(main())
