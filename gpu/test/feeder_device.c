/* SPDX-License-Identifier: MIT */
/* The feeder on a device that delays, reorders, poisons, fails, hangs and is lost. */
#include "kernels.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

static struct lade_feeder *feeder;
static struct lade_error error;
static struct lade_feeder_batch batch;
static atomic_ullong wrong, looks;

static int create(const struct lade_feeder_config *config)
{
    return lade_feeder_create_on(&feeder, &faulty_backend, config, &error);
}

static int next(void)
{
    return lade_feeder_next(feeder, &batch, LADE_FOREVER, &error);
}

/* Uses all batches on two streams; the last status of next. */
static int use_all(enum lade_done done)
{
    struct faulty *device = faulty_of(feeder);
    struct faulty_stream *stream[2] = {faulty_stream(device), faulty_stream(device)};
    struct faulty_event *event = faulty_event(device);
    int status;

    for (unsigned i = 0; (status = next()) == LADE_OK; i++) {
        struct faulty_stream *mine = stream[i % 2];
        launch_look(feeder, device, mine, &batch, &wrong, &looks);
        if (done == LADE_DONE_EVENT)
            faulty_event_record(device, event, mine);
        (void)lade_feeder_release(feeder, &batch, done, done == LADE_DONE_EVENT ? (void *)event : (void *)mine, NULL);
    }
    return status;
}

static void use_every_depth(enum lade_done done)
{
    for (unsigned depth = 1; depth <= 4; depth++) {
        struct faulty_config faulty = {.seed = depth, .rest = 40, .late = 60, .poison_staging = depth % 2};
        struct producer p = {.batches = 100};
        struct lade_feeder_config c = faulty_config_of(&p, &faulty);
        struct lade_feeder_stats stats;
        c.depth = depth;
        c.fillers = 1 + depth % 2;
        c.consumer_assists = depth > 2;
        atomic_store(&looks, 0);
        cr_assert_eq(create(&c), LADE_OK);
        cr_assert_eq(use_all(done), LADE_CLOSED);
        lade_feeder_stats(feeder, &stats);
        cr_assert_eq(stats.taken, 100);
        cr_assert_eq(stats.copied_bytes, 100 * lade_feeder_bytes(shapes, TENSORS));
        cr_assert_eq(stats.consumer_waits, 0, "the consumer never waits for the device");
        lade_feeder_destroy(feeder);
        cr_assert_eq(atomic_load(&looks), 100, "destroy waits for the consumer's streams");
        cr_assert_eq(atomic_load(&wrong), 0);
        cr_assert_eq(faulty_things(), 0);
    }
}

Test(feeder_device, slots_wait_for_the_streams_that_use_them)
{
    use_every_depth(LADE_DONE_STREAM);
}

Test(feeder_device, slots_wait_for_the_events_of_their_consumers)
{
    use_every_depth(LADE_DONE_EVENT);
}

Test(feeder_device, the_host_can_wait_for_a_batch)
{
    struct faulty_config faulty = {.seed = 5, .rest = 80, .late = 128};
    struct producer p = {.batches = 50};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);

    cr_assert_eq(create(&c), LADE_OK);
    for (uint64_t i = 0; i < 50; i++) {
        cr_assert_eq(next(), LADE_OK);
        cr_assert_not_null(batch.ready);
        cr_assert_eq(lade_feeder_host_wait(feeder, &batch, LADE_FOREVER, NULL), LADE_OK);
        cr_assert_eq(wrong_in(i, ROWS, batch.tensor[0].data, batch.tensor[1].data, batch.tensor[2].data), 0);
        cr_assert_eq(wrong_in(i, ROWS, batch.tensor[0].host, batch.tensor[1].host, batch.tensor[2].host), 0);
        cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    }
    lade_feeder_destroy(feeder);
}

