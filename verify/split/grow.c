/* harness
 * property: the first decision persists while the table grows: threads that choose different parts agree, before and after
 * threads: 2
 * bound: real table of 1 to 2 cells; one key routed by two threads, one of which makes the table grow before
 * executions: 600
 * cover: before after
 * engines: explore native tsan genmc/rc11
 * allow genmc: Memory intrinsic found, Cannot promote intrinsic
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 300
 * timeout: 300
 */
#define THREADS 2
#include "harness.h"

#include "../table/small.h"

#include "names.h"

static unsigned part[THREADS];

static unsigned choice(void)
{
    return (unsigned)harness_id;
}

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    make_names(LADE_SPLIT_COIN);
    split.table = table;
}

static void work(int id)
{
    if (id == 0) {
        grow(2);
        complete();
    }
    assert(route(id, NAME(1, 1), 0, 0) == LADE_OK);
    part[id] = got_part[id];
}

static void finish(void)
{
    assert(part[0] == part[1]);
    if (part[0] == 1)
        cover(before);
    if (part[0] == 0)
        cover(after);
    assert(route(THREADS, NAME(1, 1), 0, 0) == LADE_OK && got_part[THREADS] == part[0]);
    assert(cells_of(16) == 1);
    unmake();
}
