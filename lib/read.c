/* SPDX-License-Identifier: MIT */
#include "read.h"

#include <urcu/static/urcu-memb.h>

/* liburcu's variable, for which read.h has put a constant. */
#undef urcu_memb_has_sys_membarrier
extern int urcu_memb_has_sys_membarrier;

bool lade_read_is_light(void)
{
    return urcu_memb_has_sys_membarrier != 0;
}

#ifndef LADE_READ_CALLS
int lade_read_wake(int answer)
{
    urcu_common_wake_up_gp(&urcu_memb_gp);
    return answer;
}
#endif
