/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

unsigned lade_utf8_length(const char *text, size_t size)
{
    unsigned char c[4] = {0};

    memcpy(c, text, size < 4 ? size : 4);
    unsigned length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] <= 0xf4 ? 4 : 0;
    if (size < length)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and values above U+10FFFF. */
    bool wrong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
                 (c[0] == 0xf4 && c[1] > 0x8f);
    return wrong ? 0 : length;
}

/* Control characters of ASCII and U+0080 to U+009F, which some terminals interpret as well. */
static bool is_control(const unsigned char *c, unsigned length)
{
    return length == 1 ? *c < ' ' || *c == 0x7f : length == 2 && c[0] == 0xc2 && c[1] < 0xa0;
}

size_t lade_escape(char *to, size_t capacity, const char *text, size_t size)
{
    size_t used = 0;

    for (size_t at = 0; at < size;) {
        const unsigned char *c = (const unsigned char *)text + at;
        unsigned length = lade_utf8_length(text + at, size - at);
        char piece[5];
        size_t n = length;
        if (length == 0 || is_control(c, length)) {
            length = 1; /* one byte at a time */
            n = (size_t)(*c == '\n'   ? snprintf(piece, sizeof piece, "\\n")
                         : *c == '\t' ? snprintf(piece, sizeof piece, "\\t")
                                      : snprintf(piece, sizeof piece, "\\x%02x", *c));
        } else {
            memcpy(piece, c, n);
        }
        if (used + n >= capacity)
            break;
        memcpy(to + used, piece, n);
        used += n;
        at += length;
    }
    if (capacity > 0)
        to[used] = '\0';
    return used;
}
