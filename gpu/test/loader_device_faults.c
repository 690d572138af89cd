/* SPDX-License-Identifier: MIT */
/* Loaders on a device that fails and hangs, sources that fail before one, and a consumer that gives up. */
#include "loader_device.h"

/* Whichever device call fails, next names it, and everything is freed. */
static void fail_every_call(unsigned depth)
{
    uint64_t failed = 0;

    for (uint64_t n = 1;; n++) {
        struct faulty_config faulty = {.seed = n, .late = 30, .fail_call = n};
        const struct lade_device_config c = {.native = {&faulty}};
        struct lade_source *source = numbers(40);
        struct lade_loader_config config = {
            .source = source, .batch = BATCH, .in_order = true, .threads = 1, .epochs = 1, .slots = 2, .depth = depth};
        struct lade_loader *l = NULL;
        struct lade_batch b;
        cr_assert_eq(lade_device_open_on(&device, &faulty_backend, &c, &error), LADE_OK);
        config.device = device;
        struct faulty_stream *stream = faulty_stream(lade_device_native(device, 0));
        int status = lade_loader_create(&l, &config, &error);
        cr_assert(status == LADE_OK || (status == LADE_DEVICE && strstr(error.text, "719")), "%d %s", status,
                  error.text);
        while (status == LADE_OK) {
            status = lade_loader_next(l, &b, LADE_FOREVER, &error);
            if (status == LADE_OK) {
                int waited = lade_loader_stream_wait(l, &b, stream, NULL);
                cr_assert(waited == LADE_OK || waited == LADE_DEVICE, "%d", waited);
                (void)lade_loader_release_after(l, &b, LADE_DONE_STREAM, stream, NULL);
            }
        }
        failed += status == LADE_DEVICE;
        if (status == LADE_DEVICE && l) {
            cr_assert(strstr(error.text, "faulty: ") && strstr(error.text, "719"), "%s", error.text);
            cr_assert_eq(lade_loader_next(l, &b, 0, &error), LADE_DEVICE);
        }
        lade_loader_destroy(l);
        lade_device_close(device);
        lade_source_close(source);
        cr_assert_eq(faulty_things(), 0, "call %llu", (unsigned long long)n);
        if (status == LADE_CLOSED)
            break;
        cr_assert_lt(n, 1000);
    }
    cr_assert_gt(failed, 20);
}

Test(loader_device_faults, every_call_may_fail)
{
    fail_every_call(1); /* the only batch could not be released */
    fail_every_call(2);
}

/* The last release of a detached batch frees the loader, after it has described the failure. */
Test(loader_device_faults, a_detached_batch_outlives_device_and_loader)
{
    struct faulty_config faulty = {.seed = 7};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .threads = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct faulty_stream *stream = faulty_stream(lade_device_native(device, 0));
    struct lade_batch b = next_of(l), next;
    int status;

    cr_assert_eq(lade_loader_detach(l, &b, &error), LADE_OK);
    faulty_lose(lade_device_native(device, 0));
    while ((status = lade_loader_next(l, &next, LADE_FOREVER, &error)) == LADE_OK)
        lade_loader_release(l, &next);
    cr_assert_eq(status, LADE_DEVICE);
    lade_loader_destroy(l);
    lade_device_close(device);
    cr_assert_eq(lade_loader_release_after(l, &b, LADE_DONE_STREAM, stream, &error), LADE_DEVICE);
    cr_assert_not_null(strstr(error.text, "faulty: "), "%s", error.text);
    lade_source_close(source);
    cr_assert_eq(faulty_things(), 0);
}

static void hang(bool consumer_assists)
{
    struct faulty_config faulty = {.seed = 6};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {
        .source = source, .in_order = true, .slots = 2, .threads = 1, .consumer_assists = consumer_assists};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct faulty *d = lade_device_native(device, 0);
    struct lade_loader_stats stats;
    struct lade_batch b;
    int status;

    faulty_hang(d, true);
    b = next_of(l);
    cr_assert_eq(lade_loader_host_wait(l, &b, 1000000, &error), LADE_TIMEOUT);
    cr_assert_eq(error.status, LADE_TIMEOUT);
    lade_loader_stats(l, &stats);
    cr_assert_eq(stats.consumer_waits, 1);
    do
        lade_loader_release(l, &b);
    while ((status = lade_loader_next(l, &b, 1000000, &error)) == LADE_OK);
    cr_assert_eq(status, LADE_TIMEOUT, "all memory of the host waits for the device");
    faulty_hang(d, false);
    b = next_of(l); /* the device has freed memory, and an assisting consumer fills it */
    faulty_hang(d, true);
    lade_loader_release(l, &b);
    while (lade_loader_next(l, &b, 1000000, &error) == LADE_OK)
        lade_loader_release(l, &b);
    cr_assert_eq(lade_loader_stop(l, 1000000), LADE_TIMEOUT);
    faulty_hang(d, false);
    close_all(l, source);
}

Test(loader_device_faults, a_device_that_hangs_is_not_waited_for)
{
    hang(false);
    hang(true);
}

static int fails_from_8_to_15(void *context, uint64_t i)
{
    (void)context;
    return i >= 8 && i < 16 ? LADE_DAMAGED : LADE_OK;
}

