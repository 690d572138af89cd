/* SPDX-License-Identifier: MIT */
/* Flat files of tokens, and Megatron's. */
#define _GNU_SOURCE
#include "source_members.h"

#include "members.h"

static void tokens_file(const char *name, uint16_t first, unsigned count)
{
    static struct blob file;

    file.size = 0;
    for (unsigned i = 0; i < count; i++)
        add_number(&file, first + i, 2);
    put_file(name, file.data, file.size);
}

Test(tokens, flat, .init = make_folder, .fini = remove_folder)
{
    uint16_t to[4];
    struct lade_source *source;

    tokens_file("a", 300, 10);
    tokens_file("b", 400, 4);
    source = open_file("tokens:@/a,@/b,length=4");
    cr_assert_eq(lade_source_info(source)->count, 3, "two, without the last two tokens, and one");
    cr_assert_eq(lade_source_info(source)->shape.dtype, LADE_U16);
    cr_assert_eq(lade_source_read(source, 1, to, NULL, NULL), LADE_OK);
    cr_assert(to[0] == 304 && to[3] == 307);
    cr_assert_eq(lade_source_read(source, 2, to, NULL, NULL), LADE_OK);
    cr_assert(to[0] == 400 && to[3] == 403);
    lade_source_close(source);
    source = open_file("tokens:@/a,length=4,stride=3,header=2"); /* the next token of each sequence is in it, too */
    cr_assert_eq(lade_source_info(source)->count, 2);
    cr_assert_eq(lade_source_read(source, 1, to, NULL, NULL), LADE_OK);
    cr_assert(to[0] == 304 && to[3] == 307);
    lade_source_close(source);
    source = open_file("tokens:@/a,length=5,dtype=u32");
    cr_assert_eq(lade_source_info(source)->bytes, 20);
    lade_source_close(source);
    refuses("tokens:@/a", LADE_INVALID, LADE_NO_OFFSET, "length=N, the tokens of a sequence, is missing");
    refuses("tokens:@/a,length=11", LADE_DAMAGED, 20, "has 10 tokens, less than a sequence of length=11");
    refuses("tokens:@/a,length=2,header=1", LADE_DAMAGED, 19, "ends inside a token of 2 bytes");
    refuses("tokens:@/a,length=2,header=21", LADE_DAMAGED, 20, "ends inside the header of 21 bytes");
    refuses("tokens:@/a,length=2,dtype=f32", LADE_INVALID, LADE_NO_OFFSET, "not 'f32'");
    refuses("tokens:@/a,length=18446744073709551615", LADE_INVALID, LADE_NO_OFFSET, "above 2^60");
    refuses("tokens:@/a,length=2,stride=0", LADE_INVALID, LADE_NO_OFFSET, "stride is zero");
    refuses("tokens:length=2", LADE_INVALID, LADE_NO_OFFSET, "the name of a file is missing");
}

static struct blob idx;

/* Sequences of 3, 0, 2 and 4 tokens; documents of two sequences, of none, and of two. */
static void megatron(void)
{
    static const int lengths[] = {3, 0, 2, 4}, starts[] = {0, 3, 3, 5}, documents[] = {0, 2, 2, 4};

    make_folder();
    idx.size = 0;
    add(&idx, "MMIDIDX\0\0", 9);
    add_number(&idx, 1, 8);
    add_number(&idx, 8, 1);
    add_number(&idx, 4, 8);
    add_number(&idx, 4, 8);
    for (unsigned i = 0; i < 4; i++)
        add_number(&idx, (uint64_t)lengths[i], 4);
    for (unsigned i = 0; i < 4; i++)
        add_number(&idx, 2 * (uint64_t)starts[i], 8);
    for (unsigned i = 0; i < 4; i++)
        add_number(&idx, (uint64_t)documents[i], 8);
    put_file("a.idx", idx.data, idx.size);
    tokens_file("a.bin", 500, 9);
}

