/* SPDX-License-Identifier: MIT */
/*
 * thread: what a thread does before its first call on a table or an exact split, and after its last one.
 *
 * These structures free memory only when no thread can still read it (RCU: liburcu, memb flavour). So every thread that
 * calls them has to be known:
 *
 *     if (lade_thread_enter() != LADE_OK)
 *         return;
 *     lade_table_get(table, key, &value);
 *     lade_thread_leave();
 *
 * Threads      Each thread enters and leaves for itself, and leaves before it ends. Calls nest: the last leave counts. A
 *              thread that the program has registered with liburcu itself need not enter, and may.
 * Progress     Both take a lock, for a few instructions.
 * fork         A child knows the thread that called fork(), and forgets the others. It forgets no thread that was
 *              registered with liburcu alone.
 * Forgotten    In a debug build (Meson: -Dbuildtype=debug) a call on a table by a thread that has not entered prints what is
 *              missing and aborts. In other builds memory may be freed while such a thread reads it.
 */
#ifndef LADE_THREAD_H
#define LADE_THREAD_H

#include <lade/api.h>
#include <lade/status.h>

LADE_BEGIN

/*
 * LADE_OK         the thread may call tables and exact splits
 * LADE_NO_MEMORY  it may not: a child of fork() could not be told from this process
 */
LADE_API LADE_MUST_CHECK int lade_thread_enter(void);

/* Without an enter before it: does nothing. */
LADE_API void lade_thread_leave(void);

LADE_END

#endif
