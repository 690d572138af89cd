/* SPDX-License-Identifier: MIT */
/* Declarations shared by the parts of lade split: lists of items and reports. */
#ifndef LADE_CLI_SPLIT_H
#define LADE_CLI_SPLIT_H

#include <lade/split.h>

#include <stdio.h>

enum { PARTS_MAX = LADE_SPLIT_PARTS_MAX };

enum { NAME = 64 };

/* Options that a command may reject, or a table contradict. */
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
    bool directory, has_parts; /* the input is a directory; it names parts itself */
    bool wrong;                /* the input is invalid */
    bool fixed;                /* no classes may be added to those known */
    struct row *row;
    size_t rows, room;
    struct text class_name[LADE_SPLIT_CLASSES_MAX];
    unsigned classes;
    void *text, *known;  /* the text that was read; keys and names point into it, */
    struct chunk *names; /* or in here */
    char place[8192];    /* path of the current file of a directory */
};

/*
 * Reads a list of keys, a CSV file with a header, or a directory. Returns an exit code, after a message unless it is
 * EXIT_DONE. names: of parts, for has_parts. The list is all zero, or has known classes.
 */
int list_read(struct list *list, const char *path, char *const *names, unsigned parts);
void list_free(struct list *list);

/* The classes of a table with quotas, stored in a file beside it. False after a message. */
bool classes_write(const struct list *list, const char *table);
bool classes_read(struct list *list, const char *table, unsigned classes);

/* Whether two lists have the same classes, in the same order. */
bool classes_equal(const struct list *a, const struct list *b);

/* Writes a field of CSV and the character after it. */
bool csv_field(FILE *to, const void *text, size_t size, char after);

/* All bytes of a file, or of standard input for "-". NULL after a message. */
char *read_path(const char *path, size_t *size);

/* The bytes of a row's file. NULL after a message. */
void *content_read(const struct list *list, const struct row *row, size_t *size);

/* The result, as text and as JSON. */
struct report {
    const char *command, *json; /* path of the JSON, or NULL */
    FILE *text;                 /* for text; not the stream of the JSON or CSV */
    const struct list *list;
    struct lade_split_config config;
    char *const *names;
    uint64_t conflicts, dropped, missing, full; /* items without a part, by reason */
    uint64_t duplicates, across;                /* equal contents under several keys; in several parts */
    uint64_t decided;                           /* keys that were not in the table */
    struct lade_split_tests audit;
    double seconds;
};

/* Prints groups of rows with the same content that are in more than one part. False after a message. */
bool report_duplicates(struct report *report);

/* False after a message. */
bool report_print(struct report *report);

/*
 * Locks the table against writers in other processes, and waits for them up to a limit. Without the lock, this process
 * would undo their concurrent decisions. Returns the argument of split_unlock(), or -1 after a message.
 */
int split_lock(const char *table, uint64_t seconds);
void split_unlock(const char *table, int lock);

/* The commands. They return the exit code. */
int split_assign_or_audit(struct options *o, const char *path, bool assign);
int split_merge(struct options *o, char **path, int paths);
int split_show(struct options *o, const char *path);

/* EXIT_USAGE, after a message. */
int wrong_use(const char *why);

#endif