Test(feeder_device, a_device_that_hangs_is_given_up_and_taken_up_again)
{
    struct faulty_config faulty = {.seed = 6};
    struct producer p = {.batches = 50};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    struct lade_feeder_stats stats = {.throttle_waits = 0};

    c.depth = 2;
    cr_assert_eq(create(&c), LADE_OK);
    struct faulty *device = faulty_of(feeder);
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_host_wait(feeder, &batch, LADE_FOREVER, NULL), LADE_OK);
    faulty_finish(device);
    faulty_hang(device, true);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    while (next() == LADE_OK && batch.number < 2)
        ;
    cr_assert_eq(batch.number, 2, "next does not wait for the device");
    cr_assert_eq(lade_feeder_host_wait(feeder, &batch, 1000000, &error), LADE_TIMEOUT);
    cr_assert_eq(error.status, LADE_TIMEOUT);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    lade_feeder_stats(feeder, &stats);
    cr_assert_geq(stats.consumer_waits, 1);
    cr_assert_eq(lade_feeder_stop(feeder, 1000000), LADE_TIMEOUT);
    faulty_hang(device, false);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    lade_feeder_destroy(feeder);
    cr_assert_eq(faulty_things(), 0);
}

/* Filling waits for the device, and stop ends the wait of a filler. */
Test(feeder_device, fillers_wait_for_the_device_and_stop_ends_it)
{
    struct faulty_config faulty = {.seed = 7};
    struct producer p = {.batches = 50};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    struct lade_feeder_stats stats = {.throttle_waits = 0};

    c.depth = 1;
    atomic_store(&p.held, true);
    cr_assert_eq(create(&c), LADE_OK);
    struct faulty *device = faulty_of(feeder);
    faulty_hang(device, true);
    atomic_store(&p.held, false);
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    while (stats.throttle_waits == 0)
        lade_feeder_stats(feeder, &stats);
    cr_assert_eq(stats.filled, 1, "the copy out of the slot is not done");
    cr_assert_eq(lade_feeder_stop(feeder, 1000000), LADE_TIMEOUT);
    faulty_hang(device, false);
    lade_feeder_destroy(feeder);
    cr_assert_eq(faulty_things(), 0);
}

static void *take_one(void *status)
{
    *(int *)status = next();
    return NULL;
}

/* A consumer that fills waits for the copy from its slot; stop ends the wait. */
Test(feeder_device, a_consumer_that_fills_waits_for_the_device_and_stop_ends_it)
{
    struct faulty_config faulty = {.seed = 8};
    struct producer p = {.batches = 50};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    struct lade_feeder_stats stats = {.throttle_waits = 0};
    pthread_t thread;
    int status = LADE_OK;

    c.depth = 1;
    c.consumer_assists = true;
    cr_assert_eq(create(&c), LADE_OK);
    struct faulty *device = faulty_of(feeder);
    faulty_hang(device, true);
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    cr_assert_eq(pthread_create(&thread, NULL, take_one, &status), 0);
    while (stats.throttle_waits == 0)
        lade_feeder_stats(feeder, &stats);
    cr_assert_eq(stats.filled, 1, "the copy out of the slot is not done");
    cr_assert_eq(lade_feeder_stop(feeder, 1000000), LADE_TIMEOUT);
    pthread_join(thread, NULL);
    cr_assert_eq(status, LADE_CLOSED);
    faulty_hang(device, false);
    lade_feeder_destroy(feeder);
    cr_assert_eq(faulty_things(), 0);
}

/* Whichever call fails, it is named, later calls end, and everything is freed. */
Test(feeder_device, every_call_may_fail)
{
    static const char *const names[] = {"staging_get", "device_get", "event_get",   "after",
                                        "copy",        "record",     "stream_wait", "query"};

    for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
        for (uint64_t call = 1; call <= 12; call++) {
            struct faulty_config faulty = {.seed = call, .rest = 20, .fail_call = call, .fail_name = names[n]};
            struct producer p = {.batches = 40};
            struct lade_feeder_config c = faulty_config_of(&p, &faulty);
            struct lade_device_failure failure;
            bool loses =
                strcmp(names[n], "query") == 0; /* the device is lost, and another call may be the first to report it */
            int status = create(&c);
            if (status == LADE_OK) {
                bool at_creation = strstr(names[n], "_get") != NULL;
                status = use_all(LADE_DONE_STREAM);
                cr_assert_eq(lade_feeder_failed(feeder, &failure), !at_creation || status == LADE_DEVICE);
                if (!at_creation) {
                    cr_assert_eq(status, LADE_DEVICE, "%s %d", names[n], (int)call);
                    cr_assert(loses || strcmp(failure.call, names[n]) == 0, "%s", failure.call);
                    cr_assert_eq(failure.code, FAULTY_CODE);
                }
                faulty_finish(faulty_of(feeder));
                lade_feeder_destroy(feeder);
            }
            if (status == LADE_DEVICE) {
                cr_assert_eq(error.status, LADE_DEVICE);
                cr_assert((loses || strstr(error.text, names[n])) && strstr(error.text, "719"), "%s", error.text);
            }
            cr_assert_eq(atomic_load(&wrong), 0);
            cr_assert_eq(faulty_things(), 0, "%s %d", names[n], (int)call);
        }
}

