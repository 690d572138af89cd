/* SPDX-License-Identifier: MIT */
#include "../thread.h"

#include <criterion/criterion.h>
#include <signal.h>

static void *look(void *mask)
{
    return pthread_sigmask(SIG_BLOCK, NULL, mask) == 0 ? mask : NULL;
}

Test(thread, only_its_own_signals_are_open, .timeout = 60)
{
    pthread_t thread;
    sigset_t mask;
    void *answer = NULL;

    cr_assert(lade_thread_start(&thread, look, &mask));
    cr_assert_eq(pthread_join(thread, &answer), 0);
    cr_assert_eq(answer, &mask);
    cr_assert(sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1));
    cr_assert(!sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGSYS) && !sigismember(&mask, SIGPROF));
    cr_assert_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    cr_assert(!sigismember(&mask, SIGINT), "the caller's mask is as it was");
}
