/* SPDX-License-Identifier: MIT */
/*
 * liburcu's read sections (memb flavour), inline: liburcu's header offers these few lines for that, under any licence.
 * Checkers, which replace the header by a model, take the functions. Internal.
 */
#ifndef LADE_LIB_READ_H
#define LADE_LIB_READ_H

#include <urcu/urcu-memb.h>

#ifdef LADE_MODEL_URCU_MEMB_H
#define lade_read_lock urcu_memb_read_lock
#define lade_read_unlock urcu_memb_read_unlock
#else
#include <urcu/static/urcu-memb.h>
#define lade_read_lock _urcu_memb_read_lock
#define lade_read_unlock _urcu_memb_read_unlock
#endif

#endif
