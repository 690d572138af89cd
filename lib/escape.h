/* SPDX-License-Identifier: MIT */
/*
 * Names and other bytes of unknown origin, made safe for a terminal or a line of text. Internal to the libraries of lade.
 */
#ifndef LADE_LIB_ESCAPE_H
#define LADE_LIB_ESCAPE_H

#include <stddef.h>

/* Bytes of the UTF-8 character at text, of which size bytes can be read; 0 when they are not UTF-8. */
unsigned lade_utf8_length(const char *text, size_t size);

/*
 * Copies text with control characters and bytes that are not UTF-8 as \n, \t or \xNN; a backslash stays as it is. At most
 * room - 1 bytes and a final zero are written, and no character or escape in part. Returns the bytes before the zero.
 */
size_t lade_escape(char *to, size_t room, const char *text, size_t size);

#endif
