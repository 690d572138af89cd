/* SPDX-License-Identifier: MIT */
/* The report of lade split: shares and class frequencies of each part, their tests, duplicates; also as JSON. */
#include "split.h"

#include "lade.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES_SHOWN = 8, DUPLICATES_SHOWN = 20 };

static int by_content(const void *a, const void *b)
{
    const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    return x < y ? -1 : x > y; /* in the order of the list */
}

/* Equal hashes are a hint; the bytes decide. False after a message: they could not be read. */
static bool have_same_bytes(const struct list *list, const struct row *a, const struct row *b, bool *same)
{
    size_t of_a = 0, of_b = 0;
    void *bytes_a = content_read(list, a, &of_a), *bytes_b = bytes_a ? content_read(list, b, &of_b) : NULL;
    bool good = bytes_a && bytes_b;

    *same = good && of_a == of_b && memcmp(bytes_a, bytes_b, of_a) == 0;
    free(bytes_a);
    free(bytes_b);
    return good;
}

static void show_duplicates(const struct report *r, FILE *to, struct row *const *row, size_t count)
{
    fprintf(to, "  the same bytes in several parts:");
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s %s (%s)", i ? "," : "", shown_bytes(row[i]->key.at, row[i]->key.size),
                row[i]->part < r->config.parts ? r->names[row[i]->part] : "no part");
    fputc('\n', to);
}

bool report_duplicates(struct report *r)
{
    const struct list *list = r->list;
    struct row **row = malloc((list->rows + 1) * sizeof *row);

    bool good = row != NULL;

    if (!row)
        print_error("split: out of memory");
    for (size_t i = 0; good && i < list->rows; i++)
        row[i] = &list->row[i];
    if (good)
        qsort(row, list->rows, sizeof *row, by_content);
    for (size_t begin = 0, end; good && begin < list->rows; begin = end) {
        unsigned part = LADE_SPLIT_NO_PART;
        bool across = false;
        for (end = begin; end < list->rows && row[end]->content == row[begin]->content; end++) {
            bool same = true;
            if (end > begin)
                good = have_same_bytes(list, row[begin], row[end], &same) && good;
            if (!same)
                break;
            if (row[end]->part == LADE_SPLIT_NO_PART)
                continue;
            across = across || (part != LADE_SPLIT_NO_PART && part != row[end]->part);
            part = row[end]->part;
        }
        r->duplicates += end - begin > 1;
        if (across && r->across++ < DUPLICATES_SHOWN)
            show_duplicates(r, r->text, row + begin, end - begin);
    }
    free(row);
    return good;
}

static double weight_of(const struct report *r, unsigned part)
{
    double sum = 0;

    for (unsigned i = 0; i < r->config.parts; i++)
        sum += r->config.weights[i];
    return r->config.weights[part] / sum;
}

static uint64_t size_of(const struct report *r, const uint64_t *count, unsigned part)
{
    uint64_t sum = 0;

    for (unsigned c = 0; c < r->list->classes; c++)
        sum += count[(size_t)c * r->config.parts + part];
    return sum;
}

