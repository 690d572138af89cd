/* SPDX-License-Identifier: MIT */
/* Loaders on a device that delays, reorders and poisons. */
#define _GNU_SOURCE
#include "../../lib/test/allocator.h"
#include "../../load/test/fields.h"
#include "loader_device.h"
#include "test/forked.h"

#include <lade/dlpack.h>

/* Batches of epochs and of streams arrive complete, and their memory waits for the streams that use them. */
Test(loader_device, memory_waits_for_the_streams_that_use_it)
{
    for (unsigned c = 0; c < 12; c++) {
        struct faulty_config faulty = {.seed = c, .rest = 40, .late = 60, .poison_staging = c % 2};
        struct lade_source *source = numbers(COUNT);
        struct lade_loader_config config = {.source = source,
                                            .in_order = c % 3 == 0,
                                            .buffer = c % 3 == 2 ? 2 * BATCH : 0,
                                            .threads = 1 + c % 2,
                                            .consumer_assists = c % 3 == 0,
                                            .slots = 1 + c % 4,
                                            .depth = 1 + c / 3,
                                            .epochs = 3,
                                            .seed = c};
        struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
        struct faulty *d = lade_device_native(device, 0);
        struct faulty_stream *stream[2] = {faulty_stream(d), faulty_stream(d)};
        struct faulty_event *event = faulty_event(d);
        struct lade_loader_stats stats;
        struct lade_batch b;
        uint64_t batches = 0, seen[COUNT] = {0};
        int status;
        atomic_store(&looks, 0);
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK) {
            cr_assert(!b.samples && !b.tensor[LADE_SAMPLES].host && b.ready && b.tensors == 2);
            cr_assert_eq(b.tensor[LADE_SAMPLES].shape->dim[0], b.count);
            for (uint64_t i = 0; i < b.count; i++) {
                seen[b.ids[i]]++;
                cr_assert_eq(b.labels[i], (int64_t)(b.ids[i] % 10));
            }
            launch(l, stream[batches % 2], &b, 2);
            if (c % 2)
                faulty_event_record(d, event, stream[batches % 2]);
            cr_assert_eq(lade_loader_release_after(l, &b, c % 2 ? LADE_DONE_EVENT : LADE_DONE_STREAM,
                                                   c % 2 ? (void *)event : (void *)stream[batches % 2], NULL),
                         LADE_OK);
            batches++;
        }
        cr_assert_eq(status, LADE_CLOSED);
        lade_loader_stats(l, &stats);
        cr_assert(stats.depth == 1 + c / 3 && stats.copied == batches && stats.consumer_waits == 0);
        for (unsigned i = 0; i < COUNT; i++)
            cr_assert_eq(seen[i], 3);
        close_all(l, source);
        cr_assert_eq(atomic_load(&looks), batches, "destroy waits for the consumer's streams");
        cr_assert_eq(atomic_load(&wrong), 0);
    }
}

/* A stream of samples in memory: workers gather the samples that the consumer drew, and the device copies them. */
Test(loader_device, a_stream_from_memory)
{
    static uint64_t rows[COUNT][2];
    static int64_t labels[COUNT];
    struct faulty_config faulty = {.seed = 16, .rest = 20, .late = 30, .poison_staging = true};
    struct lade_source *source;
    uint64_t seen[COUNT] = {0};

    for (uint64_t i = 0; i < COUNT; i++) {
        rows[i][0] = i;
        rows[i][1] = ~i;
        labels[i] = (int64_t)(i % 10);
    }
    const struct lade_source_array array = {
        .samples = rows, .count = COUNT, .shape = {LADE_U8, 1, {16}}, .labels = labels, .label_dtype = LADE_I64};
    cr_assert_eq(lade_source_open_array(&source, &array, &error), LADE_OK);
    struct lade_loader_config config = {.source = source, .buffer = 3 * BATCH, .threads = 2, .epochs = 3};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    for (unsigned k = 0; k < (3 * COUNT + BATCH - 1) / BATCH; k++) {
        struct lade_batch b = next_of(l);
        cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
        cr_assert_eq(wrong_in(&b, b.ids), 0);
        for (uint64_t i = 0; i < b.count; i++)
            seen[b.ids[i]]++;
        lade_loader_release(l, &b);
    }
    struct lade_batch none;
    cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_CLOSED);
    for (unsigned i = 0; i < COUNT; i++)
        cr_assert_eq(seen[i], 3);
    close_all(l, source);
}

