/* SPDX-License-Identifier: MIT */
/*
 * Counts, not times: bench_table_moved mean|most KEYS ... inserts KEYS keys into an empty table and prints how many cells
 * growth has moved, and what to divide that by; most: in the insert that moved most. The table's own count is read after
 * every insert. (lade_table_stats would end the growth that it meets.)
 */
#include "../../lib/table.h"
#include "../clock.h"
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct lade_table_config config = {.seeded = true, .seed = 1};
    struct lade_table *table = NULL;
    uint64_t keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    bool most = argc > 1 && strcmp(argv[1], "most") == 0;
    uint64_t before = 0;
    uint64_t largest = 0;

    if (keys < 1) {
        fprintf(stderr, "usage: %s mean|most KEYS\n", argv[0]);
        return 2;
    }
    fuse();
    urcu_memb_register_thread();
    if (lade_table_create(&table, &config) != LADE_OK)
        return 3;
    for (uint64_t i = 0; i < keys; i++) {
        if (lade_table_insert(table, key_of(i), i, NULL) != LADE_OK)
            return 3;
        uint64_t after = atomic_load_explicit(&table->moved_cells, memory_order_relaxed);
        largest = after - before > largest ? after - before : largest;
        before = after;
    }
    printf("%llu %.1f 1\n", (unsigned long long)(most ? largest : before), most ? 1.0 : (double)keys);
    lade_table_destroy(table);
    urcu_memb_unregister_thread();
    return 0;
}
