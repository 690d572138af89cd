/* SPDX-License-Identifier: MIT */
/* A seed from the system, for configs that request a random one. Internal. */
#ifndef LADE_LIB_SEED_H
#define LADE_LIB_SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>

/* False: the system has none. */
static inline bool lade_seed_draw(uint64_t *seed)
{
    return getrandom(seed, sizeof *seed, 0) == (ssize_t)sizeof *seed;
}

#endif
