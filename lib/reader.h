/* SPDX-License-Identifier: MIT */
/* Fork handlers for the threads of lade/thread.h, called by fork.c. Internal. */
#ifndef LADE_LIB_READER_H
#define LADE_LIB_READER_H

#include <lade/thread.h>

/* No thread registers between before and after. */
void lade_readers_before_fork(void);
void lade_readers_after_fork(void);
/* Called before lade_readers_after_fork(), in a process with one thread. */
void lade_readers_in_child(void);

#endif
