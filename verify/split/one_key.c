/* harness
 * property: threads that choose different parts for one key agree on the first choice
 * threads: 3
 * bound: one key, each thread chooses another part, two routes each
 * executions: 6
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: lost
 */
#define THREADS 3
#include "harness.h"

#include "map.h"

static unsigned first[THREADS];

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
    assert(route(id, NAME(1, 1), 0, 0) == LADE_OK);
    first[id] = got_part[id];
    if (first[id] != (unsigned)id)
        cover(lost);
    pause_here();
    assert(route(id, NAME(1, 1), 0, 0) == LADE_OK);
    assert(got_part[id] == first[id]);
}

static void finish(void)
{
    assert(first[0] == first[1] && first[1] == first[2]);
}
