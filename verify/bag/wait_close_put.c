/* harness
 * property: close wakes a draw that waits, and a put that answered LADE_OK before it is drawn before anybody hears CLOSED
 * engines: explore
 * threads: 3
 * bound: 1 slot; put, close, and draws that wait until CLOSED
 * executions: 3
 * cover: refused drawn
 * timeout: 300
 * tier: full
 */
#define THREADS 3
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static int put_status;
static uint64_t got;

static void setup(void)
{
    make_bag(1);
    got = 0;
}

static void thread(int id)
{
    if (id == 0) {
        put_status = put(0, 1);
    } else if (id == 1) {
        lade_bag_close(bag);
    } else {
        int status;
        while ((status = lade_bag_draw_wait(handle[2], &out[2], LADE_FOREVER)) == LADE_OK)
            got += out[2];
        assert(status == LADE_CLOSED);
    }
}

static void finish(void)
{
    if (put_status == LADE_CLOSED)
        cover(refused);
    else
        cover(drawn);
    assert(got == (put_status == LADE_OK));
    assert(draw(THREADS) == 0);
    lade_bag_destroy(bag);
}
