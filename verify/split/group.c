/* harness
 * property: items of one group go to one part, whichever thread decides
 * threads: 2
 * bound: two items of one group, threads that choose different parts, each routes both
 * executions: 5
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: followed
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
        assert(route(id, NAME(1 + which, 1), NAME(3, 1), 0) == LADE_OK);
        part[id][which] = got_part[id];
        if (got_part[id] != (unsigned)id)
            cover(followed);
        pause_here();
    }
}

static void finish(void)
{
    assert(part[0][0] == part[0][1] && part[0][1] == part[1][0] && part[1][0] == part[1][1]);
}
