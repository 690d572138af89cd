/* SPDX-License-Identifier: MIT */
#include "../checksum.h"

#include <criterion/criterion.h>

/* The definition, bit by bit. */
static uint32_t by_bits(uint32_t crc, const unsigned char *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size * 8; i++) {
        crc ^= bytes[i / 8] >> i % 8 & 1;
        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

Test(checksum, known_values)
{
    static const unsigned char zeros[32];

    /* The first is the check value of every catalogue of such codes, the second is in RFC 3720. */
    cr_assert_eq(lade_crc32c(0, "123456789", 9), UINT32_C(0xe3069283));
    cr_assert_eq(lade_crc32c(0, zeros, sizeof zeros), UINT32_C(0x8a9136aa));
    cr_assert_eq(lade_crc32c(0, NULL, 0), 0);
    cr_assert_eq(lade_crc32c(7, NULL, 0), 7);
}

Test(checksum, every_size_and_place_is_as_defined)
{
    unsigned char bytes[96];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i + 31 * i + 200);
    for (size_t from = 0; from < 16; from++)
        for (size_t size = 0; size <= sizeof bytes - from; size++) {
            uint32_t expected = by_bits(0, bytes + from, size);
            cr_assert_eq(lade_crc32c(0, bytes + from, size), expected);
            for (size_t first = 0; first <= size; first++)
                cr_assert_eq(lade_crc32c(lade_crc32c(0, bytes + from, first), bytes + from + first, size - first),
                             expected, "in two parts it is the same");
        }
}

/* Every entry of the tables is used. */
Test(checksum, every_byte_at_every_place_is_as_defined)
{
    for (size_t at = 0; at < 8; at++)
        for (unsigned n = 0; n < 256; n++) {
            unsigned char bytes[8] = {0};
            bytes[at] = (unsigned char)n;
            cr_assert_eq(lade_crc32c(UINT32_C(0xffffffff), bytes, 8), by_bits(UINT32_C(0xffffffff), bytes, 8));
        }
}

Test(checksum, numbers_are_little_endian)
{
    unsigned char bytes[8] = {9, 9, 9, 9, 9, 9, 9, 9};

    lade_write_number(bytes, UINT64_C(0x0102030405060708), 3);
    cr_assert_arr_eq(bytes, "\x08\x07\x06\x09\x09\x09\x09\x09", 8);
    cr_assert_eq(lade_read_number(bytes, 3), UINT64_C(0x060708));
    lade_write_number(bytes, UINT64_C(0x8102030405060708), 8);
    cr_assert_arr_eq(bytes, "\x08\x07\x06\x05\x04\x03\x02\x81", 8);
    cr_assert_eq(lade_read_number(bytes, 8), UINT64_C(0x8102030405060708));
}
