/* SPDX-License-Identifier: MIT */
#include "../reclaim.h"
#include "../thread.h"

#include <criterion/criterion.h>
#include <lade/ref.h>
#include <lade/table.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

/* Threads can be started or not. Replaces lib/thread.c. */
static atomic_bool no_threads;

bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    return !atomic_load(&no_threads) && pthread_create(thread, NULL, body, context) == 0;
}

struct piece {
    struct lade_later later;
    atomic_int ran;
};

static void run(struct lade_later *later)
{
    atomic_fetch_add(&((struct piece *)later)->ran, 1);
}

Test(reclaim, the_thread_runs_what_it_is_given, .timeout = 60)
{
    static struct piece piece[100];

    for (int i = 0; i < 100; i++)
        lade_reclaim_later(&piece[i].later, run);
    for (int i = 0; i < 100; i++) {
        while (!atomic_load(&piece[i].ran))
            usleep(100);
        cr_assert_eq(atomic_load(&piece[i].ran), 1);
    }
}

static pthread_barrier_t meeting;
static struct piece waited_for;

static void *reader(void *unused)
{
    urcu_memb_register_thread();
    urcu_memb_read_lock();
    pthread_barrier_wait(&meeting); /* the piece arrives here */
    pthread_barrier_wait(&meeting);
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        cr_assert_eq(atomic_load(&waited_for.ran), 0, "it ran inside a read section");
    }
    urcu_memb_read_unlock();
    urcu_memb_unregister_thread();
    return unused;
}

Test(reclaim, read_sections_are_waited_for, .timeout = 60)
{
    pthread_t thread;

    pthread_barrier_init(&meeting, NULL, 2);
    cr_assert_eq(pthread_create(&thread, NULL, reader, NULL), 0);
    pthread_barrier_wait(&meeting);
    lade_reclaim_later(&waited_for.later, run);
    pthread_barrier_wait(&meeting);
    lade_reclaim_barrier();
    cr_assert_eq(atomic_load(&waited_for.ran), 1);
    pthread_join(thread, NULL);
}

Test(reclaim, without_a_thread_a_table_is_refused_and_a_barrier_does_the_work, .timeout = 60)
{
    static struct piece piece, other;
    struct lade_table *table = NULL;

    atomic_store(&no_threads, true);
    cr_assert_eq(lade_reclaim_start(), LADE_NO_MEMORY);
    cr_assert_eq(lade_table_create(&table, NULL), LADE_NO_MEMORY);
    cr_assert_null(table);
    lade_reclaim_later(&piece.later, run);
    lade_ref_barrier();
    cr_assert_eq(atomic_load(&piece.ran), 1);
    /* Pending callbacks run once a thread can be started again. */
    lade_reclaim_later(&other.later, run);
    atomic_store(&no_threads, false);
    cr_assert_eq(lade_table_create(&table, NULL), LADE_OK);
    while (!atomic_load(&other.ran))
        usleep(100);
    lade_table_destroy(table);
}

static struct piece first, second;

static void run_nested(struct lade_later *later)
{
    lade_reclaim_later(&second.later, run);
    lade_reclaim_barrier();
    cr_assert_eq(atomic_load(&second.ran), 1);
    run(later);
}

Test(reclaim, what_runs_may_wait_for_others, .timeout = 60)
{
    static struct piece before, after;

    lade_reclaim_later(&before.later, run);
    lade_reclaim_later(&first.later, run_nested);
    lade_reclaim_later(&after.later, run);
    lade_reclaim_barrier();
    cr_assert(atomic_load(&before.ran) == 1 && atomic_load(&after.ran) == 1);
    cr_assert(atomic_load(&first.ran) == 1 && atomic_load(&second.ran) == 1);
}

#ifndef __SANITIZE_THREAD__ /* which does not let a child make threads */
Test(reclaim, a_child_continues_with_what_waits, .timeout = 60)
{
    if (getenv("LADE_EMULATED")) /* qemu itself fails when a forked child makes threads */
        return;
    for (int round = 0; round < 50; round++) {
        static struct piece piece[20], more;
        int status = -1;
        pid_t child;
        for (int i = 0; i < 20; i++)
            atomic_store(&piece[i].ran, 0);
        for (int i = 0; i < 20; i++)
            lade_reclaim_later(&piece[i].later, run);
        child = fork();
        if (child == 0) {
            int wrong = 0;
            atomic_store(&more.ran, 0);
            lade_reclaim_later(&more.later, run); /* starts a thread */
            while (!atomic_load(&more.ran))
                usleep(100);
            lade_reclaim_barrier();
            for (int i = 0; i < 20; i++)
                wrong += atomic_load(&piece[i].ran) != 1;
            _exit(wrong);
        }
        lade_reclaim_barrier();
        for (int i = 0; i < 20; i++)
            cr_assert_eq(atomic_load(&piece[i].ran), 1);
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_assert_eq(status, 0, "the child's status is %d", status);
    }
}

/* No grace period is in progress that the child would miss. */
Test(reclaim, a_fork_inside_a_read_section_loses_nothing_without_a_grace_period, .timeout = 60)
{
    static struct piece piece;
    int status = -1;

    if (getenv("LADE_EMULATED"))
        return;
    urcu_memb_register_thread();
    urcu_memb_read_lock();
    pid_t child = fork();
    urcu_memb_read_unlock();
    if (child == 0) {
        lade_reclaim_later(&piece.later, run);
        lade_reclaim_barrier();
        _exit(atomic_load(&piece.ran) == 1 ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "the child's status is %d", status);
    urcu_memb_unregister_thread();
}

/* A grace period for which fork() would wait waits for the reader that forks. */
Test(reclaim, a_fork_inside_a_read_section_completes, .timeout = 60)
{
    static struct piece piece, more;
    struct lade_table *table = NULL;
    int status = -1;

    urcu_memb_register_thread();
    urcu_memb_read_lock();
    lade_reclaim_later(&piece.later, run);
    while (pthread_mutex_trylock(&lade_reclaim_mutex) == 0) { /* until the library's thread waits for this one */
        pthread_mutex_unlock(&lade_reclaim_mutex);
        usleep(100);
    }
    pid_t child = fork();
    if (child == 0) {
        urcu_memb_read_unlock();
        lade_reclaim_later(&more.later, run);
        lade_reclaim_barrier();
        _exit(lade_table_create(&table, NULL) == LADE_NO_MEMORY && !atomic_load(&more.ran) ? 0 : 1);
    }
    urcu_memb_read_unlock();
    lade_reclaim_barrier();
    cr_assert_eq(atomic_load(&piece.ran), 1);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "the child's status is %d", status);
    urcu_memb_unregister_thread();
}
#endif
