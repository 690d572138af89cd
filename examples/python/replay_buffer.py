# SPDX-License-Identifier: MIT
"""Two actors and a learner share a replay buffer: tabular Q-learning on a grid with walls. Prints the steps of the way that was learnt."""

import threading

import numpy as np

import lade

GRID = ["S...#....", ".###.#.#.", ".....#.#.", ".###...#.", "...#.#.#G"]
ROWS, COLUMNS = len(GRID), len(GRID[0])
START, GOAL = 0, ROWS * COLUMNS - 1
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
Step = np.dtype([("state", "i4"), ("action", "i4"), ("reward", "f4"), ("next", "i4"), ("sum", "f4")])


def move(state, action):
    """The state that follows. A wall, and the edge, is not entered."""
    row, column = state // COLUMNS + MOVES[action][0], state % COLUMNS + MOVES[action][1]
    inside = 0 <= row < ROWS and 0 <= column < COLUMNS and GRID[row][column] != "#"
    return row * COLUMNS + column if inside else state


q = np.zeros((ROWS * COLUMNS, 4))
# An actor waits while it is 2,000 puts ahead of the learner, and the learner while it has sampled each item 8 times.
replay = lade.Bag(5000, record=Step, full="oldest", seed=1, samples_per_insert=8, ratio_slack=16_000)


def act(seed):
    """Walks, mostly as q says, and puts each step."""
    random = np.random.default_rng(seed)
    state = START
    try:
        while True:
            action = random.integers(4) if random.random() < 0.3 else int((q[state] + 1e-9 * random.random(4)).argmax())
            after = move(state, action)
            replay.put_wait((state, action, after == GOAL, after, state + action + after))
            state = START if after == GOAL else after
    except lade.ClosedError:
        pass


actors = [threading.Thread(target=act, args=(seed,)) for seed in (1, 2)]
for actor in actors:
    actor.start()
learnt = 0
while learnt < 200_000:
    batch = replay.sample_many(64)
    if len(batch) == 0:
        replay.sample_wait()  # until the actors have put more
        continue
    assert (batch["sum"] == batch["state"] + batch["action"] + batch["next"]).all()  # no record is half of another one
    target = batch["reward"] + 0.95 * (batch["next"] != GOAL) * q[batch["next"]].max(1)
    place = batch["state"], batch["action"]
    q[place] += 0.2 * (target - q[place])
    learnt += len(batch)
replay.close()
for actor in actors:
    actor.join()

state, steps = START, 0
while state != GOAL and steps < 100:
    state, steps = move(state, int(q[state].argmax())), steps + 1
reached, shortest = {START}, 0
while GOAL not in reached:
    reached, shortest = reached | {move(s, a) for s in reached for a in range(4)}, shortest + 1
print(f"{steps} steps to the goal, of at least {shortest}; {learnt:,} samples of {replay.stats()['put']:,} puts")
