/* harness
 * property: a buffer is overwritten only by the worker that got it, after it was read
 * threads: 3
 * bound: 3 buffers; the consumer releases two, two workers look for one each
 * executions: 10
 * cover: none this other
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static bool has[THREADS];
static uint64_t mine[THREADS];

static void setup(void)
{
    make_ring();
    content[0] = 10;
    content[1] = 11;
    has[0] = has[1] = false;
}

static void thread(int id)
{
    if (id == 2) {
        for (uint64_t buffer = 0; buffer < 2; buffer++) {
            assert(content[buffer] == buffer + 10);
            lade_batch_ring_give(&ring, buffer);
        }
        return;
    }
    /* One of them prefers the buffer that it used before. */
    if (id == 0 && lade_batch_ring_reuse_this(&ring, 1)) {
        mine[id] = 1;
        has[id] = true;
        cover(this);
    } else {
        has[id] = lade_batch_ring_reuse(&ring, &mine[id]);
        if (id == 0 && has[id])
            cover(other);
    }
    if (!has[id]) {
        cover(none);
        return;
    }
    assert(mine[id] < 2 && content[mine[id]] == mine[id] + 10);
    content[mine[id]] = 20;
}

static void finish(void)
{
    uint64_t left = atomic_load(&buffers_free[0]);

    assert(!has[0] || !has[1] || mine[0] != mine[1]);
    for (int i = 0; i < 2; i++)
        if (has[i])
            left += UINT64_C(1) << mine[i];
    assert(left == 3);
}
