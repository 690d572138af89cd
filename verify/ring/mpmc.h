/* SPDX-License-Identifier: MIT */
/*
 * Shared by the mpmc harnesses: a ring, one handle for each thread and one for setup() and finish(). The ring has waits
 * if the harness has a futex.
 */
#include "ring.c"
#include "ring_count.c"
#ifdef FUTEX
#include "ring_wait.c"
#define WAITS true
#else
#include "event/nobody_waits.h"
#define WAITS false
#endif

static struct lade_mpmc *ring;
static struct lade_mpmc_handle *handle[THREADS + 1];

static void make(uint64_t capacity)
{
    struct lade_ring_config config = {.capacity = capacity, .handles = THREADS + 1, .waits = WAITS};

    assert(lade_mpmc_create(&ring, &config) == LADE_OK);
    for (int i = 0; i <= THREADS; i++)
        assert(lade_mpmc_join(ring, &handle[i]) == LADE_OK);
}
