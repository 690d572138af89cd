/* SPDX-License-Identifier: MIT */
/*
 * lade convert: which shards are whole. The file OUT.convert has a hash of the plan and, of each whole shard, its bytes
 * and a checksum for each field. It is replaced after each shard, so that a killed run loses at most one.
 *
 * 8 bytes "ladeconv", the plan, shards, columns, shards that are done; for each of those its number, its bytes and 4
 * bytes for each column; CRC-32C of all that. Numbers have 8 bytes, little-endian.
 */
#include "convert.h"

#include "checksum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 40, TAIL = 4 };
static const char magic[8] = {'l', 'a', 'd', 'e', 'c', 'o', 'n', 'v'};

char *convert_state_file(const struct convert *c)
{
    const size_t size = strlen(c->out) + sizeof ".convert";
    char *path = malloc(size);

    if (path)
        (void)snprintf(path, size, "%s.convert", c->out);
    return path;
}

static size_t entry_size(const struct convert *c)
{
    return 16 + 4 * c->columns;
}

static uint64_t write_entries(const struct convert *c, uint8_t *at)
{
    uint64_t done = 0;

    for (uint64_t s = 0; s < c->shards; s++) {
        if (!c->shard[s].done)
            continue;
        lade_write_number(at, s, 8);
        lade_write_number(at + 8, c->shard[s].bytes, 8);
        for (unsigned f = 0; f < c->columns; f++)
            lade_write_number(at + 16 + 4 * f, c->shard[s].checksum[f], 4);
        at += entry_size(c);
        done++;
    }
    return done;
}

int convert_save_state(const struct convert *c)
{
    uint8_t *bytes = malloc(HEAD + (size_t)c->shards * entry_size(c) + TAIL);
    char *path = convert_state_file(c);
    struct lade_file file;
    int code = EXIT_DONE;

    if (bytes && path) {
        const uint64_t done = write_entries(c, bytes + HEAD);
        const size_t size = HEAD + (size_t)done * entry_size(c);
        const uint64_t head[] = {c->plan, c->shards, c->columns, done};
        memcpy(bytes, magic, sizeof magic);
        for (int i = 0; i < 4; i++)
            lade_write_number(bytes + 8 + 8 * i, head[i], 8);
        lade_write_number(bytes + size, lade_crc32c(0, bytes, size), TAIL);
        int status = lade_file_create(&file, path);
        if (status == LADE_OK && !lade_file_put(&file, bytes, size + TAIL))
            lade_file_drop(&file), status = LADE_IO;
        else if (status == LADE_OK)
            status = lade_file_replace(&file);
        if (status != LADE_OK)
            code = convert_trouble(path, strerror(errno));
    } else {
        code = convert_no_memory();
    }
    free(bytes);
    free(path);
    return code;
}

/* The whole file, or NULL: there is none, or it cannot be read; then errno has the reason. */
static uint8_t *read_file(const char *path, size_t *size, size_t most)
{
    struct lade_file file;

    *size = 0;
    if (lade_file_open(&file, path) != LADE_OK)
        return NULL;
    const uint64_t bytes = lade_file_size(&file);
    uint8_t *to = bytes <= most ? malloc((size_t)bytes + 1) : NULL;
    if (!to || lade_file_get(&file, to, (size_t)bytes) != LADE_OK) {
        errno = to ? EIO : EFBIG;
        free(to);
        to = NULL;
    }
    *size = (size_t)bytes;
    lade_file_drop(&file);
    return to;
}

static bool is_intact(const uint8_t *bytes, size_t size)
{
    return size >= HEAD + TAIL && !memcmp(bytes, magic, sizeof magic) &&
           lade_crc32c(0, bytes, size - TAIL) == (uint32_t)lade_read_number(bytes + size - TAIL, TAIL);
}

/* Takes the shards that are whole; false: the state is that of another conversion. */
static bool take(struct convert *c, const uint8_t *bytes, size_t size)
{
    const uint64_t done = lade_read_number(bytes + 32, 8);
    const uint8_t *at = bytes + HEAD;

    if (lade_read_number(bytes + 8, 8) != c->plan || lade_read_number(bytes + 16, 8) != c->shards ||
        lade_read_number(bytes + 24, 8) != c->columns || done > c->shards ||
        size != HEAD + (size_t)done * entry_size(c) + TAIL)
        return false;
    for (uint64_t i = 0; i < done; i++, at += entry_size(c)) {
        const uint64_t number = lade_read_number(at, 8);
        if (number >= c->shards)
            return false;
        struct shard *shard = &c->shard[number];
        shard->bytes = lade_read_number(at + 8, 8);
        for (unsigned f = 0; f < c->columns; f++)
            shard->checksum[f] = (uint32_t)lade_read_number(at + 16 + 4 * f, 4);
        shard->done = shard->kept = convert_shard_bytes(c, number) == shard->bytes;
    }
    return true;
}

/* Without a state nothing that is there may be overwritten unasked. */
static int check_free(const struct convert *c)
{
    for (uint64_t s = 0; s < c->shards; s++)
        for (unsigned f = 0; f < (c->format == TO_NPY ? c->columns : 1); f++) {
            char *path = convert_file(c, s, f, false);
            FILE *there = path ? fopen(path, "rb") : NULL;
            if (there) {
                (void)fclose(there);
                print_error("convert: %s exists and was not written by this conversion; --replace overwrites it", path);
            }
            free(path);
            if (there || !path)
                return there ? EXIT_USAGE : convert_no_memory();
        }
    return EXIT_DONE;
}

int convert_load_state(struct convert *c)
{
    char *path = convert_state_file(c);
    size_t size;
    int code = EXIT_DONE;

    if (!path)
        return convert_no_memory();
    errno = 0;
    uint8_t *bytes = read_file(path, &size, HEAD + SHARDS_MAX * entry_size(c) + TAIL);
    if (!bytes && errno != ENOENT && errno != EFBIG) {
        code = convert_trouble(path, strerror(errno));
    } else if (!bytes && errno == ENOENT) {
        code = c->replace ? EXIT_DONE : check_free(c);
    } else if ((!bytes || !is_intact(bytes, size) || !take(c, bytes, size)) && !c->replace) {
        print_error("convert: %s is of another conversion, or damaged; choose another OUT, or --replace begins again",
                    path);
        code = EXIT_USAGE;
    }
    free(bytes);
    free(path);
    return code == EXIT_DONE ? convert_save_state(c) : code;
}
