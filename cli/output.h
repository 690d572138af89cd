/* SPDX-License-Identifier: MIT */
/*
 * Files that the commands write: each appears whole or not at all, and what was there stays until then. What is no file,
 * such as a pipe or a device, is written as it is.
 */
#ifndef LADE_CLI_OUTPUT_H
#define LADE_CLI_OUTPUT_H

#include "file.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *to; /* write here; end() finds every error of it */
    const char *command, *path;
    struct lade_file file;
    bool whole; /* a file that replaces another */
};

/* Begins to write; "-" is standard output. False after a message; after true comes end or drop. path stays valid until then. */
bool output_begin(struct output *o, const char *command, const char *path);

/* The same for one of many files that can be made again: it is not synced. */
bool output_begin_bulk(struct output *o, const char *command, const char *path);

/* Everything is written: puts it in place. False after a message, and the old file stays. */
bool output_end(struct output *o);

/* Forgets what was written. */
void output_drop(struct output *o);

/*
 * Whether it can be written, asked before work that takes time: true, also for "-" and NULL; or false after a message. What is
 * there stays, and nothing is left behind.
 */
bool output_probe(const char *command, const char *path);

/* The same for a table or a state, which is a file in any case. */
bool output_probe_file(const char *command, const char *path);

#endif
