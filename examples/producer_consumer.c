/* SPDX-License-Identifier: MIT */
/* Producer and consumer: words pass in a ring from one thread to another, in order. Each waits for the other. */
#include <lade/ring.h>

#include <pthread.h>
#include <stdio.h>

#define WORDS 100000

static void *produce(void *argument)
{
    struct lade_spsc *ring = argument;

    for (uint64_t word = 1; word <= WORDS; word++)
        if (lade_spsc_push_wait(ring, word, LADE_FOREVER) != LADE_OK)
            break;
    /* pop_wait returns LADE_CLOSED when it has taken all */
    return lade_spsc_close(ring) == LADE_OK ? NULL : ring;
}

int main(void)
{
    struct lade_ring_config config = {.capacity = 64, .waits = true};
    struct lade_spsc *ring;
    pthread_t producer;
    uint64_t word = 0, next = 1, in_order = 0;

    if (lade_spsc_create(&ring, &config) != LADE_OK || pthread_create(&producer, NULL, produce, ring) != 0)
        return 1;
    while (lade_spsc_pop_wait(ring, &word, LADE_FOREVER) == LADE_OK)
        in_order += word == next++;
    pthread_join(producer, NULL);
    lade_spsc_destroy(ring);
    printf("%d words in order\n", (int)in_order);
    return in_order != WORDS;
}
