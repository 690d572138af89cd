/* harness
 * property: an object found in a read section stays valid until the section, or the reference taken in it, ends
 * engines: native genmc explore
 * allow genmc/imm: Atomic xchg support
 * threads: 2
 * bound: one reader that may take a reference, one owner that unpublishes, releases and reclaims
 * executions: 3
 * cover: found_and_got found_dying not_found
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "reclaim/without_thread.h"

#include "ref.c"
#include "ref_deferred.c"

struct object {
    struct lade_ref_deferred ref;
    int value;
};

static _Atomic(struct object *) published;
static atomic_int released;

static void release(struct lade_ref_deferred *ref)
{
    struct object *o = (struct object *)ref;

    assert(atomic_fetch_add_explicit(&released, 1, memory_order_relaxed) == 0);
    o->value = 0;
    free(o);
}

static void setup(void)
{
    struct object *o = malloc(sizeof *o);

    o->value = 7;
    lade_ref_init(&o->ref.ref);
    atomic_init(&published, o);
    atomic_init(&released, 0);
}

static void reader(void)
{
    bool got = false;

    urcu_memb_read_lock();
    struct object *o = atomic_load_explicit(&published, memory_order_acquire);
    pause_here();
    if (o) {
        assert(o->value == 7);
        got = lade_ref_get_unless_zero(&o->ref.ref);
        if (got)
            cover(found_and_got);
        else
            cover(found_dying);
    } else {
        cover(not_found);
    }
    urcu_memb_read_unlock();
    if (got) {
        assert(o->value == 7);
        lade_ref_put_deferred(&o->ref, release);
    }
}

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0) {
        reader();
    } else {
        struct object *o = atomic_load_explicit(&published, memory_order_relaxed);
        atomic_store_explicit(&published, NULL, memory_order_relaxed);
        lade_ref_put_deferred(&o->ref, release);
        lade_ref_barrier();
    }
    urcu_memb_unregister_thread();
}

static void finish(void)
{
    lade_ref_barrier();
    assert(atomic_load_explicit(&released, memory_order_relaxed) == 1);
}
