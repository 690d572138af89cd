/* SPDX-License-Identifier: MIT */
#include "object_cuda.h"

#include <lade/version.h>

const struct lade_cuda_object lade_cuda_object = {LADE_VERSION_NUMBER, sizeof(struct lade_backend),
                                                  sizeof(struct lade_converter_ops), &lade_backend_cuda,
                                                  &lade_converter_cuda};
