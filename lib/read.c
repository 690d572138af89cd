/* SPDX-License-Identifier: MIT */
#define LADE_READ_ASKS
#include "read.h"

bool lade_read_is_light(void)
{
    return urcu_memb_has_sys_membarrier != 0;
}
