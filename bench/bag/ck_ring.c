/* SPDX-License-Identifier: MIT */
/* For reference: ck_ring of Concurrency Kit, its mpmc functions. */
#include "bag.h"

#define QUEUE_ONLY
#include "../queue/ck_mpmc.c"

#include "from_queue.h"
