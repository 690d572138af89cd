/* SPDX-License-Identifier: MIT */
/*
 * With several processes it is enough that one of them comes there.
 *
 * expect: pass 2
 * options: --weaken message.c:26=acquire --jobs 2
 */
#include "message.c"
