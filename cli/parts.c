/* SPDX-License-Identifier: MIT */
/* Parts of a source: by weights, or from a table of lade split assign. */
#include "parts.h"

#include "lade.h"

#include <errno.h>
#include <string.h>

typedef unsigned long long big;

static int wrong(const struct parts *p, const char *why)
{
    print_error("%s: %s", p->command, why);
    return EXIT_USAGE;
}

static int system_trouble(const struct parts *p, const char *what, const char *why)
{
    print_error("%s: %s: %s", p->command, what, why);
    return EXIT_TROUBLE;
}

/* The part of a sample in a table of lade split assign, found by the sample's name. */
static int part_in_table(struct parts *p, struct lade_split *table, enum lade_split_store store, uint64_t i,
                         unsigned *part)
{
    struct lade_split_found found;
    char name[4096];

    lade_source_name(p->source, i, name, sizeof name);
    const struct lade_split_item item = {.key = name, .key_size = strlen(name)};
    if (store != LADE_SPLIT_EXACT)
        return lade_split_route(table, &item, part);
    int status = lade_split_find(table, &item, &found);
    *part = found.key;
    return status;
}

/* Copies a table that is indexed by sample name to one that is indexed by key, as the loader requires. */
static int translate(struct parts *p, struct lade_split *table, enum lade_split_store store)
{
    const uint64_t count = lade_source_info(p->source)->count;

    for (uint64_t i = 0; i < count && !(p->ended && p->ended()); i++) {
        const uint64_t key = lade_source_group(p->source, i);
        uint8_t bytes[8];
        char name[256];
        unsigned part = 0;
        for (unsigned b = 0; b < 8; b++)
            bytes[b] = (uint8_t)(key >> 8 * b);
        const struct lade_split_item item = {.key = bytes, .key_size = sizeof bytes};
        int status = part_in_table(p, table, store, i, &part);
        lade_source_name(p->source, i, name, sizeof name);
        if (status == LADE_ABSENT) {
            print_error("%s: %s: sample %s is not in the table; lade split assign adds it", p->command, p->table, name);
            return EXIT_WRONG;
        }
        if (status == LADE_OK)
            status = lade_split_pin(p->split, &item, part);
        if (status != LADE_OK)
            return system_trouble(p, name, lade_status_text(status));
        if (i % 256 == 0)
            progress_line("parts", "samples", i, count);
    }
    progress_line("parts", "samples", 1, 1);
    return EXIT_DONE;
}

static int open_table(struct parts *p)
{
    const uint64_t count = lade_source_info(p->source)->count;
    struct lade_split *table = NULL;
    struct lade_split_config c;
    struct lade_error error = {.offset = 0};

    if (count == LADE_ENDLESS)
        return wrong(p,
                     "--split-table needs a source with a fixed number of samples; for an endless source use --split");
    int status = lade_split_load_limited(&table, p->table, p->memory << 20, NULL, &error), code = EXIT_DONE;
    if (status == LADE_DAMAGED) {
        print_error("%s: %s: damaged at byte %llu", p->command, p->table, (big)error.offset);
        return EXIT_WRONG;
    }
    if (status == LADE_LIMITED)
        return system_trouble(p, p->table, "its quotas would take more memory than --memory allows; raise it");
    if (status != LADE_OK)
        return system_trouble(p, p->table, status == LADE_IO ? strerror(errno) : lade_status_text(status));
    lade_split_get_config(table, &c);
    p->parts = c.parts;
    for (unsigned part = 0; part < c.parts; part++)
        p->weight[part] = c.weights ? c.weights[part] : 1;
    const struct lade_split_config mine = {
        .parts = p->parts, .weights = p->weight, .store = LADE_SPLIT_EXACT, .seed = c.seed, .capacity = count};
    status = lade_split_create(&p->split, &mine, NULL);
    code = status == LADE_OK ? translate(p, table, c.store) : system_trouble(p, "split", lade_status_text(status));
    lade_split_destroy(table);
    return code;
}

static int open_split(struct parts *p)
{
    const struct lade_split_config c = {
        .parts = p->parts, .weights = p->weight, .store = LADE_SPLIT_PURE, .seed = p->seed};

    if (p->table)
        return open_table(p);
    if (p->parts == 1)
        return EXIT_DONE;
    int status = lade_split_create(&p->split, &c, NULL);
    if (status == LADE_INVALID)
        return wrong(p, "--split: at least one weight must be above zero");
    return status == LADE_OK ? EXIT_DONE : system_trouble(p, "split", lade_status_text(status));
}

/* The part of --part, else the first one. */
static int choose_part(struct parts *p)
{
    const char *name = p->part_name;
    char room[32];

    if (!name || find_part(NULL, p->parts, name, strlen(name), &p->part))
        return EXIT_DONE;
    if (p->parts == 1)
        print_error("%s: --part %s: the whole source is one part; --split 80:20 makes two, train and test", p->command,
                    name);
    else if (p->parts == 2 || p->parts == 3)
        print_error("%s: --part %s: there are parts %s, or 0 to %u", p->command, name,
                    p->parts == 2 ? "train and test" : "train, validation and test", p->parts - 1);
    else
        print_error("%s: --part %s: there are parts 0 to %u, the last one also called %s", p->command, name,
                    p->parts - 1, part_name(p->parts, p->parts - 1, room, sizeof room));
    return EXIT_USAGE;
}

int parts_open(struct parts *p)
{
    p->split = NULL;
    p->part = 0;
    const int code = open_split(p);
    return code == EXIT_DONE ? choose_part(p) : code;
}