/* Samples of a batch with several fields that differ, on the device, from those named by the ids. */
static uint64_t wrong_fields(const struct lade_batch *b)
{
    const uint8_t *image = b->tensor[0].data;
    const int32_t *tokens = b->tensor[1].data, *offsets = b->tensor[3].data;
    const float *points = b->tensor[2].data;
    const int64_t *lengths = b->tensor[4].data;
    const uint64_t row = b->tensor[2].shape->dim[1];
    uint64_t sum = b->tensor[1].shape->dim[0] != (uint64_t)offsets[b->count];

    for (uint64_t i = 0; i < b->count; i++) {
        const uint64_t id = b->ids[i];
        bool right = !memcmp(image + 6 * i, many.image[id], 6) && lengths[i] == (int64_t)points_of(id) &&
                     offsets[i + 1] - offsets[i] == (int32_t)tokens_of(id) && b->labels[i] == many.label[id];
        for (uint64_t k = 0; right && k < tokens_of(id); k++)
            right = tokens[(uint64_t)offsets[i] + k] == token(id, k);
        for (uint64_t k = 0; right && k < row; k++)
            right = points[2 * (i * row + k)] == (k < points_of(id) ? (float)token(id, k) : 7);
        sum += !right;
    }
    return sum;
}

/* All fields of a batch arrive in one copy, of as many bytes as the batch has; each can be exported and held. */
Test(loader_device, several_fields)
{
    static const float seven = 7;
    const struct lade_loader_field fields[] = {{.name = "image"},
                                               {.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED, .total = 40},
                                               {.name = "points", .padding = &seven, .wide = true}};

    for (unsigned c = 0; c < 4; c++) {
        struct faulty_config faulty = {.seed = c, .rest = 40, .late = 60, .poison_staging = true};
        struct lade_source *source = open_many();
        struct lade_loader_config config = {.source = source,
                                            .threads = 2,
                                            .slots = 1 + c,
                                            .depth = 1 + c,
                                            .epochs = 3,
                                            .seed = c,
                                            .field = fields,
                                            .fields = 3};
        struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
        struct faulty_stream *stream = faulty_stream(lade_device_native(device, 0));
        struct lade_loader_stats stats;
        struct lade_batch b;
        unsigned seen[MANY_COUNT] = {0};
        uint64_t batches = 0;
        int status;
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK) {
            struct DLManagedTensorVersioned *held[5];
            cr_assert(b.tensors == 5 && !b.samples && b.ready);
            cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
            cr_assert_eq(wrong_fields(&b), 0);
            for (uint64_t i = 0; i < b.count; i++)
                seen[b.ids[i]]++;
            for (unsigned t = 0; t < 5; t++)
                cr_assert_eq(lade_loader_export(l, &b, t, LADE_DONE_STREAM, stream, &held[t], NULL), LADE_OK);
            cr_assert_eq(lade_loader_release_after(l, &b, LADE_DONE_STREAM, stream, NULL), LADE_OK);
            for (unsigned t = 0; t < 5; t++) {
                cr_assert_eq(held[t]->dl_tensor.shape[0], (int64_t)b.tensor[t].shape->dim[0]);
                held[t]->deleter(held[t]);
            }
            batches++;
        }
        cr_assert_eq(status, LADE_CLOSED);
        lade_loader_stats(l, &stats);
        cr_assert_eq(stats.copied, batches);
        cr_assert_lt(stats.copied_bytes, batches * stats.slot_bytes);
        for (unsigned i = 0; i < MANY_COUNT; i++)
            cr_assert_eq(seen[i], 3);
        close_all(l, source);
    }
}

/* A source and a backend that note addresses: samples are read into the memory that is copied from. */
static _Atomic(void *) read_to[COUNT];
static const void *copied_from[COUNT];
static size_t copied_bytes[COUNT];
static unsigned copies;

static int read_noting(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *why)
{
    atomic_store(&read_to[i], to);
    return read_number(self, i, to, label, why);
}

static int copy_noting(void *self, void *to, const void *from, size_t bytes, void *ready,
                       struct lade_device_failure *failure)
{
    copied_from[copies] = from;
    copied_bytes[copies++] = bytes;
    return faulty_backend.copy(self, to, from, bytes, ready, failure);
}

