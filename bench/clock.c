/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "clock.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#define FUSE_SECONDS 90

static double read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double clock_used(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

unsigned processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

void pin(unsigned lane)
{
    cpu_set_t set;
    cpu_set_t one;
    unsigned skip;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    skip = lane % (unsigned)CPU_COUNT(&set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set) || skip-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

void fuse(void)
{
    alarm(FUSE_SECONDS);
}

void gate_pass(struct gate *gate, unsigned threads)
{
    unsigned looks = 0;

    atomic_fetch_add_explicit(&gate->come, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&gate->come, memory_order_acquire) < threads) {
        if (++looks % 1024 == 0)
            sched_yield();
        cpu_relax();
    }
}
