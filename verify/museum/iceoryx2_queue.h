/* SPDX-License-Identifier: MIT */
/*
 * iceoryx2, spsc::Queue (issue 119, 2024). pop reads the element, executes a fence, and stores the read position; push
 * loads the position relaxed. A fence on one side synchronizes with nothing: the new element may be written before the
 * old one is read.
 *
 * repair: acquire instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define LOAD_POSITION memory_order_relaxed
#else
#define LOAD_POSITION memory_order_acquire
#endif

static atomic_int read_position, write_position = 1;
static int data[1] = {1}; /* full */

static void setup(void)
{
}

static void push(void)
{
    if (atomic_load_explicit(&read_position, LOAD_POSITION) == 0)
        return;  /* still full */
    data[0] = 2; /* the error */
    atomic_store_explicit(&write_position, 2, memory_order_release);
}

static void pop(void)
{
    if (atomic_load_explicit(&write_position, memory_order_acquire) == 0)
        return;
    assert(data[0] == 1);
    atomic_thread_fence(memory_order_acq_rel);
    atomic_store_explicit(&read_position, 1, memory_order_relaxed);
}

static void thread(int id)
{
    if (id == 0)
        push();
    else
        pop();
}

static void finish(void)
{
}
