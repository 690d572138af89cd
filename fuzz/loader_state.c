/* SPDX-License-Identifier: MIT */
/*
 * Any text as the state of a loader: refused with a reason, or the loader that continues from it gives each sample at most once in
 * that epoch and just once in the next; of packed batches only the latter. The same text, cut at line ends, as the states of several shards.
 *
 * The first byte of an input chooses the loader and what is done to the text: as it is, with its checksum after it, or with
 * the beginning that this loader's states have as well. Both bits for the latter: a mixture, without a split.
 * options: -max_len=2048
 */
#include "checksum.h"

#include <lade/loader.h>
#include <lade/mixture.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 20, BATCH = 3, TEXT_MAX = 4096, JOINED_MAX = 1 << 16, STATES = 3 };
enum { SHARDS = 3, PAD = 4, IN_ORDER = 8, SPLIT = 16, CHECKED = 32, BEGUN = 64, PACKED = 128 };
enum { LONGEST = 6, ROW = 7, WINDOW = 4, SOURCES = 4 };

static void must(bool good)
{
    if (!good)
        abort();
}

static int read_number(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)self;
    (void)error;
    memcpy(to, &i, sizeof i);
    *label = 0;
    return LADE_OK;
}

/* Sequences of 0 to 6 steps. */
static int length_of(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    (void)self;
    (void)field;
    (void)error;
    *length = i % (LONGEST + 1);
    return LADE_OK;
}

static int read_sequence(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    (void)self;
    (void)error;
    must(views[0].from + views[0].length <= i % (LONGEST + 1));
    memset(views[0].data, (int)i, (size_t)views[0].length);
    return LADE_OK;
}

static struct lade_source *source, *sequences, *mixture[2]; /* of mixture: of numbers, of sequences */
static struct lade_split *split;

static struct lade_source *mix(const struct lade_source_ops *ops, const struct lade_source_info *info)
{
    static const uint32_t weight[SOURCES] = {7, 1, 0x2b, 3};
    struct lade_source *part[SOURCES], *mixed;

    for (int i = 0; i < SOURCES; i++)
        must(lade_source_open_custom(&part[i], ops, NULL, info, NULL, NULL) == LADE_OK);
    const struct lade_source_mixture m = {
        .source = part, .weight = weight, .sources = SOURCES, .end = LADE_MIXTURE_DROP};
    must(lade_source_open_mixture(&mixed, &m, NULL) == LADE_OK);
    return mixed;
}

static void make_once(void)
{
    static const struct lade_source_ops ops = {.read = read_number};
    struct lade_source_info info = {
        .kind = "numbers", .count = COUNT, .shape = {LADE_U64, 0, {0}}, .bytes = 8, .classes = 1};
    static const struct lade_source_ops read = {.length = length_of, .read_fields = read_sequence};
    static const struct lade_field field = {.name = "steps", .dtype = LADE_U8, .ragged_max = LONGEST};
    const struct lade_schema schema = {1, &field, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};
    struct lade_source_info packed = {.kind = "sequences", .count = COUNT, .schema = &schema};
    const struct lade_split_config halves = {.parts = 2, .store = LADE_SPLIT_PURE};

    if (source)
        return;
    must(lade_source_open_custom(&source, &ops, NULL, &info, NULL, NULL) == LADE_OK);
    must(lade_source_open_custom(&sequences, &read, NULL, &packed, NULL, NULL) == LADE_OK);
    must(lade_split_create(&split, &halves, NULL) == LADE_OK);
    info.count = packed.count = COUNT / SOURCES;
    mixture[0] = mix(&ops, &info);
    mixture[1] = mix(&read, &packed);
}

static struct lade_loader_config config_of(uint8_t choice)
{
    const bool mixes = choice & CHECKED && choice & BEGUN, packs = choice & PACKED;

