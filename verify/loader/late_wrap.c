/* harness
 * property: a batch that is published too late changes nothing, even if its place was reused several times
 * threads: 2
 * bound: 1 place; the replacement makes batches 0 and 1, the late worker makes 0
 * executions: 3
 * executions genmc: 3
 * cover: late_first late_last
 */
#define THREADS 2
#define PLACES 1
#define BUFFERS 3
#include "harness.h"

#include "small.h"

static bool late_won;

static void setup(void)
{
    make_ring();
    late_won = false;
}

static void thread(int id)
{
    uint64_t buffer;

    if (id == 0) {
        content[2] = 30;
        late_won = lade_batch_ring_publish(&ring, 0, 2);
        if (!late_won)
            content[2] = 31; /* no other thread has it */
        return;
    }
    content[0] = 10;
    bool won = lade_batch_ring_publish(&ring, 0, 0);
    /* This thread also acts as the consumer. */
    assert(lade_batch_ring_look(&ring, 0, &buffer));
    assert(buffer == (won ? 0 : 2) && content[buffer] == (won ? 10 : 30));
    lade_batch_ring_advance(&ring, 1);
    assert(lade_batch_ring_has_place(&ring, 1));
    content[1] = 11;
    assert(lade_batch_ring_publish(&ring, 1, 1));
    assert(lade_batch_ring_look(&ring, 1, &buffer) && buffer == 1 && content[1] == 11);
    if (!won)
        cover(late_first);
    else
        cover(late_last);
}

static void finish(void)
{
    uint64_t buffer;

    assert(lade_batch_ring_look(&ring, 1, &buffer) && buffer == 1);
    assert(content[2] == (late_won ? 30 : 31));
}
