/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "thread.h"

#include <signal.h>
#include <stddef.h>

bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    /* The thread itself causes these signals, or profilers use them, which need to observe the thread. */
    static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t blocked, before;

    (void)sigfillset(&blocked);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        (void)sigdelset(&blocked, open[i]);
    if (pthread_sigmask(SIG_BLOCK, &blocked, &before) != 0)
        return false;
    bool started = pthread_create(thread, NULL, body, context) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
