/* harness
 * property: a reference taken from a held one keeps the object alive, and the object is released once, after its last use
 * threads: 2
 * bound: each thread takes a second reference and puts both
 * executions: 6
 * cover: shared
 */
#define THREADS 2
#include "harness.h"

#include "reclaim/without_thread.h"

#include "ref.c"

struct object {
    struct lade_ref ref;
    int value;
};

static struct object *object;
static int released;

static void release(struct lade_ref *ref)
{
    released++;
    free(ref);
}

static void setup(void)
{
    object = malloc(sizeof *object);
    object->value = 7;
    lade_ref_init(&object->ref);
    assert(lade_ref_get(&object->ref) == LADE_OK);
    released = 0;
}

static void thread(int id)
{
    (void)id;
    assert(lade_ref_get(&object->ref) == LADE_OK);
    if (lade_ref_count(&object->ref) == 4)
        cover(shared);
    assert(lade_ref_put(&object->ref, release) == LADE_OK);
    pause_here();
    assert(object->value == 7);
    int status = lade_ref_put(&object->ref, release);
    assert(status == LADE_OK || status == LADE_RELEASED);
}

static void finish(void)
{
    assert(released == 1);
}
