/* harness
 * property: for one key that arrives with two groups of different parts, all threads that get a part get the same one, and a thread whose group has another part gets CONFLICT
 * threads: 2
 * bound: one key, two groups, threads that choose different parts
 * executions: 3
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: conflict
 */
#define THREADS 2
#include "harness.h"

#include "map.h"

static int status[THREADS];
static unsigned part[THREADS];

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
    status[id] = route(id, NAME(1, 1), NAME(2 + (unsigned)id, 1), 0);
    part[id] = got_part[id];
}

static void finish(void)
{
    assert(status[0] == LADE_OK || status[1] == LADE_OK);
    for (int id = 0; id < THREADS; id++) {
        if (status[id] == LADE_OK) {
            /* the key and its group have the returned part */
            assert(route(THREADS, NAME(1, 1), NAME(2 + (unsigned)id, 1), 0) == LADE_OK);
            assert(got_part[THREADS] == part[id]);
        } else {
            assert(status[id] == LADE_CONFLICT && part[id] == LADE_SPLIT_NO_PART);
            cover(conflict);
        }
    }
}
