/* SPDX-License-Identifier: MIT */
/* Feeders and fork(): threads and device stay in the process that created the feeder. */
#define _GNU_SOURCE
#include "kernels.h"
#include "test/forked.h"

#include <lade/convert.h>
#include <lade/dlpack.h>

#include <criterion/criterion.h>
#include <pthread.h>

static struct lade_feeder *feeder;
static struct lade_feeder_batch batch;
static struct DLManagedTensorVersioned *tensor;
static struct lade_error error;

/*
 * Threads that are joined in this process. For a thread of another process the system's pthread_join() returns at once,
 * or waits forever.
 */
static atomic_int joins;

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* which replace it themselves */
int pthread_join(pthread_t thread, void **result)
{
    atomic_fetch_add(&joins, 1);
    return pthread_timedjoin_np(thread, result, NULL);
}
#endif

static bool is_refused(int64_t timeout)
{
    struct lade_feeder_batch none;
    struct lade_error said = {.text = ""};

    return lade_feeder_next(feeder, &none, timeout, &said) == LADE_INVALID && said.status == LADE_INVALID &&
           strstr(said.text, "fork()");
}

static void refused(void)
{
    struct DLManagedTensorVersioned *another;
    struct lade_feeder_stats stats;
    int here = 0;

    child_check(is_refused(LADE_FOREVER) && is_refused(0));
    child_check(lade_feeder_stream_wait(feeder, &batch, &here, NULL) == LADE_INVALID);
    child_check(lade_feeder_host_wait(feeder, &batch, LADE_FOREVER, NULL) == LADE_INVALID);
    child_check(lade_feeder_export(feeder, &batch, LABELS, LADE_ON_HOST, LADE_DONE_NOW, NULL, &another, NULL) ==
                LADE_INVALID);
    child_check(lade_feeder_release(feeder, &batch, LADE_DONE_STREAM, &here, NULL) == LADE_INVALID);
    child_check(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL) == LADE_INVALID);
    lade_feeder_close(feeder);
    lade_feeder_stats(feeder, &stats);
    child_check(stats.taken == batch.number + 1 && !lade_feeder_failed(feeder, NULL));
    child_check(lade_feeder_native(feeder, 0) == NULL);
    child_check(lade_feeder_stop(feeder, LADE_FOREVER) == LADE_INVALID);
    child_check(is_refused(LADE_FOREVER));
}

static void leave(void *unused)
{
    (void)unused;
    atomic_store(&joins, 0);
    refused();
    lade_feeder_destroy(feeder);
    child_check(faulty_things() == 0 && atomic_load(&joins) == 0);
}

/* Tensors outlive the feeder, and keep the host memory. */
static void leave_with_tensor(void *unused)
{
    (void)unused;
    refused();
    lade_feeder_destroy(feeder);
    child_check(((const uint64_t *)tensor->dl_tensor.data)[1] == id_of(batch.number, 1));
    tensor->deleter(tensor);
    child_check(faulty_things() == 0);
}

static void leave_tensor_first(void *unused)
{
    (void)unused;
    tensor->deleter(tensor);
    refused();
    lade_feeder_destroy(feeder);
    child_check(faulty_things() == 0);
}

static void export_ids(void *stream)
{
    cr_assert_eq(lade_feeder_export(feeder, &batch, IDS, LADE_ON_HOST, stream ? LADE_DONE_STREAM : LADE_DONE_NOW,
                                    stream, &tensor, NULL),
                 LADE_OK);
}

static int next(void)
{
    return lade_feeder_next(feeder, &batch, LADE_FOREVER, &error);
}

static pthread_t consumer;
static atomic_bool begun; /* the feeder's thread has */

static int fill_and_say(void *self, struct lade_feeder_slot *slot, struct lade_error *said)
{
    if (!pthread_equal(pthread_self(), consumer))
        atomic_store(&begun, true);
    return fill_batch(self, slot, said);
}

Test(feeder_fork, a_child_gets_an_error_at_once_and_frees, .timeout = 60)
{
    for (int consumer_assists = 0; consumer_assists < 2; consumer_assists++) {
        struct producer p = {.batches = UINT64_MAX};
        struct lade_feeder_config c = config_of(&p);
        c.fill = fill_and_say;
        c.fillers = 1 + (unsigned)consumer_assists;
        c.consumer_assists = consumer_assists;
        consumer = pthread_self();
        atomic_store(&begun, false);
        cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
        cr_assert_eq(next(), LADE_OK);
        while (!atomic_load(&begun)) {
            cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
            cr_assert_eq(next(), LADE_OK);
        }
        cr_assert(child_runs(leave, NULL));
        export_ids(NULL);
        cr_assert(child_runs(leave_with_tensor, NULL));
        cr_assert(child_runs(leave_tensor_first, NULL));
        tensor->deleter(tensor);
        for (uint64_t number = batch.number + 1, end = number + 10; number < end; number++) {
            cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
            cr_assert(next() == LADE_OK && batch.number == number);
        }
        lade_feeder_destroy(feeder);
    }
}

Test(feeder_fork, a_fill_that_has_not_returned_is_not_waited_for, .timeout = 60)
{
    struct producer p = {.batches = 10, .held = false};
    struct lade_feeder_config c = config_of(&p);

    c.depth = 2;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    struct lade_feeder_batch first = batch;
    cr_assert_eq(next(), LADE_OK);
    atomic_store(&p.inside, false);
    atomic_store(&p.held, true);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_feeder_release(feeder, &first, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    while (!atomic_load(&p.inside))
        usleep(100);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(FORKED_SECONDS);
        child_check(is_refused(LADE_FOREVER));
        lade_feeder_destroy(feeder);
        child_end();
    }
    cr_assert(child_is_well(child));
    atomic_store(&p.held, false);
    cr_assert_eq(next(), LADE_OK);
    lade_feeder_destroy(feeder);
}

