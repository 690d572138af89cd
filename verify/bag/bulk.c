/* harness
 * property: a batch is put word by word: each word can be drawn at once, close ends the batch, and no word is lost or duplicated
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in one group, in use before; put of two words against draw and close
 * executions: 3
 * cover: drawn short
 * timeout: 120
 */
#define THREADS 2
#define SLOTS_IN_GROUP 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

static uint64_t batch[2];
static size_t done;
static uint64_t got;

static void setup(void)
{
    make_bag(2);
    assert(put(0, 9) == LADE_OK && draw(0) == 9);
    handle[0]->cursor = 0;
    batch[0] = 1;
    batch[1] = 2;
    got = 0;
}

static void thread(int id)
{
    if (id == 0) {
        done = lade_bag_put_many(handle[0], batch, 2);
    } else {
        got = draw(1);
        if (got)
            cover(drawn);
        lade_bag_close(bag);
    }
}

static void finish(void)
{
    static uint64_t sum;

    if (done < 2)
        cover(short);
    sum = got;
    for (uint64_t left = draw(THREADS); left; left = draw(THREADS))
        sum += left;
    assert(sum == (done == 0 ? 0 : done == 1 ? 1 : 3));
    lade_bag_destroy(bag);
}
