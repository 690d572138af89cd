/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as TFRecord. The first byte chooses the fields. The checksums are made right unless it is odd: else hardly
 * anything would get past them.
 */
#include "source_members_fuzz.h"

#include "checksum.h"

static void write_checksum(uint8_t *bytes, size_t size)
{
    const uint32_t crc = lade_crc32c(0, bytes, size);

    lade_write_number(bytes + size, (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8)), 4);
}

static void repair(uint8_t *data, size_t size)
{
    size_t at = 0;

    while (size - at >= 16) {
        const uint64_t length = lade_read_number(data + at, 8);
        write_checksum(data + at, 8);
        if (length > size - at - 16)
            break;
        write_checksum(data + at + 12, (size_t)length);
        at += 16 + (size_t)length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"image", "label", "x"};
    struct lade_members_config config;

    if (size < 2)
        return 0;
    uint8_t *copy = malloc(size - 1);
    must(copy);
    memcpy(copy, data + 1, size - 1);
    if (!(data[0] & 1))
        repair(copy, size - 1);
    configure(&config, data[0], names);
    config.unchecked = false;
    check_members(&lade_tfrecord, &config, copy, size - 1);
    free(copy);
    return 0;
}
