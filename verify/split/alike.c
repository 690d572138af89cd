/* harness
 * property: keys with the same upper half of the hash stay distinct: each has one part for all threads, and none is lost
 * threads: 2
 * bound: two keys with the same upper half, routed in opposite orders by threads that choose different parts
 * executions: 5
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: behind
 */
#define THREADS 2
#include "harness.h"

#include "map.h"

static unsigned part[THREADS][2];

static unsigned choice(void)
{
    return (unsigned)harness_id;
}

static void setup(void)
{
    make_split(LADE_SPLIT_COIN);
}

static void thread(int id)
{
    for (int i = 0; i < 2; i++) {
        int which = id ? 1 - i : i;
        assert(route(id, NAME(1, 1 + which), 0, 0) == LADE_OK);
        part[id][which] = got_part[id];
        pause_here();
    }
}

static void finish(void)
{
    for (int i = 0; i < 2; i++)
        assert(part[0][i] == part[1][i]);
    assert(atomic_load(&map[16]) != 0 && atomic_load(&map[17]) != 0 && atomic_load(&map[18]) == 0);
    if ((atomic_load(&map[16]) & 15) == 1 + 2)
        cover(behind); /* the second key came first */
}
