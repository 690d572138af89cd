/* harness
 * property: from every count, get, get_unless_zero and put return and leave the count as the header specifies
 * engines: cbmc
 * threads: 1
 * bound: any 32-bit count, one operation
 * cover: dead saturated released
 */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "reclaim/without_thread.h"

#include "ref.c"

uint32_t nondet_uint32(void);
int nondet_int(void);

static struct lade_ref ref;
static int released;

static void release(struct lade_ref *r)
{
    (void)r;
    released++;
}

static void setup(void)
{
    released = 0;
}

static void check_get(uint32_t before)
{
    int status = lade_ref_get(&ref);

    if (before == 0) {
        assert(status == LADE_DEAD && lade_ref_count(&ref) == UINT32_MAX);
        cover(dead);
    } else if (before >= LADE_REF_MAX) {
        assert(status == LADE_SATURATED && lade_ref_count(&ref) == UINT32_MAX);
        cover(saturated);
    } else {
        assert(status == LADE_OK && lade_ref_count(&ref) == before + 1);
    }
}

static void check_get_unless_zero(uint32_t before)
{
    bool got = lade_ref_get_unless_zero(&ref);

    assert(got == (before != 0));
    if (before == 0)
        assert(lade_ref_count(&ref) == 0);
    else if (before >= LADE_REF_MAX)
        assert(lade_ref_count(&ref) == UINT32_MAX);
    else
        assert(lade_ref_count(&ref) == before + 1);
}

static void check_put(uint32_t before)
{
    int status = lade_ref_put(&ref, release);

    assert(released == (before == 1));
    if (before == 0) {
        assert(status == LADE_DEAD && lade_ref_count(&ref) == UINT32_MAX);
    } else if (before == 1) {
        assert(status == LADE_RELEASED && lade_ref_count(&ref) == 0);
        cover(released);
    } else if (before > LADE_REF_MAX) {
        assert(status == LADE_SATURATED && lade_ref_count(&ref) == UINT32_MAX);
    } else {
        assert(status == LADE_OK && lade_ref_count(&ref) == before - 1);
    }
}

static void thread(int id)
{
    uint32_t before = nondet_uint32();
    int which = nondet_int();

    (void)id;
    ref.count = before;
    if (which == 0)
        check_get(before);
    else if (which == 1)
        check_get_unless_zero(before);
    else
        check_put(before);
}

static void finish(void)
{
}
