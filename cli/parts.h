/* SPDX-License-Identifier: MIT */
/* The parts of a source for the commands that read one: --split, --split-table and --part. */
#ifndef LADE_CLI_PARTS_H
#define LADE_CLI_PARTS_H

#include <lade/source.h>
#include <lade/split.h>

struct parts {
    const char *command;
    struct lade_source *source;
    const char *table, *part_name;         /* of lade split assign; of --part; NULL: none */
    uint64_t memory, seed;                 /* megabytes for a table; of the hash */
    uint32_t weight[LADE_SPLIT_PARTS_MAX]; /* set by parts_open() if there is a table */
    unsigned parts;                        /* 1: the whole source; as weight */
    int (*ended)(void);                    /* not zero ends the work early; NULL: never */
    struct lade_split *split;              /* routes lade_source_group(); NULL: one part */
    unsigned part;                         /* that part_name names, else the first one */
};

/* An exit code, after a message unless it is EXIT_DONE. The caller destroys split in any case. */
int parts_open(struct parts *p);

#endif
