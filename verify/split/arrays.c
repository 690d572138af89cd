/* harness
 * property: threads agree on the side of an item, and no mark is lost
 * threads: 3
 * bound: one word; threads 0 and 1 route one item, thread 2 another one, then both again
 * executions: 6
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: lost
 */
#define THREADS 3
#include "harness.h"

#include "filter.h"

static unsigned side[THREADS];

static void setup(void)
{
    make_words(LADE_SPLIT_ARRAYS, 0);
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
    uint64_t marks = atomic_load(&word[0]);

    assert(side[0] == side[1]);
    assert(marks == (UINT64_C(1) << (3 + HALF * side[0]) | UINT64_C(1) << (5 + HALF * side[2])));
    assert(route(3) == side[0] && route(5) == side[2]);
}
