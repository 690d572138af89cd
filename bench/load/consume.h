/* SPDX-License-Identifier: MIT */
/* A consumer of the loader that checks what it gets as cheaply as can be. */
#ifndef LADE_BENCH_CONSUME_H
#define LADE_BENCH_CONSUME_H

#include "data.h"

#include <lade/loader.h>

struct consumer {
    struct lade_loader *loader;
    const struct data *data; /* rows that begin with their numbers are checked when it has any */
    bool reads;              /* every byte of every batch */
    uint64_t bytes;          /* their sum */
    uint64_t seen, sum;      /* samples of this epoch, and of their numbers */
    uint64_t expected;       /* samples of an epoch that is checked; 0: none is */
};

/* Makes the loader, or fails. */
void consumer_begin(struct consumer *consumer, const struct lade_loader_config *config);
void consumer_end(struct consumer *consumer);

/* Takes a batch, checks it, gives it back and returns the number of its samples. *last (may be NULL): it was the last of its epoch. */
uint64_t consume(struct consumer *consumer, bool *last);

/*
 * Takes as many samples as an epoch has. checked: then to the end of that epoch, and through another one, which must have each
 * sample once. Only where batches are in order and all samples are in the part.
 */
void consume_epoch(struct consumer *consumer, bool checked);

#endif
