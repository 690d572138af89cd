/* harness
 * property: a thread that stops inside close leaves no draw asleep once another operation has returned CLOSED
 * engines: explore
 * threads: 3
 * bound: 1 slot; a waiting draw against the first step of close, and a put by a third thread
 * executions: 10
 * cover: slept found
 * timeout: 300
 * tier: full
 */
#define THREADS 3
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

static void setup(void)
{
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        mark_closed(bag); /* only the first step */
    } else if (id == 1) {
        int status = lade_bag_draw_wait(handle[1], &out[1], LADE_FOREVER);
        assert(status == LADE_CLOSED || status == LADE_OK);
        if (atomic_load(&futex_woken[1]))
            cover(slept);
    } else if (put(2, 5) == LADE_CLOSED) {
        cover(found);
    } else {
        lade_bag_close(bag); /* the bag was not closed: close it */
    }
}

static void finish(void)
{
    while (draw(THREADS))
        continue;
    lade_bag_destroy(bag);
}
