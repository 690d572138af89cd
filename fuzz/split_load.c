/* SPDX-License-Identifier: MIT */
/*
 * Loading a split from any bytes: no crash, and what was loaded can be used.
 *
 * With the bit UNCHECKED in the first byte of an input every checksum of the split's own parts counts as zero, so that the
 * parts after them are reached; the rest is the file. The entries of a table keep their real checksums: table_load is
 * about them. Memory that liburcu frees later looks like a leak of each input to libFuzzer, so leaks are looked for at the
 * end only.
 *
 * options: -detect_leaks=0
 */
#define _GNU_SOURCE
#define LADE_SPLIT_CRC chosen_crc
#include <stddef.h>
#include <stdint.h>
static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size);
#include "split_file.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

enum { UNCHECKED = 0x80, MOST = 1 << 24 };

static bool unchecked;

static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size)
{
    return unchecked ? 0 : lade_crc32c(crc, bytes, size);
}

static void must(bool good)
{
    if (!good)
        abort();
}

/* A few bytes can ask for a quota of 2^30 tokens, and rightly so. */
static void *get_some(void *context, size_t size, size_t align)
{
    (void)context;
    return size > MOST ? NULL : aligned_alloc(align, size);
}

static void put_some(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static void use(struct lade_split *s)
{
    struct lade_split_stats stats;
    struct lade_split_config config;

    lade_split_get_config(s, &config);
    must(config.parts > 0 && config.parts <= LADE_SPLIT_PARTS_MAX);
    for (uint64_t key = 0; key < 20; key++) {
        unsigned part = 0, again = 0;
        int status = lade_split_route_word(s, key, &part);
        must(status == LADE_OK ? part < config.parts : part == LADE_SPLIT_NO_PART);
        if (status == LADE_OK)
            must(lade_split_route_word(s, key, &again) == LADE_OK && (again == part || config.uncorrected));
    }
    must(lade_split_stats(s, &stats, NULL) == LADE_OK);
    must(stats.collision >= 0 && stats.collision <= 1 && stats.share >= 0 && stats.share <= 1.000001);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lade_alloc alloc = {get_some, put_some, NULL};
    static int file = -1;
    static char path[64];
    struct lade_split *s = NULL;
    struct lade_error error = {.offset = 0};

    if (size == 0)
        return 0;
    if (file < 0) {
        urcu_memb_register_thread();
        file = memfd_create("split", MFD_CLOEXEC);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    must(ftruncate(file, 0) == 0 && pwrite(file, data + 1, size - 1, 0) == (ssize_t)size - 1);
    unchecked = data[0] & UNCHECKED;
    int status = lade_split_load(&s, path, &alloc, &error);
    must((status == LADE_OK) == (s != NULL));
    must(status == LADE_OK || status == LADE_DAMAGED || status == LADE_INVALID || status == LADE_NO_MEMORY ||
         status == LADE_LIMITED);
    must(error.offset < size && error.status == status);
    if (s)
        use(s);
    lade_split_destroy(s);
    return 0;
}
