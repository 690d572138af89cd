/* SPDX-License-Identifier: MIT */
/*
 * Sequential consistency forbids it even for relaxed accesses.
 *
 * expect: pass 3
 * options: --model sc
 */
#include "store-buffer.c"
