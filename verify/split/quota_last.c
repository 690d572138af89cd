/* harness
 * property: a thread that finds no token for an item that another thread decided with the last one gets its part, or is asked to retry; FULL is returned only for items that are not recorded
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: one item, one class, one token
 * executions: 5
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: limited
 * timeout: 300
 */
#define THREADS 2
#define TOKENS 1
#include "harness.h"

#include "quota.h"

static void setup(void)
{
    make_quota_split();
}

static void thread(int id)
{
    int status = route(id, NAME(1, 1), 0, 0);

    assert(status == LADE_OK || status == LADE_LIMITED);
    if (status == LADE_LIMITED)
        cover(limited);
    else
        assert(got_part[id] == 0);
}

static void finish(void)
{
    assert(atomic_load(&only.left) == 0 && tokens_left() == 0);
    assert(route(THREADS, NAME(1, 1), 0, 0) == LADE_OK && got_part[THREADS] == 0);
    assert(route(THREADS, NAME(2, 1), 0, 0) == LADE_FULL);
    lade_bag_destroy(bag);
}
