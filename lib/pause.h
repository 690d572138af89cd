/* SPDX-License-Identifier: MIT */
/* Hints to the processor that this thread waits for another one, for a few dozen nanoseconds. Internal. */
#ifndef LADE_PAUSE
#if defined __x86_64__ || defined __i386__
#define LADE_PAUSE() __builtin_ia32_pause()
#elif defined __aarch64__
#define LADE_PAUSE() __asm__ volatile("isb")
#else
#define LADE_PAUSE() ((void)0)
#endif
#endif

static inline void lade_pause(int times)
{
    for (int i = 0; i < times; i++)
        LADE_PAUSE();
}
