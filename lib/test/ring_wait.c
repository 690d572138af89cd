/* SPDX-License-Identifier: MIT */
/* Counting, closing and waiting: the same for both rings. */
#include <lade/ring.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* No operation here takes this long; a lost wakeup does. */
#define LONG (INT64_C(30) * 1000000000)

enum { SPSC, MPMC, KINDS };

struct ring {
    int kind;
    struct lade_spsc *spsc;
    struct lade_mpmc *mpmc;
};

/* One end of a ring, for one thread. */
struct end {
    struct ring *ring;
    struct lade_mpmc_handle *handle;
};

static struct ring make_ring(int kind, uint64_t capacity, bool waits)
{
    struct ring r = {.kind = kind};
    struct lade_ring_config config = {.capacity = capacity, .handles = kind == MPMC ? 8 : 0, .waits = waits};

    cr_assert_eq(kind == MPMC ? lade_mpmc_create(&r.mpmc, &config) : lade_spsc_create(&r.spsc, &config), LADE_OK);
    return r;
}

static void destroy_ring(struct ring *r)
{
    lade_spsc_destroy(r->spsc);
    lade_mpmc_destroy(r->mpmc);
}

static struct end join_ring(struct ring *r)
{
    struct end e = {.ring = r};

    if (r->kind == MPMC)
        cr_assert_eq(lade_mpmc_join(r->mpmc, &e.handle), LADE_OK);
    return e;
}

static int push(struct end *e, uint64_t word)
{
    return e->handle ? lade_mpmc_push(e->handle, word) : lade_spsc_push(e->ring->spsc, word);
}

static int pop(struct end *e, uint64_t *word)
{
    return e->handle ? lade_mpmc_pop(e->handle, word) : lade_spsc_pop(e->ring->spsc, word);
}

static size_t push_many(struct end *e, const uint64_t *word, size_t count)
{
    return e->handle ? lade_mpmc_push_many(e->handle, word, count) : lade_spsc_push_many(e->ring->spsc, word, count);
}

static size_t pop_many(struct end *e, uint64_t *word, size_t count)
{
    return e->handle ? lade_mpmc_pop_many(e->handle, word, count) : lade_spsc_pop_many(e->ring->spsc, word, count);
}

static int push_wait(struct end *e, uint64_t word, int64_t timeout)
{
    return e->handle ? lade_mpmc_push_wait(e->handle, word, timeout)
                     : lade_spsc_push_wait(e->ring->spsc, word, timeout);
}

static int pop_wait(struct end *e, uint64_t *word, int64_t timeout)
{
    return e->handle ? lade_mpmc_pop_wait(e->handle, word, timeout) : lade_spsc_pop_wait(e->ring->spsc, word, timeout);
}

static int close_ring(struct ring *r)
{
    return r->kind == MPMC ? lade_mpmc_close(r->mpmc) : lade_spsc_close(r->spsc);
}

static int cancel_ring(struct ring *r)
{
    return r->kind == MPMC ? lade_mpmc_cancel(r->mpmc) : lade_spsc_cancel(r->spsc);
}

static uint64_t count_of(struct ring *r)
{
    return r->kind == MPMC ? lade_mpmc_count(r->mpmc) : lade_spsc_count(r->spsc);
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const uint64_t capacities[] = {1, 2, 3, 5, 16, 17, 33, 100};

Test(ring_wait, count_is_exact_when_quiescent)
{
    for (int kind = 0; kind < 2 * KINDS; kind++)
        for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
            struct ring r = make_ring(kind % KINDS, capacities[c], kind >= KINDS);
            struct end e[2] = {join_ring(&r), join_ring(&r)};
            uint64_t held = 0, word = 0, coin = 1;
            for (int i = 0; i < 2000; i++) {
                cr_assert_eq(count_of(&r), held);
                coin = coin * 6364136223846793005u + 1442695040888963407u;
                if (coin >> 63)
                    held += push(&e[i % 2], 7) == LADE_OK;
                else
                    held -= pop(&e[i % 2], &word) == LADE_OK;
            }
            while (push(&e[0], 7) == LADE_OK)
                continue;
            cr_assert_eq(count_of(&r), capacities[c]);
            destroy_ring(&r);
        }
}

Test(ring_wait, a_ring_without_waits_reports_it)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct ring r = make_ring(kind, 1, false);
        struct end e = join_ring(&r);
        uint64_t word = 0;
        cr_assert_eq(push_wait(&e, 1, LADE_FOREVER), LADE_INVALID);
        cr_assert_eq(pop_wait(&e, &word, LADE_FOREVER), LADE_INVALID);
        cr_assert_eq(close_ring(&r), LADE_INVALID);
        cr_assert_eq(cancel_ring(&r), LADE_INVALID);
        cr_assert_eq(push(&e, 5), LADE_OK, "and is not closed");
        cr_assert_eq(pop(&e, &word), LADE_OK);
        cr_assert_eq(word, 5);
        destroy_ring(&r);
    }
}