Test(feeder_device, a_lost_device_ends_the_feeder)
{
    struct faulty_config faulty = {.seed = 9, .rest = 20};
    struct producer p = {.batches = UINT64_MAX};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    struct lade_device_failure failure;
    int status;

    cr_assert_eq(create(&c), LADE_OK);
    struct faulty *device = faulty_of(feeder);
    for (unsigned i = 0; (status = next()) == LADE_OK; i++) {
        if (i == 20)
            faulty_lose(device);
        (void)lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL);
    }
    cr_assert_eq(status, LADE_DEVICE);
    cr_assert_eq(next(), LADE_DEVICE, "it stays so");
    cr_assert(lade_feeder_failed(feeder, &failure));
    cr_assert_str_eq(failure.text, "the device is lost");
    cr_assert(strstr(error.text, "faulty: ") && strstr(error.text, "the device is lost"), "%s", error.text);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    lade_feeder_destroy(feeder);
    cr_assert_eq(faulty_things(), 0);
}

Test(feeder_device, no_device_is_reported_clearly)
{
    struct faulty_config faulty = {.absent = 1};
    struct producer p = {.batches = 1};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);

    cr_assert_eq(create(&c), LADE_ABSENT);
    cr_assert_str_eq(error.text, "faulty: open returned 100: no device");
    cr_assert_eq(faulty_things(), 0);
}

struct bank {
    unsigned gets, puts, refuses_at;
    size_t bytes;
};

static void *bank_get(void *context, size_t size, size_t align)
{
    struct bank *bank = context;

    if (++bank->gets == bank->refuses_at)
        return NULL;
    bank->bytes = size;
    return aligned_alloc(align, size);
}

static void bank_put(void *context, void *memory, size_t size)
{
    struct bank *bank = context;

    bank->puts += size == bank->bytes;
    free(memory);
}

Test(feeder_device, device_memory_of_the_user)
{
    struct bank bank = {0};
    struct lade_alloc alloc = {bank_get, bank_put, &bank};
    struct faulty_config faulty = {.seed = 3};
    struct producer p = {.batches = 20};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);

    c.device_alloc = &alloc;
    c.depth = 4;
    cr_assert_eq(create(&c), LADE_OK);
    cr_assert_eq(use_all(LADE_DONE_STREAM), LADE_CLOSED);
    lade_feeder_destroy(feeder);
    cr_assert_eq(bank.gets, 4);
    cr_assert_eq(bank.puts, 4);
    cr_assert_eq(bank.bytes, lade_feeder_bytes(shapes, TENSORS));
    cr_assert_eq(atomic_load(&wrong), 0);
    bank = (struct bank){.refuses_at = 3};
    cr_assert_eq(create(&c), LADE_NO_MEMORY);
    cr_assert_eq(bank.puts, 2);
    cr_assert_eq(faulty_things(), 0);
}

Test(feeder_device, staging_memory_of_the_user_is_registered)
{
    struct faulty_config faulty = {.seed = 3, .rest = 20};
    struct producer p = {.batches = 20};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mine[2] = {aligned_alloc(page, page), aligned_alloc(page, page)};

    c.depth = 2;
    c.staging = mine;
    cr_assert_eq(create(&c), LADE_OK);
    /* two pinned, two on the device, in each slot one event for the copy, one for the batch, one for each tensor */
    cr_assert_eq(faulty_things(), 1 + 2 + 2 + 2 * (2 + TENSORS));
    cr_assert_eq(use_all(LADE_DONE_STREAM), LADE_CLOSED);
    lade_feeder_destroy(feeder);
    faulty.fail_name = "pin";
    faulty.fail_call = 2;
    cr_assert_eq(create(&c), LADE_DEVICE);
    cr_assert_str_eq(error.text, "faulty: pin returned 719: failed as it was told to");
    cr_assert_eq(faulty_things(), 0);
    free(mine[0]);
    free(mine[1]);
}
