/* harness
 * property: one thread at a time holds a handle, and the next thread gets it in a consistent state
 * threads: 2
 * bound: one handle, two threads; join, push, leave
 * executions: 4
 * cover: refused both
 */
#define THREADS 2
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

static struct lade_mpmc *ring;
static bool joined[THREADS];

static void setup(void)
{
    assert(lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = 2, .handles = 1}) == LADE_OK);
    joined[0] = joined[1] = false;
}

static void thread(int id)
{
    struct lade_mpmc_handle *h = NULL;
    int status = lade_mpmc_join(ring, &h);

    assert(status == LADE_OK || status == LADE_TOO_MANY);
    if (status == LADE_TOO_MANY) {
        cover(refused);
        return;
    }
    assert(lade_mpmc_push(h, (uint64_t)id + 1) == LADE_OK);
    joined[id] = true;
    lade_mpmc_leave(h);
}

static void finish(void)
{
    struct lade_mpmc_handle *h = NULL;
    uint64_t sum = 0, word = 0;

    if (joined[0] && joined[1])
        cover(both);
    assert(lade_mpmc_join(ring, &h) == LADE_OK);
    while (lade_mpmc_pop(h, &word) == LADE_OK)
        sum += word;
    assert(sum == (joined[0] ? 1u : 0u) + (joined[1] ? 2u : 0u));
    lade_mpmc_destroy(ring);
}
