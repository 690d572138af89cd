/* SPDX-License-Identifier: MIT */
/*
 * All that can be tested of the feeder and the conversion on a real CUDA device, through the public interface. Run by
 * gpu/check-cuda; without a device it prints the reason and exits with 77. The test suite also runs it on the stand-in
 * for the runtime, so that it is known to work before it is needed on a device.
 */
#include "batches.h"
#include "halves.h"

#include <cuda_runtime_api.h>
#include <lade/convert.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 200, NO_DEVICE = 77 };

static unsigned passed, failed;
static struct lade_error error;

#define CUDA(CALL)                                                                                                     \
    do {                                                                                                               \
        cudaError_t code_ = (CALL);                                                                                    \
        if (code_ != cudaSuccess) {                                                                                    \
            printf("%s: %s\n", #CALL, cudaGetErrorString(code_));                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void row(bool good, const char *name)
{
    *(good ? &passed : &failed) += 1;
    printf("%s  %s%s%s\n", good ? "PASS" : "FAIL", name, good ? "" : ": ", good ? "" : error.text);
}

static cudaStream_t stream_made(void)
{
    cudaStream_t stream;

    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0));
    return stream;
}

/* Reads all batches back on a stream of the consumer. */
static bool feeds(unsigned depth, enum lade_done done, void *const *staging)
{
    struct producer p = {.batches = BATCHES, .last_rows = 3};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder *feeder;
    struct lade_feeder_batch b;
    size_t bytes = lade_feeder_bytes(shapes, TENSORS), wrong = 0, at[TENSORS] = {0};
    char *seen;
    cudaEvent_t event;
    int status;

    c.backend = "cuda";
    c.depth = depth;
    c.fillers = 1 + depth % 2;
    c.staging = staging;
    c.priority = LADE_PRIORITY_HIGH;
    CUDA(cudaHostAlloc((void **)&seen, bytes * BATCHES, cudaHostAllocDefault));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    if (lade_feeder_create(&feeder, &c, &error) != LADE_OK)
        return false;
    cudaStream_t stream = stream_made();
    while ((status = lade_feeder_next(feeder, &b, LADE_FOREVER, &error)) == LADE_OK) {
        wrong += lade_feeder_stream_wait(feeder, &b, stream, NULL) != LADE_OK;
        for (unsigned t = 0; t < TENSORS; t++)
            at[t] = (size_t)((char *)b.tensor[t].data + b.tensor[t].offset - (char *)b.tensor[0].data);
        CUDA(cudaMemcpyAsync(seen + b.number * bytes, b.tensor[0].data, bytes, cudaMemcpyDeviceToHost, stream));
        if (done == LADE_DONE_EVENT)
            CUDA(cudaEventRecord(event, stream));
        if (done == LADE_DONE_NOW)
            CUDA(cudaStreamSynchronize(stream));
        wrong += lade_feeder_release(feeder, &b, done, done == LADE_DONE_EVENT ? (void *)event : (void *)stream,
                                     NULL) != LADE_OK;
    }
    CUDA(cudaStreamSynchronize(stream));
    for (uint64_t i = 0; i < BATCHES; i++) {
        const char *batch = seen + i * bytes;
        wrong += wrong_in(i, i + 1 == BATCHES ? 3 : ROWS, batch, batch + at[LABELS], batch + at[IDS]);
    }
    if (wrong)
        snprintf(error.text, sizeof error.text, "%zu elements are wrong", wrong);
    lade_feeder_destroy(feeder);
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(seen));
    return status == LADE_CLOSED && wrong == 0;
}

