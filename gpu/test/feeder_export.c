/* SPDX-License-Identifier: MIT */
/* Tensors by DLPack: their fields, and how long they keep the slot and the feeder alive. */
#include "kernels.h"

#include <lade/dlpack.h>

#include <criterion/criterion.h>
#include <pthread.h>

static struct lade_feeder *feeder;
static struct lade_error error;
static struct lade_feeder_batch batch;
static struct DLManagedTensorVersioned *tensor[TENSORS];

static int next(int64_t timeout)
{
    return lade_feeder_next(feeder, &batch, timeout, &error);
}

static void export_all(enum lade_side side, enum lade_done done, void *handle)
{
    for (unsigned i = 0; i < TENSORS; i++)
        cr_assert_eq(lade_feeder_export(feeder, &batch, i, side, done, handle, &tensor[i], NULL), LADE_OK);
}

static size_t wrong_in_tensors(uint64_t number)
{
    return wrong_in(number, (uint64_t)tensor[0]->dl_tensor.shape[0], tensor[IMAGES]->dl_tensor.data,
                    tensor[LABELS]->dl_tensor.data, tensor[IDS]->dl_tensor.data);
}

static void create_on_host(struct producer *p, unsigned depth)
{
    struct lade_feeder_config c = config_of(p);

    c.depth = depth;
    cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
}

Test(feeder_export, a_tensor_describes_itself)
{
    struct producer p = {.batches = 1, .last_rows = 2};

    create_on_host(&p, 1);
    cr_assert_eq(next(LADE_FOREVER), LADE_OK);
    export_all(LADE_ON_DEVICE, LADE_DONE_NOW, NULL);
    const DLTensor *t = &tensor[IMAGES]->dl_tensor;
    cr_assert_eq(tensor[IMAGES]->version.major, 1);
    cr_assert_eq(tensor[IMAGES]->flags, 0);
    cr_assert_eq(t->device.device_type, kDLCPU);
    cr_assert_eq(t->device.device_id, 0);
    cr_assert_eq(t->ndim, 4);
    cr_assert(t->shape[0] == 2 && t->shape[1] == 5 && t->shape[2] == 3 && t->shape[3] == 3);
    cr_assert(t->strides[0] == 45 && t->strides[1] == 9 && t->strides[2] == 3 && t->strides[3] == 1);
    cr_assert(t->dtype.code == kDLUInt && t->dtype.bits == 8 && t->dtype.lanes == 1);
    cr_assert_eq(t->byte_offset, 0);
    cr_assert_eq(t->data, batch.tensor[IMAGES].data);
    cr_assert(tensor[LABELS]->dl_tensor.dtype.code == kDLInt && tensor[LABELS]->dl_tensor.dtype.bits == 32);
    cr_assert(tensor[IDS]->dl_tensor.dtype.code == kDLUInt && tensor[IDS]->dl_tensor.dtype.bits == 64);
    cr_assert_eq(wrong_in_tensors(0), 0);
    struct DLManagedTensorVersioned *again;
    cr_assert_eq(lade_feeder_export(feeder, &batch, 0, LADE_ON_DEVICE, LADE_DONE_NOW, NULL, &again, &error),
                 LADE_TOO_MANY);
    cr_assert_str_eq(error.text, "feeder: tensor 0 of this batch was exported already");
    cr_assert_eq(lade_feeder_export(feeder, &batch, TENSORS, LADE_ON_DEVICE, LADE_DONE_NOW, NULL, &again, NULL),
                 LADE_INVALID);
    for (unsigned i = 0; i < TENSORS; i++)
        tensor[i]->deleter(tensor[i]);
    lade_feeder_destroy(feeder);
}

static int fill_nothing(void *self, struct lade_feeder_slot *slot, struct lade_error *e)
{
    (void)self;
    (void)e;
    return slot->number == 0 ? LADE_OK : LADE_EMPTY;
}

Test(feeder_export, every_element_type_has_its_code)
{
    /* code and bits, from the public standard */
    static const uint8_t codes[][2] = {{6, 8},  {1, 8},  {0, 8},  {1, 16}, {0, 16}, {1, 32}, {0, 32},
                                       {1, 64}, {0, 64}, {2, 16}, {2, 32}, {2, 64}, {5, 64}, {5, 128}};

    for (unsigned i = LADE_BOOL; i <= LADE_C128; i++) {
        struct lade_shape shape = {(enum lade_dtype)i, 1, {3}};
        struct lade_feeder_config c = {.fill = fill_nothing, .tensors = 1, .shape = &shape};
        cr_assert_eq(lade_feeder_create(&feeder, &c, &error), LADE_OK);
        cr_assert_eq(next(LADE_FOREVER), LADE_OK);
        cr_assert_eq(lade_feeder_export(feeder, &batch, 0, LADE_ON_HOST, LADE_DONE_NOW, NULL, &tensor[0], NULL),
                     LADE_OK);
        cr_assert_eq(tensor[0]->dl_tensor.dtype.code, codes[i][0], "%s", lade_dtype_name((enum lade_dtype)i));
        cr_assert_eq(tensor[0]->dl_tensor.dtype.bits, codes[i][1], "%s", lade_dtype_name((enum lade_dtype)i));
        lade_feeder_destroy(feeder);
        tensor[0]->deleter(tensor[0]);
    }
}

