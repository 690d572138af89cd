/* SPDX-License-Identifier: MIT */
/* Candidate: lade_bag; of words, or of records, which are copied or with IN_SCRATCH made and read where they lie. */
#include "bag.h"

#include <lade/bag.h>

#define HAS_SCANS
#ifdef IN_SCRATCH
#define HAS_ROOM
#define ADDRESS(e) ((void)(e), NULL)
#else
#define HAS_EXCHANGE
#define HAS_BATCH
#define ADDRESS(e) (e)
#endif

struct bag {
    struct lade_bag *bag;
};

struct seat {
    struct lade_bag_handle *handle;
};

static bool bag_open(struct bag *b, const struct plan *plan)
{
    struct lade_bag_config config = {.capacity = plan->capacity, .handles = plan->threads + 1, .seed = 1};

#ifdef RECORD
    config.kind = LADE_BAG_RECORDS;
    config.record_size = RECORD;
#endif
    return lade_bag_create(&b->bag, &config) == LADE_OK;
}

static void bag_close(struct bag *b)
{
    lade_bag_destroy(b->bag);
}

static uint64_t bag_scans(struct bag *b)
{
    struct lade_bag_stats counts;

    lade_bag_stats(b->bag, &counts);
    return counts.scanned;
}

static bool seat_open(struct seat *seat, struct bag *b, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    return lade_bag_join(b->bag, &seat->handle) == LADE_OK;
}

static void seat_close(struct seat *seat)
{
    lade_bag_leave(seat->handle);
}

static inline bool seat_put(struct seat *seat, const struct element *in)
{
    return lade_bag_put(seat->handle, ADDRESS(in)) == LADE_OK;
}

static inline bool seat_draw(struct seat *seat, struct element *out)
{
    return lade_bag_draw(seat->handle, ADDRESS(out)) == LADE_OK;
}

#ifdef IN_SCRATCH
static inline struct element *seat_room(struct seat *seat)
{
    return lade_bag_scratch(seat->handle);
}
#else
static inline bool seat_exchange(struct seat *seat, const struct element *in, struct element *out)
{
    return lade_bag_exchange(seat->handle, in, out) == LADE_OK;
}

static inline size_t seat_put_many(struct seat *seat, const struct element *in, size_t count)
{
    return lade_bag_put_many(seat->handle, in, count);
}

static inline size_t seat_draw_many(struct seat *seat, struct element *out, size_t count)
{
    return lade_bag_draw_many(seat->handle, out, count);
}
#endif

#include "workload.h"
