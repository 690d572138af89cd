/* SPDX-License-Identifier: MIT */
/* Children of fork(), for tests. */
#ifndef LADE_TEST_FORKED_H
#define LADE_TEST_FORKED_H

#include <lade/ref.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* How a child ends: 0, or the line of the first check that did not hold. */
static int forked_line;

#define child_check(C)                                                                                                 \
    do {                                                                                                               \
        if (!(C) && forked_line == 0) {                                                                                \
            forked_line = __LINE__;                                                                                    \
            fprintf(stderr, "%s:%d: in the child: %s\n", __FILE__, __LINE__, #C);                                      \
        }                                                                                                              \
    } while (0)

/* A child that hangs is killed after this time, so that no test waits for it forever. */
#define FORKED_SECONDS 40

/* Whether a child may make threads: ThreadSanitizer does not allow it, and qemu itself fails when a child makes one. */
static inline bool child_may_have_threads(void)
{
#ifdef __SANITIZE_THREAD__
    return false;
#else
    return !getenv("LADE_EMULATED");
#endif
}

/*
 * Whether a child may allocate if another thread was about to, or began or ended, at the fork: AddressSanitizer's own
 * locks may then be held forever. Tests that do not check this make sure that all threads have begun.
 */
static inline bool child_may_come_any_time(void)
{
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return true;
#endif
}

/* The library's thread that frees has begun when this returns. */
static inline void release_nothing(struct lade_ref_deferred *ref)
{
    __atomic_store_n(&ref->ref.count, UINT32_MAX, __ATOMIC_RELEASE);
}

static inline void await_library_thread(void)
{
    static struct lade_ref_deferred ref;

    lade_ref_init(&ref.ref);
    (void)lade_ref_put_deferred(&ref, release_nothing);
    while (__atomic_load_n(&ref.ref.count, __ATOMIC_ACQUIRE) != UINT32_MAX)
        usleep(100);
}

/* Ends the child. LeakSanitizer, if present, reports lost memory. */
static inline _Noreturn void child_end(void)
{
#ifdef __SANITIZE_ADDRESS__
    child_check(__lsan_do_recoverable_leak_check() == 0);
#endif
    _exit(forked_line ? 1 : 0);
}

/* Whether the child ended well. */
static inline bool child_is_well(pid_t child)
{
    int status = -1;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Runs body(context) in a child; whether that ended well. */
static inline bool child_runs(void (*body)(void *context), void *context)
{
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(FORKED_SECONDS);
        forked_line = 0;
        body(context);
        child_end();
    }
    return child_is_well(child);
}

#endif
