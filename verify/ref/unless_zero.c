/* harness
 * property: get_unless_zero never revives an object: it succeeds only while the count is above zero
 * threads: 2
 * bound: one last put against one get_unless_zero; the memory stays
 * executions: 3
 * cover: got missed
 */
#define THREADS 2
#include "harness.h"

#include "reclaim/without_thread.h"

#include "ref.c"

static struct lade_ref ref;
static atomic_int released;

static void release(struct lade_ref *r)
{
    (void)r;
    assert(atomic_fetch_add_explicit(&released, 1, memory_order_relaxed) == 0);
}

static void setup(void)
{
    lade_ref_init(&ref);
    atomic_init(&released, 0);
}

static void thread(int id)
{
    if (id == 0) {
        lade_ref_put(&ref, release);
    } else if (lade_ref_get_unless_zero(&ref)) {
        cover(got);
        pause_here();
        assert(atomic_load_explicit(&released, memory_order_relaxed) == 0);
        lade_ref_put(&ref, release);
    } else {
        cover(missed);
    }
}

static void finish(void)
{
    assert(atomic_load_explicit(&released, memory_order_relaxed) == 1);
    assert(lade_ref_count(&ref) == 0);
}
