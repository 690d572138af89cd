/* SPDX-License-Identifier: MIT */
#include "converter.h"

#include "feeder.h"
#include "heap.h"
#include "object_cuda.h"
#include "sized.h"

#include <lade/fork.h>
#include <string.h>

struct lade_converter {
    const struct lade_converter_ops *ops;
    void *self;
    uint64_t numbers;    /* of an image */
    uint32_t generation; /* of the process that created it */
    const struct lade_alloc *alloc;
};

/* The host has no driver. */
static bool is_here(const struct lade_converter *c)
{
    return c->ops == &lade_converter_host || c->generation == lade_fork_generation();
}

struct host {
    uint32_t pixels, channels;
    enum lade_dtype dtype;
    float table[];
};

static int host_create(void **self, const struct lade_converter_config *config, struct lade_device_failure *failure)
{
    size_t bytes = 2 * (size_t)config->channels * sizeof(float);
    struct host *h = lade_heap_raw(config->alloc, sizeof *h + bytes, 1);

    (void)failure;
    if (!h)
        return LADE_NO_MEMORY;
    h->pixels = config->pixels;
    h->channels = config->channels;
    h->dtype = config->dtype;
    memcpy(h->table, config->table, bytes);
    *self = h;
    return LADE_OK;
}

static int host_run(void *self, const struct lade_tensor *from, uint32_t images, void *to, void *stream,
                    struct lade_device_failure *failure)
{
    const struct host *h = self;
    const uint8_t *bytes = (const uint8_t *)from->data + from->offset;

    (void)stream;
    (void)failure;
    if (h->dtype == LADE_F32)
        lade_convert_f32(bytes, to, h->table, images, h->pixels, h->channels);
    else
        lade_convert_f16(bytes, to, h->table, images, h->pixels, h->channels);
    return LADE_OK;
}

const struct lade_converter_ops lade_converter_host = {"host", host_create, host_run, NULL};

static int find(const struct lade_converter_ops **ops, const char *name, struct lade_error *error)
{
    *ops = &lade_converter_host;
    if (strcmp(name, "host") == 0)
        return LADE_OK;
#ifdef LADE_OPENCL
    *ops = &lade_converter_opencl;
    if (strcmp(name, "opencl") == 0)
        return LADE_OK;
#endif
    if (strcmp(name, "cuda") == 0) {
        const struct lade_cuda_object *object;
        int status = lade_cuda_load(&object, error);
        *ops = status == LADE_OK ? object->converter : NULL;
        return status;
    }
    return lade_feeder_refuse(error, LADE_ABSENT, "this build has no backend '%s'", name);
}

static int create(struct lade_converter **converter, const struct lade_converter_config *config,
                  struct lade_error *error)
{
    struct lade_device_failure failure = {.call = NULL};
    const char *name = config->backend ? config->backend : "host";
    const struct lade_converter_ops *ops = NULL;

    if (config->pixels == 0 || config->channels == 0 || !config->table ||
        (config->dtype != LADE_F32 && config->dtype != LADE_F16))
        return lade_feeder_refuse(error, LADE_INVALID, "a converter needs pixels, channels, a table, and f32 or f16");
    int status = find(&ops, name, error);
    if (status != LADE_OK)
        return status;
    struct lade_converter *c = lade_heap_get(config->alloc, 1, sizeof *c);
    if (!c)
        return lade_feeder_refuse(error, LADE_NO_MEMORY, "no memory for a converter");
    status = ops->create(&c->self, config, &failure);
    if (status != LADE_OK) {
        lade_heap_put(config->alloc, c);
        return lade_feeder_error(error, status, name, &failure);
    }
    c->ops = ops;
    c->alloc = config->alloc;
    c->numbers = (uint64_t)config->pixels * config->channels;
    c->generation = lade_fork_generation();
    *converter = c;
    return LADE_OK;
}

int lade_converter_create_sized(struct lade_converter **converter, const struct lade_converter_config *config,
                                size_t size, struct lade_error *error)
{
    struct lade_converter_config copy;

    config = lade_sized_in(config, size, &copy, sizeof copy);
    if (!config)
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "the config has fields that this version of the library does not know: the program "
                                  "was compiled for a later one");
    return create(converter, config, error);
}

int lade_converter_run(struct lade_converter *c, const struct lade_tensor *from, void *to, void *stream,
                       struct lade_error *error)
{
    struct lade_device_failure failure = {.call = NULL};
    const struct lade_shape *shape = from->shape;
    uint64_t numbers = 1;

    if (!is_here(c))
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "the converter was made before fork(): make one in each process");
    for (unsigned d = 1; d < shape->dims; d++)
        numbers *= shape->dim[d];
    if (shape->dtype != LADE_U8 || shape->dims == 0 || numbers != c->numbers || shape->dim[0] > UINT32_MAX)
        return lade_feeder_refuse(error, LADE_INVALID, "the tensor does not hold the images of this converter");
    int status = c->ops->run(c->self, from, (uint32_t)shape->dim[0], to, stream, &failure);
    return status == LADE_OK ? LADE_OK : lade_feeder_error(error, status, c->ops->name, &failure);
}

void lade_converter_destroy(struct lade_converter *c)
{
    if (!c)
        return;
    if (c->ops->release && is_here(c))
        c->ops->release(c->self);
    lade_heap_put(c->alloc, c->self);
    lade_heap_put(c->alloc, c);
}
