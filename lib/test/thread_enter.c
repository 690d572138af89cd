/* SPDX-License-Identifier: MIT */
#include "forked.h"

#include <criterion/criterion.h>
#include <lade/thread.h>
#include <pthread.h>
#include <stdatomic.h>
#include <urcu/urcu-memb.h>

#include <urcu/static/urcu-memb.h>

enum { READERS = 4 };

static pthread_barrier_t meeting;

/* Is inside a read section between the two meetings. */
static void *read_for_long(void *unused)
{
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    urcu_memb_read_lock();
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    urcu_memb_read_unlock();
    lade_thread_leave();
    return unused;
}

static void *read_once(void *unused)
{
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    urcu_memb_read_lock();
    urcu_memb_read_unlock();
    lade_thread_leave();
    return unused;
}

static void start(pthread_t thread[READERS], void *(*body)(void *))
{
    for (int i = 0; i < READERS; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, body, NULL), 0);
}

static void join(pthread_t thread[READERS])
{
    for (int i = 0; i < READERS; i++)
        cr_assert_eq(pthread_join(thread[i], NULL), 0);
}

static void wait_for_readers(void *unused)
{
    (void)unused;
    urcu_memb_synchronize_rcu();
}

/* Threads of the child take the memory of those that it does not have. */
static void wait_with_other_threads(void *unused)
{
    pthread_t thread[READERS];

    wait_for_readers(unused);
    for (int round = 0; round < 3 && child_may_have_threads(); round++) {
        pthread_barrier_init(&meeting, NULL, READERS + 1);
        start(thread, read_for_long);
        pthread_barrier_wait(&meeting);
        child_check(child_runs(wait_for_readers, NULL));
        pthread_barrier_wait(&meeting);
        wait_for_readers(unused);
        join(thread);
    }
}

Test(thread_enter, a_child_does_not_wait_for_threads_that_it_does_not_have, .timeout = 60)
{
    pthread_t thread[READERS];

    pthread_barrier_init(&meeting, NULL, READERS + 1);
    start(thread, read_for_long);
    pthread_barrier_wait(&meeting);
    cr_assert(child_runs(wait_with_other_threads, NULL));
    pthread_barrier_wait(&meeting);
    wait_for_readers(NULL);
    join(thread);
}

/* In the child the thread that forks is still a reader, and the others are not. */
static void *fork_as_reader(void *well)
{
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    urcu_memb_read_lock();
    pid_t child = fork();
    urcu_memb_read_unlock();
    if (child == 0) {
        (void)alarm(FORKED_SECONDS);
        wait_for_readers(NULL);
        lade_thread_leave();
        wait_for_readers(NULL);
        _exit(0);
    }
    lade_thread_leave();
    *(bool *)well = child_is_well(child);
    return NULL;
}

Test(thread_enter, a_reader_may_fork, .timeout = 60)
{
    pthread_t thread[READERS], forking;
    bool well = false;

    pthread_barrier_init(&meeting, NULL, READERS + 1);
    start(thread, read_for_long);
    pthread_barrier_wait(&meeting);
    cr_assert_eq(pthread_create(&forking, NULL, fork_as_reader, &well), 0);
    cr_assert_eq(pthread_join(forking, NULL), 0);
    cr_assert(well);
    pthread_barrier_wait(&meeting);
    join(thread);
}

static atomic_bool ends;

static void *come_and_go(void *unused)
{
    while (!atomic_load(&ends))
        (void)read_once(NULL);
    return unused;
}

/* Some of the forks fall into a registration. */
Test(thread_enter, forks_while_readers_come_and_go, .timeout = 60)
{
    pthread_t thread[READERS];

    start(thread, come_and_go);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            (void)alarm(FORKED_SECONDS);
            (void)read_once(NULL);
            wait_for_readers(NULL);
            _exit(0);
        }
        cr_assert(child_is_well(child));
    }
    atomic_store(&ends, true);
    join(thread);
}

static bool is_known(void)
{
    return URCU_TLS(urcu_memb_reader).registered;
}

static void *enter_twice(void *unused)
{
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    lade_thread_leave();
    cr_assert(is_known());
    lade_thread_leave();
    cr_assert(!is_known());
    lade_thread_leave(); /* one too many */
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    cr_assert(is_known());
    lade_thread_leave();
    return unused;
}

Test(thread_enter, calls_nest, .timeout = 60)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, enter_twice, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    wait_for_readers(NULL);
}

/* A program that uses liburcu directly: its registration stays valid. */
Test(thread_enter, of_a_registered_thread, .timeout = 60)
{
    urcu_memb_register_thread();
    cr_assert_eq(lade_thread_enter(), LADE_OK);
    lade_thread_leave();
    cr_assert(is_known());
    urcu_memb_unregister_thread();
    wait_for_readers(NULL);
}