Test(feeder_export, a_slot_waits_for_its_tensors)
{
    struct producer p = {.batches = 3};

    create_on_host(&p, 1);
    cr_assert_eq(next(LADE_FOREVER), LADE_OK);
    export_all(LADE_ON_DEVICE, LADE_DONE_NOW, NULL);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    cr_assert_eq(next(1000000), LADE_TIMEOUT, "all three are in use");
    cr_assert_eq(wrong_in_tensors(0), 0);
    tensor[0]->deleter(tensor[0]);
    tensor[1]->deleter(tensor[1]);
    cr_assert_eq(next(1000000), LADE_TIMEOUT, "one of three is still in use");
    tensor[2]->deleter(tensor[2]);
    cr_assert_eq(next(LADE_FOREVER), LADE_OK);
    cr_assert_eq(batch.number, 1);
    lade_feeder_destroy(feeder);
}

static void *delete_one(void *managed)
{
    struct DLManagedTensorVersioned *t = managed;

    t->deleter(t);
    return NULL;
}

/* The tensors are the last users, each in a separate thread. */
static void delete_from_threads(void)
{
    pthread_t thread[TENSORS];

    for (unsigned i = 0; i < TENSORS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, delete_one, tensor[i]), 0);
    for (unsigned i = 0; i < TENSORS; i++)
        pthread_join(thread[i], NULL);
}

Test(feeder_export, tensors_outlive_the_feeder)
{
    struct producer p = {.batches = 10};

    create_on_host(&p, 2);
    cr_assert_eq(next(LADE_FOREVER), LADE_OK);
    export_all(LADE_ON_DEVICE, LADE_DONE_NOW, NULL);
    cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_NOW, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_feeder_stop(feeder, LADE_FOREVER), LADE_OK);
    cr_assert_eq(wrong_in_tensors(0), 0);
    lade_feeder_destroy(feeder);
    cr_assert_eq(wrong_in_tensors(0), 0);
    delete_from_threads();
}

static atomic_ullong wrong, looks;

/* Deleted before the stream uses them: slot and memory are kept until it has. */
Test(feeder_export, tensors_are_used_by_streams)
{
    for (unsigned round = 0; round < 20; round++) {
        struct faulty_config faulty = {.seed = round, .rest = 40, .late = 40};
        struct producer p = {.batches = 30};
        struct lade_feeder_config c = faulty_config_of(&p, &faulty);
        c.depth = 1 + round % 3;
        atomic_store(&looks, 0);
        cr_assert_eq(lade_feeder_create_on(&feeder, &faulty_backend, &c, &error), LADE_OK);
        struct faulty *device = faulty_of(feeder);
        struct faulty_stream *stream[2] = {faulty_stream(device), faulty_stream(device)};
        for (unsigned i = 0; i < 30; i++) {
            cr_assert_eq(next(LADE_FOREVER), LADE_OK);
            export_all(i % 2 ? LADE_ON_DEVICE : LADE_ON_HOST, LADE_DONE_STREAM, stream[0]);
            cr_assert_eq(tensor[0]->dl_tensor.device.device_type, i % 2 ? 12 : kDLCPU);
            launch_look(feeder, device, stream[0], &batch, &wrong, &looks);
            launch_look(feeder, device, stream[1], &batch, &wrong, &looks);
            cr_assert_eq(lade_feeder_release(feeder, &batch, LADE_DONE_STREAM, stream[1], NULL), LADE_OK);
            if (i < 29)
                for (unsigned t = 0; t < TENSORS; t++)
                    tensor[t]->deleter(tensor[t]);
        }
        lade_feeder_destroy(feeder);
        cr_assert_neq(faulty_things(), 0);
        delete_from_threads();
        cr_assert_eq(atomic_load(&looks), 60);
        cr_assert_eq(atomic_load(&wrong), 0);
        cr_assert_eq(faulty_things(), 0);
    }
}

Test(feeder_export, a_tensor_of_a_lost_device_can_be_deleted)
{
    struct faulty_config faulty = {.seed = 1};
    struct producer p = {.batches = 30};
    struct lade_feeder_config c = faulty_config_of(&p, &faulty);

    cr_assert_eq(lade_feeder_create_on(&feeder, &faulty_backend, &c, &error), LADE_OK);
    struct faulty *device = faulty_of(feeder);
    struct faulty_stream *stream = faulty_stream(device);
    cr_assert_eq(next(LADE_FOREVER), LADE_OK);
    export_all(LADE_ON_DEVICE, LADE_DONE_STREAM, stream);
    faulty_lose(device);
    tensor[0]->deleter(tensor[0]);
    cr_assert(lade_feeder_failed(feeder, NULL));
    lade_feeder_destroy(feeder);
    tensor[1]->deleter(tensor[1]);
    tensor[2]->deleter(tensor[2]);
    cr_assert_eq(faulty_things(), 0);
}
