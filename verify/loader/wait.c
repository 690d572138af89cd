/* harness
 * property: a consumer that sleeps is woken by the batch that it awaits, though another one comes first
 * engines: explore
 * threads: 3
 * bound: 2 places; two workers hand over a batch each, the consumer takes both in order
 * executions: 10
 * cover: slept
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static void setup(void)
{
    make_ring();
}

static void take(uint64_t k)
{
    uint64_t buffer;

    if (!lade_ring_look(&ring, k, &buffer)) {
        lade_ring_await(&ring, &ready, k);
        for (;;) {
            uint32_t number = lade_event_number(&ready);
            if (lade_ring_look(&ring, k, &buffer))
                break;
            lade_futex_wait(&ready.number, number, -1);
        }
        lade_event_leave(&ready);
    }
    assert(content[buffer] == k + 10);
}

static void thread(int id)
{
    if (id < 2) {
        content[id] = (uint64_t)id + 10;
        assert(lade_ring_publish(&ring, (uint64_t)id, (uint64_t)id));
        lade_ring_tell(&ring, &ready, (uint64_t)id);
        return;
    }
    take(0);
    take(1);
    if (atomic_load_explicit(&futex_woken[2], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}
