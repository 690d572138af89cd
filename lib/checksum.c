/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C, eight bytes per step. The polynomial is from Castagnoli, Braeuer, Herrmann, "Optimization of cyclic
 * redundancy-check codes", 1993; the tables, one for each of the eight bytes, are from Kounavis, Berry, "A systematic
 * approach to building high performance software-based CRC generators", 2005.
 */
#include "checksum.h"

/*
 * crc_table[i][n]: the effect of the byte n on the checksum if i bytes follow it. It is linear in the bits of n, so the
 * effects of the eight bits define each row.
 */
#define BIT(n, i, effect) ((n) >> (i)&1 ? UINT32_C(effect) : 0)
#define ONE(n, a, b, c, d, e, f, g, h)                                                                                 \
    BIT(n, 0, a) ^ BIT(n, 1, b) ^ BIT(n, 2, c) ^ BIT(n, 3, d) ^ BIT(n, 4, e) ^ BIT(n, 5, f) ^ BIT(n, 6, g) ^           \
        BIT(n, 7, h)
#define FOUR(n, ...) ONE(n, __VA_ARGS__), ONE(n + 1, __VA_ARGS__), ONE(n + 2, __VA_ARGS__), ONE(n + 3, __VA_ARGS__)
#define SIXTEEN(n, ...)                                                                                                \
    FOUR(n, __VA_ARGS__), FOUR(n + 4, __VA_ARGS__), FOUR(n + 8, __VA_ARGS__), FOUR(n + 12, __VA_ARGS__)
#define SIXTY_FOUR(n, ...)                                                                                             \
    SIXTEEN(n, __VA_ARGS__), SIXTEEN(n + 16, __VA_ARGS__), SIXTEEN(n + 32, __VA_ARGS__), SIXTEEN(n + 48, __VA_ARGS__)
#define ROW(...)                                                                                                       \
    {                                                                                                                  \
        SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__), SIXTY_FOUR(128, __VA_ARGS__),                         \
            SIXTY_FOUR(192, __VA_ARGS__)                                                                               \
    }

static const uint32_t crc_table[8][256] = {
    ROW(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
    ROW(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
    ROW(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
    ROW(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
    ROW(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
    ROW(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
    ROW(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
    ROW(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664),
};

uint32_t lade_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    crc = ~crc;
    for (; size >= 8; size -= 8, byte += 8) {
        crc ^= (uint32_t)lade_read_number(byte, 4);
        crc = crc_table[7][crc & 255] ^ crc_table[6][crc >> 8 & 255] ^ crc_table[5][crc >> 16 & 255] ^
              crc_table[4][crc >> 24] ^ crc_table[3][byte[4]] ^ crc_table[2][byte[5]] ^ crc_table[1][byte[6]] ^
              crc_table[0][byte[7]];
    }
    for (; size > 0; size--)
        crc = crc >> 8 ^ crc_table[0][(crc ^ *byte++) & 255];
    return ~crc;
}