Test(megatron, documents, .init = megatron, .fini = remove_folder)
{
    uint16_t to[2];
    struct lade_source *source = open_file("megatron:@/a");

    cr_assert_eq(lade_source_info(source)->count, 3);
    cr_assert_eq(lade_source_info(source)->index_bytes, 0);
    check_field(source, 0, "tokens", LADE_U16, 0, 0, 6);
    cr_assert_eq(steps_of(source, 0, 0), 3);
    cr_assert_eq(steps_of(source, 1, 0), 0);
    cr_assert_eq(steps_of(source, 2, 0), 6);
    has(source, 2, 0, (uint16_t[]){503, 504, 505, 506, 507, 508}, 12);
    cr_assert_eq(read_part(source, 2, 0, 4, 2, to, NULL), LADE_OK);
    cr_assert(to[0] == 507 && to[1] == 508);
    cr_assert_eq(read_part(source, 2, 0, 5, 2, to, NULL), LADE_INVALID);
    lade_source_close(source);
    source = open_file("megatron:@/a.bin,samples=sequences");
    cr_assert_eq(lade_source_info(source)->count, 4);
    has(source, 3, 0, (uint16_t[]){505, 506, 507, 508}, 8);
    lade_source_close(source);
    refuses("megatron:@/a,samples=words", LADE_INVALID, LADE_NO_OFFSET, "documents or sequences");
    refuses("megatron:@/b", LADE_IO, LADE_NO_OFFSET, "b.idx");
}

Test(megatron, damage, .init = megatron, .fini = remove_folder)
{
    static const struct {
        size_t at;
        uint8_t value;
        uint64_t offset;
        const char *text;
    } cases[] = {
        {0, 'X', 0, "is not an index of Megatron"},
        {9, 2, 9, "version"},
        {17, 0, 17, "no element type 0"},
        {17, 9, 17, "no element type 9"},
        {18, 200, 114, "ends inside its tables"},
        {25, 0xff, 114, "ends inside its tables"},
        {33, 0xff, 114, "ends inside its tables"},
        {26, 3, 106, "continues after its tables"},
        {34, 100, 50, "outside the file of tokens"},
        {37, 0x80, 34, "is negative"},
        {57, 0xff, 50, "outside the file of tokens"},
        {58, 2, 58, "not adjacent"},
        {82, 1, 82, "do not cover all sequences"},
        {106, 3, 82, "do not cover all sequences"},
        {98, 1, 98, "not in order"},
        {90, 9, 90, "not in order"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t before = idx.data[cases[i].at];
        idx.data[cases[i].at] = cases[i].value;
        put_file("a.idx", idx.data, idx.size);
        refuses("megatron:@/a", LADE_DAMAGED, cases[i].offset, cases[i].text);
        idx.data[cases[i].at] = before;
    }
    for (size_t size = 1; size < idx.size; size++) {
        struct lade_source *source;
        put_file("a.idx", idx.data, size);
        cr_assert_eq(lade_source_open(&source, in_folder("megatron:@/a"), NULL, NULL), LADE_DAMAGED, "%d", (int)size);
    }
}

/* An index that changes after it was checked never leads outside the tokens. */
Test(megatron, changes, .init = megatron, .fini = remove_folder)
{
    static const uint8_t values[] = {0, 1, 3, 0x7f, 0x80, 0xff};
    unsigned refused = 0;

    for (int whole = 0; whole < 2; whole++)
        for (size_t at = 34; at < idx.size; at++)
            for (size_t v = 0; v < sizeof values; v++) {
                uint8_t *index = malloc(idx.size), *tokens = malloc(18), *to = malloc(12);
                struct lade_megatron m;
                struct lade_error error;
                cr_assert(index && tokens && to);
                memcpy(index, idx.data, idx.size);
                memset(tokens, 1, 18);
                cr_assert_eq(lade_megatron_parse(&m, (struct lade_bytes){index, idx.size, "index"},
                                                 (struct lade_bytes){tokens, 18, "tokens"}, whole, NULL),
                             LADE_OK);
                index[at] = values[v];
                for (uint64_t i = 0; i < m.count; i++) {
                    uint64_t length;
                    int status = lade_megatron_length(&m, i, &length, &error);
                    if (status == LADE_OK) {
                        cr_assert_leq(length, m.longest);
                        cr_assert_eq(lade_megatron_read(&m, i, &(struct lade_view){to, 0, length}, &error), LADE_OK);
                        continue;
                    }
                    cr_assert_eq(status, LADE_DAMAGED);
                    cr_assert_not_null(strstr(error.text, "has changed"), "%s", error.text);
                    cr_assert_eq(lade_megatron_read(&m, i, &(struct lade_view){to, 0, 1}, &error), LADE_DAMAGED);
                    refused++;
                }
                free(index);
                free(tokens);
                free(to);
            }
    cr_assert_gt(refused, 100);
}
