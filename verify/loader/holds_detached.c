/* harness
 * property: detached memory is freed once, by the last of batch and tensor, and its slot gets other memory at once
 * engines: explore
 * threads: 3
 * bound: 1 buffer; the consumer detaches and releases its batch, a thread deletes a tensor of it, a worker tries once to get a buffer
 * executions: 3
 * cover: refilled
 */
#define THREADS 3
#define SPARE 1
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static struct lade_batch batch;
static struct lade_memory *mine;

static void setup(void)
{
    make_loader(2);
    atomic_init(&buffers_free[0], 0);
    loader.config.align = LADE_DEVICE_ALIGN;
    atomic_init(&leaves, 0);
    lade_ref_init(&loader.users);
    assert(lade_memory_create(&loader, &mine, 0, false, NULL) == LADE_OK);
    lade_batch_buffer_use(&loader, &slot[0], mine, 1);
    slot[0].count = 1;
    *(uint64_t *)mine->block = bytes_of(7);
    lade_loader_hand_out(&loader, &batch, 0, &slot[0], mine);
    assert(lade_ref_get(&mine->holds) == LADE_OK); /* as an exported tensor does */
}

static void thread(int id)
{
    uint64_t buffer;

    if (id == 0) {
        assert(lade_loader_detach(&loader, &batch, NULL) == LADE_OK);
        assert(*(uint64_t *)batch.samples == bytes_of(7));
        lade_loader_release(&loader, &batch);
    } else if (id == 1) {
        assert(*(uint64_t *)batch.samples == bytes_of(7));
        assert(lade_memory_let_go(mine, 1, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    } else if (lade_batch_ring_reuse(&loader.ring, &buffer)) {
        *(uint64_t *)(void *)slot[0].samples = bytes_of(8);
        cover(refilled);
    }
}

static void finish(void)
{
    assert(atomic_load(&loader.held) == 0 && atomic_load(&leaves) == 1 && slot[0].memory != mine);
    lade_memory_free(slot[0].memory);
}
