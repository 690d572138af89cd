/* SPDX-License-Identifier: MIT */
/*
 * Store buffering is what TSO allows.
 *
 * expect: pass 4
 * options: --model tso
 */
#include "store-buffer.c"
