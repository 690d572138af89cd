/* SPDX-License-Identifier: MIT */
/* The commands of lade split. */
#include "split.h"

#include "csv.h"
#include "lade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int wrong_use(const char *why)
{
    print_error("split: %s; lade split --help shows the use", why);
    return EXIT_USAGE;
}

static int trouble(const char *path, int status, uint64_t offset)
{
    if (status == LADE_IO)
        print_error("split: %s: %s", path, strerror(errno));
    else if (status == LADE_DAMAGED)
        print_error("split: %s: damaged at byte %llu", path, (big)offset);
    else
        print_error("split: %s: %s", path, lade_status_text(status));
    return EXIT_TROUBLE;
}

/* Sets the names of the parts: those given, or the defaults. An exit code, after a message unless it is EXIT_DONE. */
static int name_parts(struct options *o, unsigned parts)
{
    if (o->names > 0 && o->names != parts)
        return wrong_use("--names takes as many names as there are parts");
    for (unsigned i = 0; i < o->names; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(o->name_text[i], o->name_text[j]) == 0)
                return wrong_use("--names must not contain a name twice");
    for (unsigned i = 0; i < parts; i++) {
        char room[NAME];
        if (i >= o->names)
            (void)snprintf(o->name_text[i], NAME, "%s", part_name(parts, i, room, sizeof room));
        o->name[i] = o->name_text[i];
    }
    return EXIT_DONE;
}

/* Every class gets its share of every part, rounded. NULL: out of memory. */
static uint64_t *quotas_for(const struct list *list, const struct options *o)
{
    uint64_t *size = calloc(list->classes + 1, sizeof *size);
    uint64_t *quota = calloc((size_t)list->classes * o->parts + 1, sizeof *quota);
    bool good = size && quota;

    for (size_t i = 0; good && i < list->rows; i++)
        size[list->row[i].class_number]++;
    for (unsigned c = 0; good && c < list->classes; c++)
        good = lade_split_shares(o->weight, o->parts, size[c], quota + (size_t)c * o->parts) == LADE_OK;
    free(size);
    if (good)
        return quota;
    free(quota);
    return NULL;
}

/*
 * Loads the table of a file. An exit code, after a message unless EXIT_DONE. absent: NULL, or set if there is no file.
 */
static int load_table(struct lade_split **split, const char *path, const struct options *o, bool *absent)
{
    struct lade_error error = {.offset = 0};
    int status = lade_split_load_limited(split, path, o->memory << 20, NULL, &error);

    if (status == LADE_LIMITED) {
        print_error("split: %s: it would take more than %llu MiB of memory; --memory raises the limit", path,
                    (big)o->memory);
        return EXIT_TROUBLE;
    }
    if (absent && status == LADE_IO && errno == ENOENT) {
        *absent = true;
        return EXIT_DONE;
    }
    return status == LADE_OK ? EXIT_DONE : trouble(path, status, error.offset);
}

/* The table must match the options. */
static int load_split(struct lade_split **split, const struct options *o, bool *absent)
{
    struct lade_split_config loaded;
    int code = load_table(split, o->table, o, absent);

    if (code != EXIT_DONE || !*split)
        return code;
    lade_split_get_config(*split, &loaded);
    if ((o->parts > 0 && (o->parts != loaded.parts || memcmp(o->weight, loaded.weights, o->parts * 4) != 0)) ||
        (o->given & 1U << RULE && o->config.rule != loaded.rule) ||
        (o->given & 1U << SEED && !o->config.random_seed && o->config.seed != loaded.seed))
        return wrong_use("the table was made with other weights, another rule or another seed; leave these options out "
                         "to use those of the table");
    if ((o->given & 1U << STORE && o->config.store != loaded.store) ||
        (o->given & 1U << CONTENT && o->config.content != loaded.content) ||
        (o->given & 1U << CONFLICT && o->config.conflict != loaded.conflict))
        return wrong_use("the table was made with another store or another policy for contents or conflicts; leave "
                         "these options out to use those of the table");
    return EXIT_DONE;
}

static int create_split(struct lade_split **split, const struct options *o, const struct list *list)
{
    struct lade_split_config config = o->config;
    uint64_t *quota = NULL;

    config.parts = o->parts;
    config.weights = o->weight;
    if (config.store >= LADE_SPLIT_COMPACT)
        config.capacity = list->rows > 0 ? list->rows : 1;
    if (config.rule == LADE_SPLIT_QUOTA) {
        quota = quotas_for(list, o);
        if (!quota)
            return trouble("new table", LADE_NO_MEMORY, 0);
        config.classes = list->classes;
        config.quota = quota;
    }
    struct lade_error error;
    int status = lade_split_create(split, &config, &error);
    free(quota);
    if (status == LADE_INVALID)
        return wrong_use(error.text);
    return status == LADE_OK ? EXIT_DONE : trouble("new table", status, 0);
}

