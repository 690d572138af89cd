/* SPDX-License-Identifier: MIT */
/* Batches that a consumer keeps: detached ones, exported tensors, and memory from an allocator. */
#include <lade/dlpack.h>
#include <lade/loader.h>

#include "loads.h"

#include <pthread.h>
#include <limits.h>
#include <stdatomic.h>

enum { COUNT = 100, BATCH = 8, BATCHES = 13 };

static struct lade_error error;

static void check(const struct lade_batch *b)
{
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t bytes[2];
        memcpy(bytes, (const char *)b->samples + 16 * i, sizeof bytes);
        cr_assert(bytes[0] == b->ids[i] && bytes[1] == ~b->ids[i] && b->labels[i] == (int64_t)(b->ids[i] % 10));
    }
    cr_assert(b->tensors == 2 && b->tensor[LADE_SAMPLES].data == b->samples && !b->ready);
    cr_assert(b->tensor[LADE_SAMPLES].host == b->samples && b->tensor[LADE_LABELS].host == b->labels);
    cr_assert(b->tensor[LADE_SAMPLES].shape->dims == 2 && b->tensor[LADE_SAMPLES].shape->dim[0] == b->count &&
              b->tensor[LADE_SAMPLES].shape->dim[1] == 16 && b->tensor[LADE_SAMPLES].shape->dtype == LADE_U8);
    cr_assert(b->tensor[LADE_LABELS].shape->dims == 1 && b->tensor[LADE_LABELS].shape->dim[0] == b->count);
    cr_assert_eq((uintptr_t)b->labels % LADE_DEVICE_ALIGN, 0);
}

/* A whole epoch is kept, and outlives its loader. */
Test(loader_keep, detached_batches)
{
    for (unsigned stream = 0; stream < 2; stream++) {
        struct lade_source *source = numbers(COUNT);
        struct lade_loader_config config = {.source = source,
                                            .batch = BATCH,
                                            .in_order = true,
                                            .slots = 2,
                                            .epochs = 1,
                                            .align = 256,
                                            .buffer = stream ? 2 * BATCH : 0};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b[BATCHES], none;
        for (unsigned i = 0; i < BATCHES; i++) {
            b[i] = next_of(l);
            cr_assert_eq(lade_loader_detach(l, &b[i], &error), LADE_OK);
            if (i % 3 == 0)
                cr_assert_eq(lade_loader_detach(l, &b[i], &error), LADE_OK);
        }
        cr_assert_eq(lade_loader_next(l, &none, LADE_FOREVER, &error), LADE_CLOSED);
        lade_loader_release(l, &b[0]);
        lade_loader_destroy(l);
        for (unsigned i = 1; i < BATCHES; i++)
            check(&b[i]);
        for (unsigned i = 1; i < BATCHES; i++)
            cr_assert_eq(lade_loader_release_after(l, &b[i], LADE_DONE_NOW, NULL, NULL), LADE_OK);
        lade_source_close(source);
    }
}

static void *delete (void *tensor)
{
    struct DLManagedTensorVersioned *managed = tensor;

    managed->deleter(managed);
    return NULL;
}

/* Tensors hold their batch: next reports it, and continues when the last one is deleted, by any thread. */
Test(loader_keep, exported_tensors)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {.source = source, .batch = BATCH, .in_order = true, .slots = 1, .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct DLManagedTensorVersioned *samples, *again;
    struct DLManagedTensor *labels;
    struct lade_batch b = next_of(l), next;
    pthread_t thread;

    check(&b);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_NOW, NULL, &samples, NULL), LADE_OK);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_NOW, NULL, &again, &error), LADE_TOO_MANY);
    cr_assert_str_eq(error.text, "tensor 0 of this batch was exported already");
    cr_assert_eq(lade_loader_export(l, &b, 2, LADE_DONE_NOW, NULL, &again, &error), LADE_INVALID);
    cr_assert_str_eq(error.text, "there is no tensor 2");
    cr_assert_eq(lade_loader_export_legacy(l, &b, LADE_LABELS, LADE_DONE_NOW, NULL, &labels, NULL), LADE_OK);
    cr_assert(samples->version.major == 1 && samples->dl_tensor.device.device_type == kDLCPU &&
              samples->dl_tensor.ndim == 2 && samples->dl_tensor.shape[0] == BATCH &&
              samples->dl_tensor.strides[0] == 16 && samples->dl_tensor.data == b.samples);
    cr_assert(labels->dl_tensor.ndim == 1 && labels->dl_tensor.shape[0] == BATCH &&
              labels->dl_tensor.dtype.code == kDLInt && labels->dl_tensor.data == b.labels);
    lade_loader_release(l, &b);
    cr_assert_eq(lade_loader_next(l, &next, LADE_FOREVER, &error), LADE_TOO_MANY);
    labels->deleter(labels);
    cr_assert_eq(lade_loader_next(l, &next, LADE_FOREVER, &error), LADE_TOO_MANY);
    cr_assert_eq(((uint64_t *)samples->dl_tensor.data)[1], ~b.ids[0]);
    cr_assert_eq(pthread_create(&thread, NULL, delete, samples), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);

    /* Detached and released: only the tensor holds it. It outlives the loader. */
    b = next_of(l);
    cr_assert_eq(lade_loader_export(l, &b, LADE_SAMPLES, LADE_DONE_NOW, NULL, &samples, NULL), LADE_OK);
    cr_assert_eq(lade_loader_detach(l, &b, &error), LADE_OK);
    uint64_t first = b.ids[0];
    lade_loader_release(l, &b);
    b = next_of(l);
    cr_assert_eq(lade_loader_export(l, &b, LADE_LABELS, LADE_DONE_NOW, NULL, &again, NULL), LADE_OK);
    int64_t label = b.labels[0];
    lade_loader_destroy(l);
    cr_assert_eq(((uint64_t *)samples->dl_tensor.data)[1], ~first);
    cr_assert_eq(((int64_t *)again->dl_tensor.data)[0], label);
    samples->deleter(samples);
    again->deleter(again);
    lade_source_close(source);
}

