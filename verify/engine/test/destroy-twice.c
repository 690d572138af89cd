/* SPDX-License-Identifier: MIT */
/*
 * The second initialisation makes it usable once more, not twice.
 * expect: error mutex 18
 * says: a mutex is destroyed twice
 */
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_destroy(&m);
    pthread_mutex_init(&m, NULL);
    pthread_mutex_destroy(&m);
    pthread_mutex_destroy(&m);
    return 0;
}
