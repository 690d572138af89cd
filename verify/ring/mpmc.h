/* SPDX-License-Identifier: MIT */
/* What the mpmc harnesses share: a ring and one handle for each thread and one for setup() and finish(). */
#include "ring.c"

static struct lade_mpmc *ring;
static struct lade_mpmc_handle *handle[THREADS + 1];

static void make(uint64_t capacity)
{
    assert(lade_mpmc_create(&ring, capacity, THREADS + 1, NULL) == LADE_OK);
    for (int i = 0; i <= THREADS; i++)
        assert(lade_mpmc_join(ring, &handle[i]) == LADE_OK);
}
