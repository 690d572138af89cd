/* SPDX-License-Identifier: MIT */
/* Saves tables of both kinds into a folder. The files are the same on every processor. */
#include <lade/table.h>

#include <stdio.h>
#include <urcu/urcu-memb.h>

static int save(const char *folder, enum lade_table_kind kind)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .seed = 2026};
    struct lade_table *table = NULL;
    struct lade_error error = {.text = ""};
    char path[4096], key[64];
    int status = lade_table_create(&table, &config);

    for (uint64_t i = 0; i < 10000 && status == LADE_OK; i++) {
        int size = snprintf(key, sizeof key, "%.*s%ju", (int)(i % 40), "----------------------------------------",
                            (uintmax_t)i);
        status = kind == LADE_TABLE_WORDS ? lade_table_insert(table, i * i * UINT64_C(0x100000001), i << 40 | i, NULL)
                                          : lade_table_insert_bytes(table, key, (size_t)size, i << 40 | i, NULL);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, kind == LADE_TABLE_WORDS ? "words" : "strings");
    if (status == LADE_OK)
        status = lade_table_save(table, path, &error);
    if (status != LADE_OK)
        fprintf(stderr, "%s\n", error.text[0] ? error.text : lade_status_text(status));
    lade_table_destroy(table);
    return status;
}

int main(int argc, char **argv)
{
    int status = LADE_INVALID;

    urcu_memb_register_thread();
    if (argc == 2 && save(argv[1], LADE_TABLE_WORDS) == LADE_OK)
        status = save(argv[1], LADE_TABLE_BYTES);
    urcu_memb_unregister_thread();
    return status != LADE_OK;
}
