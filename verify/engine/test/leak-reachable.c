/* SPDX-License-Identifier: MIT */
/*
 * What static memory leads to when the process ends is no leak: directly, through other blocks, by a pointer into the middle,
 * by a pointer with a mark in its low bit, or from a thread-local variable of main.
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
struct node {
    long value;
    struct node *next;
};
static struct node *_Atomic list;
static _Thread_local long *local;
static char *middle;
static _Atomic uintptr_t marked;

static void *grow(void *arg)
{
    struct node *first = malloc(sizeof *first), *second = malloc(sizeof *second);
    first->next = second;
    second->next = NULL;
    atomic_store_explicit(&list, first, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, grow, NULL);
    pthread_join(t, NULL);
    middle = (char *)malloc(100) + 50;
    atomic_store(&marked, (uintptr_t)malloc(8) | 1);
    local = malloc(sizeof *local);
    return 0;
}