/* A batch without samples does not affect the stream that uses the previous batch in the same memory. */
Test(loader_device_faults, a_batch_that_was_skipped_whole)
{
    struct faulty_config faulty = {.seed = 10};
    struct lade_source *source = numbers_with(24, fails_from_8_to_15, NULL);
    struct lade_loader_config config = {.source = source,
                                        .in_order = true,
                                        .sequential = true,
                                        .threads = 1,
                                        .depth = 1,
                                        .epochs = 1,
                                        .fault = LADE_FAULT_SKIP};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct faulty *d = lade_device_native(device, 0);
    struct faulty_stream *stream[2] = {faulty_stream(d), faulty_stream(d)};

    struct lade_batch b = next_of(l);
    launch(l, stream[0], &b, LONG);
    cr_assert_eq(lade_loader_release_after(l, &b, LADE_DONE_STREAM, stream[0], NULL), LADE_OK);
    b = next_of(l);
    cr_assert(b.count == 0 && !b.ready);
    cr_assert_eq(lade_loader_release_after(l, &b, LADE_DONE_STREAM, stream[1], NULL), LADE_OK);
    b = next_of(l);
    cr_assert_eq(b.count, 8);
    cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
    cr_assert_eq(wrong_in(&b, b.ids), 0);
    lade_loader_release(l, &b);
    close_all(l, source);
    cr_assert(atomic_load(&looks) == 1 && atomic_load(&wrong) == 0);
}

static int fails_from_8(void *context, uint64_t i)
{
    (void)context;
    return i >= 8 ? LADE_DAMAGED : LADE_OK;
}

/* Batches without samples hold no buffer. */
Test(loader_device_faults, many_batches_that_were_skipped_whole)
{
    struct faulty_config faulty = {.seed = 15};
    struct lade_source *source = numbers_with(400, fails_from_8, NULL);
    struct lade_loader_config config = {.source = source,
                                        .in_order = true,
                                        .sequential = true,
                                        .threads = 1,
                                        .slots = 1,
                                        .epochs = 1,
                                        .fault = LADE_FAULT_SKIP};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);

    for (unsigned k = 0; k < 50; k++) {
        struct lade_batch b = next_of(l);
        cr_assert_eq(b.count, k ? 0 : 8);
        lade_loader_release(l, &b);
    }
    close_all(l, source);
}

static int fails_at_12(void *context, uint64_t i)
{
    (void)context;
    return i == 12 ? LADE_DAMAGED : LADE_OK;
}

/* The error of a sample is returned after the earlier batches, which are on the device already. */
Test(loader_device_faults, a_sample_that_cannot_be_read)
{
    struct faulty_config faulty = {.seed = 11};
    struct lade_source *source = numbers_with(16, fails_at_12, NULL);
    struct lade_loader_config config = {.source = source, .in_order = true, .sequential = true, .epochs = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct lade_loader_stats stats;
    struct lade_batch b = next_of(l), none;

    lade_loader_release(l, &b);
    cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_DAMAGED);
    lade_loader_stats(l, &stats);
    cr_assert_eq(stats.copied, 1, "what could not be read is not copied");
    close_all(l, source);
}

/* No copy completes, and the loader is cancelled while next waits. */
static struct lade_loader *cancelled;
static unsigned asked_in_vain;
static bool tells;

static int query_and_cancel(void *self, void *event, struct lade_device_failure *failure)
{
    if (++asked_in_vain == 200)
        lade_loader_cancel(cancelled);
    return tells ? faulty_backend.query(self, event, failure) : 0;
}

Test(loader_device_faults, cancel_ends_waiting_for_the_device)
{
    for (unsigned stream = 0; stream < 2; stream++) {
        struct faulty_config faulty = {.seed = 13};
        struct lade_backend never = faulty_backend;
        const struct lade_device_config c = {.native = {&faulty}};
        struct lade_source *source = numbers(COUNT);
        struct lade_batch b;
        int status;
        never.query = query_and_cancel;
        asked_in_vain = 0;
        tells = false;
        cr_assert_eq(lade_device_open_on(&device, &never, &c, &error), LADE_OK);
        cancelled = open_loader(&(struct lade_loader_config){.source = source,
                                                             .batch = BATCH,
                                                             .threads = 1,
                                                             .slots = 1,
                                                             .buffer = stream ? 2 * BATCH : 0,
                                                             .depth = 8,
                                                             .device = device});
        while ((status = lade_loader_next(cancelled, &b, LADE_FOREVER, &error)) == LADE_OK)
            lade_loader_release(cancelled, &b);
        cr_assert_eq(status, LADE_CANCELLED);
        tells = true;
        close_all(cancelled, source);
    }
}

/* A device that rarely reports completion. */
static unsigned asked;

static int query_seldom(void *self, void *event, struct lade_device_failure *failure)
{
    return ++asked % 64 ? 0 : faulty_backend.query(self, event, failure);
}

/* Memory is freed while the consumer waits, and only the consumer can fill it. */
Test(loader_device_faults, a_consumer_that_helps_fills_what_copies_give_back)
{
    struct faulty_config faulty = {.seed = 9};
    struct lade_backend seldom = faulty_backend;
    const struct lade_device_config c = {.native = {&faulty}};
    struct lade_source *source = numbers(COUNT);

    seldom.query = query_seldom;
    cr_assert_eq(lade_device_open_on(&device, &seldom, &c, &error), LADE_OK);
    struct lade_loader *l = open_loader(&(struct lade_loader_config){.source = source,
                                                                     .batch = BATCH,
                                                                     .in_order = true,
                                                                     .threads = 1,
                                                                     .consumer_assists = true,
                                                                     .slots = 1,
                                                                     .epochs = 1,
                                                                     .device = device});
    for (unsigned k = 0; k * BATCH < COUNT; k++) {
        struct lade_batch b = next_of(l);
        lade_loader_release(l, &b);
    }
    close_all(l, source);
}
