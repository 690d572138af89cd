/* SPDX-License-Identifier: MIT */
/*
 * fork() copies the memory of a process and one of its threads. An object with threads of its own stores the
 * generation in which it was created; in a child the generation is another one, and the object's threads do not exist.
 * Internal.
 */
#ifndef LADE_LIB_FORK_H
#define LADE_LIB_FORK_H

#include <lade/api.h>
#include <stdbool.h>
#include <stdint.h>

/* Differs between a process and its children; one relaxed load. vfork() and _Fork() are not counted. */
LADE_API uint32_t lade_fork_generation(void);

/*
 * Whether forks are counted, to be checked before an object with threads is created. They are from when the library is
 * loaded; if there was no memory for it then, this tries again. False: out of memory.
 */
LADE_API bool lade_fork_is_counted(void);

#endif
