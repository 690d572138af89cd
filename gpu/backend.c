/* SPDX-License-Identifier: MIT */
/* Which backends there are, by name. */
#include "backend.h"

#include "feeder.h"

#include <dlfcn.h>
#include <string.h>

static const char *const names[] = {
    "host",
#ifdef LADE_OPENCL
    "opencl",
#endif
    "cuda", /* in a shared object of its own, which may be there or not */
};

const char *lade_feeder_backend(unsigned i)
{
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* The object stays loaded: a driver does not like to go. */
int lade_cuda_symbol(const void **symbol, const char *name, struct lade_error *error)
{
    void *object = dlopen(LADE_BACKEND_CUDA_OBJECT, RTLD_NOW | RTLD_LOCAL);
    const char *reason = object ? NULL : dlerror();

    *symbol = object ? dlsym(object, name) : NULL;
    if (*symbol)
        return LADE_OK;
    return lade_feeder_refuse(error, LADE_ABSENT, "no CUDA backend: %s",
                              reason ? reason : LADE_BACKEND_CUDA_OBJECT " is another version's");
}

static int find(const struct lade_backend **backend, const char *name, struct lade_error *error)
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
        const void *symbol;
        int status = lade_cuda_symbol(&symbol, LADE_BACKEND_CUDA_SYMBOL, error);
        *backend = symbol;
        return status;
    }
    return lade_feeder_refuse(error, LADE_ABSENT, "this build has no backend '%s'", name);
}

int lade_feeder_create(struct lade_feeder **feeder, const struct lade_feeder_config *config, struct lade_error *error)
{
    const struct lade_backend *backend = NULL;

    if (!feeder || !config)
        return LADE_INVALID;
    int status = find(&backend, config->backend, error);
    return status == LADE_OK ? lade_feeder_create_on(feeder, backend, config, error) : status;
}
