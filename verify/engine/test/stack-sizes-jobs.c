/* SPDX-License-Identifier: MIT */
/*
 * The same by several processes, which send each other graphs.
 * expect: pass 34
 * options: --jobs 2
 */
#include "stack-sizes.c"
