/* SPDX-License-Identifier: MIT */
/*
 * What lay in a mutex before it was initialised does not decide its kind.
 * expect: pass 1
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    pthread_mutex_t local, *heap = malloc(sizeof *heap);
    memset(&local, 1, sizeof local);
    memset(heap, 1, sizeof *heap);
    pthread_mutex_init(&local, NULL);
    pthread_mutex_init(heap, NULL);
    pthread_mutex_lock(&local);
    pthread_mutex_lock(heap);
    pthread_mutex_unlock(heap);
    pthread_mutex_unlock(&local);
    pthread_mutex_destroy(heap);
    pthread_mutex_init(heap, NULL);
    pthread_mutex_lock(heap);
    pthread_mutex_unlock(heap);
    free(heap);
    return 0;
}
