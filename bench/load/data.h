/* SPDX-License-Identifier: MIT */
/* What the programs of bench/run load read from, and how it is passed to them. */
#ifndef LADE_BENCH_DATA_H
#define LADE_BENCH_DATA_H

#include <lade/source.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Rows of bytes: "memory" or the name of a file. In memory a row begins with its number where it is long enough for that. Huge
 * pages are asked for, as NumPy does for its arrays.
 */
struct data {
    unsigned char *rows;
    uint64_t count;
    size_t bytes;    /* of a row that is delivered */
    size_t stride;   /* from row to row */
    int64_t *labels; /* in memory only */
};

/* Prints why on standard error and ends the process. */
_Noreturn void fail(const char *reason);

/* count rows of the given number of bytes. A file's rows have a label of one byte before them, as lade synth writes them. */
void data_make(struct data *data, const char *name, uint64_t count, size_t bytes);

/* The same as a source. The text of another source, such as "images:FOLDER", is opened as it is. */
struct lade_source *data_open(struct data *data, const char *name, uint64_t count, size_t bytes);

/* Reads all bytes, whose number is a multiple of 8; the sum is not used. */
uint64_t data_read(const void *bytes, size_t size);

/* A whole number from 1 on of the command line. */
uint64_t number_of(const char *text);

#endif