Test(loader_device, samples_are_copied_from_where_they_were_read_to)
{
    struct faulty_config faulty = {.seed = 1};
    struct lade_backend noting = faulty_backend;
    const struct lade_source_ops ops = {.read = read_noting, .close = free};
    const struct lade_source_info info = {
        .kind = "numbers", .count = COUNT, .shape = {LADE_U8, 1, {16}}, .bytes = 16, .classes = 10};
    struct numbered *self = calloc(1, sizeof *self);
    struct lade_source *source;

    noting.copy = copy_noting;
    cr_assert_eq(lade_source_open_custom(&source, &ops, self, &info, NULL, NULL), LADE_OK);
    /* A batch whose worker was replaced would be read twice, to two addresses. */
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .in_order = true, .epochs = 1, .slots = 16, .worker_timeout = LADE_FOREVER};
    struct lade_loader *l = open_on(&noting, &faulty, &config);
    for (unsigned k = 0; k * BATCH < COUNT; k++) {
        struct lade_batch b = next_of(l);
        for (uint64_t i = 0; i < b.count; i++)
            cr_assert_eq(atomic_load(&read_to[b.ids[i]]), (const char *)copied_from[k] + 16 * i);
        cr_assert_eq(copied_bytes[k], 256 + 8 * b.count, "a short batch is a short copy");
        lade_loader_release(l, &b);
    }
    close_all(l, source);
}

/* Samples of 48 bytes: the labels of a short batch are at another offset. */
static int read_long(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *why)
{
    memset(to, (int)i, 48);
    (void)self, (void)why;
    *label = (int64_t)(i % 10);
    return LADE_OK;
}

Test(loader_device, labels_of_a_short_batch)
{
    struct faulty_config faulty = {.seed = 14};
    const struct lade_source_ops ops = {.read = read_long};
    const struct lade_source_info info = {
        .kind = "long", .count = 10, .shape = {LADE_U8, 1, {48}}, .bytes = 48, .classes = 10};
    struct lade_source *source;

    cr_assert_eq(lade_source_open_custom(&source, &ops, &faulty, &info, NULL, NULL), LADE_OK);
    struct lade_loader_config config = {.source = source, .in_order = true, .sequential = true, .epochs = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    for (uint64_t first = 0; first < 10; first += BATCH) {
        struct lade_batch b = next_of(l);
        cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
        cr_assert_eq((char *)b.tensor[LADE_LABELS].data - (char *)b.tensor[LADE_SAMPLES].data, first ? 256 : 512);
        for (uint64_t i = 0; i < b.count; i++) {
            cr_assert_eq(((const int64_t *)b.tensor[LADE_LABELS].data)[i], (int64_t)(first + i));
            cr_assert_eq(((const unsigned char *)b.tensor[LADE_SAMPLES].data)[48 * i + 47], first + i);
        }
        lade_loader_release(l, &b);
    }
    close_all(l, source);
}

/* With more batches than the device has memory for, next fails and does not wait; detaching a batch frees a slot. */
Test(loader_device, too_many_and_detached)
{
    struct faulty_config faulty = {.seed = 2, .rest = 30, .late = 30};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .in_order = true, .depth = 2, .epochs = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct lade_loader_stats stats;
    struct lade_batch b[13];
    struct lade_batch none;

    b[0] = next_of(l);
    b[1] = next_of(l);
    cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_TOO_MANY);
    for (unsigned i = 0; i < 13; i++) {
        if (i > 1)
            b[i] = next_of(l);
        cr_assert_eq(lade_loader_detach(l, &b[i], &error), LADE_OK);
        cr_assert_eq(lade_loader_detach(l, &b[i], &error), LADE_OK, "twice is once");
    }
    cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_CLOSED);
    lade_loader_stats(l, &stats);
    cr_assert(stats.copied == 13 && stats.copies_timed == 13, "copies of detached batches are timed, too");
    lade_loader_release(l, &b[12]);
    lade_loader_destroy(l);
    lade_device_close(device);
    for (unsigned i = 0; i < 12; i++) {
        cr_assert_eq(wrong_in(&b[i], b[i].ids), 0);
        lade_loader_release(l, &b[i]);
    }
    lade_source_close(source);
    cr_assert_eq(faulty_things(), 0);
}

