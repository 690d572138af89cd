/* SPDX-License-Identifier: MIT */
/*
 * The system call futex, on which std::atomic::wait, latches, barriers and semaphores are built, and lib/futex.c.
 *
 * The threads that wait at a word are a set, as for a condition variable, in a separate location. A wait enters the
 * set, loads the word, and sleeps if the word has the expected value; a wake takes threads out of the set. Entering and
 * waking are ordered by that location as in the kernel by the lock of its queue: what was stored before a wake that found
 * no thread is seen by the load of a wait that enters later. The load comes after a full fence, as in the kernel. A wait that
 * is woken synchronises with nothing.
 */
#include "calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

enum { WORD = 4 };

static int failed(int error)
{
    errno = error;
    return -1;
}

/* A wait that ends for no reason, and one that times out, are the same alternative of the sleep. */
static int wait_at(const void *word, unsigned value, const struct timespec *end, uint64_t pc)
{
    const void *queue = shadow_queue(word, pc);
    unsigned me = 1u << self->id;

    if (end)
        plain((uintptr_t)end, sizeof *end, false, false, pc);
    ask(OP_ENTER, queue, WORD, me, ACQ_REL, 0, pc);
    ask(OP_FENCE, NULL, 0, 0, SEQ_CST, 0, pc);
    if ((unsigned)ask(OP_LOAD, word, WORD, 0, RELAXED, 0, pc) != value) {
        ask(OP_LEAVE, queue, WORD, me, RELAXED, 0, pc);
        return failed(EAGAIN);
    }
    self->req = (struct request){.op = OP_SLEEP, .size = WORD, .order = RELAXED, .extra = end != NULL, .weak = true,
                                 .addr = (uintptr_t)queue, .operand = me, .pc = pc};
    if (step())
        return 0;
    return failed(end && (!options.spurious || !choose(2, pc)) ? ETIMEDOUT : EINTR);
}

static int wake_at(const void *word, int count, uint64_t pc)
{
    const void *queue = shadow_queue(word, pc);

    if (count != 1 && count < MAX_THREADS)
        fail(ERR_UNSUPPORTED, pc, (uintptr_t)word, "futex wakes %d threads: 1 or all are modelled", count);
    unsigned waiting = (unsigned)ask(OP_SIGNAL, queue, WORD, count == 1, ACQ_REL, 0, pc);
    return count == 1 ? waiting != 0 : __builtin_popcount(waiting);
}

#pragma GCC visibility push(default)

long X(syscall)(long number, ...)
{
    uint64_t pc = PC;
    va_list list;

    if (number == SYS_gettid || number == SYS_getpid)
        return number == SYS_getpid ? 1 : self->id + 1;
    if (number != SYS_futex)
        fail(ERR_UNSUPPORTED, pc, 0, "the system call %ld", number);
    va_start(list, number);
    const void *word = va_arg(list, const void *);
    int operation = va_arg(list, int) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    unsigned value = va_arg(list, unsigned);
    const struct timespec *end = va_arg(list, const struct timespec *);
    (void)va_arg(list, void *);
    bool any = operation != FUTEX_WAIT_BITSET && operation != FUTEX_WAKE_BITSET;
    any = any || va_arg(list, unsigned) == FUTEX_BITSET_MATCH_ANY;
    va_end(list);
    if (any && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET))
        return wait_at(word, value, end, pc);
    if (any && (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET))
        return wake_at(word, (int)value, pc);
    fail(ERR_UNSUPPORTED, pc, (uintptr_t)word, "futex operation %d", operation);
    return 0;
}

#pragma GCC visibility pop
