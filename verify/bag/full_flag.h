/* SPDX-License-Identifier: MIT */
/*
 * One thread draws, then reads a flag; the other sets the flag, then puts. A put that misses the draw must have set the
 * flag too late for the draw's thread to see it. The harness creates a full bag in prepare(). LOOK_BEFORE: put also
 * before the flag is set.
 */
#include "small.h"

static _Atomic int flag;
static int seen, status;

static void prepare(void);

static void setup(void)
{
    atomic_store(&flag, 0);
    status = LADE_FULL;
    prepare();
}

static void thread(int id)
{
    if (id == 0) {
        assert(draw(0) == 1);
        seen = atomic_load(&flag);
        return;
    }
#ifdef LOOK_BEFORE
    status = put(1, 2);
#endif
    atomic_store(&flag, 1);
    if (status != LADE_OK)
        status = put(1, 2);
}

static void finish(void)
{
    assert(seen || status == LADE_OK);
    if (seen && status == LADE_FULL)
        cover(late);
    lade_bag_destroy(bag);
}
