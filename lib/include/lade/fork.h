/* SPDX-License-Identifier: MIT */
/*
 * fork: detects whether this process is the one that created an object. fork() copies the memory of a process, but only
 * one of its threads. An object that owns threads stores the generation in which it was created. In a child the
 * generation differs, and the object's threads do not exist. The other libraries of lade use this, and your code may
 * use it too.
 *
 * Threads      any number, at any time; also in a child before exec.
 * Progress     generation is one relaxed load. is_counted takes no lock.
 */
#ifndef LADE_FORK_H
#define LADE_FORK_H

#include <lade/api.h>
#include <stdbool.h>
#include <stdint.h>

LADE_BEGIN

/* Returns a number that differs between a process and its children. vfork() and _Fork() are not counted. */
LADE_API uint32_t lade_fork_generation(void);

/*
 * Returns whether forks are counted. Check it before you create an object that owns threads. Counting starts when the
 * library is loaded; if that failed for lack of memory, this call tries again.
 * true     forks are counted.
 * false    out of memory.
 */
LADE_API bool lade_fork_is_counted(void);

LADE_END

#endif