Test(ring_wait, with_waits_it_is_the_same_queue)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
            struct ring r = make_ring(kind, capacities[c], true);
            struct end e = join_ring(&r);
            uint64_t in = 0, out = 0, words[200];
            for (uint64_t round = 0; round < 50; round++) {
                for (uint64_t i = 0; i < 200; i++)
                    words[i] = in + i;
                size_t wanted = (size_t)(1 + round % (capacities[c] + 2)), room = (size_t)(capacities[c] - (in - out));
                cr_assert_eq(push_many(&e, words, wanted), wanted < room ? wanted : room);
                in += wanted < room ? wanted : room;
                if (in - out == capacities[c])
                    cr_assert_eq(push(&e, in), LADE_FULL);
                else
                    cr_assert_eq(push(&e, in++), LADE_OK);
                size_t asked = (size_t)(round % 7), stock = (size_t)(in - out);
                cr_assert_eq(pop_many(&e, words, asked), asked < stock ? asked : stock);
                for (uint64_t i = 0; i < (asked < stock ? asked : stock); i++)
                    cr_assert_eq(words[i], out++);
            }
            for (uint64_t word; out < in; out++) {
                cr_assert_eq(pop(&e, &word), LADE_OK);
                cr_assert_eq(word, out);
            }
            cr_assert_eq(pop(&e, &words[0]), LADE_EMPTY);
            destroy_ring(&r);
        }
}

Test(ring_wait, a_closed_ring_gives_what_is_inside_and_takes_nothing)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t held = 0; held <= 3; held++) {
            struct ring r = make_ring(kind, 3, true);
            struct end e[2] = {join_ring(&r), join_ring(&r)};
            uint64_t word = 0, words[3] = {1, 2, 3};
            for (uint64_t i = 0; i < 5; i++) {
                cr_assert_eq(push(&e[0], 1), LADE_OK);
                cr_assert_eq(pop(&e[0], &word), LADE_OK);
            }
            cr_assert_eq(push_many(&e[0], words, (size_t)held), held);
            cr_assert_eq(close_ring(&r), LADE_OK);
            cr_assert_eq(close_ring(&r), LADE_OK, "twice is as good as once");
            cr_assert_eq(push(&e[0], 1), LADE_CLOSED);
            cr_assert_eq(push_many(&e[1], words, 3), 0);
            cr_assert_eq(push_wait(&e[1], 1, LADE_FOREVER), LADE_CLOSED);
            cr_assert_eq(count_of(&r), held);
            for (uint64_t i = 1; i <= held; i++) {
                cr_assert_eq(i == 2 ? pop_wait(&e[0], &word, LADE_FOREVER) : pop(&e[i % 2], &word), LADE_OK);
                cr_assert_eq(word, i);
            }
            for (int i = 0; i < 2; i++) {
                cr_assert_eq(pop(&e[i], &word), LADE_CLOSED);
                cr_assert_eq(pop_wait(&e[i], &word, LADE_FOREVER), LADE_CLOSED);
                cr_assert_eq(pop_many(&e[i], words, 3), 0);
                cr_assert_eq(push(&e[i], 1), LADE_CLOSED);
            }
            cr_assert_eq(count_of(&r), 0);
            destroy_ring(&r);
        }
}

Test(ring_wait, times_are_kept)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct ring r = make_ring(kind, 1, true);
        struct end e = join_ring(&r);
        const int64_t while_ = 20 * 1000000, over[] = {0, LADE_FOREVER - 1, -1000000000, INT64_MIN};
        uint64_t word = 0;
        for (int i = 0; i < 4; i++)
            cr_assert_eq(pop_wait(&e, &word, over[i]), LADE_TIMEOUT);
        int64_t begin = now();
        cr_assert_eq(pop_wait(&e, &word, while_), LADE_TIMEOUT);
        cr_assert_geq(now() - begin, while_);
        cr_assert_eq(push_wait(&e, 8, 0), LADE_OK);
        for (int i = 0; i < 4; i++)
            cr_assert_eq(push_wait(&e, 9, over[i]), LADE_TIMEOUT);
        begin = now();
        cr_assert_eq(push_wait(&e, 9, while_), LADE_TIMEOUT);
        cr_assert_geq(now() - begin, while_);
        cr_assert_eq(pop_wait(&e, &word, LADE_FOREVER), LADE_OK);
        cr_assert_eq(word, 8);
        destroy_ring(&r);
    }
}

