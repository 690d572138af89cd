/* harness
 * property: threads agree on the side of an item, and different items do not evict each other
 * threads: 3
 * bound: two words, the first with space for one entry; threads 0 and 1 route one item, thread 2 another one, then both again
 * executions: 6
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: second lost
 */
#define THREADS 3
#include "harness.h"

#include "filter.h"

static unsigned side[THREADS];

static void setup(void)
{
    make_words(LADE_SPLIT_COMPACT, UINT64_C(5) << COUNT_SHIFT); /* five entries with fingerprint 0 */
}

static void thread(int id)
{
    side[id] = route(id < 2 ? 3 : 5);
    if (id < 2 && side[id] != (unsigned)id)
        cover(lost);
    pause_here();
    assert(route(id < 2 ? 3 : 5) == side[id]);
}

static void finish(void)
{
    uint64_t first = atomic_load(&word[0]), second = atomic_load(&word[1]);

    assert(side[0] == side[1]);
    assert(first >> COUNT_SHIFT == 6 && second >> COUNT_SHIFT == 1);
    if ((second & ENTRY) >> 1 == 3)
        cover(second);
    assert(route(3) == side[0] && route(5) == side[2]);
}
