/* harness
 * property: a reference-counted object is released once, after the bag, the borrower and the drawer have all released it
 * threads: 2
 * bound: 1 slot; sample and return against evict
 * executions: 3
 * cover: lent
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

struct object {
    struct lade_ref ref;
    uint32_t alive;
};

static struct object *object;
static struct lade_ref *pointer;
static struct lade_loan loan;
static _Atomic int released;

static void release(struct lade_ref *ref)
{
    struct object *o = (struct object *)ref;

    assert(o->alive == 1);
    o->alive = 0;
    free(o);
    atomic_fetch_add(&released, 1);
}

static void setup(void)
{
    atomic_store(&released, 0);
    config.kind = LADE_BAG_REFS;
    config.release = release;
    make_bag(1);
    object = malloc(sizeof *object);
    lade_ref_init(&object->ref);
    object->alive = 1;
    pointer = &object->ref;
    assert(lade_bag_put(handle[0], &pointer) == LADE_OK);
}

static void thread(int id)
{
    if (id == 1) {
        assert(lade_bag_evict(handle[1]) == LADE_OK);
    } else if (lade_bag_sample(handle[0], &loan) == LADE_OK) {
        assert(((struct object *)loan.ref)->alive == 1);
        lade_bag_give_back(handle[0], &loan);
        cover(lent);
    }
}

static void finish(void)
{
    assert(atomic_load(&released) == 1);
    lade_bag_destroy(bag);
}