struct waiter {
    struct end end;
    bool pushes;
    int count;
    int status; /* of the last call */
    uint64_t sum;
    atomic_int done;
    pthread_t thread;
};

/* Makes count calls, or stops at the first that does not return LADE_OK. Pushes the words 1, 2, ... */
static void *wait_often(void *argument)
{
    struct waiter *w = argument;

    for (int i = 1; i <= w->count; i++) {
        uint64_t word = (uint64_t)i;
        w->status = w->pushes ? push_wait(&w->end, word, LONG) : pop_wait(&w->end, &word, i % 2 ? LONG : INT64_MAX);
        if (w->status != LADE_OK)
            break;
        w->sum += word;
    }
    atomic_store(&w->done, 1);
    return NULL;
}

static void start(struct waiter *w, struct ring *r, bool pushes, int count)
{
    memset(w, 0, sizeof *w);
    w->end = join_ring(r);
    w->pushes = pushes;
    w->count = count;
    cr_assert_eq(pthread_create(&w->thread, NULL, wait_often, w), 0);
}

static int end_of(struct waiter *w)
{
    cr_assert_eq(pthread_join(w->thread, NULL), 0);
    return w->status;
}

/* Both sides wait all the time; each is woken by the other. */
Test(ring_wait, pushes_and_pops_wake_each_other)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t capacity = 1; capacity <= 3; capacity++) {
            struct ring r = make_ring(kind, capacity, true);
            struct waiter w[4];
            int pairs = kind == MPMC ? 2 : 1;
            for (int i = 0; i < 2 * pairs; i++)
                start(&w[i], &r, i % 2, 5000);
            for (int i = 0; i < 2 * pairs; i++)
                cr_assert_eq(end_of(&w[i]), LADE_OK);
            cr_assert_eq(w[0].sum + (pairs > 1 ? w[2].sum : 0), (uint64_t)pairs * 5000 * 5001 / 2);
            cr_assert_eq(count_of(&r), 0);
            destroy_ring(&r);
        }
}

/* The batch forms notify too. */
Test(ring_wait, batches_wake_the_other_side)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct ring r = make_ring(kind, 4, true);
        struct waiter w;
        uint64_t words[4] = {1, 2, 3, 4};
        start(&w, &r, false, 4000);
        struct end e = join_ring(&r);
        for (size_t sent = 0; sent < 4000; sched_yield())
            sent += push_many(&e, words, 4000 - sent < 4 ? 4000 - sent : 4);
        cr_assert_eq(end_of(&w), LADE_OK);
        destroy_ring(&r);

        r = make_ring(kind, 4, true);
        start(&w, &r, true, 4000);
        e = join_ring(&r);
        for (size_t got = 0; got < 4000; sched_yield())
            got += pop_many(&e, words, 4);
        cr_assert_eq(end_of(&w), LADE_OK);
        destroy_ring(&r);
    }
}

Test(ring_wait, close_wakes_both_sides)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int pushes = 0; pushes < 2; pushes++) {
            struct ring r = make_ring(kind, 2, true);
            struct waiter w[3];
            int waiters = kind == MPMC ? 3 : 1;
            for (int i = 0; i < waiters; i++)
                start(&w[i], &r, pushes, 3);
            while (pushes && count_of(&r) < 2)
                sched_yield();
            cr_assert_eq(close_ring(&r), LADE_OK);
            for (int i = 0; i < waiters; i++)
                cr_assert_eq(end_of(&w[i]), LADE_CLOSED);
            cr_assert_eq(count_of(&r), pushes ? 2 : 0);
            destroy_ring(&r);
        }
}

/* A cancel may come before the wait has begun; one of many comes later. */
Test(ring_wait, cancel_wakes_both_sides_and_later_calls_wait)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int pushes = 0; pushes < 2; pushes++) {
            struct ring r = make_ring(kind, 1, true);
            struct waiter w[2];
            int waiters = kind == MPMC ? 2 : 1;
            struct end e = join_ring(&r);
            uint64_t word = 0;
            if (pushes)
                cr_assert_eq(push(&e, 1), LADE_OK);
            for (int i = 0; i < waiters; i++)
                start(&w[i], &r, pushes, 1);
            for (int i = 0; i < waiters; i++) {
                while (!atomic_load(&w[i].done)) {
                    cr_assert_eq(cancel_ring(&r), LADE_OK);
                    sched_yield();
                }
                cr_assert_eq(end_of(&w[i]), LADE_CANCELLED);
            }
            cr_assert_eq(pushes ? push_wait(&e, 2, 0) : pop_wait(&e, &word, 0), LADE_TIMEOUT, "cancel does not last");
            cr_assert_eq(pushes ? pop(&e, &word) : push(&e, 2), LADE_OK);
            destroy_ring(&r);
        }
}
