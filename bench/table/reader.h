/* SPDX-License-Identifier: MIT */
/* Seats of candidates that read inside liburcu's read sections. struct seat, with a table, is defined before this is included. */
#ifndef LADE_BENCH_TABLE_READER_H
#define LADE_BENCH_TABLE_READER_H

#include <stdlib.h>
#include <urcu/urcu-memb.h>

void *seat_make(void *table, unsigned number)
{
    struct seat *seat = calloc(1, sizeof *seat);

    (void)number;
    if (seat)
        seat->table = table;
    urcu_memb_register_thread();
    return seat;
}

void seat_free(void *seat)
{
    urcu_memb_unregister_thread();
    free(seat);
}

#endif
