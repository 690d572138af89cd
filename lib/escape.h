/* SPDX-License-Identifier: MIT */
/* Makes names and other untrusted bytes safe for a terminal or a line of text. Internal to the libraries of lade. */
#ifndef LADE_LIB_ESCAPE_H
#define LADE_LIB_ESCAPE_H

#include <stddef.h>

/* Returns the length of the UTF-8 character at text, of which size bytes can be read; 0 if it is not UTF-8. */
unsigned lade_utf8_length(const char *text, size_t size);

/*
 * Copies text; writes control characters and bytes that are not UTF-8 as \n, \t or \xNN. A backslash is copied
 * unchanged. Writes at most capacity - 1 bytes and a final zero, and no partial character or escape. Returns the number of
 * bytes before the zero.
 */
size_t lade_escape(char *to, size_t capacity, const char *text, size_t size);

#endif
