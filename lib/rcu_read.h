/* SPDX-License-Identifier: MIT */
/*
 * liburcu's read sections (memb flavour). The light ones are inline, as liburcu's header offers for functions of this
 * size. They may be used if lade_rcu_read_is_light(): the kernel executes the fences of readers when a grace period
 * needs them. Checkers, which replace the header by a model, have only one kind. So has ThreadSanitizer, which does not
 * see what liburcu does to the same words. Internal.
 */
#ifndef LADE_LIB_RCU_READ_H
#define LADE_LIB_RCU_READ_H

#include <stdbool.h>

#define CONFIG_RCU_FORCE_SYS_MEMBARRIER /* the inline functions do not check for it */
#include <urcu/urcu-memb.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define LADE_RCU_READ_CALLS
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define LADE_RCU_READ_CALLS
#endif

#ifdef LADE_DIAGNOSE
void lade_thread_check(void); /* prints and aborts if the thread has not entered */
#else
#define lade_thread_check() ((void)0)
#endif

#define lade_rcu_read_lock() (lade_thread_check(), urcu_memb_read_lock())
#define lade_rcu_read_unlock urcu_memb_read_unlock

#ifdef LADE_MODEL_URCU_MEMB_H
#define LADE_RCU_READ_CALLS
#define lade_rcu_read_is_light() true
#else
bool lade_rcu_read_is_light(void);
#endif

/*
 * lock returns what unlock needs. unlock returns the value that it is given, so that waking a grace period can be the
 * last step of a function. A light section may also be ended by lade_rcu_read_unlock().
 */
#ifdef LADE_RCU_READ_CALLS
static inline unsigned long lade_rcu_read_lock_light(void)
{
    lade_rcu_read_lock();
    return 0;
}

static inline int lade_rcu_read_unlock_light(unsigned long before, int status)
{
    (void)before;
    lade_rcu_read_unlock();
    return status;
}
#else
#include <urcu/static/urcu-memb.h>

int lade_rcu_read_wake(int status);

static inline unsigned long lade_rcu_read_lock_light(void)
{
    unsigned long before;

    lade_thread_check();
    cmm_barrier();
    before = URCU_TLS(urcu_memb_reader).ctr;
    _urcu_memb_read_lock_update(before);
    return before;
}

/* Restores the reader's word: outside any section, whatever its phase, or inside the enclosing section. */
static inline int lade_rcu_read_unlock_light(unsigned long before, int status)
{
    urcu_memb_smp_mb_slave();
    _CMM_STORE_SHARED(URCU_TLS(urcu_memb_reader).ctr, before);
    urcu_memb_smp_mb_slave();
    return caa_unlikely(uatomic_read(&urcu_memb_gp.futex) == -1) ? lade_rcu_read_wake(status) : status;
}
#endif

#endif
