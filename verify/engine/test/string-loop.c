/* SPDX-License-Identifier: MIT */
/*
 * A loop whose state is a string does not wait.
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static atomic_int x;
static char s[8];

static void *run(void *arg)
{
    do {
        if (atomic_load_explicit(&x, memory_order_relaxed))
            return arg;
        strcat(s, "a");
    } while (strlen(s) < 3);
    assert(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_join(t, NULL);
}
