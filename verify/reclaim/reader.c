/* harness
 * property: an object that a reader has found stays valid until its read section ends
 * engines: native genmc explore
 * allow genmc/imm: Atomic xchg support
 * threads: 2
 * bound: one object; one reader, one thread that unpublishes it, defers freeing it and waits
 * executions: 2
 * cover: found hidden
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "without_thread.h"

struct object {
    struct lade_later later;
    int value;
};

static _Atomic(struct object *) published;

static void free_object(struct lade_later *later)
{
    free(later);
}

static void setup(void)
{
    struct object *o = malloc(sizeof *o);

    o->value = 7;
    atomic_init(&published, o);
}

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0) {
        urcu_memb_read_lock();
        struct object *o = atomic_load_explicit(&published, memory_order_acquire);
        pause_here();
        if (o) {
            assert(o->value == 7);
            cover(found);
        } else {
            cover(hidden);
        }
        urcu_memb_read_unlock();
    } else {
        struct object *o = atomic_load_explicit(&published, memory_order_relaxed);
        atomic_store_explicit(&published, NULL, memory_order_relaxed);
        lade_reclaim_later(&o->later, free_object);
        lade_reclaim_barrier();
    }
    urcu_memb_unregister_thread();
}

static void finish(void)
{
}
