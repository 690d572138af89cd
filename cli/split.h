/* SPDX-License-Identifier: MIT */
/* What the parts of lade split share: lists of items and reports. */
#ifndef LADE_CLI_SPLIT_H
#define LADE_CLI_SPLIT_H

#include <lade/split.h>

#include <stdio.h>

enum { PARTS_MAX = LADE_SPLIT_PARTS_MAX };

enum { NAME = 64 };

/* Options that a command may refuse, or a table contradict. */
enum given {
    TABLE,
    WEIGHTS,
    FOLDS,
    NAMES,
    RULE,
    STORE,
    SEED,
    CONTENT,
    CONFLICT,
    CSV,
    JSON,
    ALPHA,
    RESOLVE,
    SALT,
    KEYS,
    WAIT,
    MEMORY,
    HELP
};

struct options {
    const char *table, *csv, *json, *keys;
    uint32_t weight[PARTS_MAX];
    unsigned parts, names;
    char name_text[PARTS_MAX][NAME];
    char *name[PARTS_MAX];
    struct lade_split_config config;
    unsigned given; /* a bit for each option, by enum given */
    bool resolve;
    uint64_t salt, wait, memory; /* seconds; MiB */
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
    bool wrong;                /* the input is not what it should be */
    bool fixed;                /* there are no other classes than those known beforehand */
    struct row *row;
    size_t rows, room;
    struct text class_name[LADE_SPLIT_CLASSES_MAX];
    unsigned classes;
    void *text, *known;  /* what was read; keys and names lie in it, */
    struct chunk *names; /* or in here */
    char place[8192];    /* of the file that is looked at in a directory */
};

/*
 * Reads a list of keys, a CSV file with a header, or a directory; answers an exit code, after a message unless it is EXIT_DONE.
 * names: of parts, for has_parts. The list is all zero, or has classes that are known.
 */
int list_read(struct list *list, const char *path, char *const *names, unsigned parts);
void list_free(struct list *list);

/* The classes of a table with quotas, written beside it and read again. False after a message. */
bool classes_write(const struct list *list, const char *table);
bool classes_read(struct list *list, const char *table, unsigned classes);

/* Whether two lists have the same classes, in the same order. */
bool classes_equal(const struct list *a, const struct list *b);

/* A field of CSV and what follows it. */
bool csv_field(FILE *to, const void *text, size_t size, char after);

/* All bytes of a file, or of standard input where it is "-". NULL after a message. */
char *read_path(const char *path, size_t *size);

/* The bytes of a row's file. NULL after a message. */
void *content_read(const struct list *list, const struct row *row, size_t *size);

/* What happened, for people and as JSON. */
struct report {
    const char *command, *json; /* path of the JSON, or NULL */
    FILE *text;                 /* for words: not where figures go */
    const struct list *list;
    struct lade_split_config config;
    char *const *names;
    uint64_t conflicts, dropped, missing, full; /* items that got no part, and why */
    uint64_t duplicates, across;                /* contents under several keys, in several parts */
    uint64_t decided;                           /* keys that were not in the table */
    struct lade_split_tests audit;
    double seconds;
};

/* Groups of rows with the same content are shown when they lie in more than one part. False after a message. */
bool report_duplicates(struct report *report);

/* False after a message. */
bool report_print(struct report *report);

/*
 * Keeps other processes that write the same table out, and waits for them up to a limit: without it, this process would undo
 * what they decide meanwhile. Returns what split_unlock() takes, or -1 after a message.
 */
int split_lock(const char *table, uint64_t seconds);
void split_unlock(const char *table, int lock);

/* The commands. What they answer is the exit code. */
int split_assign_or_audit(struct options *o, const char *path, bool assign);
int split_merge(struct options *o, char **path, int paths);
int split_show(struct options *o, const char *path);

/* EXIT_USAGE, after a message. */
int wrong_use(const char *why);

#endif
