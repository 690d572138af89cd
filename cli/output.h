/* SPDX-License-Identifier: MIT */
/*
 * Files that the commands write: each replaces the old file atomically, or not at all. A pipe or a device is written
 * directly.
 */
#ifndef LADE_CLI_OUTPUT_H
#define LADE_CLI_OUTPUT_H

#include "file.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *to; /* write here; end() finds all its errors */
    const char *command, *path;
    struct lade_file file;
    bool whole; /* a file that replaces another */
};

/*
 * Begins to write; "-" is standard output. False after a message. After true, call end or drop; path must stay valid
 * until then.
 */
bool output_begin(struct output *o, const char *command, const char *path);

/* The same for one of many files that can be generated again: it is not synced. */
bool output_begin_bulk(struct output *o, const char *command, const char *path);

/* Completes the file and puts it in place. False after a message; the old file stays. */
bool output_end(struct output *o);

/* Discards what was written. */
void output_drop(struct output *o);

/*
 * Checks before a long computation that the output can be written: true, also for "-" and NULL; or false after a
 * message. An existing file stays, and no other file is left.
 */
bool output_probe(const char *command, const char *path);

/* The same for a table or a state, which is always a file. */
bool output_probe_file(const char *command, const char *path);

#endif
