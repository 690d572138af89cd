/* SPDX-License-Identifier: MIT */
/* What the mpmc harnesses share: a ring and one handle for each thread and one for setup() and finish(). */
#ifdef FUTEX
#include "ring_wait.c"
#else
#include "event/nobody_waits.h"
#endif

#include "ring.c"

static struct lade_mpmc *ring;
static struct lade_mpmc_handle *handle[THREADS + 1];

static void make(uint64_t capacity)
{
    assert(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = capacity, .handles = THREADS + 1}) ==
           LADE_OK);
    for (int i = 0; i <= THREADS; i++)
        assert(lade_mpmc_join(ring, &handle[i]) == LADE_OK);
}
