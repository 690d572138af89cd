/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an index, whose header and checksum are right: refused, or a source that reads nothing beyond its file.
 * The first byte chooses: tar, TFRecord, or record batches.
 */
#include "../load/source_members.c"

#include "arrow.h"
#include "source_members_fuzz.h"

#include "checksum.h"

struct memory {
    const uint8_t *at;
    size_t left;
};

static int get_memory(void *context, void *bytes, size_t size)
{
    struct memory *m = context;

    must(size <= m->left); /* the reader knows the size */
    memcpy(bytes, m->at, size);
    m->at += size;
    m->left -= size;
    return LADE_OK;
}

static void begin(struct lade_index_reader *r, struct memory *m, const uint8_t *data, size_t size)
{
    *m = (struct memory){data, size};
    lade_index_reader_init(r, (struct lade_inlet){.get = get_memory, .context = m}, size + 4,
                           lade_crc32c(0, data, size), NULL);
}

/* A tar of two samples, whose members have texts and classes, and an Example of two features. */
static size_t make_file(uint8_t *to, bool records)
{
    static const char *const names[] = {"0.cls", "0.x", "1.cls", "1.x"};
    static const uint8_t example[] = {0x0a, 0x1d, 0x0a, 0x0d, 0x0a, 0x03, 'c',  'l',  's',  0x12, 0x06,
                                      0x1a, 0x04, 0x0a, 0x02, 0x01, 0x02, 0x0a, 0x0c, 0x0a, 0x01, 'x',
                                      0x12, 0x07, 0x0a, 0x05, 0x0a, 0x03, 1,    2,    3};
    size_t size = 0;

    for (int i = 0; i < 2 && records; i++) {
        lade_write_number(to + size, sizeof example, 8);
        memcpy(to + size + 12, example, sizeof example);
        size += 12 + sizeof example + 4;
    }
    for (int i = 0; i < 4 && !records; i++, size += 1024) {
        memset(to + size, 0, 1024);
        strcpy((char *)to + size, names[i]);
        memcpy(to + size + 124, "00000000001", 11);
        to[size + 156] = '0';
        to[size + 512] = (uint8_t)('0' + i / 2);
    }
    return size;
}

static void check_members_index(const uint8_t *data, size_t size, bool records)
{
    static const struct lade_members_config config = {.size = {.pixels_max = 1 << 14}};
    uint8_t *bytes = malloc(4096);
    must(bytes != NULL);
    const size_t length = make_file(bytes, records);
    struct lade_bytes *file = malloc(sizeof *file);
    struct lade_members *m = calloc(1, sizeof *m);
    must(file && m);
    bytes = realloc(bytes, length); /* of exactly its size */
    must(bytes != NULL);
    *file = (struct lade_bytes){bytes, length, "input"};
    *m = (struct lade_members){.format = records ? &lade_tfrecord : &lade_tar,
                               .file = file,
                               .files = 1,
                               .unpacked = 1 << 16,
                               .schema = {.label = LADE_NO_FIELD, .key = LADE_NO_FIELD, .group = LADE_NO_FIELD},
                               .config = &config};
    struct lade_index_reader r;
    struct memory memory;
    begin(&r, &memory, data, size);
    struct lade_source *source = NULL;
    if (lade_members_take(m, &r) && make_source(&source, m, LADE_INDEX_READ, NULL) == LADE_OK) {
        for (uint64_t i = 0; i < m->count; i++) {
            char name[64];
            int64_t label = -2;
            read_sample(source, i, i & 1, length);
            lade_source_name(source, i, name, sizeof name);
            (void)lade_source_key(source, i);
            must(lade_source_label(source, i, &label, NULL) != LADE_OK || label == LADE_NO_LABEL ||
                 (uint64_t)label < m->classes);
        }
        lade_source_close(source);
    } else {
        close_members(m);
    }
    free(bytes);
}

static uint64_t rows_of(const void *self, uint64_t block)
{
    (void)self;
    return 3 + block;
}

/* A list, a dictionary and an image, in three record batches. */
static void check_arrow_index(const uint8_t *data, size_t size)
{
    struct lade_arrow *t = calloc(1, sizeof *t);
    struct lade_index_reader r;
    struct memory memory;

    must(t != NULL);
    t->columns = 3;
    t->largest = UINT64_MAX;
    t->column[0] = (struct lade_arrow_type){.is_list = true, .value.field.ragged_max = 1};
    t->column[1] = (struct lade_arrow_type){.is_dictionary = true};
    t->column[2] = (struct lade_arrow_type){.is_image = true, .value.size.pixels_max = 1 << 14};
    begin(&r, &memory, data, size);
    if (lade_arrow_take(t, &r, 3, rows_of, NULL)) {
        must(t->blocks == 3 && t->first[0] == 0);
        for (uint64_t b = 0; b < 3; b++) {
            must(t->first[b + 1] - t->first[b] == t->block[b].rows && t->block[b].rows <= t->block[b].all);
            for (uint64_t i = 0; t->block[b].kept && i < t->block[b].rows; i++)
                must(t->block[b].kept[i] < t->block[b].all);
        }
        for (uint64_t i = 0; i < t->first[3]; i++)
            must(t->length[0][i] <= t->column[0].value.field.ragged_max);
        must(t->column[2].value.size.height > 0 && t->column[2].value.size.width > 0);
    } else {
        must(t->blocks == 0 && t->column[1].entries == 0 && t->column[2].value.size.height == 0);
    }
    lade_arrow_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 2)
        check_arrow_index(data + 1, size - 1);
    else
        check_members_index(data + 1, size - 1, data[0] % 3 == 1);
    return 0;
}
