/* SPDX-License-Identifier: MIT */
/*
 * Atomic stores define heap memory for plain loads that are ordered after them.
 * expect: pass
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct object {
    int references;
    short half[2];
};

static void *drop(void *arg)
{
    struct object *o = arg;
    __atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&o->half[0], 3, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct object *o = malloc(sizeof *o);
    __atomic_store_n(&o->references, 2, __ATOMIC_RELAXED);
    pthread_create(&t, NULL, drop, o);
    __atomic_sub_fetch(&o->references, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&o->half[1], 4, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    assert(o->references == 0 && o->half[0] == 3);
    *(char *)&o->half[1] = 5; /* the other byte keeps what it has */
    assert(o->half[1] == 5);
    free(o);
    return 0;
}
