/* SPDX-License-Identifier: MIT */
/* A bounded queue (Vyukov 2010): PUSHES threads push a word each, the others pop one. */
#include "threads.h"

enum { CELLS = 4 };

static struct {
    atomic_uint turn;
    int value;
} cell[CELLS] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
static atomic_uint head, tail;

static int push(int value)
{
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);

    for (;;) {
        unsigned turn = atomic_load_explicit(&cell[at % CELLS].turn, memory_order_acquire);
        if (turn == at) {
            if (atomic_compare_exchange_strong_explicit(&tail, &at, at + 1, memory_order_relaxed, memory_order_relaxed))
                break;
        } else if ((int)(turn - at) < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&tail, memory_order_relaxed);
        }
    }
    cell[at % CELLS].value = value;
    atomic_store_explicit(&cell[at % CELLS].turn, at + 1, memory_order_release);
    return 1;
}

static int pop(int *value)
{
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);

    for (;;) {
        unsigned turn = atomic_load_explicit(&cell[at % CELLS].turn, memory_order_acquire);
        if (turn == at + 1) {
            if (atomic_compare_exchange_strong_explicit(&head, &at, at + 1, memory_order_relaxed, memory_order_relaxed))
                break;
        } else if ((int)(turn - (at + 1)) < 0) {
            return 0;
        } else {
            at = atomic_load_explicit(&head, memory_order_relaxed);
        }
    }
    *value = cell[at % CELLS].value;
    atomic_store_explicit(&cell[at % CELLS].turn, at + CELLS, memory_order_release);
    return 1;
}

static void thread(int id)
{
    int value = 0;

    if (id < PUSHES)
        push(id + 1);
    else if (pop(&value))
        assert(value > 0 && value <= PUSHES);
}

static void finish(void)
{
}
