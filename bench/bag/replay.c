/* SPDX-License-Identifier: MIT */
/*
 * Sampling from a replay buffer: PROGRAM words|records BATCH SECONDS [SAMPLES]
 *
 * CAPACITY transitions are put; then one thread samples batches of them, copies each batch into an array and gives it
 * back. words: the bag holds numbers of transitions that the program keeps; records: it holds the transitions.
 * Prints samples, seconds of processor time, and the share of the wall time in which it had a core.
 */
#include "../clock.h"

#include <lade/bag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 100000
#define BATCH_MAX 1024

/* As replay.py has them: observation, action, reward, next observation, end. */
struct transition {
    float observation[17], action[6], reward, next[17], end;
};

static struct transition *kept; /* words only */
static struct transition batch[BATCH_MAX];
static struct lade_loan loan[BATCH_MAX];
static volatile float sink;

static void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(3);
}

static struct lade_bag_handle *fill(struct lade_bag *bag)
{
    struct lade_bag_handle *h;

    if (lade_bag_join(bag, &h) != LADE_OK)
        fail("no handle");
    for (uint64_t i = 1; i <= CAPACITY; i++) {
        struct transition t;
        memset(&t, 0, sizeof t);
        t.reward = (float)i;
        if (kept)
            kept[i - 1] = t;
        if (lade_bag_put(h, kept ? (const void *)&i : &t) != LADE_OK)
            fail("put failed");
    }
    return h;
}

static double sample(struct lade_bag_handle *h, size_t size, uint64_t samples)
{
    double begin = clock_used();

    for (uint64_t i = 0; i < samples; i += size) {
        if (lade_bag_sample_many(h, loan, size) != size)
            fail("sample failed");
        if (kept) {
            for (size_t k = 0; k < size; k++)
                batch[k] = kept[loan[k].word - 1];
        } else {
            for (size_t k = 0; k < size; k++)
                memcpy(&batch[k], loan[k].record, sizeof batch[k]);
        }
        lade_bag_give_back_many(h, loan, size);
        sink = batch[0].reward;
    }
    return clock_used() - begin;
}

int main(int argc, char **argv)
{
    struct lade_bag_config config = {.capacity = CAPACITY, .handles = 1, .seed = 1};
    struct lade_bag *bag;
    struct lade_bag_handle *h;
    size_t size = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
    uint64_t samples = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    bool records = argc > 1 && strcmp(argv[1], "records") == 0;
    double used;
    double wall;

    if (argc < 4 || argc > 5 || size < 1 || size > BATCH_MAX || (!records && strcmp(argv[1], "words") != 0)) {
        fprintf(stderr, "usage: %s words|records BATCH SECONDS [SAMPLES]\n", argv[0]);
        return 2;
    }
    fuse();
    pin(0);
    if (records) {
        config.kind = LADE_BAG_RECORDS;
        config.record_size = sizeof(struct transition);
        config.max_loans = (unsigned)size;
    } else {
        kept = malloc(CAPACITY * sizeof *kept);
        if (!kept)
            fail("no memory");
    }
    if (lade_bag_create(&bag, &config) != LADE_OK)
        fail("no bag");
    h = fill(bag);
    if (samples == 0) {
        samples = 4096;
        while ((used = sample(h, size, samples)) < seconds / 4)
            samples *= 4;
        samples = (uint64_t)((double)samples * seconds / used);
    }
    samples = (samples + size - 1) / size * size;
    wall = -clock_now();
    used = sample(h, size, samples);
    wall += clock_now();
    printf("%llu %.6f %.3f\n", (unsigned long long)samples, used, used / wall);
    lade_bag_destroy(bag);
    free(kept);
    return 0;
}
