/* SPDX-License-Identifier: MIT */
/* What fork() does to the threads of lade/thread.h, for fork.c. Internal. */
#ifndef LADE_LIB_READER_H
#define LADE_LIB_READER_H

#include <lade/thread.h>

/* Nobody registers between before and after. */
void lade_readers_before_fork(void);
void lade_readers_after_fork(void);
/* Before after; in a process with one thread. */
void lade_readers_in_child(void);

#endif