static _Atomic long live, got, batch_bytes; /* bytes of all; batches, and their bytes */
static _Atomic long left = LONG_MAX;        /* allocations that still succeed */
static atomic_bool fails;

static void *get(void *context, size_t size, size_t align)
{
    cr_assert(context == &live && align >= 64);
    if (atomic_load(&fails) || atomic_fetch_sub(&left, 1) <= 0)
        return NULL;
    atomic_fetch_add(&live, (long)size);
    atomic_fetch_add(&got, align == LADE_DEVICE_ALIGN);
    atomic_fetch_add(&batch_bytes, align == LADE_DEVICE_ALIGN ? (long)size : 0);
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void put(void *context, void *memory, size_t size)
{
    cr_assert(context == &live && memory);
    atomic_fetch_sub(&live, (long)size);
    free(memory);
}

Test(loader_keep, memory_of_an_allocator)
{
    const struct lade_alloc alloc = {get, put, (void *)&live};
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .in_order = true, .slots = 2, .threads = 1, .epochs = 1, .alloc = &alloc};
    struct lade_loader *l = open_loader(&config);
    struct lade_loader_stats stats;
    struct lade_batch b;

    lade_loader_stats(l, &stats);
    cr_assert_eq(atomic_load(&got), 3, "slots, and one for the worker");
    cr_assert_eq((uint64_t)atomic_load(&batch_bytes) + 3 * BATCH * sizeof(uint64_t), 3 * stats.slot_bytes);
    b = next_of(l);
    check(&b);
    atomic_store(&fails, true);
    cr_assert_eq(lade_loader_detach(l, &b, &error), LADE_NO_MEMORY);
    atomic_store(&fails, false);
    check(&b);
    cr_assert_eq(lade_loader_detach(l, &b, &error), LADE_OK);
    cr_assert_eq(atomic_load(&got), 4);
    lade_loader_destroy(l);
    cr_assert_gt(atomic_load(&live), 0);
    check(&b);
    lade_loader_release(l, &b);
    cr_assert_eq(atomic_load(&live), 0);
    atomic_store(&fails, true);
    cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_NO_MEMORY);
    lade_source_close(source);
}

/* Each allocation of each mode fails once; nothing is leaked. */
Test(loader_keep, an_allocator_that_fails)
{
    const struct lade_alloc alloc = {get, put, (void *)&live};
    struct lade_source *source = numbers(COUNT);
    const struct lade_loader_config modes[] = {
        {.source = source, .batch = BATCH, .slots = 2, .threads = 2, .alloc = &alloc},
        {.source = source, .batch = BATCH, .slots = 2, .threads = 2, .alloc = &alloc, .buffer = 2 * BATCH},
    };

    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        int status = LADE_NO_MEMORY;
        long n = 0;
        for (; status == LADE_NO_MEMORY; n++) {
            struct lade_loader *l = NULL;
            atomic_store(&left, n);
            status = lade_loader_create(&l, &modes[m], &error);
            if (status == LADE_OK) { /* a worker allocates, too */
                struct lade_batch b;
                status = lade_loader_next(l, &b, LADE_FOREVER, &error);
                if (status == LADE_OK)
                    lade_loader_release(l, &b);
            }
            lade_loader_destroy(l);
            cr_assert_eq(atomic_load(&live), 0);
        }
        atomic_store(&left, LONG_MAX);
        cr_assert_eq(status, LADE_OK, "%s", error.text);
        cr_assert_gt(n, 10); /* the loader's own structures, too */
    }
    lade_source_close(source);
}

/* Each step of each batch, in order. */
static atomic_uint steps[BATCHES];

static void trace(void *context, enum lade_loader_step step, uint64_t number, unsigned slot, int64_t at)
{
    static const unsigned before[] = {
        [LADE_STEP_MAKE] = 0, [LADE_STEP_MADE] = 1, [LADE_STEP_TAKEN] = 3, [LADE_STEP_RELEASED] = 19};

    cr_assert(context == steps && number < BATCHES && slot < 64 && at > 0);
    cr_assert_eq(atomic_fetch_or(&steps[number], 1u << step), before[step]);
}

Test(loader_keep, a_trace)
{
    struct lade_source *source = numbers(COUNT);
    struct lade_loader_config config = {
        .source = source, .batch = BATCH, .in_order = true, .epochs = 1, .trace = trace, .trace_context = steps};
    struct lade_loader *l = open_loader(&config);

    for (unsigned i = 0; i < BATCHES; i++) {
        struct lade_batch b = next_of(l);
        lade_loader_release(l, &b);
        cr_assert_eq(atomic_load(&steps[i]), 51);
    }
    lade_loader_destroy(l);
    lade_source_close(source);
}

static int answers_device(void *context, uint64_t i)
{
    (void)context, (void)i;
    return LADE_DEVICE;
}

/* A status that next reserves is not passed on from a source. */
Test(loader_keep, a_source_has_no_device)
{
    struct lade_source *source = numbers_with(COUNT, answers_device, NULL);
    struct lade_loader_config config = {.source = source, .batch = BATCH};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;

    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, &error), LADE_IO);
    lade_loader_destroy(l);
    lade_source_close(source);
}
