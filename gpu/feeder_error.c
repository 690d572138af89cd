/* SPDX-License-Identifier: MIT */
/* Error texts and statistics of the feeder. */
#include "feeder.h"

#include "sized.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lade_feeder_error(struct lade_error *error, int status, const char *backend,
                      const struct lade_device_failure *failure)
{
    if (error) {
        error->status = status;
        error->offset = LADE_NO_OFFSET;
        (void)snprintf(error->text, sizeof error->text, "%s: %s returned %" PRId64 ": %s", backend,
                       failure->call ? failure->call : "a call", failure->code, failure->text);
    }
    return status;
}

int lade_feeder_error_rows(struct lade_error *error, uint64_t rows, uint64_t most)
{
    error->offset = LADE_NO_OFFSET;
    (void)snprintf(error->text, sizeof error->text, "fill: %" PRIu64 " rows written, not 1 to %" PRIu64, rows, most);
    return LADE_INVALID;
}

int lade_feeder_error_status(struct lade_error *error, int status)
{
    error->offset = LADE_NO_OFFSET;
    (void)snprintf(error->text, sizeof error->text, "fill returned %d (%s), which a fill function must not return",
                   status, lade_status_text(status));
    return LADE_IO;
}

int lade_feeder_error_fill(struct lade_error *error, const struct lade_staging_slot *slot)
{
    if (error) {
        *error = slot->error;
        error->status = slot->status;
    }
    return slot->status;
}

int lade_feeder_refuse(struct lade_error *error, int status, const char *format, ...)
{
    static const char prefix[] = "feeder: ";
    va_list arguments;

    if (!error)
        return status;
    error->status = status;
    error->offset = LADE_NO_OFFSET;
    memcpy(error->text, prefix, sizeof prefix);
    va_start(arguments, format);
    (void)vsnprintf(error->text + sizeof prefix - 1, sizeof error->text - sizeof prefix + 1, format, arguments);
    va_end(arguments);
    return status;
}

int lade_feeder_refuse_child(struct lade_error *error)
{
    return lade_feeder_refuse(
        error, LADE_INVALID,
        "made before fork(); its threads and its device belong to the parent process: make one in each process");
}

int lade_feeder_error_call(struct lade_feeder *f, int status, struct lade_error *error)
{
    struct lade_device_failure failure;

    if (status == LADE_OK)
        return status;
    if (status == LADE_INVALID && !lade_feeder_is_here(f))
        return lade_feeder_refuse_child(error);
    if (status == LADE_DEVICE && lade_feeder_failed(f, &failure))
        return lade_feeder_error(error, status, f->backend->name, &failure);
    return lade_feeder_refuse(error, status, "%s", lade_status_text(status));
}

bool lade_feeder_failed(struct lade_feeder *f, struct lade_device_failure *failure)
{
    if (lade_slots_stopped(&f->slots) != LADE_DEVICE)
        return false;
    if (failure)
        *failure = f->failure;
    return true;
}

void *lade_feeder_native(struct lade_feeder *f, unsigned which)
{
    return which < 2 && lade_feeder_is_here(f) ? f->backend->native(f->device, which) : NULL;
}

static uint64_t read_count(_Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed); /* the counts need not be of one moment */
}

static int64_t read_time(_Atomic int64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void count(struct lade_feeder *f, struct lade_feeder_stats *stats)
{
    struct lade_feeder_counts *c = &f->counts;

    stats->filled = read_count(&c->filled);
    stats->copied = read_count(&c->copied);
    stats->taken = read_count(&c->taken);
    stats->released = read_count(&c->released);
    stats->copied_bytes = f->backend->copies ? stats->copied * f->bytes : 0;
    stats->consumer_waits = read_count(&c->consumer_waits);
    stats->throttle_waits = read_count(&c->throttle_waits);
    stats->starved = read_count(&c->starved);
    stats->starved_time = read_time(&c->starved_time);
    stats->fill_time = read_time(&c->fill_time);
    stats->copy_time = read_time(&c->copy_time);
    stats->copies_timed = read_count(&c->copies_timed);
    stats->depth = (unsigned)f->slots.depth;
    stats->pinned_bytes = f->slots.depth * f->bytes;
    stats->device_bytes = f->backend->copies ? stats->pinned_bytes : 0;
}

void lade_feeder_stats_sized(struct lade_feeder *f, struct lade_feeder_stats *stats, size_t size)
{
    struct lade_feeder_stats whole;

    count(f, &whole);
    lade_sized_out(stats, size, &whole, sizeof whole);
}
