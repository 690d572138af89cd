/* harness
 * property: after close, a put is refused, or its element is drawn before any return of CLOSED
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; put against close and draw
 * executions: 3
 * cover: refused late
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

static int put_status, draw_status;

static void setup(void)
{
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        put_status = put(0, 1);
    } else {
        lade_bag_close(bag);
        draw_status = lade_bag_draw(handle[1], &out[1]);
    }
}

static void finish(void)
{
    assert(put_status == LADE_OK || put_status == LADE_CLOSED);
    assert(draw_status == LADE_OK || draw_status == LADE_CLOSED);
    assert((put_status == LADE_OK) == (draw_status == LADE_OK));
    if (put_status == LADE_CLOSED)
        cover(refused);
    if (put_status == LADE_OK)
        cover(late);
    assert(lade_bag_draw(handle[THREADS], &out[0]) == LADE_CLOSED);
    lade_bag_destroy(bag);
}
