/* SPDX-License-Identifier: MIT */
/* A plugin that links the three libraries statically: uses something of each, with threads and thread-local memory. */
#include <lade/feeder.h>
#include <lade/loader.h>
#include <lade/table.h>
#include <lade/thread.h>

static int count_batches(struct lade_source *source, int *batches)
{
    struct lade_loader_config config = {.source = source, .batch = 50, .threads = 2, .epochs = 1};
    struct lade_loader *loader;
    struct lade_batch batch;
    int status = lade_loader_create(&loader, &config, NULL);

    if (status != LADE_OK)
        return status;
    for (; (status = lade_loader_next(loader, &batch, LADE_FOREVER, NULL)) == LADE_OK; ++*batches)
        lade_loader_release(loader, &batch);
    int ended = lade_loader_stop(loader, LADE_FOREVER);
    lade_loader_destroy(loader);
    return status == LADE_CLOSED ? ended : status;
}

/* Growing frees arrays in the library's own thread. */
static int fill_table(void)
{
    struct lade_table *table;
    int status = lade_thread_enter();

    if (status != LADE_OK)
        return status;
    status = lade_table_create(&table, NULL);
    if (status != LADE_OK)
        return status;
    for (uint64_t i = 0; status == LADE_OK && i < 100000; i++)
        status = lade_table_insert(table, i, i, NULL);
    lade_thread_leave();
    lade_table_destroy(table);
    return status;
}

__attribute__((visibility("default"))) int plugin_run(void);

int plugin_run(void)
{
    struct lade_source *source;
    int batches = 0;
    int status = lade_source_open(&source, "synthetic:count=1000,shape=8", NULL, NULL);

    if (status == LADE_OK) {
        status = count_batches(source, &batches);
        lade_source_close(source);
    }
    if (status == LADE_OK)
        status = fill_table();
    return status == LADE_OK && batches == 20 && lade_feeder_backend(0) ? 0 : 1;
}
