/* SPDX-License-Identifier: MIT */
/*
 * The same with the other one.
 *
 * expect: bound 1
 * options: --max-executions 1
 * says: bound: executions
 */
#include "store-buffer.c"
