/* harness
 * property: a record batch that is taken because it is in memory stays there until it is released
 * engines: explore native tsan
 * threads: 2
 * bound: 1 slot, two record batches
 * executions: 3
 * cover: taken missed
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "window.h"

static void setup(void)
{
    make_cache();
    leave(0, hold(0, 0));
}

static void thread(int id)
{
    static const uint64_t numbers[] = {0, 1};
    const struct lade_arrow_piece *piece[2];

    if (id == 0) {
        (void)hold(0, 1);
        return;
    }
    assert(lade_arrow_acquire_present(&source, numbers, piece, 2, &error[1]) == LADE_OK);
    assert(!piece[0] || !piece[1]);
    if (piece[0]) {
        assert(only.content.array.length == 0);
        cover(taken);
    } else {
        cover(missed);
    }
    lade_arrow_release(&source, numbers, piece, 2);
}

static void finish(void)
{
    assert(only.pins == 1 && only.content.array.length == 1);
}
