/* SPDX-License-Identifier: MIT */
/* Nothing is allocated or printed in these harnesses; GenMC's headers lack functions that the loader's headers name. */
#ifdef ENGINE_GENMC
#include <stdlib.h>
int snprintf(char *to, size_t size, const char *format, ...);
#define calloc(count, size) malloc((count) * (size))
#define realloc(memory, size) ((void)(memory), malloc(size))
#endif
#include "heap.h"
