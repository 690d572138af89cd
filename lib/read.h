/* SPDX-License-Identifier: MIT */
/*
 * liburcu's read sections (memb flavour). The light ones stand inline, as liburcu's header offers it for functions so small,
 * and may be used where lade_read_is_light(): the kernel runs the fences of readers when a grace period needs them. Checkers,
 * which replace the header by a model, have one kind. Internal.
 */
#ifndef LADE_LIB_READ_H
#define LADE_LIB_READ_H

#include <stdbool.h>

#ifndef LADE_READ_ASKS
#define CONFIG_RCU_FORCE_SYS_MEMBARRIER /* what is inline asks no more */
#endif
#include <urcu/urcu-memb.h>

#define lade_read_lock urcu_memb_read_lock
#define lade_read_unlock urcu_memb_read_unlock

#ifdef LADE_MODEL_URCU_MEMB_H
#define lade_read_lock_light urcu_memb_read_lock
#define lade_read_unlock_light urcu_memb_read_unlock
#define lade_read_is_light() true
#else
#include <urcu/static/urcu-memb.h>
#define lade_read_lock_light _urcu_memb_read_lock
#define lade_read_unlock_light _urcu_memb_read_unlock
bool lade_read_is_light(void);
#endif

#endif
