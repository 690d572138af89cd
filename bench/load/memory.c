/* SPDX-License-Identifier: MIT */
/*
 * Anonymous memory of the loader: PROGRAM FILE COUNT SECONDS
 *
 * FILE is made as COUNT records of RECORD bytes, all of it a hole. A pure hash split gives 80 % of them to the part that is
 * loaded, for a whole epoch, however long that takes. Prints the most of RssAnon that was seen, in KiB, 1 and 1.
 */
#define _POSIX_C_SOURCE 200809L
#include "../clock.h"
#include "consume.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD 64
#define BATCH 128
#define THREADS 2
#define EVERY 256 /* batches from look to look */

static uint64_t anonymous(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");

    if (!file)
        fail("no /proc/self/status");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            break;
    fclose(file);
    if (kib == 0)
        fail("no RssAnon in /proc/self/status");
    return kib;
}

static struct lade_source *holes(const char *name, uint64_t count)
{
    struct lade_source *source;
    struct lade_error error;
    char text[4096];
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || ftruncate(file, (off_t)(count * RECORD)) != 0 || close(file) != 0)
        fail("the file cannot be made");
    snprintf(text, sizeof text, "records:%s,size=%d", name, RECORD);
    if (lade_source_open(&source, text, NULL, &error) != LADE_OK)
        fail(error.text);
    unlink(name);
    return source;
}

int main(int argc, char **argv)
{
    struct lade_loader_config config = {.seed = 1, .in_order = true, .batch = BATCH, .threads = THREADS};
    struct consumer consumer = {.data = NULL};
    uint64_t most;
    uint64_t batches = 0;
    bool last = false;

    if (argc != 4) {
        fprintf(stderr, "usage: %s FILE COUNT SECONDS\n", argv[0]);
        return 2;
    }
    fuse();
    config.source = holes(argv[1], number_of(argv[2]));
    if (lade_split_create(&config.split,
                          &(struct lade_split_config){.parts = 2,
                                                      .weights = (const uint32_t[]){8, 2},
                                                      .rule = LADE_SPLIT_HASH,
                                                      .store = LADE_SPLIT_PURE,
                                                      .seed = 1},
                          NULL) != LADE_OK)
        fail("no split");
    consumer_begin(&consumer, &config);
    most = anonymous();
    while (!last) {
        consume(&consumer, &last);
        if (++batches % EVERY == 0 || last) {
            uint64_t now = anonymous();
            most = now > most ? now : most;
        }
    }
    printf("%llu 1 1\n", (unsigned long long)most);
    consumer_end(&consumer);
    lade_split_destroy(config.split);
    lade_source_close(config.source);
    return 0;
}
