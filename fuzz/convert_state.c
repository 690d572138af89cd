/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the state of lade convert: refused, or shards that are inside the conversion. The checksum, the plan and
 * the numbers of shards and columns are made right unless the first byte is odd: else hardly anything would get past them.
 */
#include "../cli/convert_state.c"

#include "source_fuzz.h"

enum { SHARDS = 5, COLUMNS = 3, PLAN = 7, SHARD_BYTES = 1000 };

/* What the rest of the command provides. */
uint64_t convert_shard_bytes(const struct convert *c, uint64_t shard)
{
    must(shard < c->shards);
    return SHARD_BYTES;
}

char *convert_file(const struct convert *c, uint64_t shard, unsigned column, bool offsets)
{
    (void)c, (void)shard, (void)column, (void)offsets;
    return NULL;
}

int convert_trouble(const char *what, const char *why)
{
    (void)what, (void)why;
    return EXIT_TROUBLE;
}

int convert_no_memory(void)
{
    return EXIT_TROUBLE;
}

void print_error(const char *format, ...)
{
    (void)format;
}

static void repair(uint8_t *bytes, size_t size)
{
    const uint64_t head[] = {PLAN, SHARDS, COLUMNS};

    if (size < HEAD + TAIL)
        return;
    memcpy(bytes, magic, sizeof magic);
    for (int i = 0; i < 3; i++)
        lade_write_number(bytes + 8 + 8 * i, head[i], 8);
    lade_write_number(bytes + 32, (size - HEAD - TAIL) / (16 + 4 * COLUMNS), 8);
    lade_write_number(bytes + size - TAIL, lade_crc32c(0, bytes, size - TAIL), TAIL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shard shards[SHARDS] = {{0}};
    struct convert c = {.plan = PLAN, .shard = shards, .shards = SHARDS, .columns = COLUMNS};

    if (size < 1)
        return 0;
    uint8_t *bytes = malloc(size);
    must(bytes);
    memcpy(bytes, data + 1, size - 1);
    if (!(data[0] & 1))
        repair(bytes, size - 1);
    if (is_intact(bytes, size - 1) && take(&c, bytes, size - 1))
        for (unsigned s = 0; s < SHARDS; s++)
            must(shards[s].done == shards[s].kept && (!shards[s].done || shards[s].bytes == SHARD_BYTES));
    free(bytes);
    return 0;
}
