/* harness
 * property: when two threads decide one item, one token is used and the other is returned to the bag
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: one item, one class, two tokens
 * executions: 20
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: back
 * timeout: 300
 */
#define THREADS 2
#define TOKENS 2
#include "harness.h"

#include "quota.h"

static unsigned part[THREADS];

static void setup(void)
{
    make_quota_split();
}

static void thread(int id)
{
    assert(route(id, NAME(1, 1), 0, 0) == LADE_OK);
    part[id] = got_part[id];
}

static void finish(void)
{
    assert(part[0] == part[1] && part[0] < TOKENS);
    assert(atomic_load(&only.left) == 1);
    assert(tokens_left() == 3u - (1u << part[0]));
    uint64_t puts = 0;
    for (int i = 0; i < THREADS; i++)
        puts += atomic_load(&handle[i]->count[PUT]);
    if (puts > 0)
        cover(back);
    lade_bag_destroy(bag);
}
