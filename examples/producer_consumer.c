/* SPDX-License-Identifier: MIT */
/* Producer and consumer: words go through a ring from one thread to another, in order. */
#include <lade/ring.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define WORDS 100000

static void *produce(void *argument)
{
    struct lade_spsc *ring = argument;

    for (uint64_t word = 1; word <= WORDS; word++)
        while (lade_spsc_push(ring, word) == LADE_FULL)
            sched_yield();
    return NULL;
}

int main(void)
{
    struct lade_spsc *ring;
    pthread_t producer;
    uint64_t word = 0, in_order = 0;

    if (lade_spsc_create(&ring, 64, NULL) != LADE_OK || pthread_create(&producer, NULL, produce, ring) != 0)
        return 1;
    for (uint64_t next = 1; next <= WORDS; next++) {
        while (lade_spsc_pop(ring, &word) == LADE_EMPTY)
            sched_yield();
        in_order += word == next;
    }
    pthread_join(producer, NULL);
    lade_spsc_destroy(ring);
    printf("%d words in order\n", (int)in_order);
    return in_order != WORDS;
}
