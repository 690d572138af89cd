/* SPDX-License-Identifier: MIT */
/* Candidate: ck_ring of Concurrency Kit, its spsc functions. */
#define CK_SPSC
#include "ck_mpmc.c"
