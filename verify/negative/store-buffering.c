/* harness
 * property: of two threads that each announce themselves and then check, one sees the other (release and acquire do not guarantee that)
 * engines: genmc explore
 * threads: 2
 * bound: one announcement each
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static struct {
    _Alignas(64) atomic_int here;
} side[2];
static int saw[2];

static void setup(void)
{
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&side[i].here, 0, memory_order_relaxed);
}

static void thread(int id)
{
    atomic_store_explicit(&side[id].here, 1, memory_order_release);
    saw[id] = atomic_load_explicit(&side[1 - id].here, memory_order_acquire);
}

static void finish(void)
{
    assert(saw[0] || saw[1]);
}
