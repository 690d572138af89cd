/* SPDX-License-Identifier: MIT */
/* The text of a loader's position. */
#include "loader_state.h"

#include "checksum.h"
#include "heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lade_state_free(struct lade_state *s)
{
    lade_ranges_free(&s->done, s->alloc);
    for (unsigned l = 0; l < s->levels; l++)
        lade_level_free(&s->level[l], s->alloc);
}

int lade_state_no_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
}

/* Text that is cut at the end of its buffer, but counted in full. */
struct text {
    char *to;
    size_t capacity, size;
    uint32_t crc;
};

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void
append(struct text *t, const char *format, ...)
{
    char piece[96];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    t->crc = lade_crc32c(t->crc, piece, (size_t)n);
    for (int i = 0; i <= n; i++)
        if (t->size + (size_t)i < t->capacity)
            t->to[t->size + (size_t)i] = i == n || t->size + (size_t)i + 1 == t->capacity ? '\0' : piece[i];
    t->size += (size_t)n;
}

static void write_ranges(struct text *t, const struct lade_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        append(t, "%s%" PRIu64 "-%" PRIu64, i ? "," : "", ranges->range[i].from, ranges->range[i].end);
}

size_t lade_state_write(const struct lade_state *s, char *to, size_t size)
{
    struct text t = {to, size, 0, 0};

    append(&t, "lade-loader 1 identity=%08" PRIx32 " seed=%" PRIu64 " epoch=%" PRIu64, s->identity, s->seed, s->epoch);
    if (s->shards)
        append(&t, " shard=%u/%u", s->shard, s->shards);
    else
        append(&t, " shard=any");
    for (unsigned i = 0; s->is_packed && i < LADE_PACK_WORDS; i++)
        append(&t, "%s%" PRIu64, i ? "," : " packed=", s->packed[i]);
    for (unsigned i = 0; i < s->sources; i++)
        append(&t, "%s%" PRIx32, i ? "," : " mix=", s->weight[i]);
    if (s->from > 0)
        append(&t, " from=%" PRIx64, s->from);
    for (unsigned i = 0; s->from > 0 && i < s->sources; i++)
        append(&t, "%s%" PRIx64, i ? "," : ":", s->taken[i]);
    append(&t, " of=%" PRIu64 " done=", s->total);
    write_ranges(&t, &s->done);
    for (unsigned l = 0; l < s->levels; l++) {
        append(&t, " level=%u:", s->level[l].shards);
        for (unsigned r = 0; r < s->level[l].shards; r++) {
            append(&t, "%s", r ? "/" : "");
            write_ranges(&t, &s->level[l].shard[r]);
        }
    }
    uint32_t crc = t.crc;
    append(&t, " crc=%08" PRIx32, crc);
    return t.size + 1;
}

static bool expect(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_number(const char **at, uint64_t *number)
{
    char *end = NULL;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(*at, &end, 10);
    *at = end;
    *number = value;
    return errno == 0;
}

static bool take_hex(const char **at, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < 8; i++, ++*at) {
        const char *digits = "0123456789abcdef", *d = **at ? strchr(digits, **at) : NULL;
        if (!d)
            return false;
        *number = *number << 4 | (uint32_t)(d - digits);
    }
    return true;
}

/* A number of up to 16 hexadecimal digits. */
static bool take_hex_number(const char **at, uint64_t *number)
{
    const char *digits = "0123456789abcdef", *d;
    int i = 0;

    for (*number = 0; i < 16 && **at && (d = strchr(digits, **at)); i++, ++*at)
        *number = *number << 4 | (uint64_t)(d - digits);
    return i > 0;
}

static bool take_mixture(const char **at, struct lade_state *s)
{
    uint64_t number, sum = 0;

    if (!expect(at, " mix="))
        return true;
    do {
        if (s->sources == LADE_MIXTURE_SOURCES_MAX || !take_hex_number(at, &number) || number > LADE_MIXTURE_WEIGHT_MAX)
            return false;
        s->weight[s->sources++] = (uint32_t)number;
        sum += number;
    } while (expect(at, ","));
    if (sum == 0 || sum > LADE_MIXTURE_WEIGHT_MAX)
        return false;
    if (!expect(at, " from="))
        return true;
    if (!take_hex_number(at, &s->from) || s->from > LADE_PERMUTATION_MAX)
        return false;
    sum = 0;
    for (unsigned i = 0; i < s->sources; i++) {
        if (!expect(at, i ? "," : ":") || !take_hex_number(at, &s->taken[i]) || s->taken[i] > s->from - sum)
            return false;
        sum += s->taken[i];
    }
    return s->from > 0 && sum == s->from;
}

