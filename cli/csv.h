/* SPDX-License-Identifier: MIT */
/* Lines of CSV (RFC 4180); also lines that end with a line feed alone. */
#ifndef LADE_CLI_CSV_H
#define LADE_CLI_CSV_H

#include <stdbool.h>
#include <stddef.h>

struct csv_field {
    const char *text; /* not terminated */
    size_t size;
    bool open; /* the text ends inside its quotes */
};

/*
 * Reads one record from text and changes it in place: quotes are removed. Returns the bytes read, 0 at the end. *fields
 * is the number of fields, at most most; further ones are read and dropped. The last record of a text need not end with
 * a line feed, so pass whole files or whole lines. A field whose closing quote is missing has open set.
 */
size_t csv_read(char *text, size_t size, struct csv_field *field, size_t most, size_t *fields);

/* Writes a field, quoted where needed. Like snprintf, returns the full size but writes no more than the buffer holds. */
size_t csv_write(char *to, size_t room, const void *text, size_t size);

#endif
