/* SPDX-License-Identifier: MIT */
/*
 * A loop that counts in errno does not wait.
 * expect: error assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *run(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    while (!atomic_load_explicit(&x, memory_order_acquire) && errno < 3)
        errno++;
    assert(errno < 3);
    pthread_join(t, NULL);
    return 0;
}
