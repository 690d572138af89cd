/* SPDX-License-Identifier: MIT */
/* Shared by the spsc harnesses that have a futex: the ring has waits. */
#include "ring.c"
#include "ring_count.c"
#ifdef FUTEX
#include "ring_wait.c"
#define WAITS true
#else
#include "event/nobody_waits.h"
#define WAITS false
#endif

static struct lade_spsc *ring;

static void make(uint64_t capacity)
{
    struct lade_ring_config config = {.capacity = capacity, .waits = WAITS};

    assert(lade_spsc_create(&ring, &config) == LADE_OK);
}