Test(loader_device, exported_tensors_hold_their_batch)
{
    struct faulty_config faulty = {.seed = 3, .rest = 30, .late = 30};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .in_order = true, .depth = 1, .epochs = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
    struct faulty_stream *stream = faulty_stream(lade_device_native(device, 0));
    struct DLManagedTensorVersioned *samples;
    struct DLManagedTensor *labels;
    struct lade_batch b = next_of(l), next;

    launch(l, stream, &b, 2);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_STREAM, stream, &samples, NULL), LADE_OK);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_STREAM, stream, &samples, NULL), LADE_TOO_MANY);
    cr_assert_eq(lade_loader_export_legacy(l, &b, LADE_LABELS, LADE_DONE_STREAM, stream, &labels, NULL), LADE_OK);
    cr_assert_eq(lade_loader_export_legacy(l, &b, 2, LADE_DONE_STREAM, stream, &labels, NULL), LADE_INVALID);
    cr_assert(samples->version.major == 1 && samples->dl_tensor.ndim == 2 && samples->dl_tensor.shape[0] == BATCH &&
              samples->dl_tensor.shape[1] == 16 && samples->dl_tensor.data == b.tensor[0].data &&
              (int)samples->dl_tensor.device.device_type == faulty_backend.dlpack_device);
    cr_assert(labels->dl_tensor.ndim == 1 && labels->dl_tensor.dtype.bits == 64 &&
              labels->dl_tensor.data == b.tensor[1].data);
    lade_loader_release(l, &b);
    cr_assert_eq(lade_loader_next(l, &next, LADE_FOREVER, &error), LADE_TOO_MANY);
    samples->deleter(samples);
    cr_assert_eq(lade_loader_next(l, &next, LADE_FOREVER, &error), LADE_TOO_MANY);
    labels->deleter(labels);
    b = next_of(l);
    launch(l, stream, &b, 2);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_STREAM, stream, &samples, NULL), LADE_OK);
    lade_loader_release(l, &b);
    lade_loader_destroy(l);
    lade_device_close(device);
    cr_assert_gt(faulty_things(), 0);
    samples->deleter(samples); /* the last user frees the loader and closes the device */
    lade_source_close(source);
    cr_assert_eq(faulty_things(), 0);
    cr_assert_eq(atomic_load(&wrong), 0);
}

/*
 * Memory is kept until the stream given at its release has completed: of a detached batch, of a tensor of one, of a
 * tensor that outlives its loader, and of one that does not.
 */
Test(loader_device, what_is_kept_waits_for_its_stream)
{
    for (unsigned c = 0; c < 4; c++) {
        struct faulty_config faulty = {.seed = 12};
        struct lade_source *source = numbers(COUNT);
        struct lade_loader_config config = {.source = source, .in_order = true, .threads = 1, .depth = 1, .epochs = 1};
        struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
        struct faulty_stream *stream = faulty_stream(lade_device_native(device, 0));
        struct DLManagedTensorVersioned *tensor = NULL;
        struct lade_batch b = next_of(l);
        atomic_store(&looks, 0);
        cr_assert(c == 0 ||
                  lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_STREAM, stream, &tensor, NULL) == LADE_OK);
        cr_assert(c > 1 || lade_loader_detach(l, &b, &error) == LADE_OK);
        launch(l, stream, &b, LONG);
        if (c == 2) {
            lade_loader_release(l, &b);
            lade_loader_destroy(l);
            tensor->deleter(tensor);
        } else {
            cr_assert_eq(lade_loader_release_after(l, &b, c ? LADE_DONE_NOW : LADE_DONE_STREAM, stream, NULL), LADE_OK);
            if (c)
                tensor->deleter(tensor);
            if (c == 3) { /* the next batch uses the memory */
                b = next_of(l);
                cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
            }
            cr_assert_eq(atomic_load(&looks), 1);
            lade_loader_destroy(l);
        }
        cr_assert(atomic_load(&looks) == 1 && atomic_load(&wrong) == 0, "case %u", c);
        lade_device_close(device);
        lade_source_close(source);
        cr_assert_eq(faulty_things(), 0);
    }
}