static void print_text(const struct report *r, const uint64_t *count, FILE *to)
{
    const unsigned parts = r->config.parts, shown = r->list->classes < CLASSES_SHOWN ? r->list->classes : CLASSES_SHOWN;
    uint64_t all = 0;

    for (unsigned p = 0; p < parts; p++)
        all += size_of(r, count, p);
    fprintf(to, "lade split %s: %s items, %u classes, %u parts, seed %llu, %.2f s\n", r->command,
            grouped(r->list->rows), r->list->classes, parts, (big)r->config.seed, r->seconds);
    fprintf(to, "  %-12s %10s %8s %8s", "part", "items", "share", "weight");
    for (unsigned c = 0; c < shown && r->list->classes > 1; c++)
        fprintf(to, " %8.8s", shown_bytes(r->list->class_name[c].at, r->list->class_name[c].size));
    fputs(r->list->classes > shown ? " ...\n" : "\n", to);
    for (unsigned p = 0; p < parts; p++) {
        uint64_t size = size_of(r, count, p);
        fprintf(to, "  %-12s %10s %8.5f %8.5f", r->names[p], grouped(size), all ? (double)size / (double)all : 0,
                weight_of(r, p));
        for (unsigned c = 0; c < shown && r->list->classes > 1; c++)
            fprintf(to, " %8.5f", size ? (double)count[(size_t)c * parts + p] / (double)size : 0);
        fputc('\n', to);
    }
    fprintf(to, "  classes      chi-square %.4g, df %.0f, p %.3g if the parts have the same class frequencies\n",
            r->audit.classes, r->audit.classes_df, r->audit.classes_p);
    fprintf(to, "  shares       chi-square %.4g, df %.0f, p %.3g if the sizes follow the weights\n", r->audit.shares,
            r->audit.shares_df, r->audit.shares_p);
    if (r->audit.classes_df > 0 && r->audit.least < 5)
        fprintf(to, "  (approximate: the smallest expected count is only %.2g)\n", r->audit.least);
    if (r->list->directory)
        fprintf(to, "  duplicates   %s contents under several names, %s of them in several parts\n",
                grouped(r->duplicates), grouped(r->across));
    if (r->missing + r->conflicts + r->dropped + r->full > 0)
        fprintf(to,
                "  without part %s in conflict, %s dropped as duplicates, %s beyond the quota or capacity, %s "
                "not in the table\n",
                grouped(r->conflicts), grouped(r->dropped), grouped(r->full), grouped(r->missing));
}

static void print_json(const struct report *r, const uint64_t *count, FILE *to)
{
    fprintf(to,
            "{\"command\": \"%s\", \"items\": %llu, \"decided\": %llu, \"seed\": %llu, \"seconds\": %.6f, \"parts\": [",
            r->command, (big)r->list->rows, (big)r->decided, (big)r->config.seed, r->seconds);
    for (unsigned p = 0; p < r->config.parts; p++) {
        fprintf(to, "%s{\"name\": ", p ? ", " : "");
        json_quoted(to, r->names[p]);
        fprintf(to, ", \"weight\": %lu, \"items\": %llu, \"classes\": {", (unsigned long)r->config.weights[p],
                (big)size_of(r, count, p));
        for (unsigned c = 0; c < r->list->classes; c++) {
            fputs(c ? ", " : "", to);
            json_bytes(to, r->list->class_name[c].at, r->list->class_name[c].size);
            fprintf(to, ": %llu", (big)count[(size_t)c * r->config.parts + p]);
        }
        fputs("}}", to);
    }
    fprintf(to,
            "], \"classes_chi_square\": %.9g, \"classes_df\": %.0f, \"classes_p\": %.9g, \"shares_chi_square\": %.9g, "
            "\"shares_df\": %.0f, \"shares_p\": %.9g, ",
            r->audit.classes, r->audit.classes_df, r->audit.classes_p, r->audit.shares_p > 0 ? r->audit.shares : 1e300,
            r->audit.shares_df, r->audit.shares_p);
    fprintf(to,
            "\"duplicates\": %llu, \"duplicates_across_parts\": %llu, \"conflicts\": %llu, \"dropped\": %llu, "
            "\"beyond_quota\": %llu, \"missing\": %llu}\n",
            (big)r->duplicates, (big)r->across, (big)r->conflicts, (big)r->dropped, (big)r->full, (big)r->missing);
}

bool report_print(struct report *r)
{
    struct output json;
    const unsigned parts = r->config.parts;
    uint64_t *count = calloc((size_t)r->list->classes * parts + 1, sizeof *count);
    bool good = count != NULL;

    if (!good)
        print_error("split: out of memory");
    for (size_t i = 0; good && i < r->list->rows; i++)
        if (r->list->row[i].part < parts)
            count[(size_t)r->list->row[i].class_number * parts + r->list->row[i].part]++;
    r->audit = (struct lade_split_tests){.classes_p = 1, .shares_p = 1}; /* for no items */
    if (good && r->list->classes > 0)
        good = lade_split_audit(count, r->list->classes, parts, r->config.weights, &r->audit) == LADE_OK;
    if (good && r->list->directory)
        good = report_duplicates(r);
    if (good)
        print_text(r, count, r->text);
    if (good && r->json) {
        good = output_begin(&json, "split", r->json);
        if (good) {
            print_json(r, count, json.to);
            good = output_end(&json);
        }
    }
    free(count);
    return good;
}
