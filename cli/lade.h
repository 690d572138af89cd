/* SPDX-License-Identifier: MIT */
/* Declarations shared by the subcommands of lade. */
#ifndef LADE_CLI_H
#define LADE_CLI_H

#include "output.h"

#include <lade/source.h>
#include <lade/split.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes, the same for every subcommand. */
enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_TROUBLE = 3 };

int feed_main(int argc, char **argv);
int split_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int lab_main(int argc, char **argv);
int convert_main(int argc, char **argv);
int synth_main(int argc, char **argv);

/* A number of an option, in its range; false after a message. */
bool take_number(const char *command, const char *option, const char *text, uint64_t least, uint64_t most,
                 uint64_t *to);

/* The number of a word among those of an option, which end with NULL; false after a message that lists them. */
bool take_word(const char *command, const char *option, const char *text, const char *const *words, int *to);

/* The exit code for an error of a source, after a message. */
int source_trouble(const char *command, const struct lade_error *error);

/*
 * The weights of the parts: 2 or more whole numbers, separated by a colon or a comma. False after a message. weight has
 * LADE_SPLIT_PARTS_MAX elements.
 */
bool take_weights(const char *command, const char *option, const char *text, uint32_t *weight, unsigned *parts);

/* Name of a part of a split: train and test, or train, validation and test, or part0, ... */
const char *part_name(unsigned parts, unsigned part, char *room, size_t size);

/*
 * Finds the part with this name or number; valid and val are short for validation. names: NULL for those of
 * part_name(). False if there is none.
 */
bool find_part(char *const *names, unsigned parts, const char *text, size_t size, unsigned *part);

/* Seconds of a monotonic clock. */
double seconds_now(void);

/*
 * One line on a terminal, rewritten ten times a second: share, rate in units and time left; nothing in a pipe. total
 * UINT64_MAX: unknown, then without share and time left. done == total ends it.
 */
void progress_line(const char *what, const char *unit, uint64_t done, uint64_t total);

/*
 * A number with commas between its thousands, to be printed immediately: the eighth call after this one overwrites it.
 */
const char *grouped(uint64_t number);

/*
 * Prints "lade " and the text as a line on standard error; control characters, such as those in file names, are
 * escaped.
 */
#if defined __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
void print_error(const char *format, ...);

/*
 * A name with its control characters escaped, to be printed immediately: the fourth call after this one overwrites it.
 */
const char *shown(const char *text);
const char *shown_bytes(const char *text, size_t size);

/* A quoted text; bytes that are not UTF-8 become U+FFFD. */
void json_quoted(FILE *json, const char *text);
void json_bytes(FILE *json, const char *text, size_t size);

/* Writes the samples of a synthetic source to files of a format in a folder. */
struct synth {
    struct lade_source *source;
    const struct lade_source_info *info;
    const char *folder;
    uint8_t *sample;
    uint64_t bytes; /* written so far */
    bool jpeg;
    char path[4096];  /* of the file being written */
    char opens[4096]; /* text that opens what was written */
};

/* Each writes the files of one format: an exit code, after a message unless it is EXIT_DONE. */
int write_cifar10(struct synth *s);
int write_idx(struct synth *s);
int write_npy(struct synth *s);
int write_records(struct synth *s);
int write_images(struct synth *s);

/* Begins a file in the folder. These return exit codes, after a message unless EXIT_DONE. */
int synth_begin(struct synth *s, struct output *o, const char *name, bool bulk);
bool synth_put(struct synth *s, struct output *o, const void *bytes, size_t size);
/* code: the result of the writes; unless it is EXIT_DONE, the file is dropped. */
int synth_end(struct output *o, int code);

/* Reads sample i into s->sample. */
int synth_read(struct synth *s, uint64_t i, int64_t *label);

#endif
