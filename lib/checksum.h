/* SPDX-License-Identifier: MIT */
/* Numbers and checksums in files: little endian, CRC-32C. Internal to the libraries of lade. */
#ifndef LADE_LIB_CHECKSUM_H
#define LADE_LIB_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of bytes that follow the bytes with checksum crc; 0 at the beginning. */
uint32_t lade_crc32c(uint32_t crc, const void *bytes, size_t size);

static inline void lade_write_number(unsigned char *to, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

static inline uint64_t lade_read_number(const unsigned char *from, int size)
{
    uint64_t number = 0;

    for (int i = 0; i < size; i++)
        number |= (uint64_t)from[i] << 8 * i;
    return number;
}

#endif
