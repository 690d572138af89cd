/* SPDX-License-Identifier: MIT */
/*
 * Threads of the libraries' that read with liburcu. liburcu does not forget the threads that a child of fork() does not
 * have: a grace period would wait for those that were inside a read section, and a new thread whose memory is that of an
 * old one would be twice in its list. Those that are registered here are taken out of the list in the child. Internal.
 */
#ifndef LADE_LIB_READER_H
#define LADE_LIB_READER_H

#include <lade/api.h>

/* A thread's own, from register to unregister. */
struct lade_reader {
    struct lade_reader *next, *before;
    void *node; /* in liburcu's list */
};

/* In place of urcu_memb_register_thread() and urcu_memb_unregister_thread(). */
LADE_API void lade_reader_register(struct lade_reader *reader);
LADE_API void lade_reader_unregister(struct lade_reader *reader);

/* ---- for fork.c ---- */

/* Nobody registers between before and after. */
void lade_readers_before_fork(void);
void lade_readers_after_fork(void);
/* Before after; in a process with one thread. */
void lade_readers_in_child(void);

#endif
