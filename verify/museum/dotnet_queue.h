/* SPDX-License-Identifier: MIT */
/*
 * .NET, ConcurrentQueue<T> (pull request 78142, 2022; missing since 2016, seen on Apple's ARM processors). ToArray and
 * enumeration wait for the sequence number of a slot by plain reads, and then read the item, which may be older.
 *
 * repair: acquire instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define READ_NUMBER memory_order_relaxed /* a plain read in C#, which reads an integer whole */
#else
#define READ_NUMBER memory_order_acquire
#endif

static atomic_int number;
static int item;

static void setup(void)
{
}

static void enqueue(void)
{
    item = 7;
    atomic_store_explicit(&number, 1, memory_order_release);
}

static void to_array(void)
{
    while (atomic_load_explicit(&number, READ_NUMBER) != 1)
        continue;
    assert(item == 7); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        enqueue();
    else
        to_array();
}

static void finish(void)
{
}
