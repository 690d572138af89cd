/* SPDX-License-Identifier: MIT */
/* The backends, by name. */
#include "backends.h"

#include "feeder.h"
#include "object_cuda.h"
#include "sized.h"

#include <dlfcn.h>
#include <lade/fork.h>
#include <lade/version.h>
#include <string.h>

static const char *const names[] = {
    "host",
#ifdef LADE_OPENCL
    "opencl",
#endif
    "cuda", /* in a separate shared object, which may be absent */
};

const char *lade_feeder_backend(unsigned i)
{
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* Library and object share function tables, whose layout changes between versions. */
static int check_version(const struct lade_cuda_object *o, struct lade_error *error)
{
    if (o->version == LADE_VERSION_NUMBER && o->backend_size == sizeof(struct lade_backend) &&
        o->converter_size == sizeof(struct lade_converter_ops))
        return LADE_OK;
    return lade_feeder_refuse(error, LADE_ABSENT,
                              "no CUDA backend: " LADE_CUDA_OBJECT " has version %u.%u.%u, the library %d.%d.%d%s; "
                              "install both from one build",
                              o->version / 10000, o->version / 100 % 100, o->version % 100, LADE_VERSION_MAJOR,
                              LADE_VERSION_MINOR, LADE_VERSION_PATCH,
                              o->version == LADE_VERSION_NUMBER ? ", with another struct layout" : "");
}

/* The object stays loaded: drivers do not support unloading well. */
int lade_cuda_load(const struct lade_cuda_object **object, struct lade_error *error)
{
    void *loaded = dlopen(LADE_CUDA_OBJECT, RTLD_NOW | RTLD_LOCAL);
    const char *reason = loaded ? NULL : dlerror();

    *object = loaded ? dlsym(loaded, LADE_CUDA_OBJECT_SYMBOL) : NULL;
    if (*object)
        return check_version(*object, error);
    return lade_feeder_refuse(error, LADE_ABSENT, "no CUDA backend: %s",
                              reason ? reason
                                     : LADE_CUDA_OBJECT
                                  " has no version number: it belongs to another release; install both from one build");
}

int lade_backend_find(const struct lade_backend **backend, const char *name, struct lade_error *error)
{
    *backend = &lade_backend_host;
    if (!name || strcmp(name, "host") == 0)
        return LADE_OK;
#ifdef LADE_OPENCL
    *backend = &lade_backend_opencl;
    if (strcmp(name, "opencl") == 0)
        return LADE_OK;
#endif
    if (strcmp(name, "cuda") == 0) {
        const struct lade_cuda_object *object;
        int status = lade_cuda_load(&object, error);
        *backend = status == LADE_OK ? object->backend : NULL;
        return status;
    }
    return lade_feeder_refuse(error, LADE_ABSENT, "this build has no backend '%s'", name);
}

int lade_feeder_create_sized(struct lade_feeder **feeder, const struct lade_feeder_config *config, size_t size,
                             struct lade_error *error)
{
    const struct lade_backend *backend = NULL;
    struct lade_feeder_config copy;

    if (!feeder || !config)
        return lade_feeder_refuse(error, LADE_INVALID, "feeder or config is NULL");
    config = lade_sized_in(config, size, &copy, sizeof copy);
    if (!config)
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "the config has fields that this version of the library does not know: the program "
                                  "was compiled for a later one");
    int status = lade_backend_find(&backend, config->backend, error);
    return status == LADE_OK ? lade_feeder_create_on(feeder, backend, config, error) : status;
}

int lade_device_open_on(struct lade_device **device, const struct lade_backend *backend,
                        const struct lade_device_config *c, struct lade_error *error)
{
    const struct lade_backend_config config = {c->device, {c->native[0], c->native[1]}, c->priority, c->alloc};
    struct lade_device_failure failure = {NULL, 0, ""};
    int status = lade_device_create(device, backend, &config, &failure);

    if (failure.call)
        return lade_feeder_error(error, status, backend->name, &failure);
    return status == LADE_OK ? LADE_OK : lade_feeder_refuse(error, status, "out of memory");
}

int lade_device_open_sized(struct lade_device **device, const struct lade_device_config *config, size_t size,
                           struct lade_error *error)
{
    const struct lade_backend *backend = NULL;
    struct lade_device_config copy;

    if (config && !(config = lade_sized_in(config, size, &copy, sizeof copy)))
        return lade_feeder_refuse(error, LADE_INVALID,
                                  "the config has fields that this version of the library does not know: the program "
                                  "was compiled for a later one");
    if (!device || !config || config->priority < LADE_PRIORITY_NORMAL || config->priority > LADE_PRIORITY_HIGH)
        return lade_feeder_refuse(error, LADE_INVALID, "device or config is NULL, or the priority is unknown");
    int status = lade_backend_find(&backend, config->backend, error);
    return status == LADE_OK ? lade_device_open_on(device, backend, config, error) : status;
}

void lade_device_close(struct lade_device *device)
{
    if (device)
        lade_device_leave(device);
}

void *lade_device_native(const struct lade_device *device, unsigned which)
{
    return device->generation == lade_fork_generation() ? device->backend->native(device->self, which) : NULL;
}
