/* SPDX-License-Identifier: MIT */
/*
 * The entries of a table as a stream of bytes, which may stand in a file behind something else. Internal.
 *
 * To put a table behind a header of one's own:
 *
 *   lade_file_create(&file, path), lade_file_put(&file, header, size), lade_table_write(table, &sink) with
 *   {lade_file_put, &file}, lade_file_replace(&file); on an error lade_file_drop(&file).
 *
 * and back:
 *
 *   lade_file_open(&file, path), lade_file_get(&file, header, size), lade_table_read(table, &source, ...) with
 *   {lade_file_get, &file, .at = size}, lade_file_drop(&file). The stream knows its end and reads nothing behind it.
 */
#ifndef LADE_LIB_TABLE_SAVE_H
#define LADE_LIB_TABLE_SAVE_H

#include "file.h"

#include <lade/table.h>

/* Writes all entries. LADE_OK, LADE_IO (put answered false), or LADE_NO_MEMORY. */
int lade_table_write(struct lade_table *table, const struct lade_sink *sink);

/*
 * Reads what lade_table_write wrote and inserts it, each block after it was checked. Keys that are there keep their values.
 * expected: room is made for so many entries before; 0 when not known. source->at goes on by what was read; *offset (may be
 * NULL) is the end of the stream after LADE_OK, else the beginning of the part that could not be read.
 *
 * LADE_OK; LADE_DAMAGED, also when the stream ends too early; LADE_INVALID: of the other kind, or of a version that is not
 * known; LADE_IO from get; LADE_NO_MEMORY and LADE_FULL, also from the table.
 */
int lade_table_read(struct lade_table *table, struct lade_inlet *source, uint64_t expected, uint64_t *offset);

/* What to expect of a file that ends with such a stream. It is not checked, and bounded by the size of the file. */
uint64_t lade_table_expected(struct lade_file *f);

#endif
