/* SPDX-License-Identifier: MIT */
/*
 * strtol sets errno: the second iteration is not in the state of the first.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;
static void *w(void *a)
{
    while (!atomic_load(&x)) {
        assert(errno == 0);
        (void)strtol("99999999999999999999999", 0, 10);
    }
    return a;
}
int main(void)
{
    pthread_t t;
    atomic_store(&x, 0);
    pthread_create(&t, 0, w, 0);
    atomic_store(&x, 1);
    pthread_join(t, 0);
    return 0;
}
