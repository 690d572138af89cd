/* SPDX-License-Identifier: MIT */
/*
 * Choices in two threads: all pairs, each once.
 *
 * expect: pass 6
 */
#include <lade_explore.h>
#include <pthread.h>

static void *two(void *arg)
{
    (void)explore_choose(2);
    return arg;
}

static void *three(void *arg)
{
    (void)explore_choose(3);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, two, NULL);
    pthread_create(&u, NULL, three, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