/* LADE_OK, LADE_DAMAGED, LADE_NO_MEMORY. */
static int take_ranges(const char **at, struct lade_ranges *ranges, const struct lade_alloc *alloc)
{
    uint64_t last = 0;

    if (**at < '0' || **at > '9')
        return LADE_OK;
    do {
        uint64_t from, end;
        if (!take_number(at, &from) || !expect(at, "-") || !take_number(at, &end) || from >= end ||
            (ranges->count > 0 && from <= last) || ranges->count == LADE_STATE_RANGES_MAX)
            return LADE_DAMAGED;
        if (lade_ranges_add(ranges, from, end, alloc) != LADE_OK)
            return LADE_NO_MEMORY;
        last = end;
    } while (expect(at, ","));
    return LADE_OK;
}

static int take_level(const char **at, struct lade_state *s)
{
    struct lade_level *level = &s->level[s->levels];
    uint64_t shards;
    int status = LADE_OK;

    if (s->levels == LADE_LEVELS_MAX || !take_number(at, &shards) || shards == 0 || shards > LADE_LOADER_SHARDS_MAX ||
        !expect(at, ":"))
        return LADE_DAMAGED;
    level->shard = lade_heap_get(s->alloc, (size_t)shards, sizeof *level->shard);
    if (!level->shard)
        return LADE_NO_MEMORY;
    level->shards = (unsigned)shards;
    s->levels++;
    for (unsigned r = 0; r < level->shards && status == LADE_OK; r++)
        status = r > 0 && !expect(at, "/") ? LADE_DAMAGED : take_ranges(at, &level->shard[r], s->alloc);
    return status;
}

static int take_fields(const char **at, struct lade_state *s)
{
    uint64_t shard = 0, shards = 0;

    if (!expect(at, "lade-loader 1 identity=") || !take_hex(at, &s->identity) || !expect(at, " seed=") ||
        !take_number(at, &s->seed) || !expect(at, " epoch=") || !take_number(at, &s->epoch) || !expect(at, " shard="))
        return LADE_DAMAGED;
    if (!expect(at, "any") && (!take_number(at, &shard) || !expect(at, "/") || !take_number(at, &shards) ||
                               shards > LADE_LOADER_SHARDS_MAX || shard >= shards))
        return LADE_DAMAGED;
    s->shard = (unsigned)shard;
    s->shards = (unsigned)shards;
    s->is_packed = expect(at, " packed=");
    for (unsigned i = 0; s->is_packed && i < LADE_PACK_WORDS; i++)
        if ((i > 0 && !expect(at, ",")) || !take_number(at, &s->packed[i]))
            return LADE_DAMAGED;
    if (s->epoch == UINT64_MAX || !take_mixture(at, s) || !expect(at, " of=") || !take_number(at, &s->total) ||
        s->total > LADE_PERMUTATION_MAX || !expect(at, " done="))
        return LADE_DAMAGED;
    int status = take_ranges(at, &s->done, s->alloc);
    while (status == LADE_OK && expect(at, " level="))
        status = take_level(at, s);
    return status;
}

int lade_state_read(struct lade_state *s, const char *text, const struct lade_alloc *alloc, struct lade_error *error)
{
    const char *at = text;
    uint32_t crc = 0;

    *s = (struct lade_state){.alloc = alloc};
    int status = take_fields(&at, s);
    if (status == LADE_NO_MEMORY)
        return lade_state_no_memory(error);
    size_t size = (size_t)(at - text);
    if (status != LADE_OK || !expect(&at, " crc=") || !take_hex(&at, &crc) || *at != '\0')
        return lade_fail(error, LADE_DAMAGED, "state", (uint64_t)(at - text), "not a loader state");
    if (crc != lade_crc32c(0, text, size))
        return lade_fail(error, LADE_DAMAGED, "state", size, "the state is damaged: its checksum does not match");
    return LADE_OK;
}
