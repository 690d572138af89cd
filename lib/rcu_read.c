/* SPDX-License-Identifier: MIT */
#include "rcu_read.h"

#include <urcu/static/urcu-memb.h>

/* liburcu's variable, which rcu_read.h replaces by a constant. */
#undef urcu_memb_has_sys_membarrier
extern int urcu_memb_has_sys_membarrier;

bool lade_rcu_read_is_light(void)
{
    return urcu_memb_has_sys_membarrier != 0;
}

#ifndef LADE_RCU_READ_CALLS
int lade_rcu_read_wake(int status)
{
    urcu_common_wake_up_gp(&urcu_memb_gp);
    return status;
}
#endif
