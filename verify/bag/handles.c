/* harness
 * property: another thread can join a handle that was left, and owns what the first thread owned
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, one handle; join, put, draw, leave in both
 * executions: 2
 * cover: after
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "records.h"

static void setup(void)
{
    make_records(1);
    for (int i = 1; i <= THREADS; i++)
        assert(lade_bag_join(bag, &handle[0]) == LADE_TOO_MANY);
    lade_bag_leave(handle[1]);
    handle[1] = NULL;
}

static void thread(int id)
{
    static struct lade_bag_handle *mine[THREADS];

    if (lade_bag_join(bag, &mine[id]) != LADE_OK)
        return;
    if (atomic_load(&mine[id]->count[PUT]) > 0)
        cover(after);
    record[id][0] = 1 + (uint64_t)id;
    record[id][1] = 10 * record[id][0];
    if (lade_bag_put(mine[id], record[id]) == LADE_OK && lade_bag_draw(mine[id], record[id]) == LADE_OK)
        check_record(record[id]);
    lade_bag_leave(mine[id]);
}

static void finish(void)
{
    lade_bag_destroy(bag);
}
