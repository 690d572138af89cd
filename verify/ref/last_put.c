/* harness
 * property: the release function runs exactly once and observes what each holder wrote before its put
 * threads: 3
 * bound: three holders, one put each
 * executions: 6
 * cover: released_by_first released_by_last
 */
#define THREADS 3
#include "harness.h"

#include "reclaim/without_thread.h"

#include "ref.c"

struct object {
    struct lade_ref ref;
    int written[THREADS];
};

static struct object *object;
static int released;

static void release(struct lade_ref *ref)
{
    struct object *o = (struct object *)ref;

    for (int i = 0; i < THREADS; i++)
        assert(o->written[i] == i + 1);
    released++;
    free(o);
}

static void setup(void)
{
    object = malloc(sizeof *object);
    for (int i = 0; i < THREADS; i++)
        object->written[i] = 0;
    lade_ref_init(&object->ref);
    for (int i = 1; i < THREADS; i++)
        assert(lade_ref_get(&object->ref) == LADE_OK);
    released = 0;
}

static void thread(int id)
{
    object->written[id] = id + 1;
    pause_here();
    int status = lade_ref_put(&object->ref, release);
    assert(status == LADE_OK || status == LADE_RELEASED);
    if (status == LADE_RELEASED && id == 0)
        cover(released_by_first);
    if (status == LADE_RELEASED && id == THREADS - 1)
        cover(released_by_last);
}

static void finish(void)
{
    assert(released == 1);
}