/* Converts on the device; to is pinned. */
static bool converts(enum lade_dtype dtype, const float *table, const uint8_t *from, uint32_t images, uint32_t pixels,
                     uint32_t channels, void *to)
{
    struct lade_shape shape = {LADE_U8, 3, {images, pixels, channels}};
    size_t bytes = (size_t)images * pixels * channels, size = bytes * lade_dtype_size(dtype);
    struct lade_converter *converter;
    cudaStream_t stream = stream_made();
    void *in, *out;

    if (lade_converter_create(
            &converter,
            &(struct lade_converter_config){
                .backend = "cuda", .pixels = pixels, .channels = channels, .dtype = dtype, .table = table},
            &error) != LADE_OK)
        return false;
    CUDA(cudaMalloc(&in, bytes));
    CUDA(cudaMalloc(&out, size));
    CUDA(cudaMemcpy(in, from, bytes, cudaMemcpyHostToDevice));
    bool good = lade_converter_run(converter, &(struct lade_tensor){.data = in, .shape = &shape}, out, stream,
                                   &error) == LADE_OK;
    CUDA(cudaMemcpyAsync(to, out, size, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    lade_converter_destroy(converter);
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    CUDA(cudaStreamDestroy(stream));
    return good;
}

/* Floats and halves of images equal to C in every bit; scale 1e-39 gives denormal numbers. */
static bool converts_as_in_c(double scale)
{
    enum { IMAGES_HERE = 5, PIXELS_HERE = 67 * 71, CHANNELS = 3, ALL = IMAGES_HERE * PIXELS_HERE * CHANNELS };
    static uint8_t from[ALL];
    static float expected[ALL];
    float table[2 * CHANNELS], *floats;
    uint16_t *halves;
    size_t wrong = 0;

    CUDA(cudaHostAlloc((void **)&floats, sizeof expected, cudaHostAllocDefault));
    CUDA(cudaHostAlloc((void **)&halves, ALL * sizeof *halves, cudaHostAllocDefault));
    for (size_t i = 0; i < ALL; i++)
        from[i] = (uint8_t)(i * 37 + i / 256 * 11);
    if (lade_convert_table(table, CHANNELS, scale, (double[]){0.485, 0.456, 0.406}, (double[]){0.229, 0.224, 0.225}) !=
        LADE_OK)
        row(false, "the table of a conversion");
    lade_convert_f32(from, expected, table, IMAGES_HERE, PIXELS_HERE, CHANNELS);
    bool good = converts(LADE_F32, table, from, IMAGES_HERE, PIXELS_HERE, CHANNELS, floats) &&
                converts(LADE_F16, table, from, IMAGES_HERE, PIXELS_HERE, CHANNELS, halves);
    for (size_t i = 0; good && i < ALL; i++)
        wrong += bits_of(floats[i]) != bits_of(expected[i]) || halves[i] != half_nearest(expected[i]);
    if (good && wrong)
        snprintf(error.text, sizeof error.text, "%zu numbers differ", wrong);
    CUDA(cudaFreeHost(floats));
    CUDA(cudaFreeHost(halves));
    return good && wrong == 0;
}

/* Each half, each midpoint between two, and the floats next to it: 0 * x + b is b. */
static bool halves_as_defined(void)
{
    enum { COUNT = 4 * HALF_INFINITY };
    static uint8_t from[COUNT];
    static float table[2 * COUNT];
    uint16_t *to;
    size_t wrong = 0;

    CUDA(cudaHostAlloc((void **)&to, COUNT * sizeof *to, cudaHostAllocDefault));
    for (uint32_t h = 0; h < HALF_INFINITY; h++) {
        float here = (float)half_value(h), next = (float)half_value(h + 1), middle = here + (next - here) / 2;
        table[COUNT + 4 * h] = here;
        for (uint32_t i = 1; i < 4; i++)
            table[COUNT + 4 * h + i] = float_of(bits_of(middle) + i - 2);
    }
    bool good = converts(LADE_F16, table, from, 1, 1, COUNT, to);
    for (size_t i = 0; good && i < COUNT; i++)
        wrong += to[i] != half_nearest(table[COUNT + i]);
    CUDA(cudaFreeHost(to));
    return good && wrong == 0;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fill_nothing(void *self, struct lade_feeder_slot *slot, struct lade_error *e)
{
    (void)e;
    return slot->number < *(uint64_t *)self ? LADE_OK : LADE_EMPTY;
}

/*
 * Not a test: bytes per second of the feeder, with batches that cost nothing to make, and of a plain loop of pinned
 * copies.
 */
static void tell_speed(uint64_t batches)
{
    struct lade_shape shape = {LADE_U8, 2, {256, 3 * 64 * 64}};
    struct lade_feeder_config c = {
        .backend = "cuda", .fill = fill_nothing, .self = &batches, .tensors = 1, .shape = &shape};
    size_t bytes = lade_feeder_bytes(&shape, 1);
    cudaStream_t stream = stream_made();
    struct lade_feeder *feeder;
    struct lade_feeder_batch b;
    void *host, *device;

    CUDA(cudaHostAlloc(&host, bytes, cudaHostAllocDefault));
    CUDA(cudaMalloc(&device, bytes));
    double begin = seconds();
    for (uint64_t i = 0; i < batches; i++)
        CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    double plain = seconds() - begin;
    begin = seconds();
    if (lade_feeder_create(&feeder, &c, &error) != LADE_OK)
        return;
    while (lade_feeder_next(feeder, &b, LADE_FOREVER, &error) == LADE_OK) {
        if (lade_feeder_stream_wait(feeder, &b, stream, NULL) != LADE_OK)
            row(false, "a stream that waits");
        (void)lade_feeder_release(feeder, &b, LADE_DONE_STREAM, stream, NULL);
    }
    if (lade_feeder_stop(feeder, LADE_FOREVER) != LADE_OK)
        row(false, "a feeder that is closed");
    double fed = seconds() - begin;
    lade_feeder_destroy(feeder);
    printf("      plain loop of pinned copies %.2f GB/s, feeder %.2f GB/s (%.2f of it)\n",
           (double)batches * (double)bytes / plain * 1e-9, (double)batches * (double)bytes / fed * 1e-9, plain / fed);
    CUDA(cudaFree(device));
    CUDA(cudaFreeHost(host));
    CUDA(cudaStreamDestroy(stream));
}

static bool device_is_there(void)
{
    struct producer p = {.batches = 1};
    struct lade_feeder_config c = config_of(&p);
    struct lade_feeder *feeder;

    c.backend = "cuda";
    int status = lade_feeder_create(&feeder, &c, &error);
    if (status == LADE_OK)
        lade_feeder_destroy(feeder);
    return status != LADE_ABSENT;
}

int main(int argc, char **argv)
{
    enum { DEPTH = 3, PAGE = 4096 };
    static const char *const names[] = {"host", "stream", "event"};
    static const enum lade_done dones[] = {LADE_DONE_NOW, LADE_DONE_STREAM, LADE_DONE_EVENT};
    void *staging[DEPTH];
    char name[100];

    if (!device_is_there()) {
        printf("%s\n", error.text);
        return NO_DEVICE;
    }
    for (unsigned depth = 1; depth <= 4; depth++)
        for (unsigned d = 0; d < 3; d++) {
            snprintf(name, sizeof name, "feeder of depth %u, released by the %s", depth, names[d]);
            row(feeds(depth, dones[d], NULL), name);
        }
    for (int i = 0; i < DEPTH; i++)
        staging[i] = aligned_alloc(PAGE, (lade_feeder_bytes(shapes, TENSORS) + PAGE - 1) / PAGE * PAGE);
    row(feeds(DEPTH, LADE_DONE_STREAM, staging), "feeder out of memory of the user");
    for (int i = 0; i < DEPTH; i++)
        free(staging[i]);
    row(converts_as_in_c(1.0 / 255), "images converted as in C, to the last bit");
    row(converts_as_in_c(1e-39), "denormal numbers, too");
    row(halves_as_defined(), "halves are the nearest");
    tell_speed(argc > 1 ? strtoull(argv[1], NULL, 10) : 2000);
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
