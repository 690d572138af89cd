/* harness
 * property: a wait ends when its timeout has expired, not before, and loses no word
 * engines: explore
 * threads: 2
 * bound: mpmc; capacity 1; pop_wait with a timeout against the clock and a push
 * executions: 5
 * cover: over took
 */
#define THREADS 2
#define CLOCK
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static int status;

static void setup(void)
{
    make(1);
    atomic_init(&futex_time, 0);
}

static void thread(int id)
{
    if (id == 0) {
        status = pop_wait(0, &out[0], 5);
        if (status == LADE_TIMEOUT) {
            assert(lade_now() >= 5);
            cover(over);
        } else {
            assert(status == LADE_OK && out[0] == 7);
            cover(took);
        }
    } else {
        atomic_store_explicit(&futex_time, 5, memory_order_release);
        assert(push(1, 7) == LADE_OK);
    }
}

static void finish(void)
{
    assert(pop(THREADS, &out[THREADS]) == (status == LADE_OK ? LADE_EMPTY : LADE_OK));
    assert(status == LADE_OK || out[THREADS] == 7);
    destroy_ring();
}
