/* SPDX-License-Identifier: MIT */
/* Store buffering in a circle: each thread announces itself and reads its neighbours. */
#include "threads.h"

static atomic_int here[THREADS];
static int alone[THREADS];

static void thread(int id)
{
    atomic_store_explicit(&here[id], 1, ORDER);
    alone[id] = !atomic_load_explicit(&here[(id + 1) % THREADS], ORDER) &&
                !atomic_load_explicit(&here[(id + 2) % THREADS], ORDER);
}

static void finish(void)
{
    for (int i = 0; i < THREADS; i++)
        assert(alone[i] == 0 || alone[i] == 1);
}
