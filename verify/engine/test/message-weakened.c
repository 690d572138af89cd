/* SPDX-License-Identifier: MIT */
/*
 * The same by weakening the load at run time.
 *
 * expect: error race
 * options: --weaken message.c:26=relaxed
 */
#include "message.c"
