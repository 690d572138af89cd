/* harness
 * property: of two keys with the same content, one is taken by all threads that route it, and the other is dropped
 * threads: 3
 * bound: threads 0 and 1 route one key, thread 2 another one with the same content
 * executions: 6
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * cover: first second
 */
#define THREADS 3
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
    split.config.content = LADE_SPLIT_DROP;
}

static void thread(int id)
{
    status[id] = route(id, NAME(id < 2 ? 1 : 2, id < 2 ? 1 : 2), 0, NAME(3, 1));
    part[id] = got_part[id];
}

static void finish(void)
{
    if (status[2] == LADE_OK) {
        assert(status[0] == LADE_PRESENT && status[1] == LADE_PRESENT);
        cover(second);
    } else {
        assert(status[2] == LADE_PRESENT && status[0] == LADE_OK && status[1] == LADE_OK && part[0] == part[1]);
        cover(first);
    }
}
