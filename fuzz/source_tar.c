/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as tar. The first byte chooses the fields. The checksums of headers are made right unless it is odd: else
 * hardly anything would get past them.
 */
#include "source_members_fuzz.h"

#include <stdio.h>

static void repair(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 0;
        char text[8];
        if (memcmp(data + at + 257, "ustar", 5) != 0)
            continue;
        for (size_t i = 0; i < 512; i++)
            sum += i >= 148 && i < 156 ? ' ' : data[at + i];
        (void)snprintf(text, sizeof text, "%06o", sum);
        memcpy(data + at + 148, text, 7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"jpg;png;txt", "cls", "json.a"};
    struct lade_members_config config;

    if (size < 2)
        return 0;
    uint8_t *copy = malloc(size - 1);
    must(copy);
    memcpy(copy, data + 1, size - 1);
    if (!(data[0] & 1))
        repair(copy, size - 1);
    configure(&config, data[0], names);
    check_members(&lade_tar, &config, copy, size - 1);
    free(copy);
    return 0;
}
