/* SPDX-License-Identifier: MIT */
/* Reading a table from any bytes. The harness defines the kind of table (WORDS) and the sizes of blocks and keys. */
#include "harness.h"

#include <stddef.h>
#include <stdint.h>

uint32_t nondet_uint32(void);
int nondet_int(void);

/* Any result: this covers every stream with valid checksums and every stream with invalid ones. */
static uint32_t any_checksum(uint32_t crc, const void *bytes, size_t size)
{
    assert(size == 0 || __CPROVER_r_ok(bytes, size));
    (void)crc;
    return nondet_uint32();
}

/*
 * Few object sizes keep the proof simple. The content of an allocated object is arbitrary, as are the bytes read
 * before.
 */
static void *any_realloc(void *old, size_t size)
{
    assert(!WORDS);
    assume(size == 2 * LADE_TABLE_SAVE_BLOCK || size == LONGEST);
    void *memory = size == LONGEST ? malloc(LONGEST) : malloc(2 * LADE_TABLE_SAVE_BLOCK);
    if (memory)
        free(old);
    return memory;
}

#define realloc any_realloc
#define LADE_TABLE_SAVE_CRC any_checksum
#include "table_save.c"

struct lade_table {
    int unused;
};

static struct lade_table table;
static uint64_t given;   /* bytes that get() returned */
static uint64_t content; /* of the block, still to be read */
static uint64_t at_head; /* start of the block */
static int calls, blocks, inserts, inserts_before;

static void setup(void)
{
}

/* The length in the header, to distinguish content from headers. */
static void check_head(const unsigned char *head)
{
    uint64_t count = lade_read_number(head, 4), keys = lade_read_number(head + 4, 4);

    assume(count != 1 || keys <= LONGEST - BYTES_ENTRY);
    content = count == 0 ? TOTAL : count * (WORDS ? WORD_ENTRY : BYTES_ENTRY) + keys;
}

/* Arbitrary bytes, and sometimes the end of the stream. */
static int get_any(void *context, void *bytes, size_t size)
{
    bool is_content = __CPROVER_DYNAMIC_OBJECT(bytes), is_head = !is_content && calls > 0;

    assert(context == &given);
    assert(__CPROVER_w_ok(bytes, size));
    assume(calls++ < CALLS);
    if (is_head) {
        assert(size == BLOCK_HEAD && content == 0);
        at_head = given;
        inserts_before = inserts;
        blocks++;
    } else if (is_content) {
        assert(size <= content);
    }
    switch (nondet_uint32() % 4) {
    case 0:
        return LADE_EMPTY;
    case 1:
        return LADE_IO;
    }
    __CPROVER_havoc_object(bytes); /* bytes after them do not matter */
    given += size;
    if (is_head)
        check_head(bytes);
    else if (is_content)
        content -= size;
    return LADE_OK;
}

int lade_table_get_bytes(struct lade_table *t, const void *key, size_t size, uint64_t *value)
{
    assert(t == &table && size == 0 && !value && key);
    return WORDS ? LADE_INVALID : LADE_ABSENT;
}

static int insert_any(uint64_t value)
{
    static const int statuses[] = {LADE_OK, LADE_PRESENT, LADE_NO_MEMORY, LADE_FULL};
    unsigned choice = nondet_uint32() % 4;

    assert(value <= LADE_TABLE_VALUE_MAX);
    assert(content == 0); /* all of the block was read */
    if (inserts_before > 0)
        cover(second_block);
    inserts++;
    return statuses[choice];
}

size_t lade_table_insert_many(struct lade_table *t, const uint64_t *keys, size_t count, const uint64_t *values,
                              uint64_t *winners, int *status)
{
    assert(t == &table && WORDS && count >= 1 && count <= 2);
    assert(__CPROVER_r_ok(keys, count * sizeof *keys) && __CPROVER_w_ok(winners, count * sizeof *winners));
    for (size_t i = 0; i < count; i++)
        status[i] = insert_any(values[i]);
    return 0;
}

int lade_table_insert_bytes(struct lade_table *t, const void *key, size_t size, uint64_t value, uint64_t *winner)
{
    assert(t == &table && !WORDS && !winner);
    assert(size == 0 || __CPROVER_r_ok(key, size));
    if (size > LADE_TABLE_SAVE_BLOCK)
        cover(large);
    return insert_any(value);
}

int lade_table_for_each(struct lade_table *t, bool (*visit)(void *, const struct lade_table_entry *), void *context,
                        uint64_t *visited)
{
    (void)t, (void)visit, (void)context, (void)visited;
    assert(0);
    return 0;
}

int lade_table_reserve(struct lade_table *t, uint64_t keys)
{
    assert(t == &table && keys >= FEW);
    return nondet_int();
}

int lade_table_stats_sized(struct lade_table *t, struct lade_table_stats *stats, size_t size)
{
    assert(t == &table && size == sizeof *stats);
    stats->keys = nondet_uint32();
    return nondet_int();
}

static void thread(int id)
{
    struct lade_inlet source = {get_any, &given, 0};
    uint64_t offset = UINT64_MAX;

    (void)id;
    int status = lade_table_read(&table, &source, nondet_uint32(), &offset);
    assert(source.at == given && offset <= given);
    if (status == LADE_OK) {
        assert(offset == given && given >= HEADER + BLOCK_HEAD + TOTAL);
        cover(complete);
        return;
    }
    assert(blocks > 0 ? offset == at_head && offset >= HEADER : offset == 0 && inserts == 0);
    switch (status) {
    case LADE_IO:
    case LADE_DAMAGED:
        assert(inserts == inserts_before);
        if (status == LADE_IO)
            cover(cut);
        else
            cover(damaged);
        break;
    case LADE_INVALID:
        assert(blocks == 0);
        cover(other);
        break;
    case LADE_NO_MEMORY:
        cover(no_memory);
        break;
    default:
        assert(status == LADE_FULL && inserts > inserts_before);
        cover(refused);
    }
}

static void finish(void)
{
}
