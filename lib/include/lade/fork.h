/* SPDX-License-Identifier: MIT */
/*
 * fork: whether this process is the one in which an object was created. fork() copies the memory of a process and one of
 * its threads: an object with threads of its own stores the generation in which it was created; in a child the generation
 * is another one, and the object's threads do not exist. The other libraries of lade use it, and so may you.
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

/* Differs between a process and its children. vfork() and _Fork() are not counted. */
LADE_API uint32_t lade_fork_generation(void);

/*
 * Whether forks are counted, to be checked before an object with threads is created. They are from when the library is
 * loaded; if there was no memory for it then, this tries again. False: out of memory.
 */
LADE_API bool lade_fork_is_counted(void);

LADE_END

#endif
