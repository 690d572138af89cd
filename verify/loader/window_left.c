/* harness
 * property: the last thread that releases a record batch wakes a thread that waits for a slot for another one
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, two record batches
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "window.h"

static const struct lade_arrow_piece *held;

static void setup(void)
{
    make_cache();
    held = hold(0, 0);
}

static void thread(int id)
{
    if (id == 0) {
        leave(0, held);
        return;
    }
    (void)hold(1, 1);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(only.pins == 1 && slots[0] == NO_SLOT);
}
