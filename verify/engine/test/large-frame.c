/* SPDX-License-Identifier: MIT */
/*
 * A shared local far below the frame pointer is checked like any other.
 * expect: error race 18 28
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
struct message {
    int data;
    atomic_int ready;
    char buffer[10000];
};

static void *reader(void *arg)
{
    struct message *m = arg;
    return atomic_load_explicit(&m->ready, memory_order_relaxed) ? (void *)(long)m->data : NULL;
}

int main(void)
{
    struct message m;
    pthread_t t;
    m.data = 0;
    atomic_init(&m.ready, 0);
    pthread_create(&t, NULL, reader, &m);
    m.data = 42;
    atomic_store_explicit(&m.ready, 1, memory_order_relaxed);
    pthread_join(t, NULL);
    return 0;
}
