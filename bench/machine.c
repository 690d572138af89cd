/* SPDX-License-Identifier: MIT */
/*
 * The state of the machine: prints the nanoseconds that a cache line takes to go to the other core and back, and how
 * many times faster two pinned threads do two null loops than one thread does (2: side by side, 1: one after the
 * other).
 */
#include "clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

#define TRIP_SECONDS 0.008
#define LOOP_SECONDS 0.004
#define TURNS 3
#define STOP UINT64_MAX

static struct {
    _Alignas(128) _Atomic uint64_t value;
    _Alignas(128) struct gate gate;
} ball;

static struct gate loop_gate;

static void await(uint64_t wanted)
{
    unsigned looks = 0;

    while (atomic_load_explicit(&ball.value, memory_order_acquire) < wanted) {
        if (++looks % 65536 == 0)
            sched_yield();
    }
}

/* Replies to odd values with even ones. */
static void *returner(void *unused)
{
    (void)unused;
    pin(1);
    gate_pass(&ball.gate, 2);
    for (uint64_t v = 1;; v += 2) {
        await(v);
        if (atomic_load_explicit(&ball.value, memory_order_relaxed) == STOP)
            return NULL;
        atomic_store_explicit(&ball.value, v + 1, memory_order_release);
    }
}

static void *server(void *result)
{
    double begin;
    double end;
    uint64_t v = 0;

    pin(0);
    gate_pass(&ball.gate, 2);
    begin = clock_now();
    do {
        for (int i = 0; i < 16; i++) {
            atomic_store_explicit(&ball.value, v + 1, memory_order_release);
            v += 2;
            await(v);
        }
        end = clock_now();
    } while (end - begin < TRIP_SECONDS);
    atomic_store_explicit(&ball.value, STOP, memory_order_release);
    *(double *)result = (end - begin) * 1e9 / (double)(v / 2);
    return NULL;
}

static double ping_pong(void)
{
    pthread_t thread[2];
    double ns = -1;

    if (pthread_create(&thread[0], NULL, server, &ns) != 0)
        return -1;
    if (pthread_create(&thread[1], NULL, returner, NULL) != 0) {
        gate_pass(&ball.gate, 2);
        atomic_store(&ball.value, STOP - 1);
        pthread_join(thread[0], NULL);
        return -1;
    }
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return ns;
}

static double null_loop(uint64_t steps)
{
    double begin = clock_now();

    for (volatile uint64_t i = 0; i < steps;)
        i = i + 1;
    return clock_now() - begin;
}

struct loop {
    uint64_t steps;
    unsigned lane;
    double begin, end;
};

static void *looper(void *argument)
{
    struct loop *loop = argument;

    pin(loop->lane);
    gate_pass(&loop_gate, 2);
    loop->begin = clock_now();
    null_loop(loop->steps);
    loop->end = clock_now();
    return NULL;
}

/* Wall time of two loops at once. */
static double two_loops(uint64_t steps)
{
    pthread_t thread[2];
    struct loop loop[2] = {{steps, 0, 0, 0}, {steps, 1, 0, 0}};

    atomic_store(&loop_gate.come, 0);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&thread[i], NULL, looper, &loop[i]) != 0)
            return -1;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return (loop[0].end > loop[1].end ? loop[0].end : loop[1].end) -
           (loop[0].begin < loop[1].begin ? loop[0].begin : loop[1].begin);
}

static double speed_up(void)
{
    double ratio[TURNS];
    uint64_t steps = 1000;

    while (null_loop(steps) < LOOP_SECONDS / 4)
        steps *= 2;
    steps *= 4;
    for (int i = 0; i < TURNS; i++)
        ratio[i] = 2 * null_loop(steps) / two_loops(steps);
    /* The middle one of three. */
    for (int i = 0; i < TURNS; i++) {
        int below = 0;
        for (int j = 0; j < TURNS; j++)
            below += ratio[j] < ratio[i] || (ratio[j] == ratio[i] && j < i);
        if (below == TURNS / 2)
            return ratio[i];
    }
    return -1;
}

int main(void)
{
    double ns;

    fuse();
    ns = ping_pong();
    printf("%.1f %.2f\n", ns, speed_up());
    return ns < 0;
}
