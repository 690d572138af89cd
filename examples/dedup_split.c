/* SPDX-License-Identifier: MIT */
/* Dedup-safe split: files with equal content go to the same part, whichever thread meets which of them first. */
#include <lade/split.h>
#include <lade/thread.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 4
#define FILES 4000
#define CONTENTS 1000 /* so each of them is there four times */

static struct lade_split *split;
static unsigned part[FILES];
static _Atomic int failed;

/* File f has the content f % CONTENTS; copies are met by different threads. */
static void *route(void *argument)
{
    unsigned me = *(const unsigned *)argument;

    if (lade_thread_enter() != LADE_OK) {
        failed++;
        return NULL;
    }
    for (unsigned f = me * (FILES / THREADS); f < (me + 1) * (FILES / THREADS); f++) {
        char name[32], content[32];
        struct lade_split_item item = {.key = name, .content = content};
        item.key_size = (size_t)snprintf(name, sizeof name, "file-%u", f);
        item.content_size = (size_t)snprintf(content, sizeof content, "content %u", f % CONTENTS);
        failed += lade_split_route(split, &item, &part[f]) != LADE_OK;
    }
    lade_thread_leave();
    return NULL;
}

int main(void)
{
    const uint32_t weights[] = {8, 2};
    struct lade_split_config config = {.parts = 2, .weights = weights, .seed = 2026};
    pthread_t thread[THREADS];
    unsigned id[THREADS], leaked = 0, size[2] = {0};

    if (lade_thread_enter() != LADE_OK || lade_split_create(&split, &config, NULL) != LADE_OK)
        return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        id[i] = i;
        if (pthread_create(&thread[i], NULL, route, &id[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    lade_split_destroy(split);
    lade_thread_leave();
    if (failed)
        return 1;
    for (unsigned f = 0; f < FILES; f++) {
        leaked += part[f] != part[f % CONTENTS];
        size[part[f]]++;
    }
    printf("%u files in the two parts, %u apart from a copy\n", size[0] + size[1], leaked);
    printf("%s\n", size[0] > 3 * size[1] && size[0] < 5 * size[1] ? "about 4 to 1" : "not as weighted");
    return leaked != 0;
}
