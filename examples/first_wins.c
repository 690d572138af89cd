/* SPDX-License-Identifier: MIT */
/* First-wins registry: threads meet the same names in different orders, and all of them get the same number for a name. */
#include <lade/table.h>
#include <lade/thread.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define NAMES 1000

static struct lade_table *registry;
static _Atomic int registered;
static uint64_t number[THREADS][NAMES];

/* Each thread proposes its own numbers; the first insert of a name wins, and the others get the winner's number. */
static void *meet(void *argument)
{
    unsigned me = *(const unsigned *)argument;
    char name[32];

    if (lade_thread_enter() != LADE_OK)
        return NULL;
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned which = me % 2 ? NAMES - 1 - i : i;
        int size = snprintf(name, sizeof name, "name-%u", which);
        int status =
            lade_table_insert_bytes(registry, name, (size_t)size, me * (uint64_t)NAMES + i, &number[me][which]);
        registered += status == LADE_OK;
    }
    lade_thread_leave();
    return NULL;
}

int main(void)
{
    struct lade_table_config config = {.kind = LADE_TABLE_BYTES};
    pthread_t thread[THREADS];
    unsigned id[THREADS], agreed = 0;

    if (lade_thread_enter() != LADE_OK || lade_table_create(&registry, &config) != LADE_OK)
        return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        id[i] = i;
        if (pthread_create(&thread[i], NULL, meet, &id[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (unsigned n = 0; n < NAMES; n++) {
        unsigned same = 0;
        for (unsigned i = 0; i < THREADS; i++)
            same += number[i][n] == number[0][n];
        agreed += same == THREADS;
    }
    lade_table_destroy(registry);
    lade_thread_leave();
    printf("%d names registered once, %u agreed on by %d threads\n", (int)registered, agreed, THREADS);
    return registered != NAMES || agreed != NAMES;
}
