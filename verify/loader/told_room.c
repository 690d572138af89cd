/* harness
 * property: a worker that is about to sleep is told of the place, and of the buffer, that it has missed
 * threads: 2
 * bound: 1 place, 1 buffer; the consumer moves on and gives the buffer back
 * executions: 4
 * cover: no_buffer no_place
 */
#define THREADS 2
#define PLACES 1
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static uint32_t number;
static bool has_buffer, has_place;

static void setup(void)
{
    make_ring();
    has_buffer = has_place = false;
}

static void thread(int id)
{
    uint64_t buffer;

    if (id == 0) {
        lade_ring_advance(&ring, 1);
        lade_event_tell_after(&room);
        pause_here();
        lade_ring_give(&ring, 0);
        lade_event_tell_after(&room);
    } else {
        lade_event_expect(&room);
        number = lade_event_number(&room);
        has_buffer = lade_ring_reuse(&ring, &buffer);
        pause_here();
        has_place = lade_ring_has_place(&ring, 1);
    }
}

static void finish(void)
{
    if (has_buffer && has_place)
        return;
    assert(atomic_load(&room.number) != number);
    if (!has_place)
        cover(no_place);
    else
        cover(no_buffer);
}