/* Device memory of the user, which a child must not free. */
static int puts_of_user;

static void *get_memory(void *context, size_t size, size_t align)
{
    (void)context;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void put_memory(void *context, void *memory, size_t size)
{
    (void)context, (void)size;
    puts_of_user++;
    free(memory);
}

static const struct lade_alloc user_alloc = {get_memory, put_memory, NULL};

static void leave_device_of_user(void *unused)
{
    leave(unused);
    child_check(puts_of_user == 0); /* the batch still knows where the memory is */
}

/* The device ends the program when it is called in the child. It hangs, with pending work of the consumer. */
Test(feeder_fork, a_child_never_calls_the_device, .timeout = 60)
{
    struct faulty_config faulty = {.seed = 1};
    struct producer p = {.batches = 10};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    struct lade_feeder_stats stats;

    cr_assert_eq(lade_feeder_create_on(&feeder, &faulty_backend, &c, &error), LADE_OK);
    struct faulty_stream *stream = faulty_stream(faulty_of(feeder));
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_host_wait(feeder, &batch, LADE_FOREVER, NULL),
                 LADE_OK); /* the device's thread has begun */
    do                     /* until the feeder's thread has nothing to do */
        lade_feeder_stats(feeder, &stats);
    while (stats.copied < stats.depth);
    faulty_hang(faulty_of(feeder), true);
    cr_assert_eq(lade_feeder_stream_wait(feeder, &batch, stream, NULL), LADE_OK);
    cr_assert(child_runs(leave, NULL));
    export_ids(stream);
    cr_assert(child_runs(leave_with_tensor, NULL));
    cr_assert(child_runs(leave_tensor_first, NULL));
    tensor->deleter(tensor);
    faulty_hang(faulty_of(feeder), false);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_STREAM, stream, NULL), LADE_OK);
    cr_assert(next() == LADE_OK && batch.number == 1);
    lade_feeder_destroy(feeder);
    cr_assert_eq(faulty_things(), 0);
}

Test(feeder_fork, memory_of_the_user_is_left_to_the_user, .timeout = 60)
{
    struct faulty_config faulty = {.seed = 2};
    struct producer p = {.batches = 10};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);
    long page = sysconf(_SC_PAGESIZE);
    void *staging = aligned_alloc((size_t)page, (size_t)page);

    c.depth = 1;
    c.device_alloc = &user_alloc;
    c.staging = &staging;
    cr_assert(lade_feeder_bytes(shapes, TENSORS) <= (size_t)page);
    cr_assert_eq(lade_feeder_create_on(&feeder, &faulty_backend, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    cr_assert_eq(lade_feeder_host_wait(feeder, &batch, LADE_FOREVER, NULL), LADE_OK);
    faulty_hang(faulty_of(feeder), true);
    cr_assert(child_runs(leave_device_of_user, NULL));
    faulty_hang(faulty_of(feeder), false);
    lade_feeder_destroy(feeder);
    cr_assert_eq(puts_of_user, 1);
    cr_assert_eq(faulty_things(), 0);
    free(staging);
}

/* ---- feeders created by the child ---- */

static void feed_all(void)
{
    struct lade_feeder *mine;
    struct lade_feeder_batch of_mine;
    struct producer p = {.batches = 20};
    struct lade_feeder_config c = config_of(&p);
    uint64_t taken = 0;

    c.fillers = 2;
    child_check(lade_feeder_create(&mine, &c, NULL) == LADE_OK);
    for (; lade_feeder_next(mine, &of_mine, LADE_FOREVER, NULL) == LADE_OK; taken++) {
        child_check(wrong_in(taken, of_mine.rows, of_mine.tensor[IMAGES].data, of_mine.tensor[LABELS].data,
                             of_mine.tensor[IDS].data) == 0);
        child_check(lade_feeder_release(mine, &of_mine, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    }
    child_check(taken == 20 && lade_feeder_stop(mine, LADE_FOREVER) == LADE_OK);
    lade_feeder_destroy(mine);
}

static void feed_again(void *unused)
{
    feed_all();
    leave(unused);
}

static void feed_anew(void *unused)
{
    feed_all();
    child_check(child_runs(feed_again, NULL));
    leave(unused);
}

Test(feeder_fork, a_child_makes_its_own_feeders, .timeout = 60)
{
    struct producer p = {.batches = 10};
    struct lade_feeder_config c = config_of(&p);

    if (!child_may_have_threads())
        return;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
    cr_assert_eq(next(), LADE_OK);
    cr_assert(child_runs(feed_anew, NULL));
    lade_feeder_destroy(feeder);
}

static void convert_in_child(void *converter)
{
    static const uint8_t from[2] = {1, 2};
    const struct lade_shape shape = {LADE_U8, 2, {1, 2}};
    const struct lade_tensor image = {.data = (void *)(uintptr_t)from, .shape = &shape};
    float to[2] = {0, 0};

    child_check(lade_converter_run(converter, &image, to, NULL, NULL) == LADE_OK);
    child_check(to[0] > 0.9f && to[1] > 1.9f);
    lade_converter_destroy(converter);
}

/* It has neither threads nor a device. */
Test(feeder_fork, a_child_uses_a_converter_of_the_host, .timeout = 60)
{
    static const float table[2] = {1, 0};
    const struct lade_converter_config config = {.pixels = 2, .channels = 1, .dtype = LADE_F32, .table = table};
    struct lade_converter *converter;

    cr_assert_eq(lade_converter_create(&converter, &config, &error), LADE_OK);
    cr_assert(child_runs(convert_in_child, converter));
    lade_converter_destroy(converter);
}
