/* SPDX-License-Identifier: MIT */
/* One word from one thread to another: small enough to check every execution with verify/explore. */
#include <lade/ring.h>

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static void *producer(void *ring)
{
    return lade_spsc_push(ring, 42) == LADE_OK ? NULL : ring;
}

int main(void)
{
    struct lade_spsc *ring;
    pthread_t thread;
    uint64_t word = 0;

    if (lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 1}) != LADE_OK ||
        pthread_create(&thread, NULL, producer, ring) != 0)
        return 1;
    int early = lade_spsc_pop(ring, &word); /* races with the push: LADE_OK or LADE_EMPTY */
    pthread_join(thread, NULL);
    int late = early == LADE_OK ? LADE_OK : lade_spsc_pop(ring, &word);
    assert(late == LADE_OK && word == 42);
    puts("42 arrived");
    lade_spsc_destroy(ring);
}
