/* SPDX-License-Identifier: MIT */
/* Time, pinned threads and a starting gate for the measuring programs. */
#ifndef LADE_BENCH_CLOCK_H
#define LADE_BENCH_CLOCK_H

#include <stdatomic.h>

/* Seconds since some moment, of the wall clock and of the calling thread's processor time. */
double clock_now(void);
double clock_used(void);

/* Number of processors that this process may use. */
unsigned processors(void);

/* Ties the calling thread to the processor number lane, modulo those that it may use. */
void pin(unsigned lane);

/* Ends the process when it takes far too long, whatever becomes of the one that started it. */
void fuse(void);

/* Holds the threads back until all have come. Zero it before use; one use only. */
struct gate {
    _Atomic unsigned come;
};
void gate_pass(struct gate *gate, unsigned threads);

static inline void cpu_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

#endif
