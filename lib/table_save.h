/* SPDX-License-Identifier: MIT */
/*
 * The entries of a table as a stream of bytes, which may follow other bytes in a file. Internal.
 *
 * To write a table after a custom header:
 *
 *   lade_file_create(&file, path), lade_file_put(&file, header, size), lade_table_write(table, &sink) with
 *   {lade_file_put, &file}, lade_file_replace(&file); on an error lade_file_drop(&file).
 *
 * and to read it:
 *
 *   lade_file_open(&file, path), lade_file_get(&file, header, size), lade_table_read(table, &source, ...) with
 *   {lade_file_get, &file, .at = size}, lade_file_drop(&file). The stream marks its end, and nothing after it is read.
 */
#ifndef LADE_LIB_TABLE_SAVE_H
#define LADE_LIB_TABLE_SAVE_H

#include "file.h"

#include <lade/table.h>

/*
 * Writes all entries.
 * LADE_OK
 * LADE_IO          put returned false.
 * LADE_NO_MEMORY
 */
int lade_table_write(struct lade_table *table, const struct lade_sink *sink);

/*
 * Reads what lade_table_write wrote and inserts it, each block after it was checked. Keys that are present keep their
 * values. expected: number of entries to reserve cells for; 0 if not known. source->at advances by the bytes read.
 * *offset (may be NULL) is the end of the stream after LADE_OK, else the beginning of the part that could not be read.
 * LADE_OK
 * LADE_DAMAGED     also if the stream ends too early.
 * LADE_INVALID     of the other kind, or of an unknown version.
 * LADE_IO          from get.
 * LADE_NO_MEMORY   also from the table.
 * LADE_FULL        also from the table.
 */
int lade_table_read(struct lade_table *table, struct lade_inlet *source, uint64_t expected, uint64_t *offset);

/*
 * Returns the number of entries to expect in a file that ends with such a stream. It is not verified, and is bounded by
 * the size of the file.
 */
uint64_t lade_table_expected(struct lade_file *f);

#endif
