/* harness
 * property: two keys with the same upper half of the hash keep their parts and places while the table grows
 * threads: 2
 * bound: real table of 2 to 3 cells; two keys with the same upper half, one recorded before; growth and all moves
 * executions: 609
 * cover: grown
 * engines: explore native tsan
 * rounds: 300
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "../table/small.h"

#include "names.h"

static unsigned part[THREADS];

static unsigned choice(void)
{
    return harness_id < 0 ? 3 : (unsigned)harness_id;
}

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    make_names(LADE_SPLIT_COIN);
    split.table = table;
    assert(route(THREADS, NAME(1, 1), 0, 0) == LADE_OK && got_part[THREADS] == 3);
}

static void work(int id)
{
    if (id == 0) {
        grow(3);
        complete();
        return;
    }
    assert(route(id, NAME(1, 2), 0, 0) == LADE_OK);
    part[id] = got_part[id];
    if (root_of(table)->cells == 3)
        cover(grown);
}

static void finish(void)
{
    assert(part[1] == 1);
    assert(route(THREADS, NAME(1, 1), 0, 0) == LADE_OK && got_part[THREADS] == 3);
    assert(cells_of(16) == 1 && cells_of(17) == 1);
    unmake();
}
