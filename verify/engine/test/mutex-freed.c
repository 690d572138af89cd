/* SPDX-License-Identifier: MIT */
/*
 * A mutex is freed while it is held.
 * expect: error mutex
 */
#include <pthread.h>
#include <stdlib.h>

int main(void)
{
    pthread_mutex_t *m = malloc(sizeof *m);
    pthread_mutex_init(m, NULL);
    pthread_mutex_lock(m);
    free(m);
}
