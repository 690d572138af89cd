/* SPDX-License-Identifier: MIT */
/* The backends of this library, and feeders and devices on them. Internal. */
#ifndef LADE_GPU_BACKENDS_H
#define LADE_GPU_BACKENDS_H

#include "backend.h"

#include <lade/feeder.h>
#include <lade/gpu.h>

extern const struct lade_backend lade_backend_host;
extern const struct lade_backend lade_backend_opencl; /* if the build has OpenCL */

/* The backend of this name; NULL is host. LADE_OK or LADE_ABSENT. */
int lade_backend_find(const struct lade_backend **backend, const char *name, struct lade_error *error);

/* As lade_feeder_create() and lade_device_open(), on this backend; config.backend is ignored. For tests. */
int lade_device_open_on(struct lade_device **device, const struct lade_backend *backend,
                        const struct lade_device_config *config, struct lade_error *error);
int lade_feeder_create_on(struct lade_feeder **feeder, const struct lade_backend *backend,
                          const struct lade_feeder_config *config, struct lade_error *error);

#endif
