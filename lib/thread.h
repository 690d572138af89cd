/* SPDX-License-Identifier: MIT */
/*
 * Threads of the libraries', which the program does not know of. Internal.
 */
#ifndef LADE_LIB_THREAD_H
#define LADE_LIB_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread in which no handler of the program runs, but for what the thread itself brings about. False when there is
   none to be had. */
bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context);

#endif
