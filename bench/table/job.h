/* SPDX-License-Identifier: MIT */
/*
 * Between the measuring program of tables (job.c) and the loops of one candidate (loops.h, in C or C++). The loops are
 * compiled with the candidate, so that its operations are called as its users call them: inlined where its source is a
 * header, a call where it is a library.
 */
#ifndef LADE_BENCH_TABLE_JOB_H
#define LADE_BENCH_TABLE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BATCH_MAX = 64, FRESH_EVERY = 128 };

/* Part of one thread in a run. The keys have numbers; the value of a key is its number. */
struct part {
    uint64_t operations;
    uint64_t random;  /* state of the generator */
    uint64_t entries; /* keys 0 to this one are there */
    uint64_t fresh;   /* number of the next unused key */
    uint64_t step;    /* from one key to the next, when keys come in order */
    uint64_t wrong;   /* results that are impossible */
    unsigned batch;
    bool skewed;
};

/* A table, empty and small. expected: keys that it will have; only for those that cannot do without. */
void *table_make(uint64_t expected, unsigned threads);
void table_free(void *table);
uint64_t table_counted(void *table); /* bytes by its own count, 0: it has none */
bool table_trim(void *table);        /* to the least memory; false: cannot */
extern const bool table_can_remove, table_can_batch;

/* Every thread has a seat while it uses the table. */
void *seat_make(void *table, unsigned number);
void seat_free(void *seat);

void loop_hit(void *seat, struct part *part);
void loop_miss(void *seat, struct part *part);
void loop_batch(void *seat, struct part *part);
void loop_mark(void *seat, struct part *part);
void loop_mixed(void *seat, struct part *part);
void loop_insert(void *seat, struct part *part); /* from fresh on */
void loop_remove(void *seat, struct part *part);
void loop_timed(void *seat, struct part *part, uint64_t *nanoseconds); /* insert, each with its time */

#ifdef __cplusplus
}
#endif

#endif