static void count_status(struct report *r, int status)
{
    r->conflicts += status == LADE_CONFLICT;
    r->dropped += status == LADE_PRESENT;
    r->full += status == LADE_FULL;
    r->missing += status == LADE_ABSENT;
}

static bool is_outcome(int status)
{
    return status == LADE_OK || status == LADE_CONFLICT || status == LADE_PRESENT || status == LADE_FULL ||
           status == LADE_ABSENT;
}

/* Routes a row, or looks it up. A part that the input names is pinned. */
static int handle_row(struct lade_split *split, const struct list *list, struct row *row, bool decide, struct report *r)
{
    struct lade_split_item item = {.key = row->key.at,
                                   .key_size = row->key.size,
                                   .group = row->group.at,
                                   .group_size = row->group.size,
                                   .class_number = row->class_number};
    struct lade_split_found found;
    void *content = NULL;
    int status;

    if (list->directory) {
        content = content_read(list, row, &item.content_size);
        if (!content)
            return LADE_IO;
        row->content = lade_split_hash(split, content, item.content_size);
        item.content = r->config.store == LADE_SPLIT_EXACT ? content : NULL;
    }
    bool known = lade_split_find(split, &item, &found) == LADE_OK;
    if (r->config.store != LADE_SPLIT_EXACT) { /* every look-up decides */
        status = lade_split_route(split, &item, &row->part);
    } else if (!decide) {
        status = known ? LADE_OK : LADE_ABSENT;
        row->part = found.key;
    } else if (row->part != LADE_SPLIT_NO_PART) {
        status = lade_split_pin(split, &item, row->part);
        if (status != LADE_OK)
            row->part = LADE_SPLIT_NO_PART;
    } else {
        status = lade_split_route(split, &item, &row->part);
    }
    r->decided += decide && !known && status == LADE_OK;
    free(content);
    return status;
}

/* Entries of a filter; an exact table need not be scanned. */
static uint64_t entries_of(struct lade_split *split, const struct report *r)
{
    struct lade_split_stats stats = {0};
    uint64_t keys[PARTS_MAX];

    if (r->config.store >= LADE_SPLIT_COMPACT)
        (void)lade_split_stats(split, &stats, keys);
    return stats.entries;
}

static int handle_rows(struct lade_split *split, struct list *list, bool decide, struct report *r)
{
    const uint64_t entries = entries_of(split, r);

    for (size_t i = 0; i < list->rows; i++) {
        progress_line("items", "items", i, list->rows);
        int status = handle_row(split, list, &list->row[i], decide, r);
        count_status(r, status);
        if (!is_outcome(status)) {
            progress_line("items", "items", 1, 1);
            return trouble(list->path, status, 0);
        }
    }
    progress_line("items", "items", 1, 1);
    if (!decide)
        r->missing += entries_of(split, r) - entries; /* a look-up in a filter inserts unknown keys */
    return EXIT_DONE;
}

bool csv_field(FILE *to, const void *text, size_t size, char after)
{
    size_t room = 2 * size + 2;
    char *field = malloc(room);
    bool good = field && fwrite(field, 1, csv_write(field, room, text, size), to) <= room;

    free(field);
    return good && fputc(after, to) != EOF;
}

static bool write_csv(const struct list *list, const struct options *o)
{
    struct output out;

    if (!output_begin(&out, "split", o->csv))
        return false;
    FILE *to = out.to;
    bool good = fputs("key,group,class,part\n", to) >= 0;
    for (size_t i = 0; good && i < list->rows; i++) {
        const struct row *row = &list->row[i];
        const struct text *name = &list->class_name[row->class_number];
        const char *part = row->part == LADE_SPLIT_NO_PART ? "" : o->name[row->part];
        good = csv_field(to, row->key.at, row->key.size, ',') && csv_field(to, row->group.at, row->group.size, ',') &&
               csv_field(to, name->at, name->size, ',') && csv_field(to, part, strlen(part), '\n');
    }
    if (good)
        return output_end(&out);
    print_error("split: %s: could not be written, or out of memory", o->csv);
    output_drop(&out);
    return false;
}

