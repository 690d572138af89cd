/* SPDX-License-Identifier: MIT */
/* Batches of numbered samples: sample i is the 16 bytes of i and of its complement, its label is i % 10. */
#ifndef LADE_TEST_NUMBERED_BATCHES_H
#define LADE_TEST_NUMBERED_BATCHES_H

#include <lade/loader.h>

/* Counts the samples in the tensors of the batch that differ from those named by the ids. */
static inline uint64_t wrong_in(const struct lade_batch *b, const uint64_t *ids)
{
    const uint64_t *samples = b->tensor[LADE_SAMPLES].data;
    const int64_t *labels = b->tensor[LADE_LABELS].data;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < b->count; i++)
        sum += samples[2 * i] != ids[i] || samples[2 * i + 1] != ~ids[i] || labels[i] != (int64_t)(ids[i] % 10);
    return sum;
}

#endif
