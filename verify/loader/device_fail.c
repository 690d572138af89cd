/* harness
 * property: the first failure of a device wakes the consumer, which waits for memory, and it observes the whole failure
 * engines: explore native tsan
 * threads: 3
 * bound: 1 slot, in use; two threads report a failure each
 * executions: 10
 * cover: slept
 */
#define THREADS 3
#define LADE_PLAN_WORDS 2
#include "harness.h"

#include "event/futex.h"

#include "no_heap.h"
#include "loader.h"

#include <string.h>

#define memcpy(to, from, size) assert(0)

#include "loader_device.c"

#define NEVER(type, name, parameters)                                                                                  \
    type name parameters                                                                                               \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
NEVER(int, lade_memory_create,
      (struct lade_loader * l, struct lade_memory **m, uint64_t at, bool device, struct lade_error *error))
NEVER(void, lade_memory_free, (struct lade_memory * m))
NEVER(size_t, lade_memory_labels, (const struct lade_loader *l, uint64_t count))
NEVER(bool, lade_loader_find, (struct lade_loader * l, uint64_t *batch, uint64_t *buffer))
NEVER(void, lade_loader_give, (struct lade_loader * l, uint64_t buffer))
NEVER(bool, lade_loader_is_here, (const struct lade_loader *l))
NEVER(size_t, lade_memory_block, (const struct lade_loader *l))
NEVER(int, lade_loader_refuse_child, (struct lade_error * error))
NEVER(const char *, lade_status_text, (int status))

static struct lade_loader loader;
static struct lade_stage stage;
static struct lade_device device;
static struct lade_backend backend;

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    (void)error, (void)name, (void)offset, (void)format;
    return status;
}

static void setup(void)
{
    device.backend = &backend;
    loader.config.device = &device;
    loader.stage = &stage;
    loader.has_partial = true;
    stage.depth = 1;
    atomic_init(&stage.slot[0].state, USED);
    atomic_init(&stage.failing, 0);
    atomic_init(&stage.failed, 0);
    lade_event_init(&loader.ready);
    atomic_init(&loader.cancelled, 0);
}

static void thread(int id)
{
    if (id < 2) {
        const struct lade_device_failure failure = {.code = id + 1};
        assert(lade_stage_fail(&loader, &failure) == LADE_DEVICE);
        return;
    }
    assert(lade_stage_await_slot(&loader, LADE_FOREVER) == LADE_DEVICE);
    assert(stage.failure.code == 1 || stage.failure.code == 2);
    if (atomic_load_explicit(&futex_woken[2], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}