/* The state covers the batches that next returned, whatever copies are pending. */
Test(loader_device, a_state_knows_nothing_of_copies)
{
    for (unsigned in_order = 0; in_order < 2; in_order++) {
        struct faulty_config faulty = {.seed = 4};
        struct lade_source *source = numbers(COUNT);
        struct lade_loader_config config = {.source = source, .in_order = in_order, .depth = 4, .epochs = 2};
        struct lade_loader *l = open_on(&faulty_backend, &faulty, &config);
        char state[4096];
        uint64_t seen[COUNT] = {0};
        for (unsigned k = 0; k < 26; k++) {
            struct lade_batch b = next_of(l);
            for (uint64_t i = 0; i < b.count; i++)
                seen[b.ids[i]]++;
            lade_loader_release(l, &b);
            if (k != 8 && k != 17)
                continue;
            cr_assert_leq(lade_loader_state(l, state, sizeof state), sizeof state);
            lade_loader_destroy(l);
            cr_assert_eq(lade_loader_resume(&l, &config, state, &error), LADE_OK, "%s", error.text);
        }
        struct lade_batch none;
        cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_CLOSED);
        for (unsigned i = 0; i < COUNT; i++)
            cr_assert_eq(seen[i], 2, "sample %u came %llu times", i, (unsigned long long)seen[i]);
        close_all(l, source);
    }
}

/* A device has one loader at a time, which leaves it unchanged. */
Test(loader_device, one_loader_at_a_time)
{
    struct faulty_config faulty = {.seed = 7};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .epochs = 1};
    struct lade_loader *l = open_on(&faulty_backend, &faulty, &config), *other;
    struct lade_batch b;

    cr_assert_eq(lade_loader_create(&other, &config, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "another loader"));
    lade_loader_destroy(l);
    config.depth = LADE_LOADER_DEPTH_MAX + 1;
    cr_assert_eq(lade_loader_create(&other, &config, &error), LADE_INVALID);
    config.depth = 0;
    config.align = 4096;
    cr_assert_eq(lade_loader_create(&other, &config, &error), LADE_INVALID, "the backend knows its own alignment only");
    config.align = 0;
    l = open_loader(&config);
    b = next_of(l);
    cr_assert_eq(lade_loader_host_wait(l, &b, LADE_FOREVER, NULL), LADE_OK);
    cr_assert_eq(wrong_in(&b, b.ids), 0);
    close_all(l, source);
}

static struct lade_loader *forked;
static struct lade_batch forked_batch;

static void in_child(void *unused)
{
    struct DLManagedTensorVersioned *tensor;
    struct lade_batch none;

    (void)unused;
    child_check(lade_loader_next(forked, &none, LADE_FOREVER, &error) == LADE_INVALID);
    child_check(lade_loader_release_after(forked, &forked_batch, LADE_DONE_NOW, NULL, NULL) == LADE_INVALID);
    child_check(lade_loader_stream_wait(forked, &forked_batch, NULL, NULL) == LADE_INVALID);
    child_check(lade_loader_host_wait(forked, &forked_batch, LADE_FOREVER, NULL) == LADE_INVALID);
    child_check(lade_loader_detach(forked, &forked_batch, &error) == LADE_INVALID);
    child_check(lade_loader_export(forked, &forked_batch, 0, LADE_DONE_NOW, NULL, &tensor, NULL) == LADE_INVALID);
    child_check(lade_device_native(device, 0) == NULL);
    lade_loader_destroy(forked);
    lade_device_close(device);
    child_check(faulty_things() == 0);
}

Test(loader_device, fork)
{
    struct faulty_config faulty = {.seed = 8};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .threads = 1, .epochs = 1};

    forked = open_on(&faulty_backend, &faulty, &config);
    forked_batch = next_of(forked);
    faulty_finish(lade_device_native(device, 0)); /* its thread allocates nothing in the meantime */
    cr_assert(child_runs(in_child, NULL));
    lade_loader_release(forked, &forked_batch);
    close_all(forked, source);
}

/* On the host, device and batches are from the allocator of the device; each allocation fails once. */
Test(loader_device, memory_of_an_allocator)
{
    struct lade_source *source = numbers(100);
    int status = LADE_NO_MEMORY, n = 0;

    while (status == LADE_NO_MEMORY) {
        struct failing f = {.fail_at = ++n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_loader *l = NULL;
        device = NULL;
        status = lade_device_open(&device, &(struct lade_device_config){.alloc = &alloc}, &error);
        cr_assert_eq(n == 1, device == NULL);
        const struct lade_loader_config config = {
            .source = source, .batch = 10, .threads = 1, .slots = 2, .device = device};
        if (status == LADE_OK)
            status = lade_loader_create(&l, &config, &error);
        cr_assert(status == LADE_OK ? f.bytes > 3 * 10 * 16 : !l);
        lade_loader_destroy(l);
        lade_device_close(device);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
    }
    cr_assert_eq(status, LADE_OK);
    cr_assert_eq(n, 1 + 3 + 1, "the device, a batch for each slot and worker, then none fails");
    lade_source_close(source);
}
