/* SPDX-License-Identifier: MIT */
/* For reference: cds_wfcq of liburcu. */
#define _LGPL_SOURCE
#include "bag.h"

#define QUEUE_ONLY
#include "../queue/urcu_wfcq.c"

#include "from_queue.h"
