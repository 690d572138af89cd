/* SPDX-License-Identifier: MIT */
/* A constant stream of signals, and sleeping through them. */
#ifndef LADE_STRESS_STORM_H
#define LADE_STRESS_STORM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void sleep_for(int64_t nanoseconds)
{
    struct timespec left = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};

    while (nanosleep(&left, &left) != 0)
        continue;
}

/* The handler is unrelated to what is tested. */
static _Atomic uint64_t signals;

static void on_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&signals, 1);
}

static struct {
    _Atomic bool over;
    _Atomic bool to_process; /* any thread, or the given one */
    pthread_t thread;
} storm;

static void *storm_body(void *arg)
{
    (void)arg;
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    while (!atomic_load(&storm.over)) {
        if (atomic_load(&storm.to_process))
            (void)kill(getpid(), SIGUSR1);
        else
            (void)pthread_kill(storm.thread, SIGUSR1);
        sleep_for(50000);
    }
    return NULL;
}

static void begin_storm(pthread_t *thread, bool to_process)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits are interrupted */

    (void)sigaction(SIGUSR1, &action, NULL);
    atomic_store(&signals, 0);
    atomic_store(&storm.over, false);
    atomic_store(&storm.to_process, to_process);
    storm.thread = pthread_self();
    if (pthread_create(thread, NULL, storm_body, NULL) != 0)
        exit(2);
}

static void end_storm(pthread_t thread)
{
    atomic_store(&storm.over, true);
    (void)pthread_join(thread, NULL);
}

#endif
