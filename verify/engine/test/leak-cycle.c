/* SPDX-License-Identifier: MIT */
/*
 * Two blocks keep each other, and nothing else does: the stack of a thread that has ended does not count.
 * expect: error leak
 */
#include <pthread.h>
#include <stdlib.h>
struct node {
    struct node *next;
};

static void *run(void *arg)
{
    struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    a->next = b;
    b->next = a;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    return 0;
}
