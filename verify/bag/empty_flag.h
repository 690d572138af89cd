/* SPDX-License-Identifier: MIT */
/*
 * One thread puts, then reads a flag; the other sets the flag, then draws. A draw that misses the put must have set the
 * flag too late for the put's thread to see it. The harness creates the bag in prepare(). LOOK_BEFORE: draw also before
 * the flag is set.
 */
#include "small.h"

static _Atomic int flag;
static int seen;
static uint64_t got;

static void prepare(void);

static void setup(void)
{
    atomic_store(&flag, 0);
    got = 0;
    prepare();
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
        seen = atomic_load(&flag);
        return;
    }
#ifdef LOOK_BEFORE
    got = draw(1);
#endif
    atomic_store(&flag, 1);
    got += draw(1);
}

static void finish(void)
{
    assert(seen || got);
    if (seen && !got)
        cover(late);
    lade_bag_destroy(bag);
}
