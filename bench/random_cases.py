# SPDX-License-Identifier: MIT
"""bench/run random: nanoseconds per draw."""
import measure

ABOUT = "nanoseconds per random draw"
CANDIDATES = ["lade_random_word", "lade_random_below", "lade_random_at", "lade_permutation_at_256",
              "lade_permutation_at_50000", "xoshiro256**", "rand"]
PROMISED, AGAINST = "lade_random_word", "rand"
PROMISE = 1.25  # times as fast as the C library's generator: nanoseconds differ from processor to processor


def tables(bench):
    candidates = [measure.Candidate(name, "random", [name], 1) for name in CANDIDATES]
    table = measure.Table("draw", "draw: nanoseconds per draw, 1 thread", "ns/draw", candidates,
                          lambda draws, seconds: seconds * 1e9 / draws, higher=False)
    bench.measure(table)
    bench.count_instructions(table)
    yield table


def promises(done):
    table = done[0]
    return [measure.promise(table, PROMISED, table.ratio(PROMISED, AGAINST), PROMISE, "at least", AGAINST)]