int split_assign_or_audit(struct options *o, const char *path, bool assign)
{
    static struct list list;
    struct lade_split *split = NULL;
    struct report r = {.command = assign ? "assign" : "audit", .json = o->json, .list = &list, .names = o->name};
    double begin = seconds_now();

    /* JSON or CSV on standard output is not mixed with text. */
    r.text = (o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-")) ? stderr : stdout;
    if (!o->table)
        return wrong_use("--table FILE is missing");
    const int lock = assign ? split_lock(o->table, o->wait) : -1;
    int code = assign && lock < 0 ? EXIT_TROUBLE : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    bool absent = false;
    code = load_split(&split, o, assign ? &absent : NULL);
    if (absent && o->parts == 0)
        code = wrong_use("a new table needs --weights or --folds");
    if (split)
        lade_split_get_config(split, &r.config);
    if (code == EXIT_DONE)
        code = name_parts(o, split ? r.config.parts : o->parts);
    if (code == EXIT_DONE && assign && split && r.config.rule == LADE_SPLIT_QUOTA &&
        !classes_read(&list, o->table, r.config.classes))
        code = EXIT_TROUBLE;
    if (code == EXIT_DONE)
        code = list_read(&list, path, o->name, split ? r.config.parts : o->parts);
    if (code == EXIT_DONE && !split)
        code = create_split(&split, o, &list);
    if (code == EXIT_DONE) {
        lade_split_get_config(split, &r.config);
        code = handle_rows(split, &list, assign, &r);
    }
    if (code == EXIT_DONE && assign && r.config.rule == LADE_SPLIT_QUOTA && !list.fixed &&
        !classes_write(&list, o->table))
        code = EXIT_TROUBLE;
    if (code == EXIT_DONE && assign) {
        int status = lade_split_save(split, o->table, NULL);
        code = status == LADE_OK ? EXIT_DONE : trouble(o->table, status, 0);
    }
    split_unlock(o->table, lock);
    r.seconds = seconds_now() - begin;
    if (code == EXIT_DONE && ((o->csv && !write_csv(&list, o)) || !report_print(&r)))
        code = EXIT_TROUBLE;
    bool fine = r.conflicts + r.full == 0 && r.across == 0;
    if (!assign)
        fine = fine && r.missing == 0 && r.audit.classes_p >= o->alpha && r.audit.shares_p >= o->alpha;
    lade_split_destroy(split);
    list_free(&list);
    return code == EXIT_DONE && !fine ? EXIT_WRONG : code;
}

/* Differences in a merge, with the keys of a list if one was given. */
struct naming {
    struct options *o;
    struct lade_split *split;
    const struct list *list;
    uint64_t told;
};

static void report_difference(void *context, const struct lade_split_difference *d)
{
    static const char *const kind[] = {"", "key", "group", "content"};
    struct naming *n = context;

    if (n->told++ >= 20)
        return;
    printf("  %s %016llx", kind[d->kind], (big)d->hash);
    for (size_t i = 0; i < n->list->rows && d->kind == LADE_SPLIT_KEY; i++)
        if (lade_split_hash(n->split, n->list->row[i].key.at, n->list->row[i].key.size) == d->hash)
            printf(" %s", shown_bytes(n->list->row[i].key.at, n->list->row[i].key.size));
    if (d->part != LADE_SPLIT_NO_PART)
        printf(": %s so far, %s in this table, %s by the rule", n->o->name[d->part], n->o->name[d->other],
               n->o->name[d->chosen]);
    putchar('\n');
}

/* Tokens of one class in one table must not become those of another class. */
static int compare_classes(const struct list *classes, const char *path, struct lade_split *table)
{
    static struct list other;
    struct lade_split_config config;

    lade_split_get_config(table, &config);
    if (config.rule != LADE_SPLIT_QUOTA)
        return EXIT_DONE; /* the merge rejects it */
    int code = classes_read(&other, path, config.classes) ? EXIT_DONE : EXIT_TROUBLE;
    if (code == EXIT_DONE && !classes_equal(classes, &other))
        code = wrong_use("the tables have quotas for different classes");
    list_free(&other);
    memset(&other, 0, sizeof other);
    return code;
}

int split_merge(struct options *o, char **path, int paths)
{
    static struct list list, classes;
    struct lade_split *into = NULL, *from = NULL;
    struct lade_split_config config;

    if (!o->table || paths < 1)
        return wrong_use("merge takes --table OUT and the tables to merge");
    const int lock = split_lock(o->table, o->wait);
    if (lock < 0)
        return EXIT_TROUBLE;
    int code = load_table(&into, path[0], o, NULL);
    if (code != EXIT_DONE) {
        split_unlock(o->table, lock);
        return code;
    }
    lade_split_get_config(into, &config);
    const bool quota = config.rule == LADE_SPLIT_QUOTA;
    code = name_parts(o, config.parts);
    if (code == EXIT_DONE && quota && !classes_read(&classes, path[0], config.classes))
        code = EXIT_TROUBLE;
    if (code == EXIT_DONE && o->keys)
        code = list_read(&list, o->keys, o->name, config.parts);
    for (int i = 1; i < paths && code == EXIT_DONE; i++) {
        struct naming naming = {o, into, &list, 0};
        uint64_t differences = 0;
        code = load_table(&from, path[i], o, NULL);
        if (code == EXIT_DONE && quota)
            code = compare_classes(&classes, path[i], from);
        if (code != EXIT_DONE) {
            lade_split_destroy(from);
            break;
        }
        int status = lade_split_merge(into, from, o->salt, o->resolve, report_difference, &naming, &differences, NULL);
        lade_split_destroy(from);
        from = NULL;
        printf("lade split merge: %s: %s differences\n", shown(path[i]), grouped(differences));
        if (status == LADE_CONFLICT)
            code = EXIT_WRONG;
        else if (status != LADE_OK)
            code = status == LADE_INVALID ? wrong_use("the tables have different seeds, parts or stores")
                                          : trouble(path[i], status, 0);
    }
    if (code == EXIT_DONE && quota && !classes_write(&classes, o->table))
        code = EXIT_TROUBLE;
    if (code == EXIT_DONE) {
        int status = lade_split_save(into, o->table, NULL);
        code = status == LADE_OK ? EXIT_DONE : trouble(o->table, status, 0);
    }
    split_unlock(o->table, lock);
    if (code == EXIT_WRONG)
        puts("nothing was written; --resolve settles differences by a rule that does not depend on the order of the "
             "tables");
    lade_split_destroy(into);
    list_free(&list);
    list_free(&classes);
    return code;
}

int split_show(struct options *o, const char *path)
{
    static const char *const rule[] = {"hash", "coin", "quota"}, *const store[] = {"exact", "pure", "compact",
                                                                                   "arrays"};
    struct lade_split *split = NULL;
    struct lade_split_config c;
    struct lade_split_stats stats;
    uint64_t keys[PARTS_MAX] = {0};
    bool good = true;
    int code = load_table(&split, path, o, NULL);

    if (code != EXIT_DONE)
        return code;
    int status = lade_split_stats(split, &stats, keys);
    if (status != LADE_OK) {
        lade_split_destroy(split);
        return trouble(path, status, 0);
    }
    lade_split_get_config(split, &c);
    if (name_parts(o, c.parts) != EXIT_DONE) {
        lade_split_destroy(split);
        return EXIT_USAGE;
    }
    FILE *text = o->json && !strcmp(o->json, "-") ? stderr : stdout;
    fprintf(text, "lade split show: rule %s, store %s, %u parts, seed %llu\n", rule[c.rule], store[c.store], c.parts,
            (big)c.seed);
    for (unsigned i = 0; i < c.parts; i++)
        fprintf(text, "  %-12s weight %10s, %s keys\n", o->name[i], grouped(c.weights[i]), grouped(keys[i]));
    fprintf(text, "  in all       %s keys, %s groups, %s contents, %s bytes of memory\n", grouped(stats.keys),
            grouped(stats.groups), grouped(stats.contents), grouped(stats.bytes));
    if (c.store >= LADE_SPLIT_COMPACT)
        fprintf(text, "  held         %s entries, %.2f bits for each item of the capacity\n", grouped(stats.entries),
                8 * (double)stats.bytes / (double)c.capacity);
    if (c.store >= LADE_SPLIT_COMPACT)
        fprintf(text, "  next item    taken for another %.4f %%, goes to the wrong part %.4f %%, to %s %.5f\n",
                100 * stats.collision, 100 * stats.misassigned, o->name[0], stats.share);
    struct output out;
    if (o->json && !output_begin(&out, "split", o->json)) {
        good = false;
    } else if (o->json) {
        FILE *json = out.to;
        fprintf(json,
                "{\"rule\": \"%s\", \"store\": \"%s\", \"seed\": %llu, \"keys\": %llu, \"groups\": %llu, "
                "\"contents\": %llu, \"bytes\": %llu, \"parts\": [",
                rule[c.rule], store[c.store], (big)c.seed, (big)stats.keys, (big)stats.groups, (big)stats.contents,
                (big)stats.bytes);
        for (unsigned i = 0; i < c.parts; i++) {
            fprintf(json, "%s{\"name\": ", i ? ", " : "");
            json_quoted(json, o->name[i]);
            fprintf(json, ", \"weight\": %lu, \"keys\": %llu}", (unsigned long)c.weights[i], (big)keys[i]);
        }
        fprintf(json, "], \"collision\": %.9g, \"misassigned\": %.9g}\n", stats.collision, stats.misassigned);
        good = output_end(&out);
    }
    lade_split_destroy(split);
    return good ? EXIT_DONE : EXIT_TROUBLE;
}
