/* harness
 * property: the memory of a batch is overwritten only after the batch was released and its exported tensor deleted
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 buffer; the batch and a tensor of it, each in a thread; a worker that tries once to get a buffer
 * executions: 4
 * cover: refilled
 */
#define THREADS 3
#define SPARE 1
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

/* Its consumer has taken a batch, in the first buffer, and exported a tensor of it. */
static void setup(void)
{
    make_loader(2);
    atomic_init(&buffers_free[0], 0);
    block[0].sample = bytes_of(7);
    atomic_init(&loader.held, 1);
    lade_ref_init(&memory[0].holds);
    assert(lade_ref_get(&memory[0].holds) == LADE_OK); /* as an exported tensor does */
}

static void thread(int id)
{
    uint64_t buffer;

    if (id < 2) {
        assert(block[0].sample == bytes_of(7));
        assert(lade_memory_let_go(&memory[0], (unsigned)id, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    } else if (lade_batch_ring_reuse(&loader.ring, &buffer)) {
        assert(buffer == 0);
        block[0].sample = bytes_of(8);
        cover(refilled);
    }
}

static void finish(void)
{
    assert(atomic_load(&loader.held) == 0 && atomic_load(&leaves) == 0);
}
