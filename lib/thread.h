/* SPDX-License-Identifier: MIT */
/* Threads of the libraries, which the program does not know of. Internal. */
#ifndef LADE_LIB_THREAD_H
#define LADE_LIB_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/*
 * Starts a thread in which no signal handler of the program runs, except for signals that the thread itself causes.
 * Returns false if no thread can be started.
 */
bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context);

#endif
