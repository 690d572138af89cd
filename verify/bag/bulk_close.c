/* harness
 * property: after close, a batch is refused, or its words are drawn before any return of CLOSED, unless part of it was drawn
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, in use before; put of a batch of one word against close and draw
 * executions: 3
 * cover: refused late
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

static size_t done;
static int draw_status;

static void setup(void)
{
    make_bag(1);
    assert(put(0, 9) == LADE_OK && draw(0) == 9);
    in[0] = 1;
}

static void thread(int id)
{
    if (id == 0) {
        done = lade_bag_put_many(handle[0], &in[0], 1);
    } else {
        lade_bag_close(bag);
        draw_status = lade_bag_draw(handle[1], &out[1]);
    }
}

static void finish(void)
{
    assert(draw_status == LADE_OK || draw_status == LADE_CLOSED);
    assert((done == 1) == (draw_status == LADE_OK));
    if (done == 0)
        cover(refused);
    else
        cover(late);
    assert(lade_bag_draw(handle[THREADS], &out[0]) == LADE_CLOSED);
    lade_bag_destroy(bag);
}
