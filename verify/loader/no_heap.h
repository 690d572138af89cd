/* SPDX-License-Identifier: MIT */
/* Nothing is allocated in these harnesses; GenMC's headers lack two functions that heap.h names. */
#ifdef ENGINE_GENMC
#include <stdlib.h>
#define calloc(count, size) malloc((count) * (size))
#define realloc(memory, size) ((void)(memory), malloc(size))
#endif
#include "heap.h"