    return (struct lade_loader_config){.source = mixes   ? mixture[packs]
                                                 : packs ? sequences
                                                         : source,
                                       .pack_row = packs ? ROW : 0,
                                       .pack_window = packs ? WINDOW : 0,
                                       .split = choice & SPLIT && !mixes ? split : NULL,
                                       .batch = BATCH,
                                       .threads = 1,
                                       .slots = 2,
                                       .in_order = choice & IN_ORDER,
                                       .pad = choice & PAD,
                                       .shards = (choice & SHARDS) + 1,
                                       .shard = choice & SHARDS};
}

/* Two epochs. */
static void check_order(struct lade_loader *l, const struct lade_loader_config *c)
{
    struct lade_loader_stats stats;
    struct lade_batch b;
    uint64_t first = UINT64_MAX, taken = 0;

    lade_loader_stats(l, &stats);
    for (unsigned seen[2][COUNT] = {{0}};;) {
        must(lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK);
        first = first == UINT64_MAX ? b.epoch : first;
        must(b.epoch == first || b.epoch == first + 1);
        for (uint64_t i = 0; i < b.count; i++) {
            must(b.ids[i] < COUNT);
            must(seen[b.epoch - first][b.ids[i]]++ == 0 || (c->pack_row ? b.epoch == first : c->pad));
        }
        taken += b.epoch == first ? 0 : b.count;
        bool ends = b.last && b.epoch != first;
        lade_loader_release(l, &b);
        if (ends)
            break;
    }
    must(taken == stats.samples || (c->pack_row && c->shards > 1));
}

static void check_resume(uint8_t choice, const char *text)
{
    const struct lade_loader_config config = config_of(choice);
    struct lade_loader *l = NULL, *again = NULL;
    struct lade_error error = {.text = ""};
    int status = lade_loader_resume(&l, &config, text, &error);

    must(status == LADE_OK || status == LADE_DAMAGED || status == LADE_CONFLICT);
    must(status == LADE_OK || (error.status == status && error.text[0]));
    if (status != LADE_OK)
        return;
    /* Its own state is one. */
    size_t size = lade_loader_state(l, NULL, 0);
    char *own = malloc(size);
    must(size > 0 && own && lade_loader_state(l, own, size) == size);
    must(lade_loader_resume(&again, &config, own, NULL) == LADE_OK);
    lade_loader_destroy(again);
    free(own);
    check_order(l, &config);
    lade_loader_destroy(l);
}

/* The text with what was asked for around it. */
static void dress(uint8_t choice, const char *text, char to[TEXT_MAX + 600])
{
    size_t n = 0;

    if (choice & BEGUN) {
        const struct lade_loader_config config = config_of(choice);
        struct lade_loader *l;
        char own[500];
        must(lade_loader_create(&l, &config, NULL) == LADE_OK);
        must(lade_loader_state(l, own, sizeof own) <= sizeof own);
        lade_loader_destroy(l);
        n = (size_t)(strstr(own, "epoch=") - own);
        memcpy(to, own, n);
    }
    strcpy(to + n, text);
    n += strlen(text);
    if (choice & (CHECKED | BEGUN))
        (void)snprintf(to + n, 20, " crc=%08x", (unsigned)lade_crc32c(0, to, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT_MAX], dressed[STATES][TEXT_MAX + 600], joined[JOINED_MAX];
    const char *states[STATES] = {dressed[0], dressed[1], dressed[2]};
    struct lade_error error = {.text = ""};
    unsigned count = 0;

    if (size < 1 || size > TEXT_MAX)
        return 0;
    make_once();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (char *line = text, *end; line && count < STATES; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        dress(data[0], line, dressed[count++]);
    }
    check_resume(data[0], dressed[0]);
    size_t needed = lade_loader_merge_states(states, count, joined, sizeof joined, NULL, &error);
    must(needed > 0 || (error.status < 0 && error.text[0]));
    if (needed > 0 && needed <= sizeof joined) {
        must(strlen(joined) + 1 == needed);
        check_resume(data[0], joined);
    }
    return 0;
}
