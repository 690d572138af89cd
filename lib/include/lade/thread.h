/* SPDX-License-Identifier: MIT */
/*
 * thread: registers a thread before its first call on a table or an exact split, and unregisters it after the last.
 *
 * These structures free memory only when no thread can still read it (RCU: liburcu, memb flavour). Therefore every
 * thread that calls them must be registered:
 *
 *     if (lade_thread_enter() != LADE_OK)
 *         return;
 *     lade_table_get(table, key, &value);
 *     lade_thread_leave();
 *
 * Threads      each thread enters and leaves for itself, and leaves before it ends. Calls nest: only the last leave
 *              takes effect. A thread that the program itself has registered with liburcu need not enter, but may.
 * Progress     both functions take a lock, for a few instructions.
 * Fork         in a child, the thread that called fork() stays registered; all other threads are forgotten. Exception:
 *              a thread that was registered only with liburcu is not forgotten.
 * Forgotten    in a debug build (Meson: -Dbuildtype=debug), a call on a table by a thread that has not entered prints
 *              what is missing and aborts. In other builds, memory may be freed while such a thread reads it.
 */
#ifndef LADE_THREAD_H
#define LADE_THREAD_H

#include <lade/api.h>
#include <lade/status.h>

LADE_BEGIN

/*
 * LADE_OK          the thread may call tables and exact splits.
 * LADE_NO_MEMORY   the thread may not call them: forks cannot be counted, so a child could not be distinguished from
 *                  this process.
 */
LADE_API LADE_MUST_CHECK int lade_thread_enter(void);

/* Ends one enter. Does nothing in a thread that has not entered. */
LADE_API void lade_thread_leave(void);

LADE_END

#endif
