/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void lade_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
    struct timespec until = {(time_t)(deadline / 1000000000), (long)(deadline % 1000000000)};

    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, deadline < 0 ? NULL : &until, NULL,
                  FUTEX_BITSET_MATCH_ANY);
}

void lade_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

int64_t lade_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
