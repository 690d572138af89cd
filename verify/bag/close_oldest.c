/* harness
 * property: a put that close refuses has read the cell that it evicted from before another put writes to that cell
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full, evict-oldest; put that is closed after it evicted, against put and the start of another
 * executions: 3
 * cover: refused kept
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

/* The word is read from the cell. Any thread could close the bag at this point. */
static void dropping(void *context, uint64_t word)
{
    (void)context;
    assert(word >= 1 && word <= 3);
    if (harness_id == 0)
        lade_bag_close(bag);
}

static void setup(void)
{
    config.full = LADE_BAG_EVICT_OLDEST;
    config.drop = dropping;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        if (put(0, 2) == LADE_CLOSED)
            cover(refused);
    } else if (put(1, 3) == LADE_OK) {
        /* The handle owns the cell that was in the slot. Every put writes to it before it checks for close. */
        in[1] = 4;
        (void)slot_word(handle[1], &in[1]);
        cover(kept);
    }
}

static void finish(void)
{
    while (draw(THREADS))
        continue;
    lade_bag_destroy(bag);
}
