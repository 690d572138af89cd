/* SPDX-License-Identifier: MIT */
/* What the parts of lade split share: lists of items and reports. */
#ifndef LADE_CLI_SPLIT_H
#define LADE_CLI_SPLIT_H

#include <lade/split.h>

#include <stdio.h>

enum { PARTS_MAX = LADE_SPLIT_PARTS_MAX };

enum { NAME = 64 };

struct options {
    const char *table, *csv, *json, *keys;
    uint32_t weight[PARTS_MAX];
    unsigned parts, names;
    char name_text[PARTS_MAX][NAME];
    char *name[PARTS_MAX];
    struct lade_split_config config;
    bool rule_given, seed_given, resolve;
    uint64_t salt;
    double alpha;
};

typedef unsigned long long big; /* for printf */

struct text {
    const char *at; /* NULL: none */
    size_t size;
};

struct row {
    struct text key, group;
    unsigned class_number;
    unsigned part;    /* LADE_SPLIT_NO_PART: none */
    uint64_t content; /* hash of the bytes; directories only */
};

/* The items of a file or directory, with the numbers of their classes. */
struct list {
    const char *path;
    bool directory, has_parts; /* the input is a directory; it tells parts itself */
    struct row *row;
    size_t rows, room;
    struct text class_name[LADE_SPLIT_CLASSES_MAX];
    unsigned classes;
    void *text;          /* what was read; keys and names lie in it, */
    struct chunk *names; /* or in here */
};

/* Reads a list of keys, a CSV file with a header, or a directory. False after a message. names: of parts, for has_parts. */
bool list_read(struct list *list, const char *path, char *const *names, unsigned parts);
void list_free(struct list *list);

/* The bytes of a row's file. NULL after a message. */
void *content_read(const struct list *list, const struct row *row, size_t *size);

/* What happened, for people and as JSON. */
struct report {
    const char *command, *json; /* path of the JSON, or NULL */
    const struct list *list;
    struct lade_split_config config;
    char *const *names;
    uint64_t conflicts, dropped, missing, full; /* items that got no part, and why */
    uint64_t duplicates, across;                /* contents under several keys, in several parts */
    uint64_t decided;                           /* keys that were not in the table */
    struct lade_split_tests audit;
    double seconds;
};

/* Groups of rows with the same content are shown when they lie in more than one part. False: out of memory. */
bool report_duplicates(struct report *report, FILE *to);

/* False after a message. */
bool report_print(struct report *report);

void json_text(FILE *to, const char *text, size_t size);

/* The commands. What they answer is the exit code. */
int split_assign_or_audit(struct options *o, const char *path, bool assign);
int split_merge(struct options *o, char **path, int paths);
int split_show(struct options *o, const char *path);

/* EXIT_USAGE, after a message. */
int wrong_use(const char *why);

#endif
